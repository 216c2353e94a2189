package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// person is whoever sits at the app and decides.
type person interface {
	// rest is called before each part of the errand, while nothing is asked.
	rest(ctx context.Context) error
	// answer is called for each question when it has been asked; it returns when the question is settled.
	answer(ctx context.Context, q *question) error
	// bow is called when the errand is done, before the agent leaves.
	bow(ctx context.Context) error
	// patience is how long an answer may take.
	patience() time.Duration
	// pictures says in words what pictures were made; empty when none were.
	pictures() string
}

// you is a person at a display, who answers in the app.
type you struct{ talk *talk }

func (y *you) answer(ctx context.Context, q *question) error {
	y.talk.say("Your turn: Chaperone's window asks about %s.", q.what)
	select {
	case <-q.settled:
	case <-ctx.Done():
	}
	return nil
}

func (*you) rest(context.Context) error { return nil }
func (*you) bow(context.Context) error  { return nil }
func (*you) patience() time.Duration    { return 30 * time.Minute }
func (*you) pictures() string           { return "" }

// scripted is a person who knows beforehand what to answer. It has eyes
// (pictures of the screen) and hands (the keyboard), and nothing else.
type scripted struct {
	talk    *talk
	out     string
	window  string // the app's X window
	calm    picture
	replies []reply
	asked   int
	made    int
}

// reply is one answer: the key that gives it, as the app's dialog shows it, and the name that it has in events.
type reply struct{ key, name string }

const (
	appVisibleWithin = 60 * time.Second // from a cold start; it takes two
	dialogWithin     = 15 * time.Second // from the question to the dialog on the screen
	pressEvery       = time.Second      // between two presses: the dialog takes no key in its first moments
	// dialogShare is how much of the window a dialog changes at the least; the views under it change far less.
	dialogShare = 0.10
	// steadyShare is how much may change between two looks at a window at rest: clocks tick, thumbnails live.
	steadyShare = 0.01
)

func newScripted(t *talk, out string) *scripted {
	return &scripted{talk: t, out: out, replies: []reply{
		{"shift+a", "allow_always"}, {"a", "allow_once"}, {"b", "block_once"}, {"shift+b", "block_always"},
	}}
}

func (s *scripted) patience() time.Duration { return 45 * time.Second }
func (s *scripted) pictures() string        { return fmt.Sprintf("%d in %s", s.made, s.out) }

// findApp waits until the app's window is on the screen and shows something.
func (s *scripted) findApp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, appVisibleWithin,
		fmt.Errorf("the app's window was not seen within %v, or stayed blank", appVisibleWithin))
	defer cancel()
	return until(ctx, func() (bool, error) {
		windows, err := windowsOf(ctx, "--name", "^Chaperone$")
		if err != nil || len(windows) == 0 {
			return false, err
		}
		s.window = windows[0]
		p, err := look(ctx, s.window)
		// A window that has only just come may not be drawable yet.
		return err == nil && !p.blank(), ctx.Err()
	})
}

// rest remembers what the app looks like with no question open.
func (s *scripted) rest(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialogWithin,
		fmt.Errorf("the app's window did not come to rest within %v", dialogWithin))
	defer cancel()
	if err := s.activate(ctx, s.window); err != nil {
		return err
	}
	return until(ctx, func() (bool, error) {
		p, err := look(ctx, s.window)
		steady := p.differs(s.calm) < steadyShare
		s.calm = p
		return steady, err
	})
}

func (s *scripted) answer(ctx context.Context, q *question) error {
	if len(s.replies) == 0 {
		return fmt.Errorf("a question too many: %s", q.what)
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	s.asked++
	if err := s.seeAgent(ctx, fmt.Sprintf("question-%d-agent.png", s.asked)); err != nil {
		return err
	}
	if err := s.activate(ctx, s.window); err != nil {
		return err
	}
	if err := s.seeDialog(ctx, q); err != nil {
		return err
	}
	s.talk.say("The app asks about %s. The person presses %s.", q.what, reply.key)
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience(),
		fmt.Errorf("the key %s did not settle the question about %s", reply.key, q.what))
	defer cancel()
	presses := time.NewTicker(pressEvery)
	defer presses.Stop()
	for {
		if err := xdotool(ctx, "key", "--clearmodifiers", reply.key); err != nil {
			return err
		}
		select {
		case <-q.settled:
			if q.answer != reply.name {
				return fmt.Errorf("the person pressed %s and the app took it for %q", reply.key, q.answer)
			}
			return nil
		case <-presses.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// seeDialog waits until the app's window looks unlike it did without a question, and keeps that picture.
func (s *scripted) seeDialog(ctx context.Context, q *question) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialogWithin,
		fmt.Errorf("the app did not show the question about %s within %v", q.what, dialogWithin))
	defer cancel()
	var before picture
	err := until(ctx, func() (bool, error) {
		p, err := look(ctx, s.window)
		if err != nil {
			return false, err
		}
		steady := p.differs(before) < steadyShare
		before = p
		return steady && p.differs(s.calm) > dialogShare, nil
	})
	return errors.Join(err, s.keep(fmt.Sprintf("question-%d-app.png", s.asked), before))
}

// seeAgent keeps a picture of the agent's window.
func (s *scripted) seeAgent(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialogWithin,
		fmt.Errorf("the agent's window was not on the screen within %v", dialogWithin))
	defer cancel()
	var windows []string
	err := until(ctx, func() (found bool, err error) {
		windows, err = windowsOf(ctx, "--class", "chromium|google-chrome")
		return len(windows) > 0, err
	})
	if err != nil {
		return err
	}
	return s.see(ctx, windows[0], file)
}

// see brings a window to the front and keeps a picture of it, once it has drawn itself.
func (s *scripted) see(ctx context.Context, window, file string) error {
	if err := s.activate(ctx, window); err != nil {
		return err
	}
	drawn, cancel := context.WithTimeout(ctx, dialogWithin)
	defer cancel()
	var p picture
	err := until(drawn, func() (done bool, err error) {
		p, err = look(drawn, window)
		return err == nil && !p.blank(), err
	})
	if err != nil && drawn.Err() == nil {
		return err
	}
	return s.keep(file, p) // which says so if it is blank to the end
}

// bow takes the last pictures: the agent's window, the app, and the whole screen.
func (s *scripted) bow(ctx context.Context) error {
	if err := s.seeAgent(ctx, "agent.png"); err != nil {
		return err
	}
	if err := s.see(ctx, s.window, "app.png"); err != nil {
		return err
	}
	p, err := look(ctx, "root")
	if err != nil {
		return err
	}
	return s.keep("screen.png", p)
}

// keep writes a picture; a blank one is a failure, for there is always something to see.
func (s *scripted) keep(file string, p picture) error {
	if p.Image == nil {
		return nil
	}
	path := filepath.Join(s.out, file)
	s.made++
	err := os.WriteFile(path, p.png, 0o644)
	if p.blank() {
		err = errors.Join(err, fmt.Errorf("the window on %s is blank", path))
	}
	return err
}

// activate brings a window to the front and gives it the keyboard, as a person's click on it would.
// It asks again as long as another window has it: the app comes to the front by
// itself at a question, and may do so at the same moment.
func (s *scripted) activate(ctx context.Context, window string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialogWithin,
		fmt.Errorf("the window %s did not get the keyboard within %v", window, dialogWithin))
	defer cancel()
	return until(ctx, func() (bool, error) {
		if err := xdotool(ctx, "windowactivate", window); err != nil {
			return false, err
		}
		active, _ := exec.CommandContext(ctx, "xdotool", "getactivewindow").Output() // fails while no window is active
		return strings.TrimSpace(string(active)) == window, nil
	})
}

// windowsOf lists the visible X windows that a search finds, the largest first.
func windowsOf(ctx context.Context, search ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "xdotool", append([]string{"search", "--onlyvisible"}, search...)...).Output()
	var none *exec.ExitError
	if errors.As(err, &none) { // nothing found is exit code 1
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	area := map[string]int{}
	windows := strings.Fields(string(out))
	for _, w := range windows {
		// A window that has gone meanwhile keeps the area 0.
		geometry, _ := exec.CommandContext(ctx, "xdotool", "getwindowgeometry", w).Output()
		var width, height int
		if _, size, ok := strings.Cut(string(geometry), "Geometry: "); ok {
			_, _ = fmt.Sscanf(size, "%dx%d", &width, &height)
		}
		area[w] = width * height
	}
	slices.SortStableFunc(windows, func(a, b string) int { return area[b] - area[a] })
	return windows, nil
}

func xdotool(ctx context.Context, args ...string) error {
	if _, err := exec.CommandContext(ctx, "xdotool", args...).Output(); err != nil {
		return fmt.Errorf("xdotool %s: %w", strings.Join(args, " "), errors.Join(err, stderrOf(err)))
	}
	return nil
}
