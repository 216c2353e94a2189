package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

// How long the script waits; a person's thinking comes on top.
const (
	answerWithin = 45 * time.Second // for one call, the first start of a Chromium included
	askedWithin  = 20 * time.Second // for a question that must come
)

// errTurnedAway is a person's "no" where the show needed a "yes": an end, not a failure.
var errTurnedAway = errors.New("the person did not let the agent go on")

type args = map[string]any

// script is the agent's errand: buy two kettles, and do not get lost on the way.
func (a *agent) script(ctx context.Context) error {
	if _, err := a.must(ctx, wire.MethodHello, args{"agent": "shopper", "protocol": wire.Protocol}); err != nil {
		return err
	}
	if _, err := a.must(ctx, wire.MethodSubscribe, nil); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{a.enter, a.choose, a.order, a.trap, a.redirect, a.insist} {
		if err := a.person.rest(ctx); err != nil {
			return err
		}
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// enter opens the shop: a new site, so the person is asked before anything leaves.
func (a *agent) enter(ctx context.Context) error {
	a.talk.say("1. The agent opens a shop. It is a new site: nothing leaves before the person says so.")
	o, err := a.must(ctx, "navigate", args{"url": a.site.url("shop", "/")})
	if err != nil {
		return err
	}
	if err := a.allowed(ctx, "shop"); err != nil {
		return err
	}
	_, err = a.arrive(ctx, o, a.site.url("shop", "/"), "Things for tea")
	return err
}

// choose searches and opens a product: the same site, so nobody is bothered.
func (a *agent) choose(ctx context.Context) error {
	a.talk.say("2. It looks around, searches, and opens a product. The site is allowed, so nobody is asked.")
	o, err := a.must(ctx, "get_browser_state", nil)
	if err != nil {
		return err
	}
	search, err := o.State.ref("Search the shop")
	if err != nil {
		return err
	}
	if _, err := a.must(ctx, "find_element", args{"text": "kettle"}); err != nil {
		return err
	}
	if _, err := a.must(ctx, "input_text", args{"index": search, "text": "kettle"}); err != nil {
		return err
	}
	if o, err = a.must(ctx, "press", args{"key": "Enter"}); err != nil {
		return err
	}
	found, err := a.arrive(ctx, o, a.site.url("shop", "/search"), "2 results")
	if err != nil {
		return err
	}
	kettle, err := found.ref("<link", "Copper Kettle")
	if err != nil {
		return err
	}
	if o, err = a.must(ctx, "click_element", args{"index": kettle}); err != nil {
		return err
	}
	_, err = a.arrive(ctx, o, a.site.url("shop", "/product/copper-kettle"), "Checkout")
	return err
}

// order fills in the form and sends it to the payment partner: another site, so the person is asked, and the form's
// body waits with the question.
func (a *agent) order(ctx context.Context) error {
	a.talk.say("3. It orders two. The checkout is on another site: the form waits until the person has decided.")
	fields := []args{
		{"name": "Quantity", "text": "2"},
		{"name": "Full name", "text": "Ann Example"},
		{"name": "Email", "text": "ann@example.org"},
		{"name": "Street and number", "text": "Linden Row 7"},
		{"name": "Postcode and city", "text": "10115 Berlin"},
	}
	o, err := a.must(ctx, "fill_fields", args{"fields": fields})
	if err != nil {
		return err
	}
	if !o.Action.Success {
		return fmt.Errorf("fill_fields: %s", o.Action.Message)
	}
	if o, err = a.must(ctx, "click_element", args{"name": "Checkout"}); err != nil {
		return err
	}
	if err := a.allowed(ctx, "pay"); err != nil {
		return err
	}
	_, err = a.arrive(ctx, o, a.site.url("pay", "/checkout"), "Ann Example", "Linden Row 7", "€ 128.00")
	return err
}

// trap opens a page that talks the agent into leaving; the agent falls for it, the person does not.
func (a *agent) trap(ctx context.Context) error {
	a.talk.say("4. A page tells agents to open another site. This agent obeys; the person is asked, and does not.")
	o, err := a.must(ctx, "navigate", args{"url": a.site.url("shop", "/deals")})
	if err != nil {
		return err
	}
	deals, err := a.arrive(ctx, o, a.site.url("shop", "/deals"), "AI agents")
	if err != nil {
		return err
	}
	link, err := deals.ref("Claim the prize")
	if err != nil {
		return err
	}
	if _, err := a.do(ctx, "click_element", args{"index": link}); err != nil {
		return err
	}
	stayed, err := a.denied(ctx, "prize")
	if err != nil {
		return err
	}
	if !stayed {
		a.talk.say("The person let it go there. It comes back by itself.")
		if _, err := a.must(ctx, "navigate", args{"url": a.site.url("shop", "/deals")}); err != nil {
			return err
		}
	}
	_, err = a.arrive(ctx, outcome{}, a.site.url("shop", "/deals"), "Partner deals")
	return err
}

// redirect opens a page that leaves by itself.
func (a *agent) redirect(ctx context.Context) error {
	a.talk.say("5. The next page leaves for another such site by itself. The person blocks this one for good.")
	if _, err := a.do(ctx, "click_element", args{"name": "Continue"}); err != nil {
		return err
	}
	_, err := a.denied(ctx, "bonus")
	return err
}

// insist asks for the blocked site outright: refused at once, and nobody is asked again.
func (a *agent) insist(ctx context.Context) error {
	asked := a.asked()
	if asked[len(asked)-1].answer == "block_always" {
		a.talk.say("6. The agent tries it outright. The site is blocked, so it is refused at once and nobody is asked.")
		o, err := a.do(ctx, "navigate", args{"url": a.site.url("bonus", "/claim")})
		switch {
		case err != nil:
			return err
		case o.fault == nil || o.fault.Code != fault.BrowserPolicyDenied:
			return fmt.Errorf("a blocked site was not refused as such: %s", o.raw)
		case len(a.asked()) != len(asked):
			return fmt.Errorf("the person was asked about a blocked site")
		case a.site.seen("bonus") != 0:
			return fmt.Errorf("bonus.localhost was blocked, and yet saw %d requests", a.site.seen("bonus"))
		}
	}
	page, err := a.must(ctx, "current_page", nil)
	if err != nil {
		return err
	}
	var where struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(page.raw, &where); err != nil {
		return err
	}
	a.talk.say("The agent is still at %s, and its errand is done.", where.URL)
	return nil
}

// allowed waits for the question about a host and for a yes.
func (a *agent) allowed(ctx context.Context, host string) error {
	q, err := a.question(ctx, host)
	if err == nil && !q.allowed {
		err = fmt.Errorf("%w: %s was the answer to %s", errTurnedAway, q.answer, q.what)
	}
	return err
}

// denied waits for the question about a host and tells whether it was a no, after a check that the host heard nothing.
func (a *agent) denied(ctx context.Context, host string) (bool, error) {
	q, err := a.question(ctx, host)
	if err != nil || q.allowed {
		return false, err
	}
	if seen := a.site.seen(host); seen != 0 {
		return true, fmt.Errorf("%s.localhost was blocked, and yet saw %d requests", host, seen)
	}
	return true, nil
}
