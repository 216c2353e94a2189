package page

import (
	"context"
	_ "embed"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
)

// worldName names the isolated worlds that this package keeps in every frame.
const worldName = "chaperone"

var (
	//go:embed walker.js
	walkerSource string
	//go:embed sign.js
	signSource string
)

// ErrInterrupted says that the renderer does not answer for a reason that is
// known: a dialog is open, a navigation is held, or the page crashed. Nothing
// is wrong with the call; what the page can tell meanwhile is in Dialog and
// Loading.
var ErrInterrupted = errors.New("the page does not answer while something waits")

// A Page is one tab: its top session, the sessions of its frames in other
// processes, its isolated worlds and its refs. Its methods may be called from
// any goroutine; the caller orders actions on one tab.
type Page struct {
	top    *chrome.Session
	target target.ID
	done   chan struct{}
	pokes  chan struct{} // asks for the sign to be brought up to date
	paints sync.WaitGroup

	mu          sync.Mutex
	prepared    *chrome.Reply
	closed      bool
	loading     bool
	loadChange  chan struct{} // closed and re-made at each change of loading
	held        bool
	crashed     bool
	focused     bool // focus has been asked for
	dialog      *Dialog
	dialogOn    *chrome.Session
	interrupted chan struct{}
	waiting     bool // interrupted is closed
	worlds      map[cdp.FrameID]*world
	remote      map[cdp.FrameID]*chrome.Session      // frames that have a session of their own
	announced   map[target.SessionID]cdp.FrameID     // attached, session not seen yet
	children    map[target.SessionID]*chrome.Session // sessions of remote frames
	owners      map[int]cdp.FrameID                  // ref of a frame element to the frame in it
	numbers     numbers
	revision    int
	seen        map[string]struct{} // lines of the latest snapshot
	content     string
	sign        Sign
	signed      bool
	onSign      func(string)
}

// New returns the page behind top, a session attached to the page target id.
// Call Close when the tab is gone.
func New(top *chrome.Session, id target.ID) *Page {
	p := &Page{
		top:         top,
		target:      id,
		done:        make(chan struct{}),
		pokes:       make(chan struct{}, 1),
		loadChange:  make(chan struct{}),
		interrupted: make(chan struct{}),
		worlds:      map[cdp.FrameID]*world{},
		remote:      map[cdp.FrameID]*chrome.Session{},
		announced:   map[target.SessionID]cdp.FrameID{},
		children:    map[target.SessionID]*chrome.Session{},
		owners:      map[int]cdp.FrameID{},
		numbers:     newNumbers(),
	}
	p.paints.Go(p.paintSign)
	return p
}

// Prepare sends, without waiting, what a fresh session of the page or of one of
// its frames needs before its target runs. The caller lets the target run
// afterwards.
func (p *Page) Prepare(s *chrome.Session) {
	s.Send(page.CommandEnable, nil)
	s.Send(page.CommandSetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true})
	script := s.Send(page.CommandAddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: source(), WorldName: worldName, RunImmediately: new(true),
	})
	s.Send(target.CommandSetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(true),
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == p.top {
		p.prepared = script
		return
	}
	p.children[s.ID()] = s
	if frame, ok := p.announced[s.ID()]; ok {
		delete(p.announced, s.ID())
		p.remote[frame] = s
		p.lose(frame)
	}
}

// Prepared waits until what Prepare sent on the top session is in force, so
// that it holds for the next document from its first line of script on. A
// caller that prepared a tab and let it run waits for it before it navigates.
func (p *Page) Prepared(ctx context.Context) error {
	p.mu.Lock()
	r := p.prepared
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	return asFault(p.wait(ctx, r, nil))
}

func source() string { return walkerSource + ";\n" + signSource }

// Close ends what waits, with BROWSER_GONE, and returns when nothing of the
// page runs any more.
func (p *Page) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	p.mu.Unlock()
	p.paints.Wait()
}

// Loading says whether the main frame is loading.
func (p *Page) Loading() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loading
}

// Interrupted is closed while the renderer does not answer for a known reason;
// once that is over, a fresh channel takes its place.
func (p *Page) Interrupted() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interrupted
}

// SetHeld says whether a navigation of the main frame is held, during which the
// renderer answers nothing.
func (p *Page) SetHeld(held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = held
	p.interrupt()
}

// interrupt brings the interrupted channel in line with what is known. p.mu is held.
func (p *Page) interrupt() {
	now := p.held || p.crashed || p.dialog != nil
	switch {
	case now && !p.waiting:
		close(p.interrupted)
	case !now && p.waiting:
		p.interrupted = make(chan struct{})
		p.poke() // the sign may have missed something
	}
	p.waiting = now
}

// wait waits for an answer of the renderer, for as long as it can be expected.
func (p *Page) wait(ctx context.Context, r *chrome.Reply, result any) error {
	select {
	case <-r.Done():
		return r.Wait(ctx, result)
	case <-p.Interrupted():
		return ErrInterrupted
	case <-ctx.Done():
		return ctx.Err()
	case <-p.done:
		return gone()
	}
}

// readyToAct is ready for input: it also gives the focus to a tab that has never
// navigated, such as a window that another page has opened and written.
func (p *Page) readyToAct() error {
	if err := p.ready(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.focused {
		p.focused = true
		focus(p.top)
	}
	return nil
}

// ready refuses to begin what the renderer would not answer.
func (p *Page) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return gone()
	}
	if p.waiting {
		return ErrInterrupted
	}
	return nil
}

func gone() error {
	return fault.New(fault.BrowserGone, "the tab is gone").WithHint("Read the state to see which tabs are open.")
}

// asFault gives the errors of a call that has not touched the page their final form.
func asFault(err error) error {
	if err == nil || errors.Is(err, ErrInterrupted) {
		return err
	}
	if errors.Is(err, errLost) {
		return fault.New(fault.BrowserGone, "the page went away during the call").
			WithHint("Read the state of the page again.").WithEffect(fault.EffectNone)
	}
	f := fault.From(err)
	if f.Effect == fault.EffectUnknown {
		f = f.WithEffect(fault.EffectNone)
	}
	return f
}

// Settle waits after an action, for max at most, until the page is loaded and
// its document has not changed for a moment, and says whether it came to that.
// It ends at once when the page is interrupted.
func (p *Page) Settle(ctx context.Context, max time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	end := time.Now().Add(max)
	for range maxNavigations {
		if !p.loaded(ctx) {
			return false
		}
		w, err := p.topWorld(ctx)
		var settled bool
		if err == nil {
			left := time.Until(end) - settleMargin
			err = p.run(ctx, w, "settle", settleArgs{quiet.Milliseconds(), left.Milliseconds(), true}, &settled)
		}
		switch {
		case errors.Is(err, errLost): // a navigation took the document away: wait for the next one
			if ctx.Err() != nil {
				return false
			}
		case err != nil:
			return false
		case settled && !p.Loading():
			return true
		case time.Until(end) <= settleMargin:
			return false
		}
	}
	return false
}

// settleArgs are the walker's, in milliseconds.
type settleArgs struct {
	Quiet int64 `json:"quiet"`
	Max   int64 `json:"max"`
	Acted bool  `json:"acted"`
}

const (
	// quiet is how long a document must not change to count as settled: two
	// frames, so that what an event handler renders has been rendered.
	quiet = 34 * time.Millisecond
	// maxNavigations is how many documents a page may go through before it counts
	// as one that does not settle.
	maxNavigations = 20
	// settleMargin leaves the answer the time to arrive.
	settleMargin = 15 * time.Millisecond
)

// loaded waits until the main frame does not load.
func (p *Page) loaded(ctx context.Context) bool {
	for {
		p.mu.Lock()
		loading, change, stopped := p.loading, p.loadChange, p.interrupted
		p.mu.Unlock()
		if !loading {
			return true
		}
		select {
		case <-change:
		case <-stopped:
			return false
		case <-ctx.Done():
			return false
		case <-p.done:
			return false
		}
	}
}
