package testkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/testkit"
)

// ownDesktop runs the test again on a desktop of its own, where no other test
// opens windows, and reports whether this already is that run.
func ownDesktop(t *testing.T) bool {
	t.Helper()
	if os.Getenv("CHAPERONE_OWN_DESKTOP") != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("../../build/with-display.sh", self, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "CHAPERONE_OWN_DESKTOP=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("on its own desktop: %v\n%s", err, out)
	}
	return false
}

// A desk is the person at the real screen: a window of theirs, and their hands.
type desk struct {
	t      *testing.T
	window string // of the person's, as xdotool names it

	mu     sync.Mutex
	keys   strings.Builder // what the window was sent
	active []string        // the windows that were active, one after the other
	news   chan struct{}   // has an element after each of the above
}

// sitDown opens the person's window and gives it the focus.
func sitDown(t *testing.T) *desk {
	d := &desk{t: t, news: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { stop(); wg.Wait() })
	follow := func(line func(string), name string, args ...string) {
		out, in := io.Pipe()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stdout = in
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { _ = cmd.Wait(); in.Close() }) // it is killed
		wg.Go(func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				line(s.Text())
			}
		})
	}
	pressed := false
	key := regexp.MustCompile(`XLookupString gives 1 bytes: \(..\) "(.)"`)
	follow(func(line string) {
		if strings.HasPrefix(line, "Key") {
			pressed = strings.HasPrefix(line, "KeyPress")
		}
		if m := key.FindStringSubmatch(line); m != nil && pressed {
			d.note(func() { d.keys.WriteString(m[1]) })
		}
	}, "xev", "-name", "Letter", "-geometry", "80x300+1310+300")
	d.window = d.do("search", "--sync", "--onlyvisible", "--name", "^Letter$")
	d.do("windowactivate", "--sync", d.window)
	follow(func(line string) {
		_, id, _ := strings.Cut(line, "# ")
		if n, err := strconv.ParseUint(id, 0, 32); err == nil {
			d.note(func() { d.active = append(d.active, strconv.FormatUint(n, 10)) })
		}
	}, "xprop", "-spy", "-root", "_NET_ACTIVE_WINDOW")
	d.await("the person's window to be active", func() bool { return len(d.active) > 0 })
	return d
}

func (d *desk) note(what func()) {
	d.mu.Lock()
	what()
	d.mu.Unlock()
	select {
	case d.news <- struct{}{}:
	default:
	}
}

// await waits until is holds, which may look at what was noted.
func (d *desk) await(what string, is func() bool) {
	d.t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for {
		d.mu.Lock()
		ok, keys, active := is(), d.keys.String(), d.active
		d.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-d.news:
		case <-late.C:
			d.t.Fatalf("waited in vain for %s; keys %q, active windows %v, the person's is %s", what, keys, active, d.window)
		}
	}
}

// do uses the person's hands.
func (d *desk) do(args ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "xdotool", args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("xdotool %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// An agentHere is an agent whose calls succeed, or the test ends.
type agentHere struct {
	t *testing.T
	*testkit.Agent
}

func (a agentHere) must(method string, args map[string]any) string {
	a.t.Helper()
	out, err := a.Call(method, args)
	if err != nil {
		a.t.Fatalf("%s %v: %v", method, args, err)
	}
	var said struct {
		Action *struct {
			Success bool `json:"success"`
		} `json:"action"`
		State struct {
			Content string `json:"content"`
		} `json:"state"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		a.t.Fatal(err)
	}
	if said.Action != nil && !said.Action.Success {
		a.t.Fatalf("%s %v: %s", method, args, out)
	}
	return said.State.Content
}

func comeIn(t *testing.T, pages map[string]string) (*testkit.Kit, agentHere) {
	k := testkit.Start(t, testkit.Options{})
	for host, html := range pages {
		k.Sites.Page(host, "/", html)
	}
	k.Person.Always(approval.AllowOnce)
	a, err := k.Agent("ann")
	if err != nil {
		t.Fatal(err)
	}
	return k, agentHere{t, a}
}

const shop = `<!doctype html><title>Shop</title><input id=name aria-label=Name>
	<button id=popup onclick="open('/','','width=300,height=300')">Popup</button>
	<button id=alert onclick="alert('Sold out')">Alert</button>
	<select id=size><option>Small<option>Large</select>`

// The person writes in a window of their own, at 20 ms a key, while an agent
// does everything that gives a browser's window the focus.
func TestFocusStaysWithThePerson(t *testing.T) {
	if !ownDesktop(t) {
		return
	}
	d := sitDown(t)
	k, a := comeIn(t, map[string]string{"shop.localhost": shop, "pay.localhost": "<title>Pay</title><h1>Pay"})

	const letter = "the quick brown fox jumps over the lazy dog and writes it all down here while somebody browses "
	done, written := make(chan struct{}), make(chan string, 1)
	go func() {
		var sent strings.Builder
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}
			d.do("type", "--delay", "20", letter)
			sent.WriteString(letter)
		}
		written <- sent.String()
	}()

	a.must("navigate", map[string]any{"url": k.Sites.Origin("shop.localhost") + "/"})
	a.must("click_element", map[string]any{"target": "#name"})
	a.must("input_text", map[string]any{"target": "#name", "text": "Ann Example"})
	a.must("press", map[string]any{"key": "Tab"})
	a.must("click_element", map[string]any{"target": "#size"})
	a.must("press", map[string]any{"key": "Escape"})
	a.must("click_element", map[string]any{"target": "#alert"})
	a.must("handle_dialog", map[string]any{"accept": true})
	a.must("open_new_tab", map[string]any{"url": k.Sites.Origin("pay.localhost") + "/"})
	a.must("switch_to_tab", map[string]any{"tabId": 1})
	a.must("click_element", map[string]any{"target": "#popup"})
	a.must("close_tab", map[string]any{"tabId": 3})
	a.must("close_tab", map[string]any{"tabId": 2})
	a.must("switch_to_tab", map[string]any{"tabId": 1})
	state := a.must("click_element", map[string]any{"target": "#name"})
	close(done)
	want := <-written

	d.await("the last key", func() bool { return d.keys.Len() >= len(want) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := d.keys.String(); got != want {
		t.Errorf("the person wrote\n%q, their window got\n%q", want, got)
	}
	for _, w := range d.active {
		if w != d.window {
			t.Errorf("the active windows were %v; the person's is %s", d.active, d.window)
			break
		}
	}
	if !strings.Contains(state, `value="Ann Example"`) {
		t.Errorf("the page has not what the agent wrote:\n%s", state)
	}
}

// The person goes into the agent's window with the pointer and writes there, and
// when they have gone back to their own, it is theirs again.
func TestThePersonMayUseTheAgentsWindow(t *testing.T) {
	if !ownDesktop(t) {
		return
	}
	d := sitDown(t)
	k, a := comeIn(t, map[string]string{"shop.localhost": `<!doctype html><title>Shop</title>
		<p id=said>Nothing</p><textarea aria-label=Note oninput="said.textContent = value.toUpperCase()"
		style="position:fixed;inset:100px 0 0 0;width:100%"></textarea>`,
		"pay.localhost": `<title>Pay</title><h1>Pay</h1><button onclick="open('/card','','width=300,height=300')">Card</button>`})
	k.Sites.Page("pay.localhost", "/card", "<title>Card</title><h1>Card")
	a.must("navigate", map[string]any{"url": k.Sites.Origin("shop.localhost") + "/"})
	window := d.do("search", "--sync", "--onlyvisible", "--name", "Shop - ")
	at := func(w string) func() bool { return func() bool { return d.active[len(d.active)-1] == w } }

	d.do("mousemove", "--window", window, "600", "500", "click", "1")
	d.await("the agent's window to be active", at(window))
	d.do("type", "--delay", "20", "a note from a person")
	a.must("wait_for", map[string]any{"text": "A NOTE FROM A PERSON"})

	// The address bar is in the second row of Chromium's window.
	d.do("mousemove", "--window", window, "500", "62", "click", "1")
	d.do("type", "--delay", "20", k.Sites.Origin("pay.localhost")+"/")
	d.do("key", "Return")
	if err := k.Sites.Await("pay.localhost", 1); err != nil {
		t.Fatal(err)
	}
	a.must("wait_for", map[string]any{"text": "Pay"})

	d.do("windowactivate", "--sync", d.window)
	d.await("the person's window to be active", at(d.window))
	a.must("click_element", map[string]any{"target": "h1"})
	d.do("type", "--delay", "20", "back again")
	d.await("the last key", func() bool { return d.keys.String() == "back again" })

	// A window that goes while the person is in it leaves them outside.
	a.must("click_element", map[string]any{"target": "button"})
	card := d.do("search", "--sync", "--onlyvisible", "--name", "Card - ")
	d.do("windowactivate", "--sync", card)
	d.await("the popup to be active", at(card))
	a.must("close_tab", map[string]any{"tabId": 2})
	d.await("the person's window to be active", at(d.window))
	a.must("click_element", map[string]any{"target": "h1"})
	a.must("open_new_tab", map[string]any{})
	d.do("type", "--delay", "20", ", still")
	d.await("the last key", func() bool { return d.keys.String() == "back again, still" })
	if !at(d.window)() {
		t.Errorf("the active windows were %v; the person's is %s", d.active, d.window)
	}
}
