package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/page"
)

// Wait waits for d, or until the person has decided what waits on the tab.
func (s *Service) Wait(ctx context.Context, c *action.Call, d time.Duration, capture Capture) (Outcome, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	report := page.Report{Success: true, Message: fmt.Sprintf("Waited %s.", d)}
	if decided, err := t.decided(ctx, timer.C); err != nil {
		return Outcome{}, err
	} else if decided {
		report.Message = "The person has decided."
	} else if !t.isHeld() {
		select {
		case <-timer.C:
		case <-t.ended:
			return Outcome{}, errTabGone
		case <-ctx.Done():
			return Outcome{}, fault.From(context.Cause(ctx)).WithEffect(fault.EffectNone)
		}
	}
	h := capture.after()
	h.load = true
	out := t.observe(ctx, h)
	out.Action = &report
	return out, nil
}

// decided waits while something waits for the person, but not past limit. It
// reports whether something waited and no longer does.
func (t *tab) decided(ctx context.Context, limit <-chan time.Time) (bool, error) {
	waited := false
	for {
		t.mu.Lock()
		held, changed := t.held != nil, t.watch()
		if !held && t.told != "" { // what the agent was told of may be decided before it asks
			waited, t.told = true, ""
		}
		t.mu.Unlock()
		if !held {
			return waited, nil
		}
		waited = true
		select {
		case <-changed:
		case <-limit:
			return false, nil
		case <-t.ended:
			return false, errTabGone
		case <-ctx.Done():
			return false, fault.From(context.Cause(ctx)).WithEffect(fault.EffectNone)
		}
	}
}

// WaitFor waits for text to show or to go, at most d.
func (s *Service) WaitFor(ctx context.Context, c *action.Call, d time.Duration, text, gone string, capture Capture) (Outcome, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	wctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	report := page.Report{Message: fmt.Sprintf("It did not happen within %s.", d)}
	for wctx.Err() == nil {
		if _, err := t.decided(wctx, nil); err != nil && wctx.Err() == nil {
			return Outcome{}, err
		}
		r, err := t.page.WaitFor(wctx, text, gone)
		if err == nil {
			report = r
			break
		}
		if wctx.Err() != nil {
			break
		}
		if !errors.Is(err, page.ErrInterrupted) {
			return Outcome{}, t.explain(ctx, t.mark(), err)
		}
		if t.page.Dialog() != nil {
			report = page.Report{Message: "A dialog opened meanwhile; answer it with handle_dialog."}
			break
		}
	}
	if ctx.Err() != nil {
		return Outcome{}, fault.From(context.Cause(ctx)).WithEffect(fault.EffectNone)
	}
	out := t.observe(ctx, capture.after())
	out.Action = &report
	return out, nil
}
