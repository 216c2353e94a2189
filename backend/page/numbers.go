package page

import "slices"

// A span is a run of refs, from inclusive, to exclusive.
type span struct{ from, to int }

// A grant is a span that a world has used.
type grant struct {
	span
	w *world
}

// Refs are numbered across the frames of a tab and never used twice. Each world
// draws from a block of its own, so that frames can be read side by side; the
// top document's numbers stay small.
type numbers struct {
	next   int
	spare  int
	top    span
	frames []span  // what ended frames left over
	grants []grant // ascending only within a world; few
}

const (
	topBlock   = 10_000
	frameBlock = 1_000
	spareBlock = 100_000
	firstSpare = 10_000_000
	// maxGrants bounds what is remembered of documents that are gone.
	maxGrants = 4096
)

func newNumbers() numbers {
	return numbers{next: topBlock, spare: firstSpare, top: span{1, topBlock}}
}

// reserve returns the numbers that w may use in its next call: its block, and
// what to use when that is at its end.
func (p *Page) reserve(w *world) (first, spare span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &p.numbers
	if w.block.from >= w.block.to {
		if w.parent == nil && p.isTop(w.frame) && n.top.from < n.top.to {
			w.block, n.top = n.top, span{}
		} else {
			w.block = n.take()
		}
	}
	spare = span{n.spare, n.spare + spareBlock}
	n.spare = spare.to
	w.calls++
	return w.block, spare
}

func (n *numbers) take() span {
	if last := len(n.frames) - 1; last >= 0 {
		s := n.frames[last]
		n.frames = n.frames[:last]
		return s
	}
	s := span{n.next, n.next + frameBlock}
	n.next = s.to
	return s
}

// used notes how far w came: next is its next free number, in spare when inSpare.
func (p *Page) used(w *world, first, spare span, next int, inSpare bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &p.numbers
	w.calls--
	if inSpare {
		n.note(w, first)
		n.note(w, span{spare.from, next})
		w.block = span{next, spare.to}
	} else {
		if n.spare == spare.to {
			n.spare = spare.from
		}
		n.note(w, span{first.from, next})
		w.block.from = max(w.block.from, next)
	}
	p.leave(w)
}

// leave gives back what a world that is lost has left over, once no call is
// under way that may still use it. p.mu is held.
func (p *Page) leave(w *world) {
	if w.lost && w.calls == 0 {
		p.numbers.giveBack(w.block, w.parent == nil && p.isTop(w.frame))
		w.block = span{}
	}
}

func (n *numbers) note(w *world, s span) {
	if s.from >= s.to {
		return
	}
	for i := range n.grants {
		if g := &n.grants[i]; g.w == w && g.to == s.from {
			g.to = s.to
			return
		}
	}
	if len(n.grants) >= maxGrants {
		n.grants = slices.DeleteFunc(n.grants, func(g grant) bool { return g.w.lost })
	}
	n.grants = append(n.grants, grant{s, w})
}

// giveBack returns the rest of a block whose world ended.
func (n *numbers) giveBack(s span, top bool) {
	switch {
	case s.from >= s.to:
	case top && n.top.from >= n.top.to:
		n.top = s
	default:
		n.frames = append(n.frames, s)
	}
}

// of returns the world that gave ref, nil when none did.
func (n *numbers) of(ref int) *world {
	for _, g := range n.grants {
		if g.from <= ref && ref < g.to {
			return g.w
		}
	}
	return nil
}
