package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/host"
	"chaperone/backend/ids"
)

// A Person is the one who sits in front of the host: they see every event, and
// answer questions as they were told to. Untold, they think.
type Person struct {
	people host.People
	attend func() func()
	ending sync.WaitGroup

	mu      sync.Mutex
	leave   func()
	next    []approval.Answer
	always  approval.Answer
	seen    []event.Event
	changed chan struct{}
	err     error
	over    bool
}

func newPerson(people host.People, attend func() func(), absent bool) *Person {
	p := &Person{people: people, attend: attend, changed: make(chan struct{})}
	if !absent {
		p.leave = attend()
	}
	return p
}

// follow reads the host's events until ctx ends.
func (p *Person) follow(ctx context.Context) {
	p.ending.Go(func() {
		err := p.people.Events(ctx, 0, func(batch []event.Event) {
			for _, e := range batch {
				if e.Category == "approval.asked" {
					p.asked(ctx, ids.Question(e.Subject))
				}
			}
			p.mu.Lock()
			p.seen = append(p.seen, batch...)
			p.tell()
			p.mu.Unlock()
		})
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		if ctx.Err() == nil {
			p.err = errors.Join(p.err, fmt.Errorf("the host's events ended: %w", err))
		}
		p.tell()
	})
}

// asked answers a question if the person knows how.
func (p *Person) asked(ctx context.Context, q ids.Question) {
	p.mu.Lock()
	answer := p.always
	if len(p.next) > 0 {
		answer, p.next = p.next[0], p.next[1:]
	}
	p.mu.Unlock()
	if answer == "" {
		return
	}
	// A question may have been withdrawn meanwhile; that is no fault of the person's.
	if _, err := p.answer(ctx, q, answer); err != nil && ctx.Err() == nil {
		p.mu.Lock()
		p.err = errors.Join(p.err, err)
		p.mu.Unlock()
	}
}

// tell wakes those that wait. The lock is held.
func (p *Person) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Person) close() error {
	p.Leave()
	p.ending.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Leave says that nobody is there any more.
func (p *Person) Leave() {
	p.mu.Lock()
	leave := p.leave
	p.leave = nil
	p.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// Return says that the person is there again.
func (p *Person) Return() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave == nil {
		p.leave = p.attend()
	}
}

// AnswerNext has the next question that is asked answered so. Several answers
// are given in the order in which they were told.
func (p *Person) AnswerNext(a approval.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = append(p.next, a)
}

// Always has every question to come answered so; "" lets them wait again.
func (p *Person) Always(a approval.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = a
}

// Send asks for one of the people's methods; args may be nil. The error is the
// host's own, a *fault.Error.
func (p *Person) Send(method string, args any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.send(ctx, method, args)
}

func (p *Person) send(ctx context.Context, method string, args any) (json.RawMessage, error) {
	line, err := request(json.RawMessage("1"), method, args)
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(p.people.Send(ctx, line))
	if err != nil {
		return nil, err
	}
	return a.of(method)
}

// Answer settles a question now; matched is false when it does not wait any more.
func (p *Person) Answer(q ids.Question, a approval.Answer) (matched bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.answer(ctx, q, a)
}

func (p *Person) answer(ctx context.Context, q ids.Question, a approval.Answer) (matched bool, err error) {
	out, err := p.send(ctx, "answer_question", map[string]any{"question": q, "answer": a})
	if err != nil {
		return false, err
	}
	var said struct {
		Matched bool `json:"matched"`
	}
	err = json.Unmarshal(out, &said)
	return said.Matched, err
}

// Question waits for a question that is, and returns it. is may be nil for any.
func (p *Person) Question(is func(approval.Question) bool) (approval.Question, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		changed, over := p.changed, p.over
		p.mu.Unlock()
		out, err := p.Send("questions", nil)
		if err != nil {
			return approval.Question{}, err
		}
		var list struct {
			Questions []approval.Question `json:"questions"`
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return approval.Question{}, err
		}
		if i := slices.IndexFunc(list.Questions, func(q approval.Question) bool { return is == nil || is(q) }); i >= 0 {
			return list.Questions[i], nil
		}
		if over {
			return approval.Question{}, errors.New("the host has ended; there was no such question")
		}
		select {
		case <-changed:
		case <-late.C:
			return approval.Question{}, fmt.Errorf("no such question was asked within %v; waiting are %+v", patience, list.Questions)
		}
	}
}

// Event waits for an event that is, those of the past included, and returns the first.
func (p *Person) Event(is func(event.Event) bool) (event.Event, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for from := 0; ; {
		p.mu.Lock()
		changed, over, fresh := p.changed, p.over, p.seen[from:]
		p.mu.Unlock()
		if i := slices.IndexFunc(fresh, is); i >= 0 {
			return fresh[i], nil
		}
		from += len(fresh)
		if over {
			return event.Event{}, errors.New("the host has ended; there was no such event")
		}
		select {
		case <-changed:
		case <-late.C:
			return event.Event{}, fmt.Errorf("no such event within %v; there were %d", patience, from)
		}
	}
}

// Events returns what was seen so far.
func (p *Person) Events() []event.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// Code returns the code of an error that a host answered, "" for none.
func Code(err error) fault.Code {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Code
	}
	return ""
}
