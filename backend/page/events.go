package page

import (
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/chrome"
)

// Handle takes every event of the page's sessions, in order. It does not block.
func (p *Page) Handle(ev chrome.Event) {
	switch ev.Method {
	case "Page.frameNavigated":
		if e, ok := decode[page.EventFrameNavigated](ev); ok && e.Frame != nil {
			p.navigated(ev.Session, e.Frame.ID)
		}
	case "Page.frameDetached":
		if e, ok := decode[page.EventFrameDetached](ev); ok {
			p.mu.Lock()
			// A frame that moves to another process detaches here after its new
			// session was announced; the new world is not this session's to end.
			if w := p.worlds[e.FrameID]; w == nil || w.s == ev.Session {
				p.lose(e.FrameID)
			}
			p.mu.Unlock()
		}
	case "Page.frameStartedLoading":
		if e, ok := decode[page.EventFrameStartedLoading](ev); ok && p.isTop(e.FrameID) {
			p.setLoading(true)
		}
	case "Page.frameStoppedLoading":
		if e, ok := decode[page.EventFrameStoppedLoading](ev); ok && p.isTop(e.FrameID) {
			p.setLoading(false)
		}
	case "Page.javascriptDialogOpening":
		if e, ok := decode[page.EventJavascriptDialogOpening](ev); ok {
			p.dialogOpened(ev.Session, e)
		}
	case "Page.javascriptDialogClosed":
		p.dialogClosed()
	case "Runtime.bindingCalled":
		if e, ok := decode[runtime.EventBindingCalled](ev); ok && ev.Session == p.top && e.Name == signBinding {
			p.signPressed(e.Payload)
		}
	case "Target.attachedToTarget":
		if e, ok := decode[target.EventAttachedToTarget](ev); ok && e.TargetInfo != nil && e.TargetInfo.Type == "iframe" {
			p.attached(e.SessionID, cdp.FrameID(e.TargetInfo.TargetID))
		}
	case "Target.detachedFromTarget":
		if e, ok := decode[target.EventDetachedFromTarget](ev); ok {
			p.detached(e.SessionID)
		}
	case "Inspector.targetCrashed":
		if ev.Session == p.top {
			p.Crashed()
		}
	}
}

func decode[T any](ev chrome.Event) (T, bool) {
	var v T
	err := ev.Decode(&v)
	return v, err == nil
}

func (p *Page) isTop(frame cdp.FrameID) bool { return string(frame) == string(p.target) }

// focus makes a page act as the focused one wherever its window is: one that is
// covered, minimised or in a background tab would swallow input. It is sent with
// each document, never before the first: a renderer that takes it over from the
// initial empty document now and then dies of it.
func focus(s *chrome.Session) {
	s.Send(emulation.CommandSetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
}

// Crashed says that the renderer of the tab is gone; a navigation or a reload
// brings it back.
func (p *Page) Crashed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashed, p.dialog, p.dialogOn = true, nil, nil
	for frame := range p.worlds {
		p.lose(frame)
	}
	p.load(false)
	p.interrupt()
}

func (p *Page) navigated(s *chrome.Session, frame cdp.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.worlds[frame]
	root := p.isTop(frame) || p.remote[frame] == s
	if !root && w != nil && w.s != s {
		return // told by the process that the frame left
	}
	p.lose(frame)
	if p.isTop(frame) {
		p.crashed, p.focused = false, true
		p.interrupt()
		p.poke()
	}
	if root { // asked for early, so that it is there when it is needed
		focus(s)
		p.worlds[frame] = p.newWorld(s, frame)
	}
}

func (p *Page) setLoading(loading bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load(loading)
}

// load notes whether the main frame loads. p.mu is held.
func (p *Page) load(loading bool) {
	if p.loading == loading {
		return
	}
	p.loading = loading
	close(p.loadChange)
	p.loadChange = make(chan struct{})
}

func (p *Page) attached(id target.SessionID, frame cdp.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.children[id]; s != nil {
		p.remote[frame] = s
		p.lose(frame)
		return
	}
	p.announced[id] = frame
}

func (p *Page) detached(id target.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.announced, id)
	delete(p.children, id)
	for frame, s := range p.remote {
		if s.ID() == id {
			delete(p.remote, frame)
			if w := p.worlds[frame]; w != nil && w.s == s {
				p.lose(frame)
			}
		}
	}
}
