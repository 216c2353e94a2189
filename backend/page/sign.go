package page

import (
	"context"
	"time"
)

// signBinding is the function by which the sign's buttons reach this package.
// Only the isolated worlds of this package have it.
const signBinding = "__chaperonePressed"

// A Sign is what the bar in the corner of a controlled page says.
type Sign struct {
	Agent string `json:"agent"` // who controls the tab
	Doing string `json:"doing"` // what it is doing; empty when idle
	State string `json:"state"` // active or paused; paused turns Pause into Resume
}

// signWait bounds one update of the sign.
const signWait = 2 * time.Second

// SetSign says what the sign shows from now on, in every document of the tab.
// It does not wait for the page, which hears of nothing while a navigation is
// held; an empty Agent takes the sign away.
func (p *Page) SetSign(s Sign) {
	s.Agent, s.Doing = clip(clean(s.Agent), 60), clip(clean(s.Doing), 80)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signed && p.sign == s {
		return
	}
	p.sign, p.signed = s, true
	p.poke()
}

// OnSign sets what is told when the person presses the sign's "pause", "resume"
// or "stop". It is called on the path of Handle and must not block.
func (p *Page) OnSign(pressed func(button string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onSign = pressed
}

func (p *Page) signPressed(button string) {
	switch button {
	case "pause", "resume", "stop":
	default:
		return
	}
	p.mu.Lock()
	pressed := p.onSign
	p.mu.Unlock()
	if pressed != nil {
		pressed(button)
	}
}

// poke asks paintSign for an update.
func (p *Page) poke() {
	select {
	case p.pokes <- struct{}{}:
	default:
	}
}

// paintSign brings the sign of the top document up to date, until Close.
func (p *Page) paintSign() {
	for {
		select {
		case <-p.done:
			return
		case <-p.pokes:
		}
		p.mu.Lock()
		sign, set := p.sign, p.signed
		p.mu.Unlock()
		if !set {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), signWait)
		if w, err := p.topWorld(ctx); err == nil {
			// A page that cannot be reached now is brought up to date when its next
			// document comes, or the interruption ends.
			_ = p.run(ctx, w, "sign", sign, nil)
		}
		cancel()
	}
}

// signHidden takes the sign out of the picture, or puts it back.
func (p *Page) signHidden(ctx context.Context, hidden bool) error {
	if !hidden { // also after the caller has gone
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), signWait)
		defer cancel()
	}
	w, err := p.topWorld(ctx)
	if err != nil {
		return err
	}
	return p.run(ctx, w, "signHidden", hidden, nil)
}
