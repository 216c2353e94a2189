package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/ledger"
	"chaperone/backend/policy"
	"chaperone/backend/rules"
	"chaperone/backend/setting"
)

const (
	ruledSites = 100   // a person's list of sites
	quickCalls = 5_000 // of what takes microseconds
	calls      = 200   // of what waits for a disk
)

// path measures what stands between a request and its action.
func path(ctx context.Context, r *report, dir string) error {
	if err := stations(ctx, r, dir); err != nil {
		return err
	}
	return refusal(ctx, r, filepath.Join(dir, "host"))
}

// stations runs an action that does nothing: directly, along the path, and
// along the path with its rows in the account. The stations are put together
// here as the host does it, from the same services.
func stations(ctx context.Context, r *report, dir string) (err error) {
	var bus event.Bus
	l, err := ledger.Open(ctx, filepath.Join(dir, "ledger.sqlite"), &bus, ledger.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	kept, err := rules.Load(ctx, l, time.Now, func(_, _ setting.Settings) {})
	if err != nil {
		return err
	}
	for i := range ruledSites {
		if _, err := kept.SetSite(ctx, policy.Origin(fmt.Sprintf("https://site-%d.example", i)), policy.Allow); err != nil {
			return err
		}
	}
	agents := agent.New(l, l, time.Now, func(context.Context, ids.Agent, bool) {})
	line, err := agents.Connect(ctx, "bench")
	if err != nil {
		return err
	}
	defer line.Leave(context.WithoutCancel(ctx))

	type args struct {
		URL string `json:"url"`
	}
	type result struct {
		Done bool `json:"done"`
	}
	spec := action.Describe[args, result](action.Spec{
		Method: "no_op", Verb: "no-op", Summary: "Does nothing.",
		Audience: action.Agents, Capability: "bench", Effect: action.Mutates, Tab: action.OneTab,
	})
	work := func(context.Context, *action.Call, args) (result, error) { return result{true}, nil }
	decide := func(c *action.Call) error {
		var a args
		if err := json.Unmarshal(c.Args, &a); err != nil {
			return err
		}
		d := policy.Navigate(kept.Rules(), policy.Navigation{Kind: policy.KindDirect, To: a.URL})
		if d.Access != policy.Allow {
			return fault.New(fault.BrowserPolicyDenied, "not allowed: %s", d.Reason)
		}
		return nil
	}
	lanes := action.NewLanes(func() ids.Tab { return 1 })
	dispatcher := func(record action.Middleware) *action.Dispatcher {
		return action.NewDispatcher([]action.Bound{action.Bind(spec, work)}, action.Path{
			Line:   func(ids.Agent) *action.Lanes { return lanes },
			Record: record,
			Admit: func(next action.Runner) action.Runner {
				return func(ctx context.Context, c *action.Call) (any, error) {
					ctx, leave, err := agents.Enter(ctx, c)
					if err != nil {
						return nil, err
					}
					out, err := next(ctx, c)
					leave(err)
					return out, err
				}
			},
			Decide: func(next action.Runner) action.Runner {
				return func(ctx context.Context, c *action.Call) (any, error) {
					if err := decide(c); err != nil {
						return nil, err
					}
					return next(ctx, c)
				}
			},
			Hold: func(next action.Runner) action.Runner {
				return func(ctx context.Context, c *action.Call) (any, error) {
					if err := errors.Join(c.Turn.Wait(ctx), agents.Still(c), decide(c)); err != nil {
						return nil, err
					}
					return next(ctx, c)
				}
			},
		}, time.Now)
	}
	unrecorded := dispatcher(func(next action.Runner) action.Runner { return next })
	recorded := dispatcher(func(next action.Runner) action.Runner {
		return func(ctx context.Context, c *action.Call) (any, error) {
			draft := event.Draft{Category: "agent.action.started", Subject: c.Spec.Method, Agent: c.Actor.Agent, Call: c.ID}
			if err := l.Append(ctx, draft); err != nil {
				return nil, err
			}
			out, err := next(ctx, c)
			draft.Category = "agent.action.completed"
			return out, errors.Join(err, l.Append(ctx, draft))
		}
	})
	raw := json.RawMessage(fmt.Sprintf(`{"url":"https://site-%d.example/some/page?with=query"}`, ruledSites/2))
	along := func(d *action.Dispatcher) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			return timed(func() error {
				begun, err := d.Begin(action.Actor{Agent: line.Agent, Line: line.Line}, spec.Method, raw)
				if err != nil {
					return err
				}
				_, err = begun.Do(ctx)
				return err
			})
		}
	}
	s, err := rounds(quickCalls, func() (time.Duration, error) {
		return timed(func() error {
			var a args
			if err := json.Unmarshal(raw, &a); err != nil {
				return err
			}
			_, err := work(ctx, nil, a)
			return err
		})
	}, along(unrecorded))
	if err != nil {
		return err
	}
	r.adds("The path of a call: validated, admitted, decided twice, held; no account", s[0], s[1], 1)
	var decided sample
	for range quickCalls {
		begun := time.Now()
		policy.Navigate(kept.Rules(), policy.Navigation{Kind: policy.KindDirect, To: "https://site-7.example/some/page?with=query"})
		decided.add(time.Since(begun))
	}
	r.only(fmt.Sprintf("One decision of the policy, %d sites with a rule", ruledSites), decided, "", nil, "")
	if s, err = rounds(calls, along(unrecorded), along(recorded)); err != nil {
		return err
	}
	r.adds("The account: two rows, each on the disk before the call goes on", s[0], s[1], 0)
	return nil
}

// refusal measures the whole way of a call that needs no browser: over the
// socket, along the host's own path, refused by a rule, and back.
func refusal(ctx context.Context, r *report, home string) error {
	h, end, err := runHost(home)
	if err != nil {
		return err
	}
	return errors.Join(func() (err error) {
		a, err := dial(ctx, h.Paths().Socket)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		if err := a.call(ctx, "hello", map[string]any{"agent": "bench"}, nil); err != nil {
			return err
		}
		h.People().Send(ctx, []byte(`{"id":1,"method":"set_site","args":{"origin":"https://blocked.example","access":"block"}}`))
		s, err := rounds(calls, func() (time.Duration, error) {
			return timed(func() error { return a.call(ctx, "ping", map[string]any{}, nil) })
		}, func() (time.Duration, error) {
			return timed(func() error {
				err := a.call(ctx, "navigate", map[string]any{"url": "https://blocked.example/"}, nil)
				if !fault.Is(err, fault.BrowserPolicyDenied) {
					return fmt.Errorf("the address should have been refused: %w", err)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		r.only("Ping over the socket", s[0], "", nil, "")
		r.only("navigate over the socket, refused by a rule", s[1], "", nil, "whole path, account included")
		return nil
	}(), end())
}
