package testkit_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/chrome"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/testkit"
)

// What must be survived. Each test kills, closes or floods something real.

// open starts a kit whose person allows everything.
func open(t *testing.T, o testkit.Options) *testkit.Kit {
	t.Helper()
	k := testkit.Start(t, o)
	k.Person.Always(approval.AllowAlways)
	return k
}

func agent(t *testing.T, k *testkit.Kit, name string) *testkit.Agent {
	t.Helper()
	a, err := k.Agent(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func do(t *testing.T, a *testkit.Agent, method string, args any) browser.Outcome {
	t.Helper()
	raw, err := a.Call(method, args)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	var o browser.Outcome
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatalf("%s: %v in %s", method, err, raw)
	}
	return o
}

func decode[T any](t *testing.T, raw json.RawMessage, err error) (v T) {
	t.Helper()
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type args = map[string]any

// session returns what the person sees of the agent's window.
func session(t *testing.T, k *testkit.Kit, name ids.Agent) browser.Session {
	t.Helper()
	raw, err := k.Person.Send("sessions", nil)
	list := decode[struct{ Sessions []browser.Session }](t, raw, err)
	i := slices.IndexFunc(list.Sessions, func(s browser.Session) bool { return s.Agent == name })
	if i < 0 {
		t.Fatalf("no session of %s in %s", name, raw)
	}
	return list.Sessions[i]
}

func happened(t *testing.T, k *testkit.Kit, category string, of ids.Agent) event.Event {
	t.Helper()
	e, err := k.Person.Event(func(e event.Event) bool { return e.Category == category && e.Agent == of })
	if err != nil {
		t.Fatalf("%s of %s: %v", category, of, err)
	}
	return e
}

const page = `<!doctype html><title>Page</title><h1>Hello</h1><button onclick="document.getElementById('n').textContent=++window.n||(window.n=1)">Count</button><p>Count is <span id=n>0</span></p>`

// slow is a page whose click takes a while.
const slow = `<!doctype html><title>Slow</title><button onclick="const t=Date.now();while(Date.now()-t<20000);">Work</button>`

func TestChromiumIsKilledDuringAClick(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", slow)
	k.Sites.Page("b.localhost", "/", page)
	ann, bob := agent(t, k, "ann"), agent(t, k, "bob")
	do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	do(t, bob, "navigate", args{"url": k.Sites.Origin("b.localhost") + "/"})
	before := session(t, k, "ann")

	click, err := ann.Start("click_element", args{"name": "Work"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := bob.Start("wait", args{"seconds": 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person.Event(func(e event.Event) bool { return e.Category == "agent.action.started" && e.Subject == "click_element" }); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, err = click.Wait()
	if took := time.Since(killed); testkit.Code(err) != fault.BrowserGone || took > time.Second {
		t.Errorf("the click came back after %v with %v", took, err)
	}
	happened(t, k, "browser.session.crashed", "ann")
	if _, err := other.Wait(); err != nil {
		t.Errorf("another agent's call: %v", err)
	}
	if o := do(t, bob, "click_element", args{"name": "Count"}); !strings.Contains(o.State.Content, "Count is 1") {
		t.Errorf("another agent's page: %s", o.State.Content)
	}
	k.Sites.Page("a.localhost", "/again", page)
	if o := do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/again"}); o.State.Title != "Page" {
		t.Errorf("the fresh window shows %q", o.State.Title)
	}
	after := session(t, k, "ann")
	if after.Session != before.Session || after.PID == before.PID || after.Tabs[0].TabID <= before.Tabs[0].TabID {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestARendererIsKilled(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", page)
	ann := agent(t, k, "ann")
	do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	killRenderers(t, session(t, k, "ann").PID)
	happened(t, k, "browser.tab.crashed", "ann")
	o := do(t, ann, "get_browser_state", nil)
	if !strings.Contains(o.ObservationError, "crashed") || o.State.Content != "" {
		t.Errorf("a crashed page reads as %+v", o)
	}
	if o := do(t, ann, "reload", nil); o.Action == nil || !o.Action.Success || !strings.Contains(o.State.Content, "Hello") {
		t.Errorf("reload: %+v", o)
	}
	if o := do(t, ann, "click_element", args{"name": "Count"}); !strings.Contains(o.State.Content, "Count is 1") {
		t.Errorf("after the reload: %s", o.State.Content)
	}
}

// killRenderers kills the renderers of the Chromium pid, found by their parents.
func killRenderers(t *testing.T, pid int) {
	t.Helper()
	n := 0
	for _, p := range descendants(pid) {
		cmd, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		if err == nil && strings.Contains(string(cmd), "--type=renderer") {
			if syscall.Kill(p, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	if n == 0 {
		t.Fatal("no renderer was found")
	}
}

// descendants returns the processes that pid started, directly or not.
func descendants(pid int) []int {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent int
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && state != "Z" {
			parents[p] = parent
		}
	}
	var out []int
	for p := range parents {
		for q := p; q > 1; q = parents[q] {
			if parents[q] == pid {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// until waits for a condition of the outside world that nobody announces.
func until(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// using returns the processes whose command line names dir.
func using(dir string) []int {
	var out []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if p, err := strconv.Atoi(e.Name()); err == nil && p != os.Getpid() {
			if cmd, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")); err == nil && strings.Contains(string(cmd), dir) {
				out = append(out, p)
			}
		}
	}
	return out
}

// child runs this test binary as another process that does part, below home.
func child(t *testing.T, part, home string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "CHAPERONE_TEST_PART="+part, "CHAPERONE_TEST_HOME="+home)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

// heard waits for a line of a child.
func heard(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		line, _ := r.ReadString('\n')
		got <- strings.TrimSpace(line)
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(time.Minute):
		t.Fatal("the other process said nothing")
		return ""
	}
}

// parts are what a child process of these tests does.
var parts = map[string]func(home string) error{
	"host": func(home string) error { return visit(home, func(*testkit.Kit, *testkit.Agent) error { select {} }) },
	"full": func(home string) error { return visit(home, fullDisk) },
}

func TestMain(m *testing.M) {
	part, ok := parts[os.Getenv("CHAPERONE_TEST_PART")]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv("CHAPERONE_TEST_HOME")); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// visit runs a host below home in which agent ann has opened a page that sets a
// cookie, says so on stdout, and does then.
func visit(home string, then func(*testkit.Kit, *testkit.Agent) error) error {
	k, err := testkit.Open(testkit.Options{Home: home})
	if err != nil {
		return err
	}
	defer k.Close()
	k.Person.Always(approval.AllowAlways)
	k.Sites.Handle("a.localhost", "/", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "login", Value: "ann", MaxAge: 3600})
		fmt.Fprint(w, page)
	})
	a, err := k.Agent("ann")
	if err != nil {
		return err
	}
	if _, err := a.Call("navigate", args{"url": k.Sites.Origin("a.localhost") + "/"}); err != nil {
		return err
	}
	fmt.Println("visited", k.Sites.Origin("a.localhost"))
	return then(k, a)
}

func TestTheHostIsKilled(t *testing.T) {
	home := t.TempDir()
	cmd, out := child(t, "host", home)
	if line := heard(t, out); !strings.HasPrefix(line, "visited") {
		t.Fatal(line)
	}
	if len(using(home)) == 0 {
		t.Fatal("no Chromium of that host was found")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, 5*time.Second, "no Chromium is left", func() bool { return len(using(home)) == 0 })

	k := open(t, testkit.Options{Home: home})
	raw, err := k.Person.Send("history", nil)
	visits := decode[struct{ Visits []browser.Visit }](t, raw, err).Visits
	if len(visits) == 0 || visits[0].Agent != "ann" {
		t.Errorf("the history is lost: %s", raw)
	}
	raw, err = k.Person.Send("verify_audit", nil)
	if v := decode[event.Verification](t, raw, err); !v.OK || v.Rows == 0 {
		t.Errorf("the account does not hold: %s", raw)
	}
	k.Sites.Page("a.localhost", "/", page)
	if o := do(t, agent(t, k, "ann"), "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"}); o.State.Title != "Page" {
		t.Errorf("the same profile does not open: %+v", o)
	}
}

// fullDisk lets the ledger's file grow no further while the agent acts. It says
// on stdout what came of it.
func fullDisk(k *testkit.Kit, a *testkit.Agent) error {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	limit := was
	limit.Cur = 1
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	_, err := a.Call("click_element", args{"name": "Count"})
	code := testkit.Code(err)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	if code != fault.LedgerUnavailable {
		return fmt.Errorf("with a full disk the click came to %v", err)
	}
	raw, err := a.Call("get_browser_state", nil)
	if err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if !strings.Contains(string(raw), "Count is 0") {
		return fmt.Errorf("the click happened all the same: %s", raw)
	}
	raw, err = k.Person.Send("verify_audit", nil)
	if err != nil || !strings.Contains(string(raw), `"ok":true`) {
		return fmt.Errorf("the account: %s, %w", raw, err)
	}
	return nil
}

func TestTheDiskIsFull(t *testing.T) {
	_, out := child(t, "full", t.TempDir())
	if line := heard(t, out); !strings.HasPrefix(line, "visited") {
		t.Fatal(line)
	}
	if line := heard(t, out); line != "done" {
		t.Error(line)
	}
}

func TestTwoHosts(t *testing.T) {
	home := t.TempDir()
	testkit.Start(t, testkit.Options{Home: home, Headless: true})
	_, err := testkit.Open(testkit.Options{Home: home, Headless: true})
	if err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("the second host: %v", err)
	}
}

func TestThePersonClosesByHand(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", page)
	ann := agent(t, k, "ann")
	do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	do(t, ann, "open_new_tab", args{"url": k.Sites.Origin("a.localhost") + "/"})
	before := session(t, k, "ann")

	waiting, err := ann.Start("wait_for", args{"text": "never", "seconds": 30, "tabId": 2})
	if err != nil {
		t.Fatal(err)
	}
	hand(t, before.PID, "ctrl+w")
	if _, err := waiting.Wait(); testkit.Code(err) != fault.BrowserGone {
		t.Errorf("a call on the tab that was closed: %v", err)
	}
	if o := do(t, ann, "get_browser_state", nil); o.State.TabID != 1 || len(o.State.Tabs) != 1 {
		t.Errorf("after the tab was closed: tab %d of %+v", o.State.TabID, o.State.Tabs)
	}

	waiting, err = ann.Start("wait_for", args{"text": "never", "seconds": 30})
	if err != nil {
		t.Fatal(err)
	}
	hand(t, before.PID, "alt+F4")
	if _, err := waiting.Wait(); testkit.Code(err) != fault.BrowserGone {
		t.Errorf("a call on the window that was closed: %v", err)
	}
	happened(t, k, "browser.session.closed", "ann")
	if s := session(t, k, "ann"); s.Status != browser.Closed {
		t.Errorf("the session is %s", s.Status)
	}
	if o := do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"}); o.State.Title != "Page" {
		t.Errorf("the next action: %+v", o.State)
	}
	if after := session(t, k, "ann"); after.Session != before.Session {
		t.Errorf("session %s became %s", before.Session, after.Session)
	}
}

// hand presses keys in the window of the Chromium pid, as the person would.
func hand(t *testing.T, pid int, keys string) {
	t.Helper()
	var window string
	until(t, 10*time.Second, "the window is on the screen", func() bool {
		out, err := exec.Command("xdotool", "search", "--onlyvisible", "--pid", strconv.Itoa(pid), "--name", ".").Output()
		window, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
		return err == nil && window != ""
	})
	until(t, 10*time.Second, "the window has the keyboard", func() bool {
		if exec.Command("xdotool", "windowactivate", window).Run() != nil {
			return false
		}
		active, err := exec.Command("xdotool", "getactivewindow").Output()
		return err == nil && strings.TrimSpace(string(active)) == window
	})
	if out, err := exec.Command("xdotool", "key", "--clearmodifiers", keys).CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v: %s", err, out)
	}
}

func TestTheAppClosesWithAgentsConnected(t *testing.T) {
	home := t.TempDir()
	k := open(t, testkit.Options{Home: home})
	k.Sites.Page("a.localhost", "/", page)
	ann := agent(t, k, "ann")
	do(t, ann, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	waiting, err := ann.Start("wait_for", args{"text": "never", "seconds": 60})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- k.Close() }()
	if _, err := waiting.Wait(); err == nil {
		t.Error("the call came to an end as if nothing had been")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if left := using(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestEightAgentsAtOnce(t *testing.T) {
	const agents, actions = 8, 50
	k := open(t, testkit.Options{})
	var wg sync.WaitGroup
	for i := range agents {
		name := fmt.Sprintf("agent%d", i)
		host := name + ".localhost"
		k.Sites.Page(host, "/", strings.ReplaceAll(strings.ReplaceAll(page, "Hello", "Home of "+name), "Count is", name+" is at"))
		wg.Go(func() {
			a, err := k.Agent(name)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := a.Call("navigate", args{"url": k.Sites.Origin(host) + "/"}); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			for n := 1; n < actions; n++ {
				raw, err := a.Call("click_element", args{"name": "Count"})
				if err != nil {
					t.Errorf("%s, action %d: %v", name, n, err)
					return
				}
				var o browser.Outcome
				if err := json.Unmarshal(raw, &o); err != nil || !strings.Contains(o.State.Content, fmt.Sprintf("%s is at %d", name, n)) ||
					!strings.Contains(o.State.Content, "Home of "+name) {
					t.Errorf("%s, action %d: %v, %s", name, n, err, raw)
					return
				}
			}
		})
	}
	wg.Wait()
	asked, settled := map[ids.Call]ids.Agent{}, 0
	for _, e := range k.Person.Events() {
		switch e.Category {
		case "agent.action.started":
			asked[e.Call] = e.Agent
		case "agent.action.completed":
			if asked[e.Call] != e.Agent {
				t.Errorf("row %d: the call of %q was settled as %q's", e.Seq, asked[e.Call], e.Agent)
			}
			settled++
		}
	}
	if len(asked) != agents*actions || settled < agents*(actions-1) {
		t.Errorf("%d asked, %d settled", len(asked), settled)
	}
}

func TestHostilePages(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Person.Always(approval.BlockOnce)
	k.Sites.Page("other.localhost", "/", page)
	other := k.Sites.Origin("other.localhost")
	if _, err := k.Person.Send("set_site", args{"origin": k.Sites.Origin("h.localhost"), "access": "allow"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		html string
		then func(*testing.T, *testkit.Agent)
	}{
		"opens 100 popups": {
			`<button onclick="for(let i=0;i<100;i++)window.open('` + other + `/?'+i)">Go</button><p>still here</p>`,
			func(t *testing.T, a *testkit.Agent) {
				do(t, a, "click_element", args{"name": "Go"})
				until(t, 60*time.Second, "the popups are gone", func() bool {
					raw, err := a.Call("get_browser_state", args{"tabId": 1})
					return err == nil && len(decode[browser.Outcome](t, raw, err).State.Tabs) == 1
				})
				if n := len(k.Sites.Requests("other.localhost")); n != 0 {
					t.Errorf("%d requests got out", n)
				}
			},
		},
		"never stops loading": {
			`<p>still here</p><img src="/never">`,
			func(t *testing.T, a *testkit.Agent) {
				o := do(t, a, "get_browser_state", nil)
				if o.State.Settled || !strings.Contains(o.State.Content, "still here") {
					t.Errorf("%+v", o)
				}
			},
		},
		"navigates in a loop": {
			`<p>still here</p><script>setInterval(()=>location.href='` + other + `/'+Math.random(),5)</script>`,
			func(t *testing.T, a *testkit.Agent) {
				if _, err := k.Person.Event(func(e event.Event) bool { return e.Category == "browser.navigation.refused" }); err != nil {
					t.Error(err)
				}
				if n := len(k.Sites.Requests("other.localhost")); n != 0 {
					t.Errorf("%d requests got out", n)
				}
				do(t, a, "get_browser_state", nil)
			},
		},
		"reloads itself in a loop": {
			`<p>still here</p><script>setTimeout(()=>location.reload(),1)</script>`,
			func(t *testing.T, a *testkit.Agent) { do(t, a, "get_browser_state", nil) },
		},
		"has 50,000 elements": {
			`<p>still here</p><script>for(let i=0;i<25000;i++){const p=document.createElement('p');p.innerHTML='<a href=#>x'+i+'</a>';document.body.append(p)}</script>`,
			func(t *testing.T, a *testkit.Agent) {
				o := do(t, a, "get_browser_state", nil)
				if n := len(o.State.Content); n == 0 || n > 20000 || !strings.Contains(o.State.Content, "still here") || o.State.Footer == "" {
					t.Errorf("%d characters, footer %q, %s", n, o.State.Footer, o.ObservationError)
				}
				raw, err := a.Call("find_element", args{"text": "x24999"})
				if found := decode[browser.Found](t, raw, err); found.Total != 1 {
					t.Errorf("what was left out is not found: %+v", found)
				}
			},
		},
		"raises dialogs in a loop": {
			`<p>still here</p><button onclick="for(let i=0;i<1000;i++)alert(i)">Go</button>`,
			func(t *testing.T, a *testkit.Agent) {
				o := do(t, a, "click_element", args{"name": "Go"})
				for i := range 3 {
					if o.State.Dialog == nil || o.State.Dialog.Message != strconv.Itoa(i) {
						t.Fatalf("dialog %d: %+v", i, o.State.Dialog)
					}
					o = do(t, a, "handle_dialog", args{"accept": true})
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := "/" + strings.ReplaceAll(name, " ", "-")
			k.Sites.Page("h.localhost", path, c.html)
			never := make(chan struct{})
			k.Sites.Handle("h.localhost", "/never", func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-never:
				case <-r.Context().Done():
				}
			})
			defer close(never)
			a := agent(t, k, "hostile-"+path[1:4]+strconv.Itoa(len(path)))
			defer a.Close()
			do(t, a, "navigate", args{"url": k.Sites.Origin("h.localhost") + path})
			c.then(t, a)
			// The agent can always leave, whatever the page does.
			k.Sites.Page("h.localhost", "/calm", page)
			if o := do(t, a, "open_new_tab", args{"url": k.Sites.Origin("h.localhost") + "/calm"}); o.State.Title != "Page" {
				t.Errorf("%+v", o.State)
			}
		})
	}
}

func TestWithoutChromiumOrDisplay(t *testing.T) {
	t.Run("no Chromium", func(t *testing.T) {
		k := open(t, testkit.Options{Chromium: filepath.Join(t.TempDir(), "none")})
		_, err := agent(t, k, "ann").Call("navigate", args{"url": "http://a.localhost/"})
		if f := fault.From(err); f.Code != fault.BrowserUnavailable || f.Hint == "" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("no display", func(t *testing.T) {
		t.Setenv("DISPLAY", "")
		t.Setenv("WAYLAND_DISPLAY", "")
		k := open(t, testkit.Options{Headless: true})
		_, err := agent(t, k, "ann").Call("navigate", args{"url": "http://a.localhost/"})
		if f := fault.From(err); f.Code != fault.BrowserUnavailable || f.Hint == "" {
			t.Errorf("%+v", f)
		}
	})
}

func TestAProfileInUse(t *testing.T) {
	home := t.TempDir()
	k := open(t, testkit.Options{Home: home})
	profile := filepath.Join(k.Host.Paths().Agents, "ann", "profile")
	if err := os.MkdirAll(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	install, err := chrome.Find("")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--user-data-dir=" + profile, "--no-first-run", "about:blank"}
	if os.Getuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	theirs := exec.Command(install.Path, flags...) // the person's own, on the same profile
	theirs.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := theirs.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		_ = syscall.Kill(-theirs.Process.Pid, syscall.SIGKILL)
		_ = theirs.Wait()
	})
	defer end()
	lock := filepath.Join(profile, "SingletonLock")
	until(t, 30*time.Second, "it has taken the profile", func() bool { _, err := os.Lstat(lock); return err == nil })
	ann := agent(t, k, "ann")
	_, err = ann.Call("navigate", args{"url": "http://a.localhost/"})
	if f := fault.From(err); f == nil || f.Code != fault.BrowserLaunchFailed || !strings.Contains(f.Message, strconv.Itoa(theirs.Process.Pid)) {
		t.Errorf("%+v", f)
	}
	end()
	if _, err := ann.Call("get_browser_state", nil); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

func TestLoginsStay(t *testing.T) {
	home := t.TempDir()
	var sent string
	for run := range 2 {
		k, err := testkit.Open(testkit.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		k.Person.Always(approval.AllowOnce)
		k.Sites.Handle("a.localhost", "/", func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header.Get("Cookie")
			http.SetCookie(w, &http.Cookie{Name: "login", Value: "ann", MaxAge: 3600})
			fmt.Fprint(w, page)
		})
		a, err := k.Agent("ann")
		if err == nil {
			_, err = a.Call("navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
		}
		if err := errors.Join(err, k.Close()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "login=ann"}[run]; sent != want {
			t.Errorf("run %d sent cookie %q, want %q", run, sent, want)
		}
	}
}
