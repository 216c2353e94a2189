package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Budgets of a snapshot's content, in characters.
const (
	FullBudget    = 16_000
	CompactBudget = 4_000
)

// SnapshotOptions says what to read.
type SnapshotOptions struct {
	// Budget bounds the content, in characters; 0 means FullBudget.
	Budget int
	// Target, a ref or CSS selector, narrows the reading to one element.
	Target string
	// Rest is how long to wait, at most, for the page to load and come to rest
	// before it is read; 0 reads it as it is. Acted says that something was done
	// to it just now, which may still have to show.
	Rest  time.Duration
	Acted bool
}

// A Snapshot is what a page showed at one moment.
type Snapshot struct {
	Title   string // of the document
	Header  string // page metrics and scroll position
	Content string // the lines
	Footer  string // what is below, and what was left out
	// Settled says that the page was loaded when it was read, and at rest if that was waited for.
	Settled bool
	// Revision grows by one each time that the content differs from the one before.
	Revision int
	// LeftOut counts the lines that did not fit, LeftControls those of them that
	// can be acted on.
	LeftOut, LeftControls int
	// Elements counts the elements that were looked at.
	Elements int
}

// frameWait is how long a frame may take to tell its lines; a frame that does
// not answer costs only those.
const frameWait = 500 * time.Millisecond

// walk is the walker's answer to a reading.
type walk struct {
	No           string `json:"no"`
	Text         string `json:"text"`
	Meta         string `json:"meta"`
	Elements     int    `json:"elements"`
	LeftControls int    `json:"leftControls"`
	LeftText     int    `json:"leftText"`
	Hosts        int    `json:"hosts"`
	Ready        string `json:"ready"`
	Settled      bool   `json:"settled"`
	Title        string `json:"title"`
	Page         [6]int `json:"page"` // scroll x, y; viewport width, height; document width, height
}

// reading is what a world and the worlds below it showed.
type reading struct {
	lines                            []line
	elements, leftControls, leftText int
	top                              walk
}

type readArgs struct {
	Root   int  `json:"root,omitempty"`
	Budget int  `json:"budget"`
	Keep   bool `json:"keep,omitempty"`
	Cap    int  `json:"cap,omitempty"`
	// Settle, if any, is waited for before the reading.
	Settle *settleArgs `json:"settle,omitempty"`
}

// Snapshot reads the page. Errors: ErrInterrupted, NOT_FOUND when the target
// is not there, and faults.
func (p *Page) Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error) {
	if o.Budget <= 0 {
		o.Budget = FullBudget
	}
	end := time.Now().Add(o.Rest)
	for attempt := 1; ; attempt++ {
		if o.Rest > 0 {
			lctx, cancel := context.WithDeadline(ctx, end)
			p.loaded(lctx) // what has not loaded by then is read as it is
			cancel()
			if err := p.ready(); err != nil {
				return Snapshot{}, asFault(err)
			}
		}
		s, err := p.snapshot(ctx, o, end)
		if err == nil && p.Loading() && time.Until(end) > settleMargin && attempt < maxNavigations {
			continue // what was done has set a navigation off
		}
		// A navigation takes the document away; one that is waited for is expected.
		if !errors.Is(err, errLost) || attempt == 3 && o.Rest == 0 || attempt == maxNavigations {
			return s, asFault(err)
		}
	}
}

func (p *Page) snapshot(ctx context.Context, o SnapshotOptions, end time.Time) (Snapshot, error) {
	w, err := p.topWorld(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	args := readArgs{Budget: o.Budget}
	if o.Target != "" {
		at, no, err := p.resolve(ctx, Target{Target: o.Target}, "")
		if err != nil {
			return Snapshot{}, err
		}
		if no != "" {
			return Snapshot{}, notFound(no)
		}
		w, args.Root = at.w, at.ref
		if at.crossing {
			if w, err = p.inside(ctx, at.w, at.ref); err != nil {
				return Snapshot{}, err
			}
			args.Root = 0
		}
	}
	if left := time.Until(end) - settleMargin; o.Rest > 0 {
		args.Settle = &settleArgs{Quiet: quiet.Milliseconds(), Max: max(0, left.Milliseconds()), Acted: o.Acted}
	}
	r, err := p.read(ctx, w, args, 0)
	if err != nil {
		return Snapshot{}, err
	}
	p.mu.Lock()
	lost := w.lost
	p.mu.Unlock()
	if lost { // its refs would name nothing
		return Snapshot{}, errLost
	}
	s := p.compose(r, o)
	s.Settled = s.Settled && (o.Rest == 0 || r.top.Settled)
	return s, nil
}

// read reads w and the frames below it.
func (p *Page) read(ctx context.Context, w *world, args readArgs, level int) (reading, error) {
	var k walk
	if err := p.run(ctx, w, "snapshot", args, &k); err != nil {
		return reading{}, err
	}
	settled := k.Settled
	args.Settle = nil // once is enough
	if k.Hosts > 0 {
		found, err := p.pierce(ctx, w)
		if err != nil {
			return reading{}, err
		}
		// A closed root may hold hosts of its own; a few levels are enough.
		for range 4 {
			if !found {
				break
			}
			if err := p.run(ctx, w, "snapshot", args, &k); err != nil {
				return reading{}, err
			}
			if k.Hosts == 0 {
				break
			}
			if found, err = p.pierce(ctx, w); err != nil {
				return reading{}, err
			}
		}
	}
	p.mu.Lock()
	w.read = true
	p.mu.Unlock()
	if k.No != "" {
		return reading{}, notFound(clean(k.No))
	}
	k.Settled = settled
	r := reading{lines: parseLines(k.Text, k.Meta), elements: k.Elements, leftControls: k.LeftControls, leftText: k.LeftText, top: k}
	return p.readFrames(ctx, w, r, args, level)
}

const maxFrameDepth = 8

// readFrames puts the lines of frames of other origins below the lines of
// their elements.
func (p *Page) readFrames(ctx context.Context, w *world, r reading, args readArgs, level int) (reading, error) {
	var at []int
	for i, l := range r.lines {
		if l.flags&lineFrame != 0 {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return r, nil
	}
	type part struct {
		reading
		err error
	}
	parts := make([]part, len(at))
	var wait sync.WaitGroup
	for n, i := range at {
		wait.Go(func() {
			if level >= maxFrameDepth {
				parts[n].err = errLost
				return
			}
			ctx, cancel := context.WithTimeout(ctx, frameWait)
			defer cancel()
			inner, err := p.inside(ctx, w, r.lines[i].ref)
			if err == nil {
				parts[n].reading, err = p.read(ctx, inner, readArgs{Budget: args.Budget, Cap: args.Cap}, level+1)
			}
			parts[n].err = err
		})
	}
	wait.Wait()
	if errors.Is(ctx.Err(), context.Canceled) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return r, ctx.Err()
	}
	if err := p.ready(); err != nil {
		return r, err
	}
	lines := make([]line, 0, len(r.lines)+16)
	next := 0
	for i, l := range r.lines {
		lines = append(lines, l)
		if next >= len(at) || at[next] != i {
			continue
		}
		in := parts[next]
		next++
		if in.err != nil {
			lines = append(lines, line{depth: l.depth + 1, flags: lineText | l.flags&lineInView, text: "(this frame does not answer)"})
			continue
		}
		for _, c := range in.lines {
			c.depth += l.depth + 1
			if l.flags&lineInView == 0 {
				c.flags &^= lineInView
			}
			c.flags |= l.flags & lineDialog
			lines = append(lines, c)
		}
		r.elements += in.elements
		r.leftControls += in.leftControls
		r.leftText += in.leftText
	}
	r.lines = lines
	return r, nil
}

// compose cuts a reading to its budget and writes it down.
func (p *Page) compose(r reading, o SnapshotOptions) Snapshot {
	s := Snapshot{Elements: r.elements, Title: r.top.Title}
	p.mu.Lock()
	if p.seen != nil && o.Target == "" {
		for i := range r.lines {
			if _, ok := p.seen[r.lines[i].String()]; !ok {
				r.lines[i].flags |= lineChanged
			}
		}
	}
	p.mu.Unlock()
	kept := cut(r.lines, o.Budget)
	s.Content = render(kept)
	s.LeftOut = len(r.lines) - len(kept) + r.leftControls + r.leftText
	s.LeftControls = r.leftControls + controls(r.lines) - controls(kept)
	s.Header, s.Footer = r.top.header(), r.top.footer(s)
	s.Settled = r.top.Ready == "complete" && !p.Loading()

	p.mu.Lock()
	defer p.mu.Unlock()
	if o.Target == "" {
		p.seen = make(map[string]struct{}, len(r.lines))
		for _, l := range r.lines {
			p.seen[l.String()] = struct{}{}
		}
	}
	if p.revision == 0 || s.Content != p.content {
		p.revision++
		p.content = s.Content
	}
	s.Revision = p.revision
	return s
}

func controls(lines []line) (n int) {
	for _, l := range lines {
		if l.flags&lineInteractive != 0 {
			n++
		}
	}
	return n
}

func (k walk) header() string {
	x, y, w, h, dw, dh := k.Page[0], k.Page[1], k.Page[2], k.Page[3], k.Page[4], k.Page[5]
	s := fmt.Sprintf("Viewport %d×%d px, page %d×%d px, scrolled to %d,%d", w, h, dw, dh, x, y)
	if h > 0 && y > 0 {
		s += fmt.Sprintf(" (%d px above, %.1f pages)", y, float64(y)/float64(h))
	}
	return s
}

func (k walk) footer(s Snapshot) string {
	var parts []string
	if below := k.Page[5] - k.Page[1] - k.Page[3]; below > 1 && k.Page[3] > 0 {
		parts = append(parts, fmt.Sprintf("%d px below the view (%.1f pages)", below, float64(below)/float64(k.Page[3])))
	} else {
		parts = append(parts, "End of page")
	}
	if s.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%d lines left out, %d of them controls: reach them with find_element, "+
			"by scrolling, or by reading a target", s.LeftOut, s.LeftControls))
	}
	return strings.Join(parts, ". ") + "."
}
