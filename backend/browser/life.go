package browser

import (
	"context"
	"strings"
	"sync"
	"time"

	"chaperone/backend/chrome"
	"chaperone/backend/desktop"
	"chaperone/backend/ids"
	"chaperone/backend/page"
	"chaperone/backend/policy"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
)

// A life is one Chromium, from start to end, with its tabs. All events come in
// through handle, in order, on the connection's reader; nothing there may wait.
type life struct {
	w      *window
	chrome *chrome.Browser
	door   *desktop.Door // nil where there is none
	began  time.Time
	// asks ends when the life does; its questions are withdrawn then.
	asks   context.Context
	ending context.CancelCauseFunc
	wg     sync.WaitGroup
	// over is closed when the window has been told of the end.
	over chan struct{}

	mu        sync.Mutex
	closing   bool
	tabs      map[ids.Tab]*tab
	byTarget  map[target.ID]*tab
	owner     map[target.SessionID]*tab
	infos     map[target.ID]*target.Info
	order     []ids.Tab
	selected  ids.Tab
	own       map[target.ID]chan *tab // tabs that we opened and wait for
	refusedAt map[way]time.Time       // what the person has just blocked
}

func newLife(w *window) *life {
	l := &life{w: w, began: w.s.o.Now(), over: make(chan struct{}), tabs: map[ids.Tab]*tab{}, byTarget: map[target.ID]*tab{},
		owner: map[target.SessionID]*tab{}, infos: map[target.ID]*target.Info{}, own: map[target.ID]chan *tab{},
		refusedAt: map[way]time.Time{}}
	l.asks, l.ending = context.WithCancelCause(context.Background())
	return l
}

// open puts the gate up and only then opens the window, on an empty page.
func (l *life) open(ctx context.Context, b *chrome.Browser) error {
	l.mu.Lock()
	l.chrome = b
	l.mu.Unlock()
	root := b.Root()
	setup := []*chrome.Reply{
		root.Send("Fetch.enable", fetch.EnableParams{HandleAuthRequests: new(true), Patterns: []*fetch.RequestPattern{
			{URLPattern: "*", ResourceType: network.ResourceTypeDocument, RequestStage: fetch.RequestStageRequest},
			// Service worker scripts come as Other; a worker could answer navigations behind the gate.
			{URLPattern: "*", ResourceType: network.ResourceTypeOther, RequestStage: fetch.RequestStageRequest},
		}}),
		// Downloads are not offered yet, so nothing may be written.
		root.Send("Browser.setDownloadBehavior", browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorDeny, EventsEnabled: new(true)}),
		root.Send("Target.setDiscoverTargets", target.SetDiscoverTargetsParams{Discover: true}),
		root.Send("Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
			"filter": []map[string]any{{"type": "browser", "exclude": true}, {"type": "tab", "exclude": true},
				{"type": "browser_ui", "exclude": true}, {}}}),
	}
	for _, r := range setup {
		if err := r.Wait(ctx, nil); err != nil {
			return err
		}
	}
	_, err := l.newTab(ctx, true)
	return err
}

// newTab opens an empty tab and returns it when it can be used.
func (l *life) newTab(ctx context.Context, window bool) (*tab, error) {
	var made target.CreateTargetResult
	params := map[string]any{"url": "about:blank"}
	if window {
		params["newWindow"], params["width"], params["height"] = true, 1280, 860
		params["background"] = true // it appears, but the person goes on with what they do
		params["left"], params["top"] = l.w.place()
	}
	// The attach event comes before the answer; what it found is kept for us.
	if err := l.chrome.Root().Call(ctx, "Target.createTarget", params, &made); err != nil {
		return nil, gone(err)
	}
	l.mu.Lock()
	t := l.byTarget[made.TargetID]
	var wait chan *tab
	if t == nil {
		wait = make(chan *tab, 1)
		l.own[made.TargetID] = wait
	}
	l.mu.Unlock()
	if t == nil {
		select {
		case t = <-wait:
		case <-l.chrome.Done():
			return nil, errGone
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	// Until this is answered, a navigation into another process can overtake what
	// Prepare has asked for, and its commit would go unheard.
	if err := t.page.Prepared(ctx); err != nil {
		return nil, gone(err)
	}
	t.mu.Lock()
	t.opened = true
	t.mu.Unlock()
	l.mu.Lock()
	l.selected = t.id
	l.mu.Unlock()
	return t, nil
}

// watch waits for Chromium's end and tells the window.
func (l *life) watch() {
	<-l.chrome.Done()
	l.door.Close()
	l.ending(errGone)
	l.wg.Wait() // the questions of this life, all withdrawn now
	l.mu.Lock()
	tabs := l.tabs
	l.tabs = map[ids.Tab]*tab{}
	l.mu.Unlock()
	for _, t := range tabs {
		t.end()
	}
	status, problem := endOf(l.chrome.Exit())
	l.mu.Lock()
	asked := l.closing
	l.mu.Unlock()
	if asked {
		status, problem = Closed, ""
	}
	l.w.ended(l, status, problem)
}

func (l *life) close(ctx context.Context) {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	if err := l.chrome.Close(ctx); err != nil {
		l.w.s.o.Log.Warn("Chromium did not end by itself", "agent", l.w.agent, "err", err)
	}
}

func (l *life) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

func (l *life) selectedTab() ids.Tab {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.selected
}

func (l *life) controlled() []*tab {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*tab
	for _, id := range l.order {
		if t := l.tabs[id]; t != nil && t.controlled {
			out = append(out, t)
		}
	}
	return out
}

func (l *life) describe(v *Session) {
	l.mu.Lock()
	began := l.began
	v.StartedAt, v.PID, v.ActiveTabID, v.Status, v.Error = &began, l.chrome.PID(), l.selected, Ready, ""
	if l.closing {
		v.Status = Closing
	}
	var tabs []*tab
	for _, id := range l.order {
		if t := l.tabs[id]; t != nil {
			tabs = append(tabs, t)
		}
	}
	l.mu.Unlock()
	for _, t := range tabs {
		v.Tabs = append(v.Tabs, t.view())
	}
}

// handle takes in one event. It runs on the connection's reader: it may send,
// never wait.
func (l *life) handle(ev chrome.Event) {
	if ev.Session.ID() != "" {
		l.mu.Lock()
		t := l.owner[ev.Session.ID()]
		l.mu.Unlock()
		if t == nil {
			return
		}
		t.handle(ev)
		l.stale(t, ev)
		l.childSessions(t, ev)
		return
	}
	switch ev.Method {
	case "Fetch.requestPaused":
		var p fetch.EventRequestPaused
		if ev.Decode(&p) == nil {
			l.paused(&p)
		}
	case "Fetch.authRequired":
		var p fetch.EventAuthRequired
		if ev.Decode(&p) == nil {
			// A native sign-in dialog would block the window; the site's answer is shown instead.
			ev.Session.Send("Fetch.continueWithAuth", fetch.ContinueWithAuthParams{RequestID: p.RequestID,
				AuthChallengeResponse: &fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}})
		}
	case "Browser.downloadWillBegin":
		var p browser.EventDownloadWillBegin
		if ev.Decode(&p) == nil {
			l.downloaded(&p)
		}
	case "Target.attachedToTarget":
		var p target.EventAttachedToTarget
		if ev.Decode(&p) == nil {
			l.attached(&p)
		}
	case "Target.targetCreated":
		var p target.EventTargetCreated
		if ev.Decode(&p) == nil {
			l.mu.Lock()
			l.infos[p.TargetInfo.TargetID] = p.TargetInfo
			l.mu.Unlock()
		}
	case "Target.targetInfoChanged":
		var p target.EventTargetInfoChanged
		if ev.Decode(&p) == nil {
			l.infoChanged(p.TargetInfo)
		}
	case "Target.targetDestroyed":
		var p target.EventTargetDestroyed
		if ev.Decode(&p) == nil {
			l.destroyed(p.TargetID)
		}
	case "Target.targetCrashed":
		var p target.EventTargetCrashed
		if ev.Decode(&p) == nil {
			if t := l.tabOf(p.TargetID); t != nil {
				t.crash()
			}
		}
	}
}

// downloaded tells of a download that Chromium has refused, as it was told to.
func (l *life) downloaded(p *browser.EventDownloadWillBegin) {
	t := l.tabOf(target.ID(p.FrameID))
	if t == nil { // a frame inside a page: the tab that is selected is the best guess
		l.mu.Lock()
		t = l.tabs[l.selected]
		l.mu.Unlock()
	}
	if t == nil {
		return
	}
	origin := policy.OriginOf(strings.TrimPrefix(p.URL, "blob:"))
	t.refuse(refusal{what: download, origin: origin, reason: "agents' windows take no downloads yet"})
	if l.w.metered(t) {
		l.w.note("browser.download.refused", map[string]any{"tab": t.id, "origin": origin})
	}
}

// childSessions keeps the sessions of a tab's frames with the tab.
func (l *life) childSessions(t *tab, ev chrome.Event) {
	switch ev.Method {
	case "Target.attachedToTarget":
		var p target.EventAttachedToTarget
		if ev.Decode(&p) == nil {
			s := l.chrome.Session(p.SessionID)
			l.mu.Lock()
			l.owner[p.SessionID] = t
			l.mu.Unlock()
			if t.controlled && p.TargetInfo.Type == "iframe" {
				t.page.Prepare(s)
			}
			s.Send("Runtime.runIfWaitingForDebugger", nil)
		}
	case "Target.detachedFromTarget":
		var p target.EventDetachedFromTarget
		if ev.Decode(&p) == nil {
			l.mu.Lock()
			delete(l.owner, p.SessionID)
			l.mu.Unlock()
		}
	}
}

func (l *life) tabOf(id target.ID) *tab {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byTarget[id]
}

// attached takes in a target before it has run anything.
func (l *life) attached(p *target.EventAttachedToTarget) {
	l.mu.Lock()
	s := l.chrome.Session(p.SessionID)
	l.mu.Unlock()
	if p.TargetInfo.Type != "page" {
		// Workers, the new-tab page's helpers and the like: they only need to be let go.
		s.Send("Runtime.runIfWaitingForDebugger", nil)
		return
	}
	info := p.TargetInfo
	l.mu.Lock()
	opener := l.byTarget[info.OpenerID]
	_, ours := l.own[info.TargetID]
	n := len(l.tabs)
	l.mu.Unlock()

	t := &tab{l: l, id: l.w.newTabID(), target: info.TargetID, session: s, url: info.URL, title: info.Title, status: TabOpening,
		opener: opener, ended: make(chan struct{})}
	t.controlled = !(opener == nil && personal(info.URL)) && !(opener != nil && !opener.controlled)
	if opener != nil {
		t.openerOrigin = opener.currentOrigin()
	}
	t.page = page.New(s, info.TargetID)
	if t.controlled {
		t.page.Prepare(s)
		t.page.SetSign(l.w.currentSign())
		t.page.OnSign(func(button string) { l.w.s.o.Pressed(l.w.agent, button) })
	} else {
		s.Send("Page.enable", cdppage.EnableParams{})
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)

	l.mu.Lock()
	l.tabs[t.id], l.byTarget[t.target], l.owner[s.ID()] = t, t, t
	l.order = append(l.order, t.id)
	if opener != nil && t.controlled {
		l.selected = t.id
	}
	if wait := l.own[t.target]; wait != nil {
		delete(l.own, t.target)
		wait <- t
	}
	l.mu.Unlock()
	if n >= maxTabs && !ours && t.controlled {
		t.refuse(refusal{origin: policy.OriginOf(info.URL), reason: "this window has too many tabs already"})
		l.root().Send("Target.closeTarget", target.CloseTargetParams{TargetID: t.target})
		return
	}
	l.w.note("browser.tab.opened", map[string]any{"tab": t.id, "popup": opener != nil, "controlled": t.controlled})
}

// root returns the browser's own session. Events come only after open has set it.
func (l *life) root() *chrome.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chrome.Root()
}

// personal reports whether a tab without an opener that starts here was opened
// by the person: pages cannot open these addresses.
func personal(url string) bool {
	return url == "chrome://newtab/" || url == "chrome://new-tab-page/" || url == "chrome://new-tab-page-third-party/"
}

func (l *life) infoChanged(info *target.Info) {
	l.mu.Lock()
	l.infos[info.TargetID] = info
	t := l.byTarget[info.TargetID]
	l.mu.Unlock()
	if t != nil {
		t.titled(info.Title)
	}
}

func (l *life) destroyed(id target.ID) {
	l.mu.Lock()
	delete(l.infos, id)
	t := l.byTarget[id]
	if t == nil {
		l.mu.Unlock()
		return
	}
	delete(l.byTarget, id)
	delete(l.tabs, t.id)
	for s, o := range l.owner {
		if o == t {
			delete(l.owner, s)
		}
	}
	at := 0
	for i, tid := range l.order {
		if tid == t.id {
			at = i
			l.order = append(l.order[:i:i], l.order[i+1:]...)
			break
		}
	}
	if l.selected == t.id {
		l.selected = l.next(t, at)
	}
	last := len(l.tabs) == 0 && !l.closing
	l.closing = l.closing || last
	l.mu.Unlock()
	l.wg.Go(t.end) // it waits for what still talks to the page, which this goroutine answers
	if last {      // Chromium outlives its last window; the agent's must not
		l.wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			_ = l.chrome.Close(ctx)
		})
	}
	l.w.note("browser.tab.closed", map[string]any{"tab": t.id})
}

// next chooses the tab that is selected after t, which stood at place at, has
// closed: its opener, else its neighbour. The lock is held.
func (l *life) next(t *tab, at int) ids.Tab {
	if t.opener != nil && l.tabs[t.opener.id] != nil {
		return t.opener.id
	}
	for i := min(at, len(l.order)-1); i >= 0; i-- {
		if n := l.tabs[l.order[i]]; n != nil && n.controlled {
			return n.id
		}
	}
	return 0
}
