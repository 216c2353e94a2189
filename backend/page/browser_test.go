package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/chrome"
)

// within is how long a test waits for what takes far less.
const within = 20 * time.Second

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

// A window is a Chromium whose tabs are Pages, owned as package browser owns them.
type window struct {
	browser *chrome.Browser
	profile string

	mu    sync.Mutex
	pages map[target.SessionID]*Page // by every session of theirs
	tops  map[target.ID]chan *Page
}

func (w *window) handle(ev chrome.Event) {
	w.mu.Lock()
	p := w.pages[ev.Session.ID()]
	w.mu.Unlock()
	if ev.Method == "Target.attachedToTarget" {
		w.attached(ev, p)
		return
	}
	if p != nil {
		p.Handle(ev)
	}
}

func (w *window) attached(ev chrome.Event, parent *Page) {
	var e target.EventAttachedToTarget
	if err := ev.Decode(&e); err != nil {
		panic(err)
	}
	s := w.browser.Session(e.SessionID)
	switch {
	case parent != nil && e.TargetInfo.Type == "iframe":
		parent.Handle(ev)
		w.mu.Lock()
		w.pages[e.SessionID] = parent
		w.mu.Unlock()
		parent.Prepare(s)
	case parent == nil && e.TargetInfo.Type == "page":
		p := New(s, e.TargetInfo.TargetID)
		p.Prepare(s)
		w.mu.Lock()
		w.pages[e.SessionID] = p
		c := w.tops[e.TargetInfo.TargetID]
		if c == nil {
			c = make(chan *Page, 1)
			w.tops[e.TargetInfo.TargetID] = c
		}
		w.mu.Unlock()
		c <- p
	}
	s.Send(runtime.CommandRunIfWaitingForDebugger, nil)
}

var launched atomic.Bool

// shared is one browser for the tests of a run; each test has tabs of its own.
var shared = sync.OnceValues(func() (*window, error) {
	install, err := chrome.Find(os.Getenv("CHAPERONE_CHROMIUM"))
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "page-test-")
	if err != nil {
		return nil, err
	}
	w := &window{profile: profile, pages: map[target.SessionID]*Page{}, tops: map[target.ID]chan *Page{}}
	launched.Store(true)
	ready := make(chan struct{})
	w.browser, err = chrome.Launch(context.Background(), chrome.Options{
		Install: install, Profile: profile,
		Handler: func(ev chrome.Event) { <-ready; w.handle(ev) },
	})
	if err != nil {
		return nil, err
	}
	close(ready)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return w, w.browser.Root().Call(ctx, target.CommandSetAutoAttach, map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
		"filter": []map[string]any{{"type": "browser", "exclude": true}, {"type": "tab", "exclude": true}, {}},
	}, nil)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if !launched.Load() {
		os.Exit(code)
	}
	if w, err := shared(); err == nil {
		if err := w.browser.Close(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if err := os.RemoveAll(w.profile); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// newTab opens an empty tab in a window of its own.
func newTab(t testing.TB) *Page {
	t.Helper()
	w, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	made, err := chrome.Do(deadline(t), w.browser.Root(), target.CreateTarget,
		target.CreateTargetParams{URL: "about:blank", NewWindow: new(true), Width: 1000, Height: 700})
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	c := w.tops[made.TargetID]
	if c == nil {
		c = make(chan *Page, 1)
		w.tops[made.TargetID] = c
	}
	w.mu.Unlock()
	var p *Page
	select {
	case p = <-c:
	case <-deadline(t).Done():
		t.Fatal("the tab did not come")
	}
	if err := p.Prepared(deadline(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		if err := w.browser.Root().Call(ctx, target.CommandCloseTarget, target.CloseTargetParams(made), nil); err != nil {
			t.Error(err)
		}
		p.Close()
	})
	return p
}

// site serves documents by path, on every host name below localhost.
func site(t testing.TB, documents map[string]string) (port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, strings.ReplaceAll(body, "PORT", port))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port = u.Port()
	return port
}

func (p *Page) goTo(t testing.TB, url string) {
	t.Helper()
	p.mu.Lock()
	p.load(true) // what follows waits for this document
	p.mu.Unlock()
	nav, err := chrome.Do(deadline(t), p.top, page.Navigate, page.NavigateParams{URL: url})
	if err != nil || nav.ErrorText != "" {
		t.Fatal(err, nav.ErrorText)
	}
	if !p.Settle(deadline(t), within) {
		t.Fatal("the page did not settle")
	}
}

// show opens a document in a tab of its own.
func show(t testing.TB, body string) *Page {
	t.Helper()
	port := site(t, map[string]string{"/": body})
	p := newTab(t)
	p.goTo(t, "http://shop.localhost:"+port+"/")
	return p
}

func (p *Page) snap(t testing.TB) Snapshot {
	t.Helper()
	s, err := p.Snapshot(deadline(t), SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eval runs a script in the page's own world.
func (p *Page) eval(t testing.TB, script string) string {
	t.Helper()
	r, err := chrome.Do(deadline(t), p.top, runtime.Evaluate, runtime.EvaluateParams{
		Expression: script, ReturnByValue: new(true), AwaitPromise: new(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.ExceptionDetails != nil {
		t.Fatal(r.ExceptionDetails.Exception.Description)
	}
	var text string
	if err := json.Unmarshal(r.Result.Value, &text); err != nil {
		return string(r.Result.Value) // a number, a truth value or null
	}
	return text
}

// ref finds the ref of the first line that contains text.
func ref(t testing.TB, s Snapshot, text string) *int {
	t.Helper()
	for l := range strings.SplitSeq(s.Content, "\n") {
		l = strings.TrimLeft(l, "\t")
		var n int
		if strings.Contains(l, text) {
			if _, err := fmt.Sscanf(l, "[%d]", &n); err == nil {
				return &n
			}
		}
	}
	t.Fatalf("no ref with %q in:\n%s", text, s.Content)
	return nil
}
