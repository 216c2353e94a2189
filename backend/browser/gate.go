package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/policy"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"
)

// paused decides a request before a byte of it leaves. It runs on the
// connection's reader, so what rules decide costs no hand-over; what the person
// decides goes on beside it.
func (l *life) paused(p *fetch.EventRequestPaused) {
	if p.ResourceType != network.ResourceTypeDocument {
		if _, worker := header(p.Request.Headers, "Service-Worker"); worker {
			l.fail(p.RequestID)
			return
		}
		l.pass(p.RequestID)
		return
	}
	t := l.tabOf(target.ID(p.FrameID))
	if t == nil {
		if l.isPage(target.ID(p.FrameID)) {
			// A page whose attach event has not come: it must not slip through.
			l.fail(p.RequestID)
			return
		}
		l.pass(p.RequestID) // a frame inside a page
		return
	}
	nav, own := t.facts(p)
	d := l.w.s.o.Gate.Decide(nav)
	if t.startPage() && d.Rule != "site" {
		d = policy.Decision{Access: policy.Block, Rule: "home", Reason: "the browser's own start page is not loaded", Origin: d.Origin}
	}
	if d.Access == policy.Ask && t.inChain(d.Origin) {
		d.Access = policy.Allow
	}
	switch d.Access {
	case policy.Allow:
		t.supersede()
		l.pass(p.RequestID)
	case policy.Ask:
		l.hold(t, p, nav, own, d)
	default:
		t.supersede()
		l.refuse(t, p.RequestID, refusal{own: own, origin: d.Origin, reason: d.Reason,
			err: fault.New(fault.BrowserPolicyDenied, "%s was not opened: %s", named(d.Origin, p.Request.URL), d.Reason).
				WithEffect(fault.EffectNone)})
	}
}

// isPage reports whether id is a top-level page rather than a frame.
func (l *life) isPage(id target.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	info := l.infos[id]
	return info != nil && info.Type == "page"
}

func header(h network.Headers, name string) (string, bool) {
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return fmt.Sprint(v), true
		}
	}
	return "", false
}

func named(o policy.Origin, url string) string {
	if o != "" {
		return string(o)
	}
	scheme, _, _ := strings.Cut(url, ":")
	return "a " + scheme + " address"
}

func (l *life) pass(id fetch.RequestID) {
	l.root().Send("Fetch.continueRequest", fetch.ContinueRequestParams{RequestID: id})
}

// fail ends a request so that the page that is there stays alive.
func (l *life) fail(id fetch.RequestID) {
	l.root().Send("Fetch.failRequest", fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonAborted})
}

// facts gathers what the policy needs to know of a paused request; own says
// that it belongs to a navigation which a call asked for.
func (t *tab) facts(p *fetch.EventRequestPaused) (n policy.Navigation, own bool) {
	from := t.currentOrigin()
	t.mu.Lock()
	defer t.mu.Unlock()
	n = policy.Navigation{Kind: policy.KindPage, From: from, To: p.Request.URL + p.Request.URLFragment}
	switch {
	case p.RedirectedRequestID != "":
		n.Kind = policy.KindRedirect
	case !t.controlled:
		n.Kind = policy.KindPerson
	case t.expect != nil && (t.expect.url == "" || sameAddress(t.expect.url, p.Request.URL)):
		n.Kind = t.expect.kind
		t.expect, own = nil, true
	case t.isPopup():
		n.Kind = policy.KindPopup
	}
	if p.RedirectedRequestID == "" {
		t.chain, t.own = nil, own
	} else if !t.controlled {
		n.Kind = policy.KindPerson
	}
	return n, t.own
}

// startPage reports whether a request is the start page that Chromium itself
// loads into a tab of the person's: the first, before anything was shown.
func (t *tab) startPage() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.controlled && t.opener == nil && !t.asked && t.commits == 0
	t.asked = true
	t.signal()
	return first
}

// sameAddress compares what we asked for with what Chromium requests: it
// normalises, so scheme, host and path decide.
func sameAddress(asked, requested string) bool {
	return policy.OriginOf(asked) == policy.OriginOf(requested)
}

func (t *tab) inChain(o policy.Origin) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chain[o]
}

// supersede withdraws the question about a navigation that another one replaces.
func (t *tab) supersede() {
	t.mu.Lock()
	h := t.held
	t.mu.Unlock()
	if h != nil {
		h.withdraw(errSuperseded)
	}
}

var errSuperseded = fault.New(fault.Cancelled, "another navigation took its place")

// stale withdraws the question about a navigation that Chromium itself has given
// up: stopped, or replaced by a page that needs no request. Nothing says so, but
// the tab comes to rest or to another document, and the request is known no more.
func (l *life) stale(t *tab, ev chrome.Event) {
	switch ev.Method {
	case "Page.frameStoppedLoading", "Page.frameNavigated", "Page.navigatedWithinDocument":
	default:
		return
	}
	t.mu.Lock()
	h := t.held
	t.mu.Unlock()
	if h == nil || ev.Session != t.session {
		return
	}
	// A request that still waits is refused otherwise: it has no body yet.
	known := l.root().Send("Fetch.getResponseBody", fetch.GetResponseBodyParams{RequestID: h.request})
	l.wg.Go(func() {
		select {
		case <-known.Done(): // at the latest when Chromium ends
		case <-h.over:
			return
		}
		err, ok := errors.AsType[*chrome.CDPError](known.Wait(l.asks, nil))
		if ok && strings.Contains(err.Message, "Invalid InterceptionId") {
			h.withdraw(errSuperseded)
		}
	})
}

// hold keeps the request where it is while the person is asked.
func (l *life) hold(t *tab, p *fetch.EventRequestPaused, nav policy.Navigation, own bool, d policy.Decision) {
	if t.recentlyBlocked(nav, d.Origin) {
		reason := "the person blocked it a moment ago"
		l.refuse(t, p.RequestID, refusal{own: own, origin: d.Origin, reason: reason,
			err: fault.New(fault.BrowserPolicyDenied, "%s was not opened: %s", d.Origin, reason).WithEffect(fault.EffectNone)})
		return
	}
	t.supersede()
	ctx, withdraw := context.WithCancelCause(l.asks)
	h := &hold{request: p.RequestID, question: ids.NewQuestion(), origin: d.Origin, url: nav.To, since: l.w.s.o.Now(), withdraw: withdraw,
		over: make(chan struct{})}
	t.mu.Lock()
	if t.status == TabClosed {
		t.mu.Unlock()
		withdraw(errTabGone)
		l.fail(p.RequestID)
		return
	}
	t.held = h
	title := t.title
	t.signal()
	t.mu.Unlock()
	t.page.SetHeld(true)
	l.w.lanes.Hold(t.id)
	l.wg.Go(func() {
		defer close(h.over)
		defer withdraw(context.Canceled)
		l.w.note("browser.navigation.held", map[string]any{"tab": t.id, "origin": d.Origin, "question": h.question})
		v := l.w.s.o.Gate.Ask(ctx, Request{Question: h.question, Agent: l.w.agent, Session: l.w.session, Tab: t.id,
			Navigation: nav, FromTitle: title, HTTPMethod: p.Request.Method, HasBody: p.Request.HasPostData})
		if v.Allowed && l.w.s.o.Gate.Decide(nav).Access == policy.Block { // a rule may have come meanwhile
			v = Verdict{Reason: "a rule that came meanwhile blocks it",
				Err: fault.New(fault.BrowserPolicyDenied, "%s was not opened: a rule that came meanwhile blocks it", d.Origin)}
		}
		if v.Allowed {
			t.mu.Lock()
			if t.chain == nil {
				t.chain = map[policy.Origin]bool{}
			}
			t.chain[d.Origin] = true
			t.mu.Unlock()
			l.pass(p.RequestID)
		}
		if v.Answered && !v.Allowed {
			l.blocked(nav, d.Origin)
		}
		switch r := (refusal{own: own, origin: d.Origin, reason: v.Reason, err: v.Err}); {
		case v.Allowed:
		case context.Cause(ctx) != errSuperseded:
			l.refuse(t, p.RequestID, r)
		default: // nobody refused it, and the tab goes on, a popup too
			if own {
				t.refuse(r)
			}
			l.fail(p.RequestID)
		}
		t.release(h)
	})
}

// release says that nothing waits for the person here any more, unless another
// navigation has come to wait meanwhile.
func (t *tab) release(h *hold) {
	t.mu.Lock()
	still := t.held == h
	if still {
		t.held = nil
	}
	t.signal()
	t.mu.Unlock()
	if still {
		t.page.SetHeld(false)
	}
	t.l.w.lanes.Release(t.id)
}

// refuse fails the request and remembers why, for the call that wanted it. A
// popup that never showed anything is closed.
func (l *life) refuse(t *tab, id fetch.RequestID, r refusal) {
	t.refuse(r) // first, so that a call which hears of the failure finds the reason
	l.fail(id)
	if l.w.metered(t) {
		l.w.note("browser.navigation.refused", map[string]any{"tab": t.id, "origin": r.origin, "reason": r.reason})
	}
	t.mu.Lock()
	empty := t.isPopup()
	t.mu.Unlock()
	if !empty {
		return
	}
	l.root().Send("Target.closeTarget", target.CloseTargetParams{TargetID: t.target})
	if t.opener != nil {
		t.opener.refuse(r)
	}
}

// isPopup reports whether a page opened the tab, which has shown nothing yet. A
// click with the middle button or Control held leaves no opener, and neither has
// a tab that the person opened. The lock is held.
func (t *tab) isPopup() bool { return !t.loaded && !t.opened && (t.controlled || t.opener != nil) }

// metered reports whether the account has room for one more row about t now.
func (w *window) metered(t *tab) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noted.take(w.s.o.Now())
}

func (t *tab) refuse(r refusal) {
	t.mu.Lock()
	r.n = t.refused.n + 1
	t.refused = r
	if r.own {
		t.denied = r
	}
	t.signal()
	t.mu.Unlock()
}

// blockedFor is how long a page's further tries at what the person has just
// blocked are refused without a question. What the agent itself asks for is
// asked anew.
const blockedFor = 30 * time.Second

type way struct{ from, to policy.Origin }

func (l *life) blocked(nav policy.Navigation, to policy.Origin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.w.s.o.Now()
	for k, at := range l.refusedAt {
		if now.Sub(at) > blockedFor {
			delete(l.refusedAt, k)
		}
	}
	l.refusedAt[way{nav.From, to}] = now
}

func (t *tab) recentlyBlocked(nav policy.Navigation, to policy.Origin) bool {
	if nav.Kind == policy.KindDirect || nav.Kind == policy.KindHistory {
		return false
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	at, ok := t.l.refusedAt[way{nav.From, to}]
	return ok && t.l.w.s.o.Now().Sub(at) <= blockedFor
}

// evict moves the tab off an origin that a rule now blocks.
func (l *life) evict(t *tab) {
	t.mu.Lock()
	u, origin := t.url, t.origin
	t.mu.Unlock()
	if origin == "" {
		return
	}
	if d := l.w.s.o.Gate.Decide(policy.Navigation{Kind: policy.KindHistory, From: origin, To: u}); d.Access == policy.Block {
		t.session.Send("Page.navigate", map[string]any{"url": "about:blank"})
	}
}
