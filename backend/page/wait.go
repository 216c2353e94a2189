package page

import (
	"context"
	"errors"
	"time"
)

// recheck is how long a waiting call goes without looking at a page that does
// not seem to change: frames of other origins change unseen.
const recheck = 250 * time.Millisecond

// WaitFor waits until text shows, or textGone no longer does, in any frame of
// the page. It ends with the context, and with ErrInterrupted when something
// else must come first.
func (p *Page) WaitFor(ctx context.Context, text, textGone string) (Report, error) {
	for {
		shows, err := p.shows(ctx, text, textGone)
		if err != nil && !errors.Is(err, errLost) {
			return Report{}, asFault(err)
		}
		switch {
		case err != nil:
		case text != "" && shows:
			return yes("“" + clip(text, 100) + "” shows"), nil
		case text == "" && !shows:
			return yes("“" + clip(textGone, 100) + "” is gone"), nil
		}
		if err := p.changed(ctx); err != nil {
			return Report{}, asFault(err)
		}
	}
}

func (p *Page) shows(ctx context.Context, text, textGone string) (bool, error) {
	if text == "" {
		text = textGone
	}
	shows := false
	err := p.everywhere(ctx, func(ctx context.Context, w *world) error {
		if shows {
			return nil
		}
		if err := p.pierceAll(ctx, w); err != nil {
			return err
		}
		return p.run(ctx, w, "has", map[string]any{"text": text}, &shows)
	})
	return shows, err
}

// changed waits for a change of the top document, for recheck at most.
func (p *Page) changed(ctx context.Context) error {
	w, err := p.topWorld(ctx)
	if err == nil {
		err = p.run(ctx, w, "change", recheck.Milliseconds(), nil)
	}
	if !errors.Is(err, errLost) {
		return err
	}
	// The document went away: the next one is waited for, not asked for in a loop.
	pause := time.NewTimer(recheck / 5)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.done:
		return gone()
	}
}
