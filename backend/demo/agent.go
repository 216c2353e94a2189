package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

// agent is the scripted agent: what it did so far, and the questions that it caused.
type agent struct {
	line   *line
	talk   *talk
	person person
	site   *site

	actions []action
	tasks   sync.WaitGroup

	mu        sync.Mutex
	questions []*question
}

// action is one thing that the agent did, for the summary.
type action struct {
	took    time.Duration
	refused bool
	waited  bool // a question was open meanwhile
}

// question is one that the app asked the person on this agent's account.
type question struct {
	id, origin string
	what       string // the origin, and how the question came about
	at         time.Time

	settled chan struct{} // closed when the answer is in; the rest is set before
	answer  string
	allowed bool
	waited  time.Duration
}

// outcome is what an action answers, as far as the script looks at it.
type outcome struct {
	Action struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	} `json:"action"`
	State state `json:"state"`

	raw   json.RawMessage
	fault *fault.Error
}

// state is a page as the agent sees it.
type state struct {
	URL             string          `json:"url"`
	Title           string          `json:"title"`
	Content         string          `json:"content"`
	PendingApproval json.RawMessage `json:"pendingApproval"`
}

var refLine = regexp.MustCompile(`^\s*\[(\d+)\]<`)

// ref is the number of the first element whose line has all the words.
func (s state) ref(words ...string) (int, error) {
lines:
	for l := range strings.Lines(s.Content) {
		m := refLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		for _, w := range words {
			if !strings.Contains(l, w) {
				continue lines
			}
		}
		return strconv.Atoi(m[1])
	}
	return 0, fmt.Errorf("the page %s shows no element with %q", s.URL, words)
}

func newAgent(l *line, t *talk, p person, s *site) *agent {
	return &agent{line: l, talk: t, person: p, site: s}
}

// run plays the script. Afterwards the line is to be ended, and then wait called.
func (a *agent) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The person sees each question as soon as it is asked, while the agent waits for its call.
	waiting := make(chan *question, eventsHeld)
	a.tasks.Go(func() {
		defer close(waiting)
		for e := range a.line.events {
			if q := a.note(e); q != nil {
				waiting <- q
			}
		}
	})
	a.tasks.Go(func() {
		for q := range waiting {
			if err := a.person.answer(ctx, q); err != nil {
				cancel(err)
			}
		}
	})
	err := a.script(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = errors.Join(err, cause)
	}
	return err
}

// wait waits for what run started; it ends with the line.
func (a *agent) wait() { a.tasks.Wait() }

// note keeps what an event says of a question, and returns a new one.
func (a *agent) note(e event.Event) *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	var data struct {
		Origin  string `json:"origin"`
		Via     string `json:"via"`
		Answer  string `json:"answer"`
		Reason  string `json:"reason"`
		Allowed bool   `json:"allowed"`
	}
	_ = json.Unmarshal(e.Data, &data) // an event without particulars is one all the same
	switch e.Category {
	case "approval.asked":
		q := &question{id: e.Subject, origin: data.Origin, at: time.Now(), settled: make(chan struct{})}
		q.what = strings.TrimSpace(fmt.Sprintf("%s (%s)", data.Origin, data.Via))
		a.questions = append(a.questions, q)
		return q
	case "approval.settled":
		for _, q := range a.questions {
			if q.id == e.Subject && q.answer == "" {
				q.answer = data.Answer
				if q.answer == "" {
					q.answer = "unanswered: " + data.Reason
				}
				q.allowed, q.waited = data.Allowed, time.Since(q.at)
				a.talk.say("The person's answer: %s.", strings.ReplaceAll(q.answer, "_", " "))
				close(q.settled)
			}
		}
	}
	return nil
}

// asked is all questions so far, oldest first.
func (a *agent) asked() []*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*question(nil), a.questions...)
}

// open reports whether a question waits.
func (a *agent) open() bool {
	for _, q := range a.asked() {
		select {
		case <-q.settled:
		default:
			return true
		}
	}
	return false
}

// question waits until one about the host has been asked and settled.
func (a *agent) question(ctx context.Context, host string) (*question, error) {
	origin := strings.TrimSuffix(a.site.url(host, "/"), "/")
	asking, cancel := context.WithTimeoutCause(ctx, askedWithin,
		fmt.Errorf("nobody was asked about %s within %v", origin, askedWithin))
	defer cancel()
	var q *question
	err := until(asking, func() (bool, error) {
		all := a.asked()
		if i := slices.IndexFunc(all, func(q *question) bool { return q.origin == origin }); i >= 0 {
			q = all[i]
		}
		return q != nil, nil
	})
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeoutCause(ctx, a.person.patience(),
		fmt.Errorf("the question about %s was not answered within %v", origin, a.person.patience()))
	defer done()
	select {
	case <-q.settled:
		return q, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// do makes one call and prints both sides of it. A fault is part of the outcome, not an error.
func (a *agent) do(ctx context.Context, method string, args any) (outcome, error) {
	limit := answerWithin + a.person.patience()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s was not answered within %v", method, limit))
	defer cancel()
	before := len(a.asked())
	request, waiter, err := a.line.start(method, args)
	if err != nil {
		return outcome{}, err
	}
	a.talk.sent(request)
	reply, err := a.line.wait(ctx, waiter)
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w", method, err)
	}
	o := outcome{raw: reply.Result, fault: reply.Error}
	if reply.OK {
		_ = json.Unmarshal(reply.Result, &o) // not every answer is a page's; what the script needs it looks for
	}
	a.talk.got(reply, o)
	if method != wire.MethodHello && method != wire.MethodSubscribe { // these the line answers by itself
		a.actions = append(a.actions, action{took: reply.took, refused: !reply.OK,
			waited: len(a.asked()) > before || a.open()})
	}
	return o, nil
}

// must is do for a call that has to succeed.
func (a *agent) must(ctx context.Context, method string, args any) (outcome, error) {
	o, err := a.do(ctx, method, args)
	if err != nil || o.fault == nil {
		return o, err
	}
	if o.fault.Code == fault.BrowserPolicyDenied {
		return o, fmt.Errorf("%w: %s", errTurnedAway, o.fault.Message)
	}
	return o, fmt.Errorf("%s: %w", method, o.fault)
}

// arrive reads the page until it is at the address and shows the words.
func (a *agent) arrive(ctx context.Context, o outcome, address string, words ...string) (state, error) {
	limit := answerWithin
	if a.open() {
		limit += a.person.patience()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("the page %s with %q was not there within %v", address, words, limit))
	defer cancel()
	here := func(s state) bool {
		for _, w := range words {
			if !strings.Contains(s.Content+s.Title, w) {
				return false
			}
		}
		return strings.HasPrefix(s.URL, address)
	}
	err := until(ctx, func() (bool, error) {
		if here(o.State) {
			return true, nil
		}
		var err error
		o, err = a.must(ctx, "get_browser_state", nil)
		return err == nil && here(o.State), err
	})
	return o.State, err
}
