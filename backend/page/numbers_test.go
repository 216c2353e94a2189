package page

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
)

// take has w give n refs, as one call of its walker would.
func (p *Page) take(t *testing.T, seen map[int]bool, w *world, n int) {
	t.Helper()
	first, spare := p.reserve(w)
	next, inSpare := first.from, false
	for range n {
		if !inSpare && next == first.to {
			next, inSpare = spare.from, true
		}
		if seen[next] {
			t.Fatalf("the ref %d was given twice", next)
		}
		seen[next] = true
		next++
	}
	p.used(w, first, spare, next, inSpare)
}

func TestNumbersAreGivenOnce(t *testing.T) {
	p := &Page{target: "top", numbers: newNumbers(), worlds: map[cdp.FrameID]*world{}}
	seen := map[int]bool{}
	open := func(frame cdp.FrameID, parent *world) *world {
		w := &world{frame: frame, parent: parent}
		p.worlds[frame] = w
		return w
	}
	for range 5 { // documents
		top := open("top", nil)
		p.take(t, seen, top, 2500)
		for range 3 { // documents of a frame
			ad := open("ad", top)
			p.take(t, seen, ad, 900)
			p.take(t, seen, top, 10)
			p.take(t, seen, ad, 900) // beyond its block
			p.take(t, seen, ad, 5)
			for ref := range seen {
				if p.numbers.of(ref) == nil {
					t.Fatalf("nobody gave %d", ref)
				}
			}
			p.lose("ad")
		}
		if got := p.numbers.of(1); got == nil || got.frame != "top" {
			t.Fatalf("1 was given by %+v", got)
		}
		p.lose("top")
	}
	if p.numbers.of(999_999_999) != nil {
		t.Error("a ref that was never given has a world")
	}
	w := open("top", nil)
	for range maxGrants + 10 { // an endless row of frames
		p.take(t, seen, open("ad", w), 1)
		p.take(t, seen, w, 1)
		p.lose("ad")
	}
	if n := len(p.numbers.grants); n > maxGrants {
		t.Errorf("%d grants are remembered", n)
	}
}

// A document can go while its world is asked, and the answer comes when the
// next one has begun to number.
func TestNumbersOfADocumentThatGoesWhileItIsAsked(t *testing.T) {
	p := &Page{target: "top", numbers: newNumbers(), worlds: map[cdp.FrameID]*world{}}
	seen := map[int]bool{}
	open := func() *world {
		w := &world{frame: "top"}
		p.worlds["top"] = w
		return w
	}
	for range 50 {
		w := open()
		p.take(t, seen, w, 3)
		first, spare := p.reserve(w) // two calls are under way
		again, more := p.reserve(w)
		p.lose("top")
		next := open()
		p.take(t, seen, next, 3)
		p.used(w, first, spare, first.from, false)
		p.used(w, again, more, again.from, false)
		p.take(t, seen, next, 3)
		p.lose("top")
	}
}
