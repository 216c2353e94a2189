package host

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"chaperone/backend/action"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/policy"
)

// settleTime bounds the writing of a call's last row once the caller may be gone.
const settleTime = 5 * time.Second

// record writes a row before anything happens and another when it is settled.
// Without the first there is no call. What a person only looks at is no event.
func (w *whole) record(next action.Runner) action.Runner {
	return func(ctx context.Context, c *action.Call) (any, error) {
		if c.Actor.Person && c.Spec.Effect == action.Reads {
			return next(ctx, c)
		}
		kind := "agent.action."
		if c.Actor.Person {
			kind = "person.action."
		}
		asked := event.Draft{Category: kind + "started", Subject: c.Spec.Method, Agent: c.Actor.Agent, Call: c.ID,
			Data: row{Method: c.Spec.Method, Tab: c.Tab, Args: shape(c.Spec, c.Args)}}
		if err := w.ledger.Append(ctx, asked); err != nil {
			return nil, err
		}
		began := time.Now()
		settled := false
		settle := func(err error) {
			settled = true
			data := row{Method: c.Spec.Method, Tab: c.Tab, Ms: time.Since(began).Milliseconds()}
			category := kind + "completed"
			if err != nil {
				f := fault.From(err)
				data.Code, data.Effect = f.Code, f.Effect
				category = kind + "failed"
				if rejected[f.Code] {
					category = kind + "rejected"
				}
				if f.Code == fault.Internal {
					w.h.log.Error("internal error", "method", c.Spec.Method, "err", err)
				}
			}
			sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
			defer cancel()
			if err := w.ledger.Append(sctx, event.Draft{Category: category, Subject: c.Spec.Method, Agent: c.Actor.Agent, Call: c.ID, Data: data}); err != nil {
				w.h.log.Error("the end of a call could not be written", "call", c.ID, "err", err)
			}
		}
		defer func() {
			if !settled { // a panic on the way
				settle(fault.New(fault.Internal, "internal error"))
			}
		}()
		out, err := next(ctx, c)
		settle(err)
		return out, err
	}
}

// rejected are the codes of calls that never reached a page.
var rejected = map[fault.Code]bool{
	fault.InvalidArguments: true, fault.BrowserPolicyDenied: true, fault.BrowserDisabled: true,
	fault.AgentPaused: true, fault.AgentStopped: true,
}

// row is what the account says of a call.
type row struct {
	Method string         `json:"method"`
	Tab    ids.Tab        `json:"tab,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
	Ms     int64          `json:"ms,omitempty"`
	Code   fault.Code     `json:"code,omitempty"`
	Effect fault.Effect   `json:"effect,omitempty"`
}

// shape says what arguments look like without what was typed: numbers and
// booleans as they are, an address without its query, any other text by its
// length. It is taken before the arguments are checked, so what s does not
// know is only counted.
func shape(s *action.Spec, args json.RawMessage) map[string]any {
	var v map[string]any
	if json.Unmarshal(args, &v) != nil {
		return nil
	}
	out, unknown := map[string]any{}, 0
	for k, x := range v {
		if s.Args.Properties[k] == nil {
			unknown++
			continue
		}
		out[k] = outline(k, x)
	}
	if unknown > 0 {
		out["unknown"] = unknown
	}
	return out
}

// plainText are the people's arguments that come from a closed list or name things.
var plainText = map[string]bool{"session": true, "agent": true, "question": true, "answer": true, "access": true, "navigation": true}

func outline(name string, x any) any {
	switch x := x.(type) {
	case string:
		if name == "url" || name == "origin" {
			if a := address(x); a != "" {
				return a
			}
		}
		if plainText[name] && len(x) <= 80 {
			return x
		}
		return map[string]any{"characters": utf8.RuneCountInString(x)}
	case []any:
		return map[string]any{"items": len(x)}
	case map[string]any:
		return map[string]any{"fields": len(x)}
	}
	return x
}

// address returns what of an address may be written down: no more than the scheme
// where there is no site, and "" for what is no address at all.
func address(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme == "" {
		return ""
	}
	if u.Host == "" {
		return cut(u.Scheme, 20) + ":"
	}
	return cut(u.Scheme+"://"+u.Host+u.EscapedPath(), 300)
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

var errDisabled = fault.New(fault.BrowserDisabled, "the person has turned agent control off").
	WithHint("Nothing was done. The person can turn it on in Chaperone's settings.").WithEffect(fault.EffectNone)

// admit asks whether agents may act at all, and whether this one may.
func (w *whole) admit(next action.Runner) action.Runner {
	return func(ctx context.Context, c *action.Call) (any, error) {
		if c.Actor.Person {
			return next(ctx, c)
		}
		if !w.rules.Settings().AgentControl {
			return nil, errDisabled
		}
		ctx, leave, err := w.agents.Enter(ctx, c)
		if err != nil {
			return nil, err
		}
		out, err := next(ctx, c)
		leave(err)
		return out, err
	}
}

// decide refuses what no person need be asked about. What has to be asked is
// asked by the gate, at the request itself.
func (w *whole) decide(next action.Runner) action.Runner {
	return func(ctx context.Context, c *action.Call) (any, error) {
		if err := w.destination(c); err != nil {
			return nil, err
		}
		return next(ctx, c)
	}
}

func (w *whole) destination(c *action.Call) error {
	if c.Spec.Destination == nil {
		return nil
	}
	to := strings.TrimSpace(c.Spec.Destination(c.Args))
	if to == "" {
		if _, optional := c.Spec.Args.Properties["url"]; optional && c.Spec.Tab == action.Lifecycle {
			return nil
		}
		return fault.New(fault.InvalidArguments, "url is empty").WithHint("Write the whole address: https://example.org/.").WithEffect(fault.EffectNone)
	}
	if !strings.Contains(to, ":") {
		return fault.New(fault.InvalidArguments, "url has no scheme").WithHint("Write the whole address: https://example.org/.").WithEffect(fault.EffectNone)
	}
	d := policy.Navigate(w.rules.Rules(), policy.Navigation{Kind: policy.KindDirect, To: to})
	if d.Access != policy.Block || d.Rule == "default" {
		return nil // the default leaves the tab's own origin open; the gate knows it
	}
	return fault.New(fault.BrowserPolicyDenied, "the address was not opened: %s", d.Reason).WithEffect(fault.EffectNone)
}

// hold waits for the call's turn and asks again whether it may still happen.
func (w *whole) hold(next action.Runner) action.Runner {
	return func(ctx context.Context, c *action.Call) (any, error) {
		if c.Turn != nil {
			if err := c.Turn.Wait(ctx); err != nil {
				return nil, fault.From(err).WithEffect(fault.EffectNone)
			}
		}
		if !c.Actor.Person {
			if !w.rules.Settings().AgentControl {
				return nil, errDisabled
			}
			if err := w.agents.Still(c); err != nil {
				return nil, err
			}
			if err := w.destination(c); err != nil {
				return nil, err
			}
		}
		return next(ctx, c)
	}
}
