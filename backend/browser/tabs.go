package browser

import (
	"context"
	"fmt"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/page"

	"github.com/chromedp/cdproto/target"
)

// OpenTab opens a tab, selects it and goes to url if there is one.
func (s *Service) OpenTab(ctx context.Context, c *action.Call, url string, capture Capture) (Outcome, error) {
	first, err := s.tab(ctx, c)
	if err != nil && !fault.Is(err, fault.BrowserGone) {
		return Outcome{}, err
	}
	w := s.window(c.Actor.Agent)
	l, err := w.ensure(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if len(l.controlled()) >= maxTabs {
		return Outcome{}, fault.New(fault.Busy, "this window has %d tabs already", maxTabs).WithHint("Close some with close_tab.").WithEffect(fault.EffectNone)
	}
	t, err := l.newTab(ctx, first == nil)
	if err != nil {
		return Outcome{}, gone(err)
	}
	c.Turn.Move(t.id)
	w.setSign(func(sign *page.Sign) { sign.Doing = c.Spec.Verb })
	report := page.Report{Success: true, Message: fmt.Sprintf("Tab %d was opened and is selected.", t.id)}
	if url != "" {
		before := t.mark()
		went, err := t.navigate(ctx, url)
		if err != nil {
			l.root().Send("Target.closeTarget", target.CloseTargetParams{TargetID: t.target})
			return Outcome{}, t.explain(ctx, before, err)
		}
		report.Success = went.Success
		report.Message += " " + went.Message
	}
	h := capture.after()
	h.budget, h.load = fullBudget, true
	out := t.observe(ctx, h)
	out.Action = &report
	return out, nil
}

// SelectTab selects a tab.
func (s *Service) SelectTab(ctx context.Context, c *action.Call, capture Capture) (Outcome, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	if err := t.l.root().Call(ctx, "Target.activateTarget", target.ActivateTargetParams{TargetID: t.target}, nil); err != nil {
		return Outcome{}, gone(err)
	}
	t.l.mu.Lock()
	t.l.selected = t.id
	t.l.mu.Unlock()
	h := capture.after()
	h.budget = fullBudget
	out := t.observe(ctx, h)
	out.Action = &page.Report{Success: true, Message: fmt.Sprintf("Tab %d is selected.", t.id)}
	return out, nil
}

// CloseTab closes a tab without asking the page. Closing the last one closes the window.
func (s *Service) CloseTab(ctx context.Context, c *action.Call, capture Capture) (Outcome, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	t.l.root().Send("Target.closeTarget", target.CloseTargetParams{TargetID: t.target})
	select {
	case <-t.ended:
	case <-ctx.Done():
		return Outcome{}, t.explain(ctx, t.mark(), ctx.Err())
	}
	report := &page.Report{Success: true, Message: fmt.Sprintf("Tab %d was closed.", t.id)}
	rest := t.l.controlled()
	if len(rest) == 0 {
		report.Message += " It was the last one: the window has closed; the next action opens a fresh one."
		return Outcome{Action: report, State: State{Tabs: []TabState{}, Settled: true, CapturedAt: s.o.Now()}}, nil
	}
	next := rest[0]
	sel := t.l.selectedTab()
	for _, o := range rest {
		if o.id == sel {
			next = o
		}
	}
	out := next.observe(ctx, capture.after())
	out.Action = report
	return out, nil
}
