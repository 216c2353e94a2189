package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
)

const (
	// fullBudget and compactBudget bound a state's content, in characters.
	fullBudget    = 16000
	compactBudget = 4000
	// loadTime bounds the wait for a page to load; the state then says settled: false.
	loadTime = 10 * time.Second
	// settleTime bounds the wait for a page to come to rest after an action.
	settleTime = 3 * time.Second
	// readTime bounds one read of a page that does not answer.
	readTime = 8 * time.Second
)

// tab finds the tab that c works on, starting Chromium when there is none.
func (s *Service) tab(ctx context.Context, c *action.Call) (*tab, error) {
	w := s.window(c.Actor.Agent)
	if w == nil {
		return nil, fault.New(fault.BrowserDisposing, "this agent is no longer connected")
	}
	w.mu.Lock()
	had := w.life
	w.mu.Unlock()
	l, err := w.ensure(ctx)
	if err != nil {
		return nil, err
	}
	id := c.Tab
	l.mu.Lock()
	if c.Turn == nil || !c.Turn.Named() {
		if had != l || id == 0 {
			id = l.selected
		}
	}
	t := l.tabs[id]
	l.mu.Unlock()
	if t == nil || !t.controlled {
		if c.Turn != nil && c.Turn.Named() {
			return nil, fault.New(fault.NotFound, "there is no tab %d", id).WithHint("get_browser_state lists the tabs.").WithEffect(fault.EffectNone)
		}
		return nil, errTabGone.WithEffect(fault.EffectNone)
	}
	if c.Turn != nil {
		c.Turn.Move(t.id) // the window may not have been open when it joined the line
	}
	return t, nil
}

// act does one thing to a page and reports the page afterwards.
func (s *Service) act(ctx context.Context, c *action.Call, h how, do func(context.Context, *tab) (page.Report, error)) (Outcome, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	if err := t.free(ctx); err != nil {
		return Outcome{}, err
	}
	t.l.w.setSign(func(sign *page.Sign) { sign.Doing = c.Spec.Verb })
	before := t.mark()
	report, err := t.try(ctx, c, do)
	if err != nil {
		return Outcome{}, t.explain(ctx, before, err)
	}
	t.awaitPopups(ctx, before)
	out := t.observe(ctx, h)
	if after := t.since(before); after != "" {
		report.Message = strings.TrimSpace(ended(report.Message) + " " + after)
		out.State.Refused = nil // it is in the report
	}
	out.Action = &report
	return out, nil
}

// try does it, unless a dialog stands in front of the page.
func (t *tab) try(ctx context.Context, c *action.Call, do func(context.Context, *tab) (page.Report, error)) (page.Report, error) {
	if d := t.page.Dialog(); d != nil && c.Spec.Method != "handle_dialog" {
		return page.Report{Message: fmt.Sprintf("The page has a dialog open (%s: %q). Answer it with handle_dialog first.", d.Type, d.Message)}, nil
	}
	report, err := do(ctx, t)
	if errors.Is(err, page.ErrInterrupted) {
		switch d := t.page.Dialog(); {
		case d != nil:
			return page.Report{Success: true, Message: fmt.Sprintf("Done; the page has opened a dialog (%s: %q).", d.Type, d.Message)}, nil
		case t.isHeld():
			return page.Report{Success: true, Message: "Done; it opens a page that waits for the person."}, nil
		}
		return page.Report{}, fault.New(fault.BrowserGone, "the page went away while this was under way").WithEffect(fault.EffectUnknown).Because(err)
	}
	return report, err
}

// free waits until nothing waits for the person on this tab. The call's own
// time stands still meanwhile; the person's patience is the bound.
func (t *tab) free(ctx context.Context) error {
	for {
		t.mu.Lock()
		held, changed := t.held != nil, t.watch()
		t.mu.Unlock()
		if !held {
			return nil
		}
		select {
		case <-changed:
		case <-t.ended:
			return errTabGone.WithEffect(fault.EffectNone)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A mark is what an action is compared with afterwards.
type mark struct {
	refused, commits int
	tabs             map[ids.Tab]bool
}

func (t *tab) mark() mark {
	m := mark{tabs: map[ids.Tab]bool{}}
	for _, o := range t.l.controlled() {
		m.tabs[o.id] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.refused, m.commits = t.refused.n, t.commits
	return m
}

// ended is a message as a sentence that another can follow.
func ended(message string) string {
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}

// since tells what happened beside the action: refused navigations and new tabs.
func (t *tab) since(m mark) string {
	var parts []string
	t.mu.Lock()
	if t.refused.n > m.refused {
		parts = append(parts, t.refused.String())
	}
	t.mu.Unlock()
	for _, o := range t.l.controlled() {
		if !m.tabs[o.id] && o.opener == t {
			parts = append(parts, fmt.Sprintf("Tab %d was opened and is selected.", o.id))
		}
	}
	return strings.Join(parts, " ")
}

// popupTime bounds the wait for what a popup that the action opened asks for.
const popupTime = 500 * time.Millisecond

// awaitPopups waits until the tabs that the action opened have asked for what
// they show, so that the report can say what came of them.
func (t *tab) awaitPopups(ctx context.Context, m mark) {
	ctx, cancel := context.WithTimeout(ctx, popupTime)
	defer cancel()
	for _, o := range t.l.controlled() {
		for !m.tabs[o.id] && o.opener == t {
			o.mu.Lock()
			asked, changed := o.asked || o.loaded, o.watch()
			o.mu.Unlock()
			if asked {
				break
			}
			select {
			case <-changed:
				continue
			case <-o.ended:
			case <-ctx.Done():
			}
			break
		}
	}
}

// explain adds what the tab knows to an error.
func (t *tab) explain(ctx context.Context, m mark, err error) error {
	select {
	case <-t.l.chrome.Done():
		return errGone
	case <-t.ended:
		return errTabGone
	default:
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Effect == fault.EffectNone {
		return e
	}
	t.mu.Lock()
	committed := t.commits > m.commits
	t.mu.Unlock()
	if ctx.Err() != nil {
		e := fault.From(context.Cause(ctx))
		if committed {
			return e.WithEffect(fault.EffectCommitted)
		}
		return e.WithEffect(fault.EffectUnknown)
	}
	return gone(err)
}

// Page does what do does to the page of c's tab.
func (s *Service) Page(ctx context.Context, c *action.Call, capture Capture, do func(context.Context, *page.Page) (page.Report, error)) (Outcome, error) {
	return s.act(ctx, c, capture.after(), func(ctx context.Context, t *tab) (page.Report, error) { return do(ctx, t.page) })
}

// Dialog answers the dialog that c's tab has open.
func (s *Service) Dialog(ctx context.Context, c *action.Call, accept bool, text *string, capture Capture) (Outcome, error) {
	return s.act(ctx, c, capture.after(), func(ctx context.Context, t *tab) (page.Report, error) {
		d := t.page.Dialog()
		if d == nil {
			return page.Report{Message: "No dialog is open."}, nil
		}
		if err := t.page.HandleDialog(ctx, accept, text); err != nil {
			return page.Report{}, err
		}
		verb := "dismissed"
		if accept {
			verb = "accepted"
		}
		return page.Report{Success: true, Message: fmt.Sprintf("The %s was %s.", d.Type, verb)}, nil
	})
}
