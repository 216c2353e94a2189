//go:build unix

package ledger

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
)

// child, in the environment, makes the test program one of the children below, on the ledger named there.
const child = "CHAPERONE_LEDGER_TEST_CHILD"

func TestMain(m *testing.M) {
	switch role, path, _ := strings.Cut(os.Getenv(child), ":"); role {
	case "":
		os.Exit(m.Run())
	case "writer":
		writeForEver(path)
	case "full":
		fillDisk(path)
	}
}

func start(t *testing.T, role, path string) *osexec.Cmd {
	t.Helper()
	cmd := osexec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+role+":"+path)
	cmd.Stderr = t.Output()
	return cmd
}

func fill(i int) event.Draft {
	return event.Draft{Category: "action.started", Subject: fmt.Sprint(i), Data: map[string]string{"text": strings.Repeat("x", 900)}}
}

// writeForEver appends as fast as it can, from several sides, and says each row's number once it is told that it is kept.
func writeForEver(path string) {
	l, err := Open(context.Background(), path, &event.Bus{}, Options{Rows: 500})
	if err != nil {
		panic(err)
	}
	for g := range 4 {
		go func() {
			for i := g; ; i += 4 {
				origin := policy.Origin(fmt.Sprint("https://", i%400, ".example"))
				if err := l.PutSite(context.Background(), policy.Site{Origin: origin}, fill(i)); err != nil {
					panic(err)
				}
				last, _ := l.Last(context.Background())
				fmt.Println(last)
			}
		}()
	}
	select {}
}

func TestKilledWhileItWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	for round := range 3 {
		cmd := start(t, "writer", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var promised int64
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			seq, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				break // the last line may be half a line
			}
			promised = max(promised, seq)
			if n == 300+100*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed

		l, err := Open(t.Context(), path, &event.Bus{}, Options{Rows: 500})
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.Verify(t.Context())
		if err != nil || !v.OK || v.Last < promised || promised < 300 {
			t.Errorf("round %d: promised %d, got %+v, %v", round, promised, v, err)
		}
		if left, _ := filepath.Glob(path + ".corrupt*"); len(left) > 0 {
			t.Errorf("the file counts as damaged: %q", left)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fillDisk appends until the files may grow no more, and says what came of it.
func fillDisk(path string) {
	ctx := context.Background()
	l, err := Open(ctx, path, &event.Bus{}, Options{})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		panic(err)
	}
	limit := was
	limit.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	kept := 0
	for i := 0; err == nil; i++ {
		if err = l.Append(ctx, fill(i), fill(i)); err == nil {
			kept += 2
		}
	}
	say := func(what string, err error) { fmt.Println(what, kept, fault.From(err)) }
	say("full", err)
	much := slices.Repeat([]event.Draft{fill(0)}, 400) // more than the limit by itself
	say("still full", l.PutSite(ctx, policy.Site{Origin: "https://a.example"}, much...))
	sites, err := l.Sites(ctx)
	fmt.Println("sites", len(sites), err)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		panic(err)
	}
	if err = l.Append(ctx, fill(0)); err == nil {
		kept++
	}
	say("space again", err)
	v, err := l.Verify(ctx)
	fmt.Println("proved", v.OK, v.Rows == int64(kept), v.Last == int64(kept), err)
}

func TestADiskThatTakesNoMore(t *testing.T) {
	out, err := start(t, "full", filepath.Join(t.TempDir(), "ledger.sqlite")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{
		"full N LEDGER_UNAVAILABLE: the disk is full or cannot be written, so what happens cannot be recorded",
		"still full N LEDGER_UNAVAILABLE: the disk is full or cannot be written, so what happens cannot be recorded",
		"sites 0 <nil>",
		"space again N <nil>",
		"proved true true true <nil>",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		words := strings.Fields(want[i])
		for j, w := range strings.Fields(got[i]) {
			if j >= len(words) || w != words[j] && words[j] != "N" {
				t.Errorf("got %q, want %q", got[i], want[i])
				break
			}
		}
	}
}

// SQLite's own word for a full disk, whatever it came from.
func TestAFullDiskIsNamed(t *testing.T) {
	bus := &event.Bus{}
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "ledger.sqlite"), bus, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	full := func(ctx context.Context, c *sql.Conn) (bool, error) {
		return true, exec(ctx, c, `PRAGMA max_page_count = 1`) // that is: no more than there are
	}
	if err := l.write(t.Context(), full, nil); err != nil {
		t.Fatal(err)
	}
	draft := event.Draft{Category: "action.started", Data: map[string]string{"a": strings.Repeat("a", 12_000)}}
	err = l.Append(t.Context(), draft)
	if !fault.Is(err, fault.LedgerUnavailable) || !strings.Contains(err.Error(), "the disk is full, so") {
		t.Errorf("got %v", err)
	}
	if f := fault.From(err); f.Effect != fault.EffectNone || f.Hint == "" {
		t.Errorf("got %+v", f)
	}
	if v, err := l.Verify(t.Context()); err != nil || !v.OK || v.Rows != 0 {
		t.Errorf("got %+v, %v", v, err)
	}
	// The writer has a new connection now, without the limit.
	if err := l.Append(t.Context(), draft); err != nil {
		t.Fatal(err)
	}
	if last, err := bus.Wait(t.Context(), 0); err != nil || last != 1 {
		t.Errorf("the bus rang for %d, %v", last, err)
	}
}
