package host

import (
	"context"

	"chaperone/backend/approval"
	"chaperone/backend/ids"
	"chaperone/backend/policy"
	"chaperone/backend/setting"
)

// What one service's doings mean for another. All of it is here.

// signs says what the sign on an agent's window shows after an event.
var signs = map[string]string{
	"agent.paused":  "paused",
	"agent.resumed": "active",
	"agent.stopped": "paused",
}

// react follows the log and carries on what other services must hear of.
func (w *whole) react(ctx context.Context, ready func()) error {
	seq, err := w.ledger.Last(ctx)
	if err != nil {
		return err
	}
	ready()
	for {
		if _, err := w.h.bus.Wait(ctx, seq); err != nil {
			return err
		}
		events, err := w.ledger.After(ctx, seq, 500)
		if err != nil {
			return err
		}
		for _, e := range events {
			seq = e.Seq
			if sign, ok := signs[e.Category]; ok {
				w.browsers.SetSign(e.Agent, sign)
			}
		}
	}
}

// rulesChanged follows a change of settings or site rules: questions that the
// rules now answer are settled, tabs on blocked sites are moved off them, and
// when agent control was turned off everything under way ends.
func (w *whole) rulesChanged(before, after setting.Settings) {
	if before.AgentControl && !after.AgentControl {
		w.agents.StopAll(errDisabled)
	}
	w.approvals.Review(func(q approval.Question) (allowed bool, reason string, settled bool) {
		if !after.AgentControl {
			return false, "the person has turned agent control off", true
		}
		d := policy.Navigate(w.rules.Rules(), policy.Navigation{Kind: q.Via, From: q.FromOrigin, To: q.URL})
		return d.Access == policy.Allow, d.Reason, d.Access != policy.Ask
	})
	w.browsers.Enforce()
}

// pressed follows the person's press of a button on a window's sign. It comes
// from the browser's event path, which must not wait for the ledger.
func (w *whole) pressed(name ids.Agent, button string) {
	w.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), settleTime)
		defer cancel()
		var err error
		switch button {
		case "pause":
			err = w.agents.Pause(ctx, name)
		case "resume":
			err = w.agents.Resume(ctx, name)
		case "stop":
			err = w.agents.Stop(ctx, name)
		}
		if err != nil {
			w.h.log.Error("a press on the sign was not carried out", "button", button, "err", err)
		}
	})
}
