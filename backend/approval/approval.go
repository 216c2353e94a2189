// Package approval keeps each question to the person from asked to settled,
// exactly once.
//
// It promises: a question is asked only while somebody is there to answer;
// otherwise it is refused at once, with the reason. The first answer settles
// it; a later one changes nothing and is told so. A question whose asker goes
// away is withdrawn. It does not know what is asked about, and it has no door:
// who may call Answer is the business of the catalogue (people only).
package approval

import (
	"context"
	"slices"
	"sync"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/policy"
)

// Answer is what the person said.
type Answer string

// The answers.
const (
	AllowOnce   Answer = "allow_once"
	AllowAlways Answer = "allow_always"
	BlockOnce   Answer = "block_once"
	BlockAlways Answer = "block_always"
)

// Values lists the answers, for schemas.
func (Answer) Values() []string {
	return []string{string(AllowOnce), string(AllowAlways), string(BlockOnce), string(BlockAlways)}
}

// Allowed reports whether a lets it happen.
func (a Answer) Allowed() bool { return a == AllowOnce || a == AllowAlways }

// Remembered reports whether a is meant for next time too.
func (a Answer) Remembered() bool { return a == AllowAlways || a == BlockAlways }

// Risk orders questions by what is at stake.
type Risk string

// The risks.
const (
	Low  Risk = "low"
	High Risk = "high"
)

// Values lists the risks, for schemas.
func (Risk) Values() []string { return []string{string(Low), string(High)} }

// Question is what the person needs to judge.
type Question struct {
	Question   ids.Question  `json:"question"`
	Agent      ids.Agent     `json:"agent" jsonschema:"who asks"`
	Session    ids.Session   `json:"session"`
	TabID      ids.Tab       `json:"tabId"`
	Kind       string        `json:"kind" jsonschema:"what is asked for: navigation"`
	Via        policy.Kind   `json:"via" jsonschema:"how it came about: direct, page, redirect, popup, history"`
	AskedAt    time.Time     `json:"askedAt"`
	FromOrigin policy.Origin `json:"fromOrigin,omitempty" jsonschema:"where the tab is now"`
	FromTitle  string        `json:"fromTitle,omitempty"`
	URL        string        `json:"url" jsonschema:"what would be requested"`
	Origin     policy.Origin `json:"origin" jsonschema:"the destination's origin"`
	HTTPMethod string        `json:"httpMethod"`
	HasBody    bool          `json:"hasBody,omitempty" jsonschema:"whether the page sends data with it"`
	Risk       Risk          `json:"risk"`
	Notes      []string      `json:"notes" jsonschema:"what the person should notice"`
}

// Outcome is how a question was settled.
type Outcome struct {
	// Answer is empty when nobody answered.
	Answer  Answer
	Allowed bool
	// Reason says in words why, for the agent and the account.
	Reason string
}

// limit bounds the questions that wait for one agent at once; a page that makes
// more is refused without asking.
const limit = 5

// Service keeps the questions.
type Service struct {
	log event.Log
	now func() time.Time

	mu      sync.Mutex
	people  int
	waiting []*waiting
}

type waiting struct {
	Question
	settled chan struct{}
	outcome Outcome
	done    bool
}

// New returns a Service without questions and with nobody there.
func New(log event.Log, now func() time.Time) *Service { return &Service{log: log, now: now} }

// Attend says that a person is there to answer, until leave is called. When the
// last one leaves, what waits is refused.
func (s *Service) Attend() (leave func()) {
	s.mu.Lock()
	s.people++
	s.mu.Unlock()
	var once sync.Once
	return func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.people--
			if s.people == 0 {
				for _, w := range slices.Clone(s.waiting) {
					s.settle(w, Outcome{Reason: nobody})
				}
			}
		})
	}
}

const nobody = "nobody is there to answer; open the Chaperone app"

// Attended reports whether a person is there to answer.
func (s *Service) Attended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.people > 0
}

// Ask puts q to the person and returns how it was settled. It waits as long as
// the person thinks; when ctx ends first the question is withdrawn and the
// context's cause returned. The time, and the name if there is none, are filled in.
func (s *Service) Ask(ctx context.Context, q Question) (Outcome, error) {
	q.AskedAt = s.now()
	if q.Question == "" {
		q.Question = ids.NewQuestion()
	}
	if q.Notes == nil {
		q.Notes = []string{}
	}
	w := &waiting{Question: q, settled: make(chan struct{})}
	if reason := s.enter(w); reason != "" {
		return Outcome{Reason: reason}, s.log.Append(ctx, s.draft(w, "approval.settled", Outcome{Reason: reason}))
	}
	// It waits already, so that whoever looks when the row rings finds it. An asker
	// who goes meanwhile must not leave a row that is never settled.
	if err := s.log.Append(context.WithoutCancel(ctx), s.draft(w, "approval.asked", Outcome{})); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !w.done {
			s.settle(w, Outcome{})
		}
		return Outcome{}, err
	}

	var err error
	select {
	case <-w.settled:
	case <-ctx.Done():
		s.mu.Lock()
		if !w.done {
			s.settle(w, Outcome{Reason: "it was withdrawn"})
			err = context.Cause(ctx)
		}
		s.mu.Unlock()
	}
	// The row must be written even when the asker has gone.
	logged := s.log.Append(context.WithoutCancel(ctx), s.draft(w, "approval.settled", w.outcome))
	if err != nil {
		return Outcome{}, err
	}
	return w.outcome, logged
}

// enter makes w one of those that wait, or says why it is refused.
func (s *Service) enter(w *waiting) (refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.people == 0 {
		return nobody
	}
	n := 0
	for _, other := range s.waiting {
		if other.Agent == w.Agent {
			n++
		}
	}
	if n >= limit {
		return "too many questions of this agent wait already"
	}
	s.waiting = append(s.waiting, w)
	return ""
}

func (s *Service) draft(w *waiting, category string, o Outcome) event.Draft {
	data := map[string]any{"kind": w.Kind, "via": w.Via, "origin": w.Origin, "fromOrigin": w.FromOrigin, "tab": w.TabID}
	if category == "approval.settled" {
		data["answer"], data["allowed"], data["reason"] = o.Answer, o.Allowed, o.Reason
	}
	return event.Draft{Category: category, Subject: string(w.Question.Question), Agent: w.Agent, Data: data}
}

// settle ends w. The lock is held.
func (s *Service) settle(w *waiting, o Outcome) {
	w.outcome, w.done = o, true
	s.waiting = slices.DeleteFunc(s.waiting, func(x *waiting) bool { return x == w })
	close(w.settled)
}

// Answer settles the question id. It reports false when the question is not
// waiting: it was settled before, or withdrawn, or never asked.
func (s *Service) Answer(id ids.Question, a Answer) (q Question, matched bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if w.Question.Question == id {
			s.settle(w, Outcome{Answer: a, Allowed: a.Allowed(), Reason: reasonOf(a)})
			return w.Question, true
		}
	}
	return Question{}, false
}

func reasonOf(a Answer) string {
	switch a {
	case AllowOnce:
		return "the person allowed it once"
	case AllowAlways:
		return "the person always allows this site"
	case BlockAlways:
		return "the person always blocks this site"
	}
	return "the person blocked it this time"
}

// Review settles every waiting question that decide now has an answer for,
// after a rule has changed.
func (s *Service) Review(decide func(Question) (allowed bool, reason string, settled bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range slices.Clone(s.waiting) {
		if allowed, reason, ok := decide(w.Question); ok {
			s.settle(w, Outcome{Allowed: allowed, Reason: reason})
		}
	}
}

// Waiting returns the questions that wait, oldest first.
func (s *Service) Waiting() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Question, 0, len(s.waiting))
	for _, w := range s.waiting {
		out = append(out, w.Question)
	}
	return out
}

// Refused makes the error of an outcome that does not allow what was asked.
func Refused(origin policy.Origin, o Outcome) error {
	e := fault.New(fault.BrowserPolicyDenied, "%s was not opened: %s", origin, o.Reason).WithEffect(fault.EffectNone)
	switch {
	case o.Answer == BlockAlways:
		return e.WithHint("Do not try this site again; go on without it.")
	case o.Answer == BlockOnce:
		return e.WithHint("Go on without it, or tell the person why you need it before you ask again.")
	case o.Reason == nobody:
		return e.WithHint("Ask the person to open the Chaperone app, then try again.")
	}
	return e
}
