package ledger_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/backend/agent"
	"chaperone/backend/browser"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/ledger"
	"chaperone/backend/policy"
	"chaperone/backend/setting"

	"golang.org/x/sync/errgroup"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

// open opens the ledger at path until the test ends.
func open(t testing.TB, path string, o ledger.Options) (*ledger.Ledger, *event.Bus) {
	t.Helper()
	bus := &event.Bus{}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	l, err := ledger.Open(t.Context(), path, bus, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, l.Close()) })
	return l, bus
}

func fresh(t testing.TB, o ledger.Options) (*ledger.Ledger, *event.Bus) {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "ledger.sqlite"), o)
}

// raw is a connection that the ledger knows nothing of.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns x, or ends the test.
func must[T any](t testing.TB) func(x T, err error) T {
	return func(x T, err error) T {
		t.Helper()
		check(t, err)
		return x
	}
}

func whole(t testing.TB, l *ledger.Ledger, rows int64) {
	t.Helper()
	if v := must[event.Verification](t)(l.Verify(t.Context())); !v.OK || v.Rows != rows {
		t.Errorf("got %+v, want %d good rows", v, rows)
	}
}

// fill does something n times, many at once, so that they share transactions.
func fill(t testing.TB, n int, do func(i int) error) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(64)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	check(t, group.Wait())
}

func draft(n int) event.Draft {
	return event.Draft{Category: "browser.tab.opened", Subject: fmt.Sprint("tab ", n), Agent: "ann", Data: map[string]int{"n": n}}
}

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "ledger.sqlite")
	l, bus := open(t, path, ledger.Options{})
	if last := must[int64](t)(l.Last(t.Context())); last != 0 {
		t.Errorf("an empty log ends at %d", last)
	}
	whole(t, l, 0)
	check(t, l.Append(t.Context()))
	check(t, l.Append(t.Context(),
		event.Draft{Category: "agent.connected", Subject: "ann", Agent: "ann", Call: "call_1", Data: map[string]any{"a": "<&>", "n": 1}},
		event.Draft{Category: "policy.asked"}))
	check(t, l.Append(t.Context(), draft(3)))

	if last := must[int64](t)(bus.Wait(t.Context(), 0)); last != 3 {
		t.Errorf("the bus rang for %d", last)
	}
	check(t, l.Close())
	l, bus = open(t, path, ledger.Options{})
	if last := must[int64](t)(bus.Wait(t.Context(), 0)); last != 3 {
		t.Errorf("after opening again the bus rang for %d", last)
	}

	events := must[[]event.Event](t)(l.After(t.Context(), 0, 0))
	if len(events) != 3 {
		t.Fatalf("got %d events", len(events))
	}
	for i, e := range events {
		if e.Seq != int64(i+1) || !e.At.Equal(noon) || len(e.Hash) != 64 {
			t.Errorf("got %+v", e)
		}
	}
	e := events[0]
	if e.Category != "agent.connected" || e.Subject != "ann" || e.Agent != "ann" || e.Call != "call_1" {
		t.Errorf("got %+v", e)
	}
	var data map[string]any
	check(t, json.Unmarshal(e.Data, &data))
	if data["a"] != "<&>" || data["n"] != 1.0 {
		t.Errorf("got %v", data)
	}
	if events[1].Data != nil {
		t.Errorf("got data %s where there is none", events[1].Data)
	}
	if got := must[[]event.Event](t)(l.After(t.Context(), 1, 1)); len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("got %+v", got)
	}
	if got := must[[]event.Event](t)(l.After(t.Context(), 3, 10)); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	whole(t, l, 3)

	rows, bytes, last, err := l.Size(t.Context())
	if err != nil || rows != 3 || last != 3 || bytes < 8192 {
		t.Errorf("size: %d rows, %d bytes, last %d, %v", rows, bytes, last, err)
	}
	for name, want := range map[string]fs.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600} {
		if info, err := os.Stat(path + name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path+name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v %v", info.Mode(), err)
	}
}

// Events must choose exactly what event.Filter.Match chooses.
func TestEventsChoosesAsTheFilterSays(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	var drafts []event.Draft
	for i, c := range []string{"browser", "browser.", "browser.tab", "browser.tab.opened", "browserx", "browser-x", "browser/x",
		"agent.connected", "BROWSER.tab", "policy%", "policy_"} {
		for _, s := range []string{"", "a", "b"} {
			drafts = append(drafts, event.Draft{Category: c, Subject: s, Agent: ids.Agent([]string{"", "ann", "bob"}[i%3])})
		}
	}
	check(t, l.Append(t.Context(), drafts...))
	all := must[[]event.Event](t)(l.After(t.Context(), 0, 0))
	slices.Reverse(all)
	for _, prefix := range []string{"", "browser", "browser.", "browser.tab", "browser.tab.", "agent", "policy", "policy%", "nothing"} {
		for _, subject := range []string{"", "a", "c"} {
			for _, agent := range []ids.Agent{"", "ann", "cid"} {
				f := event.Filter{Prefix: prefix, Subject: subject, Agent: agent}
				var want, got []int64
				for _, e := range all {
					if f.Match(e) {
						want = append(want, e.Seq)
					}
				}
				for before, more := int64(0), true; more; { // two at a time, to the end
					var page []event.Event
					var err error
					page, more, err = l.Events(t.Context(), event.Query{Filter: f, Before: before, Limit: 2})
					check(t, err)
					for _, e := range page {
						got = append(got, e.Seq)
						before = e.Seq
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%+v: got %v, want %v", f, got, want)
				}
			}
		}
	}
}

func TestAChangeAndItsRowsAreOne(t *testing.T) {
	l, bus := fresh(t, ledger.Options{})
	fill(t, 500, func(i int) error {
		origin := policy.Origin(fmt.Sprintf("https://%03d.example", i))
		return l.PutSite(t.Context(), policy.Site{Origin: origin, Access: policy.Allow, At: noon})
	})
	if last := must[int64](t)(l.Last(t.Context())); last != 0 {
		t.Errorf("changes without drafts wrote rows to %d", last)
	}
	err := l.PutSite(t.Context(), policy.Site{Origin: "https://more.example", Access: policy.Block}, draft(1))
	if f := fault.From(err); !fault.Is(err, fault.Busy) || f.Hint == "" {
		t.Errorf("got %v", err)
	}
	if removed := must[bool](t)(l.RemoveSite(t.Context(), "https://more.example", draft(2))); removed {
		t.Error("removed what is not there")
	}
	if last := must[int64](t)(l.Last(t.Context())); last != 0 {
		t.Errorf("what did not happen has rows to %d", last)
	}

	check(t, l.PutSite(t.Context(), policy.Site{Origin: "https://007.example", Access: policy.Block, At: noon}, draft(3), draft(4)))
	if removed := must[bool](t)(l.RemoveSite(t.Context(), "https://000.example", draft(5))); !removed {
		t.Error("not removed")
	}
	if last := must[int64](t)(bus.Wait(t.Context(), 2)); last != 3 {
		t.Errorf("the bus rang for %d", last)
	}
	sites := must[[]policy.Site](t)(l.Sites(t.Context()))
	if len(sites) != 499 || sites[6] != (policy.Site{Origin: "https://007.example", Access: policy.Block, At: noon}) {
		t.Errorf("got %d sites, %+v", len(sites), sites[6])
	}
	whole(t, l, 3)
}

// Refusals among others in the same transaction touch the refused alone.
func TestARefusalTouchesNobodyElse(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	fill(t, 500, func(i int) error {
		return l.PutSite(t.Context(), policy.Site{Origin: policy.Origin(fmt.Sprint("https://", i, ".example"))})
	})
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			if i%2 == 0 {
				if err := l.Append(t.Context(), draft(i)); err != nil {
					t.Error(err)
				}
			} else if err := l.PutSite(t.Context(), policy.Site{Origin: "https://more.example"}, draft(i)); !fault.Is(err, fault.Busy) {
				t.Errorf("got %v", err)
			}
		})
	}
	group.Wait()
	whole(t, l, 20)
}

func TestSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	l, _ := open(t, path, ledger.Options{})
	if got := must[setting.Settings](t)(l.Settings(t.Context())); got != setting.Default() {
		t.Errorf("got %+v", got)
	}
	want := setting.Settings{AgentControl: false, Navigation: policy.Block}
	check(t, l.SaveSettings(t.Context(), setting.Settings{Navigation: policy.Allow}))
	check(t, l.SaveSettings(t.Context(), want, draft(1)))
	if got := must[setting.Settings](t)(l.Settings(t.Context())); got != want {
		t.Errorf("got %+v", got)
	}
	whole(t, l, 1)
	for stored, want := range map[string]setting.Settings{
		`{}`:                                    setting.Default(),
		`{"agentControl":false}`:                {AgentControl: false, Navigation: policy.Ask},
		`{"navigation":"maybe"}`:                setting.Default(),
		`{"navigation":7,"agentControl":false}`: {AgentControl: false, Navigation: policy.Ask},
		`not JSON`:                              setting.Default(),
	} {
		must[sql.Result](t)(raw(t, path).Exec(`UPDATE setting SET value = ?`, stored))
		if got := must[setting.Settings](t)(l.Settings(t.Context())); got != want {
			t.Errorf("%s: got %+v, want %+v", stored, got, want)
		}
	}
}

func TestVisits(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	for i := range 1010 {
		url := fmt.Sprintf("https://shop.example/%d", i)
		check(t, l.AddVisit(t.Context(), browser.Visit{At: noon, Agent: "ann", URL: url, Title: "100%_sure"}))
	}
	visits, more, err := l.Visits(t.Context(), browser.VisitQuery{Limit: 1000})
	if err != nil || len(visits) != 1000 || more {
		t.Fatalf("%d visits, more %v, %v", len(visits), more, err)
	}
	first := browser.Visit{ID: visits[0].ID, At: noon, Agent: "ann", URL: "https://shop.example/1009", Title: "100%_sure"}
	if visits[0] != first || visits[999].URL != "https://shop.example/10" {
		t.Errorf("got %+v … %+v", visits[0], visits[999])
	}
	for text, want := range map[string]int{"/100": 11, "SHOP.example/999": 1, "100%_SURE": 1000, "100__sure": 0, `\`: 0, "": 1000} {
		got, _, err := l.Visits(t.Context(), browser.VisitQuery{Text: text, Limit: 1000})
		if err != nil || len(got) != want {
			t.Errorf("%q: %d visits, want %d, %v", text, len(got), want, err)
		}
	}
	if got, more, err := l.Visits(t.Context(), browser.VisitQuery{Before: visits[1].ID}); err != nil || !more || len(got) != 100 || got[0] != visits[2] {
		t.Errorf("%d visits, more %v, %v", len(got), more, err)
	}
	if removed := must[bool](t)(l.RemoveVisit(t.Context(), first.ID, draft(1))); !removed {
		t.Error("not removed")
	}
	if removed := must[bool](t)(l.RemoveVisit(t.Context(), first.ID, draft(2))); removed {
		t.Error("removed twice")
	}
	check(t, l.AddVisit(t.Context(), browser.Visit{At: noon, URL: "https://a.example/" + strings.Repeat("x", 10_000), Title: strings.Repeat("ä", 1000)}, draft(3)))
	long, _, err := l.Visits(t.Context(), browser.VisitQuery{Limit: 1})
	if err != nil || len(long[0].URL) != 8192 || long[0].Title != strings.Repeat("ä", 256) || long[0].ID <= first.ID {
		t.Errorf("got %d bytes of address, %d of title, id %d, %v", len(long[0].URL), len(long[0].Title), long[0].ID, err)
	}
	if n := must[int](t)(l.ClearVisits(t.Context(), draft(4))); n != 1000 {
		t.Errorf("cleared %d", n)
	}
	if n := must[int](t)(l.ClearVisits(t.Context(), draft(5))); n != 0 {
		t.Errorf("cleared %d", n)
	}
	whole(t, l, 3)
}

func TestAgents(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	put := func(name string, named bool, at int) {
		check(t, l.PutAgent(t.Context(), agent.Record{
			Agent: ids.Agent(name), Session: ids.Session("sess_" + name), Named: named,
			CreatedAt: noon.Add(time.Duration(at) * time.Second),
		}))
	}
	put("bob", false, 1)
	put("ann", true, 0)
	put("ann", true, 2)
	got := must[[]agent.Record](t)(l.AgentRows(t.Context()))
	want := []agent.Record{
		{Agent: "bob", Session: "sess_bob", CreatedAt: noon.Add(time.Second)},
		{Agent: "ann", Session: "sess_ann", Named: true, CreatedAt: noon.Add(2 * time.Second)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	fill(t, 1000, func(i int) error { put(fmt.Sprint("named ", i), true, 10+i); return nil })
	put("new", false, 0)
	got = must[[]agent.Record](t)(l.AgentRows(t.Context()))
	has := func(name ids.Agent) bool {
		return slices.ContainsFunc(got, func(a agent.Record) bool { return a.Agent == name })
	}
	if len(got) != 1000 || has("bob") || has("ann") || has("named 0") || !has("new") || !has("named 1") {
		t.Errorf("kept %d, among them %+v", len(got), got[:2])
	}
}

func TestTheLogIsPrunedAndStillProved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	l, _ := open(t, path, ledger.Options{Rows: 50})
	for i := range 333 {
		check(t, l.Append(t.Context(), draft(i)))
		rows, _, last, err := l.Size(t.Context())
		if err != nil || rows > 50 || last != int64(i+1) || (i >= 50 && rows < 45) {
			t.Fatalf("after %d: %d rows, last %d, %v", i+1, rows, last, err)
		}
	}
	events := must[[]event.Event](t)(l.After(t.Context(), 0, 0))
	if v := must[event.Verification](t)(l.Verify(t.Context())); !v.OK || v.Rows != int64(len(events)) || v.Last != 333 || v.First != events[0].Seq {
		t.Errorf("%d events, %+v", len(events), v)
	}
	check(t, l.Append(t.Context(), slices.Repeat([]event.Draft{draft(0)}, 120)...)) // more at once than there is room for
	if rows, _, last, err := l.Size(t.Context()); err != nil || rows != 45 || last != 453 {
		t.Errorf("%d rows, last %d, %v", rows, last, err)
	}
	check(t, l.Close())
	l, _ = open(t, path, ledger.Options{Rows: 50})
	check(t, l.Append(t.Context(), draft(1)))
	whole(t, l, 46)
}

func TestManyAtOnce(t *testing.T) {
	l, bus := fresh(t, ledger.Options{})
	const writers, each = 8, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				agent := ids.Agent(fmt.Sprint(w))
				err := l.AddVisit(t.Context(), browser.Visit{Agent: agent, At: noon, URL: "https://a.example"},
					event.Draft{Category: "first", Subject: fmt.Sprint(i), Agent: agent}, event.Draft{Category: "second", Subject: fmt.Sprint(i), Agent: agent})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	// A subscriber that reads by cursor misses nothing, however the bus rings.
	var got []event.Event
	for seq := int64(0); seq < 2*writers*each; {
		must[int64](t)(bus.Wait(t.Context(), seq))
		page := must[[]event.Event](t)(l.After(t.Context(), seq, 7))
		if len(page) == 0 {
			t.Fatalf("the bus rang, and there is nothing after %d", seq)
		}
		got = append(got, page...)
		seq = page[len(page)-1].Seq
	}
	group.Wait()
	next := map[ids.Agent]int{}
	for i := 0; i < len(got); i += 2 {
		a, b := got[i], got[i+1]
		if a.Seq != int64(i+1) || a.Category != "first" || b.Category != "second" || a.Agent != b.Agent || a.Subject != b.Subject ||
			a.Subject != fmt.Sprint(next[a.Agent]) {
			t.Fatalf("rows of one append are apart or out of order: %+v %+v", a, b)
		}
		next[a.Agent]++
	}
	whole(t, l, 2*writers*each)
}

func TestNothingIsWrittenForACallThatIsOver(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Append(ctx, draft(1)); !fault.Is(err, fault.Cancelled) || fault.From(err).Effect != fault.EffectNone {
		t.Errorf("got %v", err)
	}
	if _, err := l.After(ctx, 0, 0); !fault.Is(err, fault.Cancelled) {
		t.Errorf("got %v", err)
	}
	for _, data := range []any{[]int{1}, "text", 7, make(chan int)} {
		if err := l.Append(t.Context(), draft(1), event.Draft{Category: "x", Data: data}); !fault.Is(err, fault.Internal) {
			t.Errorf("%T: got %v", data, err)
		}
	}
	whole(t, l, 0)
}

func TestAClosedLedgerSaysSo(t *testing.T) {
	l, _ := fresh(t, ledger.Options{})
	check(t, l.Append(t.Context(), draft(1)))
	check(t, l.Close())
	check(t, l.Close())
	_, verifyErr := l.Verify(t.Context())
	_, sitesErr := l.Sites(t.Context())
	_, _, _, sizeErr := l.Size(t.Context())
	for _, err := range []error{l.Append(t.Context(), draft(2)), verifyErr, sitesErr, sizeErr} {
		if !fault.Is(err, fault.LedgerUnavailable) || !strings.Contains(err.Error(), "closing") {
			t.Errorf("got %v", err)
		}
	}
}

func TestClosingLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	l, _ := open(t, path, ledger.Options{})
	check(t, l.Append(t.Context(), draft(1)))
	whole(t, l, 1)
	check(t, l.Close())
	if left := must[[]string](t)(filepath.Glob(path + "*")); !slices.Equal(left, []string{path}) {
		t.Errorf("left %q", left)
	}
}

func TestAFileOfANewerVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	l, _ := open(t, path, ledger.Options{})
	check(t, l.Append(t.Context(), draft(1)))
	check(t, l.Close())
	must[sql.Result](t)(raw(t, path).Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`))
	_, err := ledger.Open(t.Context(), path, &event.Bus{}, ledger.Options{})
	if !fault.Is(err, fault.LedgerUnavailable) || !strings.Contains(err.Error(), "newer version") || fault.From(err).Hint == "" {
		t.Errorf("got %v", err)
	}
	must[sql.Result](t)(raw(t, path).Exec(`DELETE FROM goose_db_version WHERE version_id = 99`))
	l, _ = open(t, path, ledger.Options{})
	whole(t, l, 1)
}

func TestADamagedFileIsKeptAside(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"not a database": func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600))
		},
		"cut": func(t *testing.T, path string) { check(t, os.Truncate(path, 8192+100)) },
		"pages overwritten": func(t *testing.T, path string) {
			b := must[[]byte](t)(os.ReadFile(path))
			for i := 4096; i < len(b); i++ {
				b[i] = byte(i * 7)
			}
			check(t, os.WriteFile(path, b, 0o600))
		},
		"no chain": func(t *testing.T, path string) { must[sql.Result](t)(raw(t, path).Exec(`DELETE FROM chain`)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.sqlite")
			l, _ := open(t, path, ledger.Options{})
			check(t, l.Append(t.Context(), slices.Repeat([]event.Draft{draft(1)}, 200)...))
			check(t, l.Close())
			harm(t, path)
			broken := must[[]byte](t)(os.ReadFile(path))

			l, _ = open(t, path, ledger.Options{})
			events := must[[]event.Event](t)(l.After(t.Context(), 0, 0))
			if len(events) != 1 || events[0].Category != "ledger.replaced" {
				t.Fatalf("got %d events, %+v first", len(events), events[0])
			}
			var data struct{ Kept string }
			check(t, json.Unmarshal(events[0].Data, &data))
			if !strings.HasPrefix(data.Kept, path+".corrupt-20260504T120000") {
				t.Errorf("kept as %s", data.Kept)
			}
			if kept := must[[]byte](t)(os.ReadFile(data.Kept)); string(kept) != string(broken) {
				t.Error("the damaged file is not kept as it was")
			}
			whole(t, l, 1)
		})
	}
}

func TestADirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	_, err := ledger.Open(t.Context(), filepath.Join(file, "ledger.sqlite"), &event.Bus{}, ledger.Options{})
	if !fault.Is(err, fault.LedgerUnavailable) || errors.Unwrap(err) == nil {
		t.Errorf("got %v", err)
	}
}
