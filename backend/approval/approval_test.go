package approval_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
)

// rows is a log in memory.
type rows struct {
	mu   sync.Mutex
	list []event.Draft
	err  error
}

func (r *rows) Append(_ context.Context, drafts ...event.Draft) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	r.list = append(r.list, drafts...)
	return nil
}
func (r *rows) After(context.Context, int64, int) ([]event.Event, error) { return nil, nil }
func (r *rows) Last(context.Context) (int64, error)                      { return 0, nil }

func (r *rows) categories() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s string
	for _, d := range r.list {
		s += d.Category + " "
	}
	return s
}

var question = approval.Question{Agent: "bob", Kind: "navigation", Via: policy.KindDirect, URL: "https://a.example/", Origin: "https://a.example"}

type settled struct {
	outcome approval.Outcome
	err     error
}

func ask(ctx context.Context, s *approval.Service, q approval.Question) <-chan settled {
	done := make(chan settled, 1)
	go func() {
		o, err := s.Ask(ctx, q)
		done <- settled{o, err}
	}()
	return done
}

func TestNobodyThereIsRefusedAtOnce(t *testing.T) {
	log := &rows{}
	s := approval.New(log, time.Now)
	o, err := s.Ask(t.Context(), question)
	if err != nil || o.Allowed || o.Answer != "" || o.Reason == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	refused := fault.From(approval.Refused("https://a.example", o))
	if refused.Code != fault.BrowserPolicyDenied || refused.Hint == "" || refused.Effect != fault.EffectNone {
		t.Errorf("%+v", refused)
	}
}

func TestAnswers(t *testing.T) {
	for answer, allowed := range map[approval.Answer]bool{
		approval.AllowOnce: true, approval.AllowAlways: true, approval.BlockOnce: false, approval.BlockAlways: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &rows{}
			s := approval.New(log, time.Now)
			defer s.Attend()()
			done := ask(t.Context(), s, question)
			synctest.Wait()
			waiting := s.Waiting()
			if len(waiting) != 1 || waiting[0].Question == "" || waiting[0].Notes == nil {
				t.Fatalf("waiting: %+v", waiting)
			}
			time.Sleep(time.Hour) // a person's patience is the only bound
			if _, matched := s.Answer(waiting[0].Question, answer); !matched {
				t.Fatal("the first answer did not count")
			}
			if _, matched := s.Answer(waiting[0].Question, approval.AllowAlways); matched {
				t.Error("a late answer counted")
			}
			got := <-done
			if got.err != nil || got.outcome.Allowed != allowed || got.outcome.Answer != answer {
				t.Errorf("%s: %+v", answer, got)
			}
			synctest.Wait()
			if c := log.categories(); c != "approval.asked approval.settled " {
				t.Errorf("rows: %s", c)
			}
			if len(s.Waiting()) != 0 {
				t.Error("it still waits")
			}
		})
	}
}

func TestUnknownQuestion(t *testing.T) {
	s := approval.New(&rows{}, time.Now)
	if _, matched := s.Answer("q_none", approval.AllowOnce); matched {
		t.Error("an answer to nothing counted")
	}
}

func TestWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &rows{}
		s := approval.New(log, time.Now)
		defer s.Attend()()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := ask(ctx, s, question)
		synctest.Wait()
		gone := fault.New(fault.BrowserGone, "the tab was closed")
		cancel(gone)
		got := <-done
		if !errors.Is(got.err, gone) || got.outcome.Allowed {
			t.Errorf("%+v", got)
		}
		if len(s.Waiting()) != 0 || log.categories() != "approval.asked approval.settled " {
			t.Errorf("waiting %v, rows %s", s.Waiting(), log.categories())
		}
	})
}

func TestThePersonLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := approval.New(&rows{}, time.Now)
		one, two := s.Attend(), s.Attend()
		done := ask(t.Context(), s, question)
		synctest.Wait()
		one()
		one() // leaving twice is leaving once
		synctest.Wait()
		if !s.Attended() || len(s.Waiting()) != 1 {
			t.Fatal("refused although one person is still there")
		}
		two()
		if got := <-done; got.err != nil || got.outcome.Allowed || got.outcome.Reason == "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestOneAgentsQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := approval.New(&rows{}, time.Now)
		leave := s.Attend()
		var done []<-chan settled
		for range 12 {
			done = append(done, ask(t.Context(), s, question))
		}
		synctest.Wait()
		n := len(s.Waiting())
		other := question
		other.Agent = "eve"
		theirs := ask(t.Context(), s, other)
		synctest.Wait()
		if n == 0 || n >= 12 || len(s.Waiting()) != n+1 {
			t.Errorf("%d wait of 12, then %d with another agent's", n, len(s.Waiting()))
		}
		leave()
		for _, d := range append(done, theirs) {
			if got := <-d; got.outcome.Allowed {
				t.Error("allowed")
			}
		}
	})
}

func TestWithoutARowThereIsNoQuestion(t *testing.T) {
	full := fault.New(fault.LedgerUnavailable, "the disk is full")
	s := approval.New(&rows{err: full}, time.Now)
	defer s.Attend()()
	if o, err := s.Ask(t.Context(), question); !errors.Is(err, full) || o.Allowed || len(s.Waiting()) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := approval.New(&rows{}, time.Now)
		defer s.Attend()()
		b := question
		b.Origin = "https://b.example"
		first, second := ask(t.Context(), s, question), ask(t.Context(), s, b)
		synctest.Wait()
		s.Review(func(q approval.Question) (bool, string, bool) {
			return true, "a rule allows it", q.Origin == question.Origin
		})
		if got := <-first; !got.outcome.Allowed || got.outcome.Answer != "" {
			t.Errorf("%+v", got)
		}
		if w := s.Waiting(); len(w) != 1 || w[0].Origin != b.Origin {
			t.Errorf("waiting: %+v", w)
		}
		s.Answer(s.Waiting()[0].Question, approval.BlockOnce)
		<-second
	})
}
