package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
	"chaperone/backend/policy"

	"github.com/chromedp/cdproto/fetch"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
)

// A tab is one page target and what is known of it from events alone, so that
// it can be told while the page itself does not answer.
type tab struct {
	l       *life
	id      ids.Tab
	target  target.ID
	session *chrome.Session
	page    *page.Page
	// controlled, opener and openerOrigin are set before the tab is seen by others.
	controlled   bool
	opener       *tab
	openerOrigin policy.Origin
	ended        chan struct{}

	mu      sync.Mutex
	url     string
	title   string
	origin  policy.Origin // of the committed document
	loaded  bool          // something other than the first empty page was committed
	opened  bool          // by the agent, not by a page
	asked   bool          // a document has been requested
	crashed bool
	status  TabStatus
	expect  *expectation
	held    *hold
	told    ids.Question           // the question that a state last said waits here
	chain   map[policy.Origin]bool // allowed by the person in the navigation under way
	refused refusal
	// own says that the navigation under way, with its redirects, is one that a
	// call asked for; denied is the last such one that was refused.
	own     bool
	denied  refusal
	toldOf  int           // the number of the last refusal that a state told of
	changed chan struct{} // closed and renewed at each change that someone may wait for
	commits int
	visit   *Visit
	noted   meter
}

// An expectation is a navigation that we asked Chromium for.
type expectation struct {
	kind policy.Kind
	url  string
}

// A hold is a navigation that waits for the person.
type hold struct {
	request  fetch.RequestID
	question ids.Question
	origin   policy.Origin
	url      string
	since    time.Time
	withdraw context.CancelCauseFunc
	over     chan struct{} // closed when the request has been let go or failed
}

// A refusal is a navigation that was not let through.
type refusal struct {
	what   string // a navigation when empty, else a download
	n      int    // counts the tab's refusals
	own    bool   // it was a call that asked for it
	origin policy.Origin
	reason string
	err    error
}

// String says it in a sentence.
func (r refusal) String() string {
	if r.what == download {
		return fmt.Sprintf("The download from %s was refused: %s.", named(r.origin, "unknown"), r.reason)
	}
	return fmt.Sprintf("%s was not opened: %s.", named(r.origin, "unknown"), r.reason)
}

// The kinds of refusal.
const (
	navigation = "navigation"
	download   = "download"
)

// untold returns the last refusal if no state has told of it yet.
func (t *tab) untold() *Refused {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused.n == t.toldOf {
		return nil
	}
	t.toldOf = t.refused.n
	return &Refused{What: cmp.Or(t.refused.what, navigation), Origin: t.refused.origin, Reason: t.refused.reason}
}

var errGone = fault.New(fault.BrowserGone, "the window was closed or Chromium ended while this was under way").
	WithHint("The next action opens a fresh window.").WithEffect(fault.EffectUnknown)

var errTabGone = fault.New(fault.BrowserGone, "the tab was closed while this was under way").
	WithHint("get_browser_state lists the tabs that are open.").WithEffect(fault.EffectUnknown)

// gone makes an error of a browser that ended out of whatever a command came back with.
func gone(err error) error {
	if err == nil || fault.Is(err, fault.BrowserGone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.New(fault.BrowserGone, "the page did not take the command").WithEffect(fault.EffectUnknown).Because(err)
}

// handle takes in an event of the tab or of one of its frames.
func (t *tab) handle(ev chrome.Event) {
	if t.controlled {
		t.page.Handle(ev) // first: who is woken below may ask the page at once
	}
	if ev.Session == t.session {
		switch ev.Method {
		case "Page.frameNavigated":
			var p cdppage.EventFrameNavigated
			if ev.Decode(&p) == nil && p.Frame.ParentID == "" {
				t.committed(p.Frame.URL + p.Frame.URLFragment)
			}
		case "Page.navigatedWithinDocument":
			var p cdppage.EventNavigatedWithinDocument
			if ev.Decode(&p) == nil && string(p.FrameID) == string(t.target) {
				t.mu.Lock()
				t.url = p.URL
				t.commits++
				t.signal()
				t.mu.Unlock()
			}
		case "Page.frameStartedLoading", "Page.frameStartedNavigating":
			var p struct {
				FrameID target.ID `json:"frameId"`
			}
			if ev.Decode(&p) == nil && p.FrameID == t.target {
				t.setStatus(TabLoading)
			}
		case "Page.frameStoppedLoading":
			var p struct {
				FrameID target.ID `json:"frameId"`
			}
			if ev.Decode(&p) == nil && p.FrameID == t.target {
				t.setStatus(TabIdle)
				t.finish()
			}
		case "Inspector.targetCrashed":
			t.crash()
		case "Page.javascriptDialogOpening", "Page.javascriptDialogClosed":
			opened := ev.Method == "Page.javascriptDialogOpening"
			name := "browser.dialog.closed"
			if opened {
				name = "browser.dialog.opened"
			}
			if t.l.w.metered(t) {
				t.l.w.note(name, map[string]any{"tab": t.id})
			}
		}
	}
	if ev.Method == "Page.javascriptDialogOpening" || ev.Method == "Page.javascriptDialogClosed" {
		t.mu.Lock()
		t.signal()
		t.mu.Unlock()
	}
}

// committed notes that the tab shows another document now.
func (t *tab) committed(u string) {
	t.mu.Lock()
	t.flush()
	t.url, t.origin = u, policy.OriginOf(u)
	t.crashed = false
	t.commits++
	t.chain = nil
	if u != "about:blank" {
		t.loaded = true
	}
	if t.controlled && t.origin != "" {
		t.visit = &Visit{At: t.l.w.s.o.Now(), Agent: t.l.w.agent, URL: anonymous(u)}
	}
	t.signal()
	t.mu.Unlock()
}

// titled notes the document's title, as one clean line: it is the page's text.
func (t *tab) titled(title string) {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
	if r := []rune(title); len(r) > maxTitle {
		title = string(r[:maxTitle]) + "…"
	}
	t.mu.Lock()
	t.title = title
	t.mu.Unlock()
}

// maxTitle bounds a title, in characters.
const maxTitle = 300

// titleTime bounds the question what a loaded page is called.
const titleTime = 2 * time.Second

// finish writes down a page that has loaded, with its title. Chromium tells of a
// title at some later change, which may never come; so it is asked.
func (t *tab) finish() {
	t.l.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.l.asks, titleTime)
		defer cancel()
		var now struct {
			TargetInfo target.Info `json:"targetInfo"`
		}
		if t.l.root().Call(ctx, target.CommandGetTargetInfo, target.GetTargetInfoParams{TargetID: t.target}, &now) == nil {
			t.titled(now.TargetInfo.Title)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.flush()
	})
}

// flush writes the visit that has not been written yet. The lock is held.
func (t *tab) flush() {
	v := t.visit
	if v == nil {
		return
	}
	t.visit = nil
	v.Title = t.title
	if !t.noted.take(v.At) {
		return // a page that navigates in a loop must not fill the account
	}
	t.l.w.s.o.Journal.Visit(*v)
	t.l.w.note("browser.navigation.completed", map[string]any{"tab": t.id, "url": bare(v.URL)})
}

// anonymous returns an address without the user and password that it may carry.
func anonymous(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}

// bare returns an address without query, fragment and user, which may carry secrets.
func bare(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment, u.User, u.ForceQuery = "", "", nil, false
	if u.Opaque != "" {
		return u.Scheme + ":"
	}
	return u.String()
}

// signal wakes those who wait for a change. The lock is held.
func (t *tab) signal() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// watch returns a channel that closes at the next change. The lock is held.
func (t *tab) watch() <-chan struct{} {
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

func (t *tab) setStatus(s TabStatus) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != TabClosed {
		t.status = s
		t.signal()
	}
}

func (t *tab) crash() {
	t.mu.Lock()
	first := !t.crashed
	t.crashed, t.status = true, TabIdle
	t.signal()
	t.mu.Unlock()
	if first {
		t.l.w.note("browser.tab.crashed", map[string]any{"tab": t.id})
	}
}

func (t *tab) end() {
	t.mu.Lock()
	if t.status == TabClosed {
		t.mu.Unlock()
		return
	}
	t.flush()
	t.status = TabClosed
	if t.held != nil {
		t.held.withdraw(errTabGone)
	}
	t.signal()
	t.mu.Unlock()
	close(t.ended)
	t.page.Close()
}

func (t *tab) currentOrigin() policy.Origin {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.loaded && t.opener != nil {
		return t.openerOrigin
	}
	return t.origin
}

func (t *tab) view() Tab {
	dialog := t.page.Dialog()
	t.mu.Lock()
	defer t.mu.Unlock()
	v := Tab{TabID: t.id, URL: t.url, Title: t.title, Status: t.status, Controlled: t.controlled, Crashed: t.crashed,
		PendingApproval: t.waits()}
	if dialog != nil {
		v.Dialog = &Dialog{Type: dialog.Type, Message: dialog.Message}
	}
	t.l.mu.Lock()
	v.Active = t.l.selected == t.id
	t.l.mu.Unlock()
	return v
}

// waits says what waits for the person here. The lock is held.
func (t *tab) waits() *PendingApproval {
	h := t.held
	if h == nil {
		return nil
	}
	return &PendingApproval{Question: h.question, Origin: h.origin, URL: h.url, Since: h.since}
}

func (t *tab) isHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held != nil
}

// A meter lets through 30 rows in 10 seconds.
type meter struct {
	from time.Time
	n    int
}

func (m *meter) take(now time.Time) bool {
	if now.Sub(m.from) > 10*time.Second {
		m.from, m.n = now, 0
	}
	m.n++
	return m.n <= 30
}
