package ledger

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"chaperone/backend/event"
)

// The encoding is the file's format: rows of old must be proved for ever.
func TestTheHashOfARowNeverChanges(t *testing.T) {
	r := row{seq: 7, at: 1777896000123456789, category: "browser.tab.opened", subject: "sess_1", agent: "ann", call: "call_1", data: `{"n":1}`}
	got := r.hash(sha256.Sum256([]byte("before")))
	if want := "fc372bea329c313ba91323f2c618862bcd35e7b8c101f2f89e109042fa6fa6c7"; hex.EncodeToString(got[:]) != want {
		t.Errorf("got %x, want %s", got, want)
	}
}

// Moving a byte from one field to the next is another row.
func TestNoTwoRowsHaveTheSameEncoding(t *testing.T) {
	seen := map[[32]byte]row{}
	texts := []string{"", "a", "aa", "a\x00", "\x00\x00\x00\x00\x00\x00\x00\x01a"}
	for _, a := range texts {
		for _, b := range texts {
			for _, c := range texts {
				for _, r := range []row{{category: a, subject: b, agent: c}, {subject: a, agent: b, call: c}, {agent: a, call: b, data: c}} {
					h := r.hash([32]byte{})
					if old, ok := seen[h]; ok && old != r {
						t.Fatalf("%+v and %+v have the same hash", old, r)
					}
					seen[h] = r
				}
			}
		}
	}
}

// tampered is a copy of a ledger of rows 41 to 70 (40 were pruned), with edits made to it.
func tampered(t *testing.T, original []byte, edits ...string) *Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	if err := os.WriteFile(path, original, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		result, err := db.Exec(e)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if n, _ := result.RowsAffected(); n == 0 {
			t.Fatalf("%s: changed nothing", e)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), path, &event.Bus{}, Options{Rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func original(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	l, err := Open(t.Context(), path, &event.Bus{}, Options{Rows: 33})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 70 {
		d := event.Draft{Category: fmt.Sprint("a.", i), Subject: fmt.Sprint("s", i), Agent: "ann", Call: "c", Data: map[string]int{"n": i}}
		if err := l.Append(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := l.Verify(t.Context()); err != nil || !v.OK || v.First != 41 || v.Last != 70 {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVerifyFindsWhatWasDone(t *testing.T) {
	whole := original(t)
	for name, c := range map[string]struct {
		edits []string
		at    int64
	}{
		"a text changed":      {[]string{`UPDATE event SET data = '{"n":50 }' WHERE seq = 50`}, 50},
		"a time changed":      {[]string{`UPDATE event SET at = at + 1 WHERE seq = 41`}, 41},
		"a field moved":       {[]string{`UPDATE event SET subject = subject || agent, agent = '' WHERE seq = 60`}, 60},
		"a hash changed":      {[]string{`UPDATE event SET hash = zeroblob(32) WHERE seq = 70`}, 70},
		"a hash cut":          {[]string{`UPDATE event SET hash = substr(hash, 1, 31) WHERE seq = 44`}, 44},
		"one removed":         {[]string{`DELETE FROM event WHERE seq = 55`}, 55},
		"the oldest removed":  {[]string{`DELETE FROM event WHERE seq = 41`}, 41},
		"the newest removed":  {[]string{`DELETE FROM event WHERE seq = 70`}, 70},
		"all removed":         {[]string{`DELETE FROM event`}, 41},
		"one added after":     {[]string{`INSERT INTO event SELECT 71, at, category, subject, agent, call, data, hash FROM event WHERE seq = 70`}, 71},
		"one added before":    {[]string{`INSERT INTO event SELECT 40, at, category, subject, agent, call, data, hash FROM event WHERE seq = 41`}, 40},
		"two swapped":         {[]string{`UPDATE event SET seq = -1 WHERE seq = 50`, `UPDATE event SET seq = 50 WHERE seq = 51`, `UPDATE event SET seq = 51 WHERE seq = -1`}, 50},
		"one taken out":       {[]string{`DELETE FROM event WHERE seq = 60`, `UPDATE event SET seq = -seq WHERE seq > 60`, `UPDATE event SET seq = -seq - 1 WHERE seq < 0`}, 60},
		"the anchor moved":    {[]string{`DELETE FROM event WHERE seq = 41`, `UPDATE chain SET anchor_seq = 41`}, 42},
		"the head moved":      {[]string{`DELETE FROM event WHERE seq = 70`, `UPDATE chain SET head_seq = 69`}, 69},
		"the head's hash set": {[]string{`UPDATE chain SET head_hash = anchor_hash`}, 70},
	} {
		t.Run(name, func(t *testing.T) {
			l := tampered(t, whole, c.edits...)
			v, err := l.Verify(t.Context())
			if err != nil || v.OK || v.BrokenAt != c.at || v.Why == "" {
				t.Errorf("got %+v, %v, want broken at %d", v, err, c.at)
			}
			// The log goes on, and it stays found.
			if err := l.Append(t.Context(), event.Draft{Category: "later"}, event.Draft{Category: "later still"}); err != nil {
				t.Fatal(err)
			}
			if again, err := l.Verify(t.Context()); err != nil || again.OK || again.BrokenAt > c.at+1 {
				t.Errorf("after more rows: %+v, %v", again, err)
			}
		})
	}
	if v, err := tampered(t, whole).Verify(t.Context()); err != nil || !v.OK || v.Rows != 30 {
		t.Errorf("untouched: %+v, %v", v, err)
	}
}

// Whatever byte of whatever field of whatever row is changed, it is found there.
func TestVerifyFindsAnyChangedByte(t *testing.T) {
	l := tampered(t, original(t))
	db, err := sql.Open("sqlite", dsn(l.path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		seq := 41 + random.Int64N(30)
		field := []string{"at", "category", "subject", "agent", "call", "data", "hash"}[random.IntN(7)]
		var was any
		if err := db.QueryRow(`SELECT `+field+` FROM event WHERE seq = ?`, seq).Scan(&was); err != nil {
			t.Fatal(err)
		}
		var is any
		switch was := was.(type) {
		case int64:
			is = was ^ 1<<random.IntN(63)
		case string:
			b := []byte(was)
			b[random.IntN(len(b))] ^= 1
			is = string(b)
		case []byte:
			b := append([]byte(nil), was...)
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			is = b
		}
		set := func(to any) {
			if _, err := db.Exec(`UPDATE event SET `+field+` = ? WHERE seq = ?`, to, seq); err != nil {
				t.Fatal(err)
			}
		}
		set(is)
		if v, err := l.Verify(t.Context()); err != nil || v.OK || v.BrokenAt != seq {
			t.Fatalf("%s of row %d from %q to %q: got %+v, %v", field, seq, was, is, v, err)
		}
		set(was)
	}
	if v, err := l.Verify(t.Context()); err != nil || !v.OK {
		t.Errorf("put back: %+v, %v", v, err)
	}
}

func TestLongDataIsCut(t *testing.T) {
	long := strings.Repeat("ä", maxData)
	for name, c := range map[string]struct {
		data any
		want string
	}{
		"none":           {nil, ""},
		"null":           {(*struct{})(nil), ""},
		"as long as may": {map[string]string{"a": strings.Repeat("a", maxData-8)}, `{"a":"` + strings.Repeat("a", maxData-8) + `"}`},
		"one longer":     {map[string]string{"a": strings.Repeat("a", maxData-7)}, `{"a":"` + strings.Repeat("a", longText) + `…"}`},
		"deep inside": {map[string]any{"a": []any{long, 1.5, map[string]any{"b": long}}, "c": 12345678901234567},
			`{"a":["` + long[:longText] + `…",1.5,{"b":"` + long[:longText] + `…"}],"c":12345678901234567}`},
		"a long key": {map[string]int{strings.Repeat("k", maxData): 1},
			`{"omittedBytes":16390,"sha256":"` + digest(`{"`+strings.Repeat("k", maxData)+`":1}`) + `"}`},
	} {
		if got, err := encodeData(c.data); err != nil || got != c.want {
			t.Errorf("%s: got %.80q (%d bytes), want %.80q (%d bytes), %v", name, got, len(got), c.want, len(c.want), err)
		}
	}
	rows, err := encode([]event.Draft{{Category: "a\xff", Subject: long, Agent: "\xe4"}})
	if err != nil || rows[0].category != "a\uFFFD" || rows[0].subject != long[:maxField] || rows[0].agent != "\uFFFD" {
		t.Errorf("got %+v, %v", rows[0], err)
	}
}

func digest(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:])
}

// Whatever the particulars are, what is kept is a JSON object within the bound, or nothing.
func FuzzEncodeData(f *testing.F) {
	f.Add([]byte(`{"a":1}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`[1]`))
	f.Add([]byte(`{"a":"` + strings.Repeat("\\u0000", 5000) + `"}`))
	f.Add([]byte(`{"` + strings.Repeat("k", 20_000) + `":1}`))
	f.Add([]byte("{\"\xff\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := encodeData(json.RawMessage(b))
		if err != nil || got == "" {
			return
		}
		var object map[string]any
		if len(got) > maxData || !utf8.ValidString(got) || json.Unmarshal([]byte(got), &object) != nil || object == nil {
			t.Errorf("%d bytes: %.200q", len(got), got)
		}
	})
}
