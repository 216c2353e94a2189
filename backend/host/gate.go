package host

import (
	"context"
	"net"
	"net/url"
	"strings"

	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/catalog"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
)

// gate joins the policy and the person for the browser.
type gate struct{ w *whole }

// Decide implements browser.Gate.
func (g gate) Decide(n policy.Navigation) policy.Decision {
	return policy.Navigate(g.w.rules.Rules(), n)
}

// Ask implements browser.Gate.
func (g gate) Ask(ctx context.Context, r browser.Request) browser.Verdict {
	if !g.w.rules.Settings().AgentControl { // a page goes on by itself; nobody wants to be asked for it now
		return browser.Verdict{Reason: errDisabled.Message, Err: errDisabled}
	}
	q := approval.Question{Question: r.Question, Agent: r.Agent, Session: r.Session, TabID: r.Tab, Kind: "navigation", Via: r.Kind,
		FromOrigin: r.From, FromTitle: cut(r.FromTitle, 200), URL: cut(r.To, 4000), Origin: policy.OriginOf(r.To),
		HTTPMethod: r.HTTPMethod, HasBody: r.HasBody}
	q.Notes, q.Risk = notes(r)
	o, err := g.w.approvals.Ask(ctx, q)
	if err != nil {
		return browser.Verdict{Reason: fault.From(err).Message, Err: err}
	}
	v := browser.Verdict{Allowed: o.Allowed, Answered: o.Answer != "", Reason: o.Reason}
	if !v.Allowed {
		v.Err = approval.Refused(q.Origin, o)
	}
	return v
}

// notes says what a person should notice about a destination.
func notes(r browser.Request) ([]string, approval.Risk) {
	var notes []string
	risk := approval.Low
	high := func(note string) { notes, risk = append(notes, note), approval.High }
	// How the tab comes there is the question's via, which has words of its own.
	if r.Kind == policy.KindPage {
		notes = append(notes, "The page leads there, not the agent's own words.")
	}
	switch {
	case r.HasBody:
		high("What was filled in goes with it. If you allow it, the site receives it.")
	case r.HTTPMethod != "GET" && r.HTTPMethod != "HEAD":
		high("A form is sent there.")
	}
	u, err := url.Parse(r.To)
	if err != nil {
		return notes, approval.High
	}
	host := u.Hostname()
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	ip := net.ParseIP(host)
	if u.User != nil {
		high("The address carries a user name.")
	}
	if strings.Contains(host, "xn--") {
		high("The name is written in letters that can look like others.")
	}
	if ip != nil && !ip.IsLoopback() {
		notes = append(notes, "It is a bare network address.")
	}
	if u.Scheme == "http" && !local && (ip == nil || !ip.IsLoopback()) {
		notes = append(notes, "The connection is not encrypted.")
	}
	if len(u.RawQuery) > 500 {
		notes = append(notes, "The address carries much data.")
	}
	return notes, risk
}

// Decide implements catalog.House: it settles a question, remembers the answer
// if it is meant for next time, and settles what the new rule answers too.
func (w *whole) Decide(ctx context.Context, a catalog.AnswerArgs) (bool, error) {
	q, matched := w.approvals.Answer(a.Question, a.Answer)
	if !matched || !a.Answer.Remembered() {
		return matched, nil
	}
	access := policy.Block
	if a.Answer.Allowed() {
		access = policy.Allow
	}
	if _, err := w.rules.SetSite(ctx, q.Origin, access); err != nil {
		f := fault.From(err)
		return true, fault.New(f.Code, "your answer counts this time, but it could not be remembered: %s", f.Message).WithHint(f.Hint)
	}
	return true, nil
}
