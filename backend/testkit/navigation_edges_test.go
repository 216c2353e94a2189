package testkit_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/chrome"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
	"chaperone/backend/testkit"
)

// What the table of ways leaves open: questions that nobody needs answered any
// more, history, redirects, addresses that are no sites, and what would leave
// past a navigation.

// begin starts a kit whose site "start" is allowed, with ann in its window.
func begin(t *testing.T) (*testkit.Kit, *testkit.Agent) {
	t.Helper()
	k := testkit.Start(t, testkit.Options{})
	starts(k)
	site(t, k, k.Sites.Origin("start"), policy.Allow)
	a := agent(t, k, "ann")
	do(t, a, "navigate", args{"url": k.Sites.Origin("start") + "/empty"})
	return k, a
}

// start opens a page of the given HTML on the site "start" in tab 1.
func start(t *testing.T, k *testkit.Kit, a *testkit.Agent, html string) browser.Outcome {
	t.Helper()
	k.Sites.Page("start", "/", "<!doctype html><title>Start</title><p>still here</p>"+html)
	return do(t, a, "navigate", args{"url": k.Sites.Origin("start") + "/", "tabId": 1})
}

func click(t *testing.T, a *testkit.Agent, name string) browser.Outcome {
	t.Helper()
	return do(t, a, "click_element", args{"name": name, "tabId": 1})
}

func settled(t *testing.T, k *testkit.Kit, q approval.Question) {
	t.Helper()
	until(t, 10*time.Second, fmt.Sprintf("the question about %s is withdrawn", q.Origin), func() bool {
		return !slices.ContainsFunc(questions(t, k), func(o approval.Question) bool { return o.Question == q.Question })
	})
}

func TestQuestionsThatAreOver(t *testing.T) {
	k, a := begin(t)
	for name, c := range map[string]struct{ html, after string }{
		"another site":            {`<button onclick="setTimeout(()=>location='http://second.localhost/',1000);location='http://first.localhost/'">Go</button>`, "second"},
		"the same site":           {`<button onclick="setTimeout(()=>location='/empty',1000);location='http://first.localhost/'">Go</button>`, ""},
		"stopped by the page":     {`<button onclick="setTimeout(()=>window.stop(),1000);location='http://first.localhost/'">Go</button>`, ""},
		"replaced by a blob":      {`<button onclick="setTimeout(()=>location=window.URL.createObjectURL(new Blob(['x'],{type:'text/html'})),1000);location='http://first.localhost/'">Go</button>`, ""},
		"replaced by about:blank": {`<button onclick="setTimeout(()=>location='about:blank',1000);location='http://first.localhost/'">Go</button>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, k, a, c.html)
			click(t, a, "Go")
			q := asked(t, k, k.Sites.Origin("first"))
			settled(t, k, q)
			if c.after != "" {
				answer(t, k, asked(t, k, k.Sites.Origin(c.after)), approval.BlockOnce)
			}
			if matched, err := k.Person.Answer(q.Question, approval.AllowOnce); matched || err != nil {
				t.Errorf("a late answer: matched %v, %v", matched, err)
			}
			// The window hears of the end a moment after the questions do.
			until(t, 10*time.Second, "the page can be read again", func() bool {
				o := do(t, a, "get_browser_state", args{"tabId": 1})
				return o.State.Pending == nil && o.ObservationError == ""
			})
			unseen(t, k, "first", "afterwards")
		})
	}
	t.Run("the tab closes", func(t *testing.T) {
		start(t, k, a, script(`window.open('http://first.localhost/')`))
		click(t, a, "Go")
		q := asked(t, k, k.Sites.Origin("first"))
		do(t, a, "close_tab", args{"tabId": q.TabID})
		settled(t, k, q)
		alone(t, a)
		unseen(t, k, "first", "afterwards")
	})
}

func TestRedirectsAreDecidedHopByHop(t *testing.T) {
	k, a := begin(t)
	for block := range 4 {
		hosts := []string{fmt.Sprintf("h%d0", block), fmt.Sprintf("h%d1", block), fmt.Sprintf("h%d2", block)}
		k.Sites.Redirect(hosts[0], "/", k.Sites.Origin(hosts[1])+"/")
		k.Sites.Redirect(hosts[1], "/", k.Sites.Origin(hosts[2])+"/")
		k.Sites.Page(hosts[2], "/", arrived)
		reply, err := a.Start("navigate", args{"url": k.Sites.Origin(hosts[0]) + "/"})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hosts {
			if i > block {
				break
			}
			q := asked(t, k, k.Sites.Origin(h))
			for _, later := range hosts[i:] {
				unseen(t, k, later, "before "+h+" is decided")
			}
			if i == block {
				answer(t, k, q, approval.BlockOnce)
			} else {
				answer(t, k, q, approval.AllowOnce)
			}
		}
		_, err = reply.Wait()
		if code := testkit.Code(err); block < 3 && code != fault.BrowserPolicyDenied || block == 3 && err != nil {
			t.Errorf("blocked at hop %d: %v", block, err)
		}
		for i, h := range hosts {
			if n := len(k.Sites.Requests(h)); i < block && n != 1 || i >= block && n != 0 {
				t.Errorf("blocked at hop %d: hop %d got %d requests", block, i, n)
			}
		}
	}
	// A site that is allowed leads to one that is blocked: nobody is asked.
	site(t, k, k.Sites.Origin("bad"), policy.Block)
	_, err := a.Call("navigate", args{"url": k.Sites.Origin("start") + "/302?" + k.Sites.Origin("bad") + "/"})
	if testkit.Code(err) != fault.BrowserPolicyDenied || len(questions(t, k)) != 0 {
		t.Errorf("a redirect to a blocked site: %v", err)
	}
	unseen(t, k, "bad", "blocked by rule")
}

func TestHistoryAgainstABlock(t *testing.T) {
	k, a := begin(t)
	k.Sites.Page("once", "/", `<!doctype html><title>Once</title><p>once</p><a href="/two">Two</a>`)
	k.Sites.Page("once", "/two", `<!doctype html><title>Two</title><p>two</p>`)
	start(t, k, a, `<button onclick="history.back()">Back</button>`)
	k.Person.AnswerNext(approval.AllowOnce)
	do(t, a, "navigate", args{"url": k.Sites.Origin("once") + "/"})
	click(t, a, "Two") // the same origin: no question
	if o := do(t, a, "back", nil); o.State.Title != "Once" {
		t.Errorf("back: %+v", o)
	}
	if o := do(t, a, "forward", nil); o.State.Title != "Two" {
		t.Errorf("forward: %+v", o)
	}
	if o := do(t, a, "reload", nil); o.State.Title != "Two" {
		t.Errorf("reload: %+v", o)
	}
	hand(t, session(t, k, "ann").PID, "F5")
	until(t, 10*time.Second, "the person's reload", func() bool { return len(k.Sites.Requests("once")) == 6 })
	if n := len(questions(t, k)); n != 0 {
		t.Errorf("%d questions", n)
	}
	start(t, k, a, `<button onclick="history.back()">Back</button>`)
	site(t, k, k.Sites.Origin("once"), policy.Block)
	seen := len(k.Sites.Requests("once"))
	if _, err := a.Call("back", nil); testkit.Code(err) != fault.BrowserPolicyDenied {
		t.Errorf("back to a blocked site: %v", err)
	}
	click(t, a, "Back")
	hand(t, session(t, k, "ann").PID, "alt+Left")
	if _, err := k.Person.Event(refusedBy("block list")); err != nil {
		t.Error(err)
	}
	if o := do(t, a, "get_browser_state", nil); o.State.Title != "Start" {
		t.Errorf("the tab shows %+v", o.State)
	}
	// What shows a site when it is blocked is moved off it, and does not come back.
	site(t, k, k.Sites.Origin("once"), policy.Allow)
	do(t, a, "navigate", args{"url": k.Sites.Origin("once") + "/two"})
	seen++
	site(t, k, k.Sites.Origin("once"), policy.Block)
	until(t, 10*time.Second, "the tab is moved off", func() bool {
		return do(t, a, "get_browser_state", args{"captureState": false}).State.URL == "about:blank"
	})
	if _, err := a.Call("back", nil); testkit.Code(err) != fault.BrowserPolicyDenied {
		t.Errorf("back to it: %v", err)
	}
	if n := len(k.Sites.Requests("once")); n != seen {
		t.Errorf("%d requests after the block, want %d", n, seen)
	}
}

func TestAddressesThatAreNoSites(t *testing.T) {
	k, a := begin(t)
	file := filepath.Join(t.TempDir(), "secret.html")
	if err := os.WriteFile(file, []byte("<p>secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := markStubs(t, k)
	addresses := []string{"file://" + file, "data:text/html,<p>secret", "javascript:document.write('secret')", "view-source:" + k.Sites.Origin("other") + "/",
		"chrome://version/", "chrome://newtab/", "devtools://devtools/bundled/inspector.html", "about:srcdoc", "filesystem:http://a/", "mailto:a@example.org", "callto:1", "zoommtg://x", "ftp://other.localhost/"}
	for _, to := range addresses {
		for _, method := range []string{"navigate", "open_new_tab"} {
			if _, err := a.Call(method, args{"url": to}); err == nil {
				t.Errorf("%s %s was done", method, to)
			}
		}
		quoted, _ := json.Marshal(to)
		js := strings.ReplaceAll(string(quoted), `"`, `&quot;`)
		attr := strings.ReplaceAll(to, `"`, `&quot;`)
		for _, html := range []string{script("location=" + js), script("window.open(" + js + ")"), script("window.open(" + js + ",'','noopener')"),
			`<a href="` + attr + `">Go</a>`, `<a href="` + attr + `" target=_blank>Go</a>`,
			`<a id=l href="` + attr + `">Link</a><button onclick="l.dispatchEvent(new MouseEvent('click',{ctrlKey:true,bubbles:true,cancelable:true}))">Go</button>`,
			`<a href="/302?` + attr + `">Go</a>`} {
			if strings.HasPrefix(to, "javascript:") {
				continue // it is the page's own script, not an address
			}
			start(t, k, a, html)
			click(t, a, "Go")
			for _, tab := range do(t, a, "get_browser_state", args{"tabId": 1, "captureState": false}).State.Tabs {
				// An error page and an empty one are Chromium's own refusals.
				if !slices.ContainsFunc([]string{"about:blank", "chrome-error://chromewebdata/", ":", k.Sites.Origin("start") + "/"},
					func(harmless string) bool { return strings.HasPrefix(tab.URL, harmless) }) && tab.URL != "" {
					t.Errorf("%s led to %+v", html, tab)
				}
			}
			for _, tab := range session(t, k, "ann").Tabs {
				if !tab.Controlled {
					t.Errorf("%s opened a tab that counts as the person's: %+v", html, tab)
				}
			}
			tidy(t, k, a)
		}
	}
	unseen(t, k, "other", "afterwards")
	until(t, 10*time.Second, "Chromium has called the stub for mailto:", func() bool { _, err := os.Stat(ran); return err == nil })
}

// markStubs lets the programs that stand in for the desktop's openers leave a mark.
func markStubs(t *testing.T, k *testkit.Kit) (mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "ran")
	found, err := filepath.Glob(filepath.Join(k.Host.Paths().Data, "agents", "ann", "profile", "*", "xdg-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("the stubs: %v, %v", found, err)
	}
	for _, stub := range found {
		if err := os.WriteFile(stub, []byte("#!/bin/sh\necho \"$0 $@\" >>'"+mark+"'\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return mark
}

func TestNothingIsSaved(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	k, a := begin(t)
	save := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="precious.bin"`)
		_, _ = w.Write([]byte("precious"))
	}
	k.Sites.Handle("start", "/file", save)
	for _, html := range []string{`<a href="/file">Go</a>`, `<a href="/empty" download=precious.bin>Go</a>`, `<a href="data:text/plain,x" download=precious.bin>Go</a>`,
		script(`const l=document.createElement('a');l.href=window.URL.createObjectURL(new Blob(['x']));l.download='precious.bin';l.click()`), `<a href="/file" target=_blank>Go</a>`} {
		start(t, k, a, html)
		click(t, a, "Go")
		if o := do(t, a, "get_browser_state", args{"tabId": 1}); !strings.Contains(o.State.Content, "still here") {
			t.Errorf("%s: %+v", html, o)
		}
		tidy(t, k, a)
	}
	if o := do(t, a, "navigate", args{"url": k.Sites.Origin("start") + "/file"}); o.Action.Success || !strings.Contains(o.Action.Message, "download") {
		t.Errorf("a download: %+v", o.Action)
	}
	for _, dir := range []string{home, k.Host.Paths().Data, os.TempDir()} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.Contains(filepath.Base(path), "precious") || strings.HasSuffix(path, ".crdownload") {
				t.Errorf("%s was written", path)
			}
			return nil
		})
	}
}

func TestSignInIsAnAnswerNoDialog(t *testing.T) {
	k, a := begin(t)
	locked := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("<p>Sign in first</p>"))
	}
	k.Sites.Handle("start", "/locked", locked)
	if o := do(t, a, "navigate", args{"url": k.Sites.Origin("start") + "/locked"}); !strings.Contains(o.State.Content, "Sign in first") {
		t.Errorf("a page behind a sign-in: %+v", o)
	}
	start(t, k, a, `<p id=said>…</p><script>fetch('/locked').then(r=>said.textContent='answered '+r.status)</script><img src="/locked">`)
	if o := do(t, a, "wait_for", args{"text": "answered 401", "seconds": 5}); !o.Action.Success {
		t.Errorf("a part of a page behind a sign-in: %+v", o)
	}
}

func TestNothingGoesAhead(t *testing.T) {
	k, a := begin(t)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	defer func() { ln.Close(); <-done }()
	other := "http://" + strings.Replace(ln.Addr().String(), "127.0.0.1", "ahead.localhost", 1) + "/"
	start(t, k, a, strings.ReplaceAll(`<link rel=preconnect href="TO"><link rel=dns-prefetch href="TO"><link rel=prerender href="TO">
		<script type=speculationrules>{"prefetch":[{"urls":["TO"],"eagerness":"immediate"}],"prerender":[{"urls":["TO"],"eagerness":"immediate"}]}</script>
		<script type=speculationrules>{"prerender":[{"urls":["/ahead"],"eagerness":"immediate"}]}</script>
		<p id=sw>…</p><script>navigator.serviceWorker.register('/sw.js').then(()=>sw.textContent='registered',()=>sw.textContent='was rejected')</script>
		<a href="TO">Link</a>`, "TO", other))
	if o := do(t, a, "wait_for", args{"text": "was rejected"}); !o.Action.Success {
		t.Errorf("a service worker: %s", o.State.Content)
	}
	do(t, a, "hover_element", args{"name": "Link"})
	do(t, a, "wait", args{"seconds": 1})
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections went ahead", n)
	}
	for _, r := range k.Sites.Requests("start") {
		if r.Path == "/ahead" || r.Path == "/sw.js" {
			t.Errorf("%s went out", r.Path)
		}
	}
}

func TestAnswersThatReachFurther(t *testing.T) {
	k, ann := begin(t)
	k.Sites.Page("shared", "/", arrived)
	bob := agent(t, k, "bob")
	start(t, k, ann, `<a href="http://shared.localhost/">Go</a>`)
	one, err := bob.Start("navigate", args{"url": k.Sites.Origin("shared") + "/"})
	if err != nil {
		t.Fatal(err)
	}
	asked(t, k, k.Sites.Origin("shared"))
	// Blocked once, a page that tries again is refused without a question, and the agent itself is asked about.
	click(t, ann, "Go")
	mine := func(q approval.Question) bool { return q.Agent == "ann" }
	q, err := k.Person.Question(mine)
	if err != nil {
		t.Fatal(err)
	}
	answer(t, k, q, approval.BlockOnce)
	if o := click(t, ann, "Go"); !strings.Contains(o.Action.Message, "blocked it a moment ago") {
		t.Errorf("the page tries again: %+v", o.Action)
	}
	two, err := ann.Start("navigate", args{"url": k.Sites.Origin("shared") + "/"})
	if err != nil {
		t.Fatal(err)
	}
	if q, err = k.Person.Question(mine); err != nil {
		t.Fatal(err)
	}
	unseen(t, k, "shared", "while both wait")
	answer(t, k, q, approval.AllowAlways)
	for _, r := range []*testkit.Reply{one, two} {
		if _, err := r.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := len(k.Sites.Requests("shared")); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAnotherProcessOnTheProfile(t *testing.T) {
	k, a := begin(t)
	install, err := chrome.Find("")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := filepath.EvalSymlinks(filepath.Join(k.Host.Paths().Data, "agents", "ann", "profile"))
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--user-data-dir=" + profile, k.Sites.Origin("second") + "/"}
	if os.Getuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	if out, err := exec.Command(install.Path, flags...).CombinedOutput(); err != nil {
		t.Logf("it ended with %v: %s", err, out)
	}
	q := asked(t, k, k.Sites.Origin("second"))
	unseen(t, k, "second", "while it waits")
	answer(t, k, q, approval.BlockOnce)
	alone(t, a)
	unseen(t, k, "second", "blocked")
}

func refusedBy(reason string) func(event.Event) bool {
	return func(e event.Event) bool {
		return e.Category == "browser.navigation.refused" && strings.Contains(string(e.Data), reason)
	}
}
