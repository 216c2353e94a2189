package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"chaperone/backend/fault"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line, id, method, args string
		code                   fault.Code
		says                   string
	}{
		{line: `{"id":1,"method":"ping"}`, id: `1`, method: "ping"},
		{line: `{"method":"ping"}`, method: "ping"},
		{line: `{"id":"a","method":"press","args":{"key":"Enter"}}`, id: `"a"`, method: "press", args: `{"key":"Enter"}`},
		{line: `{"id":1,"method":"ping","args":null}`, id: `1`, method: "ping", args: `null`},
		{line: `{"id":7,"method":"press","args":["Enter"]}`, id: `7`, code: fault.InvalidArguments, says: "args is not a JSON object"},
		{line: `{"id":7,"method":"press","args":"Enter"}`, id: `7`, code: fault.InvalidArguments, says: "press"},
		{line: `{"id":7}`, id: `7`, code: fault.BadLine, says: "no method"},
		{line: `{"id":7,"method":""}`, id: `7`, code: fault.BadLine, says: "method is not a name"},
		{line: `{"id":7,"method":5}`, id: `7`, code: fault.BadLine, says: "method is not a name"},
		{line: `{"id":7,"method":"ping","person":true}`, id: `7`, code: fault.BadLine, says: `unknown field "person"`},
		{line: `null`, code: fault.BadLine, says: "not an object"},
		{line: `[1]`, code: fault.BadLine, says: "not an object"},
		{line: `5`, code: fault.BadLine, says: "not an object"},
		{line: `{"id":1,`, code: fault.BadLine, says: "not JSON"},
		{line: `hello`, code: fault.BadLine, says: "not JSON"},
		{line: `{"id":1,"method":"ping"} {"id":2}`, code: fault.BadLine, says: "not JSON"},
		{line: "{\"id\":\"\xff\",\"method\":\"ping\"}", code: fault.BadLine, says: "UTF-8"},
		{line: strings.Repeat("[", 20_000), code: fault.BadLine, says: "not JSON"},
	} {
		name := c.line[:min(len(c.line), 60)]
		r, err := Parse([]byte(c.line))
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if r.Method != c.method || string(r.Args) != c.args {
				t.Errorf("%s: got method %q args %s", name, r.Method, r.Args)
			}
		} else {
			e := fault.From(err)
			if e == nil || e.Code != c.code || !strings.Contains(e.Message, c.says) || e.Hint == "" {
				t.Errorf("%s: got %+v, want %s that says %q and a hint", name, e, c.code, c.says)
			}
		}
		if string(r.ID) != c.id {
			t.Errorf("%s: got id %s, want %s", name, r.ID, c.id)
		}
	}
}

func TestParseRepeatsLittleOfTheCaller(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, line := range []string{
		`{"method":"ping","` + long + `":1}`,
		`{"method":"` + long + `","args":1}`,
	} {
		if _, err := Parse([]byte(line)); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.30s…: the error has %d bytes", line, len(fmt.Sprint(err)))
		}
	}
}

// ids is one of every kind of JSON, with forms that a decoder would lose.
var ids = []string{
	`1`, `-0`, `1.0`, `1e400`, `12345678901234567890123`, `"a"`, `"\u0061"`, `"\ud800"`, `"<&>"`, "\"\u2028\"", `""`,
	`true`, `false`, `null`, `[]`, `[1, 2]`, `{}`, `{"b": 1, "a":	[ ]}`,
}

func TestIDComesBackAsItCame(t *testing.T) {
	for _, id := range ids {
		r, err := Parse([]byte(`{"method":"ping","id": ` + id + ` }`))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		for _, answer := range []Response{
			Answer(r.ID, map[string]string{"a": "<b>"}, nil), Answer(r.ID, nil, fault.New(fault.Busy, "busy")),
		} {
			line, err := Marshal(answer)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if !bytes.HasPrefix(line, []byte(`{"id":`+id+`,"ok":`)) {
				t.Errorf("%s: the answer is %s", id, line)
			}
			if !json.Valid(line) || bytes.ContainsRune(line, '\n') {
				t.Errorf("%s: not a line of JSON: %q", id, line)
			}
		}
	}
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		result any
		err    error
		want   string
	}{
		{nil, nil, `{"id":null,"ok":true,"result":{}}`},
		{map[string]string{"html": "<b>&</b>"}, nil, `{"id":null,"ok":true,"result":{"html":"<b>&</b>"}}`},
		{"lost", fault.New(fault.BrowserGone, "gone").WithHint("go on").WithEffect(fault.EffectUnknown),
			`{"id":null,"ok":false,"error":{"code":"BROWSER_GONE","message":"gone","hint":"go on","effect_state":"unknown"}}`},
		{nil, errors.New("a secret detail"),
			`{"id":null,"ok":false,"error":{"code":"INTERNAL","message":"internal error","hint":"This is a defect of Chaperone; its log has the details."}}`},
	} {
		got, err := Marshal(Answer(nil, c.result, c.err))
		if err != nil || string(got) != c.want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
		}
	}
}

func TestReader(t *testing.T) {
	small := func(in string) *Reader {
		r := NewReader(iotest.OneByteReader(strings.NewReader(in)))
		r.max = 10
		return r
	}
	const long = "<too long>"
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a\nb\n", []string{"a", "b"}},
		{"a\r\nb", []string{"a", "b"}},
		{"\n \n\t\r\na\n\n", []string{"a"}},
		{"0123456789\n0123456789\r\nend", []string{"0123456789", "0123456789", "end"}},
		{"0123456789x\nafter\n", []string{long, "after"}},
		{"0123456789x" + strings.Repeat("y", 100_000) + "\nafter", []string{long, "after"}},
		{"before\n" + strings.Repeat("y", 100_000), []string{"before", long}},
	} {
		r := small(c.in)
		var got []string
		for {
			line, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if fault.Is(err, fault.LineTooLong) {
				line = []byte(long)
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.40q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestReaderTakesALineOfTheFullLength(t *testing.T) {
	full := strings.Repeat("x", MaxLine)
	r := NewReader(strings.NewReader(full + "\n" + full + "x\nafter\n"))
	if line, err := r.Next(); err != nil || len(line) != MaxLine {
		t.Errorf("got %d bytes, %v", len(line), err)
	}
	if _, err := r.Next(); !fault.Is(err, fault.LineTooLong) {
		t.Errorf("one byte more: %v", err)
	}
	if line, err := r.Next(); err != nil || string(line) != "after" {
		t.Errorf("got %q, %v", line, err)
	}
}

func TestReaderPassesOnOtherErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)))
	if line, err := r.Next(); err != nil || string(line) != "a" {
		t.Errorf("got %q, %v", line, err)
	}
	if line, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("half a line of a broken connection was given out: %q, %v", line, err)
	}
}

func TestWriterKeepsLinesWhole(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := w.Write(map[string]string{"v": strings.Repeat(fmt.Sprint(i%10), 1000)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 20 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("a mixed line: %.80s", line)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, id := range ids {
		f.Add([]byte(`{"id":` + id + `,"method":"ping","args":{"a":1}}`))
	}
	f.Add([]byte(`{"id":1,"id":2,"method":"x","method":3}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') {
			return
		}
		r, err := Parse(line)
		out, merr := Marshal(Answer(r.ID, nil, err))
		if merr != nil {
			t.Fatalf("no answer to %q: %v", line, merr)
		}
		var back map[string]json.RawMessage
		if e := json.Unmarshal(out, &back); e != nil || bytes.ContainsRune(out, '\n') {
			t.Fatalf("the answer %q is not a line of JSON: %v", out, e)
		}
		want := r.ID
		if len(want) == 0 {
			want = json.RawMessage("null")
		}
		if !bytes.Equal(back["id"], want) {
			t.Fatalf("id %s came back as %s", want, back["id"])
		}
		if err == nil && r.Method == "" {
			t.Fatalf("%q: neither a method nor an error", line)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n0123456789abc\nend"), uint8(10))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		r := NewReader(bytes.NewReader(in))
		r.max = int(limit)
		got, long := 0, 0
		for {
			line, err := r.Next()
			switch {
			case errors.Is(err, io.EOF):
				want, wantLong := 0, 0
				for l := range bytes.SplitSeq(in, []byte("\n")) {
					if len(bytes.TrimRight(l, "\r")) > r.max {
						wantLong++
					} else if len(bytes.TrimSpace(l)) > 0 {
						want++
					}
				}
				if got != want || long != wantLong {
					t.Fatalf("got %d lines and %d too long, want %d and %d", got, long, want, wantLong)
				}
				return
			case fault.Is(err, fault.LineTooLong):
				long++
			case err != nil:
				t.Fatal(err)
			default:
				got++
				if len(line) > r.max || bytes.ContainsRune(line, '\n') || len(line) == 0 {
					t.Fatalf("line %q under limit %d", line, r.max)
				}
			}
		}
	})
}
