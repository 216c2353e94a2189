package page

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"chaperone/backend/fault"
)

// A Target says which element is meant; exactly one of its fields is set.
type Target struct {
	// Index is a ref of a snapshot.
	Index *int
	// Name is a visible label, accessible name, placeholder or id.
	Name string
	// Target is a ref ("12", "e12", "[12]") or a CSS selector; " >> " reaches
	// into frames and shadow roots.
	Target string
}

// A Report is what became of an action. What the page refuses is a report too.
type Report struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

func no(message string) Report { return Report{Message: sentence(message)} }
func yes(message string) Report {
	return Report{Success: true, Message: sentence(message)}
}

// maxMessage bounds a report's message, in characters.
const maxMessage = 1000

func sentence(s string) string { return clip(clean(s), maxMessage) }

func notFound(message string) error {
	return fault.New(fault.NotFound, "%s", sentence(message)).
		WithHint("Read the state of the page to see what is there.")
}

// place is an element in a world.
type place struct {
	w        *world
	ref      int
	crossing bool // it is a frame whose document is in another world
}

// refForm is how a ref may be written.
var refForm = regexp.MustCompile(`^(?:e|@e)?(\d{1,9})$|^\[(\d{1,9})\]$`)

// resolve finds the element that t means; no says why there is none. want
// narrows names to what takes text ("edit") or is a list ("select").
func (p *Page) resolve(ctx context.Context, t Target, want string) (at place, no string, err error) {
	switch {
	case t.Index != nil:
		return p.byRef(ctx, *t.Index)
	case t.Name != "":
		return p.byName(ctx, t.Name, want)
	}
	if m := refForm.FindStringSubmatch(strings.TrimSpace(t.Target)); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2]) // digits, at most nine
		return p.byRef(ctx, n)
	}
	return p.bySelector(ctx, t.Target)
}

func (p *Page) byRef(ctx context.Context, ref int) (place, string, error) {
	if err := p.ready(); err != nil {
		return place{}, "", err
	}
	p.mu.Lock()
	w := p.numbers.of(ref)
	lost := w != nil && (w.lost || p.worlds[w.frame] != w)
	was := ""
	if lost {
		was = p.was(ref)
	}
	p.mu.Unlock()
	label := "[" + strconv.Itoa(ref) + "]"
	switch {
	case w == nil:
		return place{}, "there is no " + label + "; read the state of the page again", nil
	case lost:
		return place{}, label + was + "; its document is gone, read the state of the page again", nil
	}
	return place{w: w, ref: ref}, "", nil
}

// was tells what the latest snapshot showed for ref. p.mu is held.
func (p *Page) was(ref int) string {
	prefix := "[" + strconv.Itoa(ref) + "]"
	for l := range p.seen {
		if rest, ok := strings.CutPrefix(l, prefix); ok {
			return " was " + clip(rest, 80)
		}
	}
	return ""
}

// found is the walker's answer to a search for one element.
type found struct {
	Ref      int      `json:"id"`
	No       string   `json:"no"`
	Many     bool     `json:"many"`
	None     bool     `json:"none"`
	Crossing bool     `json:"crossing"`
	Rest     []string `json:"rest"`
	Exact    bool     `json:"exact"`
	Labels   []string `json:"labels"`
	Count    int      `json:"count"`
}

// maxSelector bounds a selector, in bytes.
const maxSelector = 2047

func (p *Page) bySelector(ctx context.Context, selector string) (place, string, error) {
	if strings.TrimSpace(selector) == "" || len(selector) > maxSelector {
		return place{}, "name one element by index, name or target (a ref or a CSS selector of at most 2047 characters)", nil
	}
	var chain []string
	for part := range strings.SplitSeq(selector, ">>") {
		if part = strings.TrimSpace(part); part != "" {
			chain = append(chain, part)
		}
	}
	if len(chain) == 0 {
		return place{}, "“" + selector + "” is not a CSS selector", nil
	}
	w, err := p.topWorld(ctx)
	if err != nil {
		return place{}, "", err
	}
	var from int
	if m := refForm.FindStringSubmatch(chain[0]); m != nil && len(chain) > 1 { // "[12] >> button"
		n, _ := strconv.Atoi(m[1] + m[2])
		at, no, err := p.byRef(ctx, n)
		if err != nil || no != "" {
			return place{}, no, err
		}
		w, from, chain = at.w, at.ref, chain[1:]
	}
	if err := p.pierceAll(ctx, w); err != nil {
		return place{}, "", err
	}
	for range maxFrameDepth {
		var f found
		if err := p.run(ctx, w, "select", map[string]any{"chain": chain, "from": from}, &f); err != nil {
			return place{}, "", err
		}
		switch {
		case f.No != "":
			return place{}, f.No, nil
		case f.None:
			return place{}, "nothing matches “" + selector + "”", nil
		case f.Crossing && len(f.Rest) > 0:
			if w, err = p.inside(ctx, w, f.Ref); err != nil {
				return place{}, "", err
			}
			if err := p.pierceAll(ctx, w); err != nil {
				return place{}, "", err
			}
			chain, from = f.Rest, 0
		default:
			return place{w: w, ref: f.Ref, crossing: f.Crossing}, "", nil
		}
	}
	return place{}, "“" + selector + "” goes through too many frames", nil
}

// pierceAll makes sure that the closed shadow roots of a world that was never
// read are known.
func (p *Page) pierceAll(ctx context.Context, w *world) error {
	p.mu.Lock()
	read := w.read
	p.mu.Unlock()
	if read {
		return nil
	}
	_, err := p.read(ctx, w, readArgs{Budget: FullBudget}, maxFrameDepth)
	return err
}

func (p *Page) byName(ctx context.Context, name, want string) (place, string, error) {
	type hit struct {
		found
		w *world
	}
	var exact, part []hit
	err := p.everywhere(ctx, func(ctx context.Context, w *world) error {
		if err := p.pierceAll(ctx, w); err != nil {
			return err
		}
		var f found
		if err := p.run(ctx, w, "byName", map[string]any{"name": name, "want": want}, &f); err != nil {
			return err
		}
		if f.Count == 0 {
			return nil
		}
		if f.Exact {
			exact = append(exact, hit{f, w})
		} else {
			part = append(part, hit{f, w})
		}
		return nil
	})
	if err != nil {
		return place{}, "", err
	}
	hits := exact
	if len(hits) == 0 {
		hits = part
	}
	switch {
	case len(hits) == 0:
		return place{}, "nothing here is called “" + name + "”", nil
	case len(hits) == 1 && hits[0].No == "":
		return place{w: hits[0].w, ref: hits[0].Ref, crossing: hits[0].Crossing}, "", nil
	}
	var labels []string
	count := 0
	for _, h := range hits {
		labels = append(labels, h.Labels...)
		count += h.Count
	}
	return place{}, "“" + name + "” means " + strconv.Itoa(count) + " elements: " + strings.Join(labels, ", ") + "; use an index", nil
}

// everywhere calls f for the top world and every world below it, one after the
// other. A frame that does not answer in time is passed over.
func (p *Page) everywhere(ctx context.Context, f func(context.Context, *world) error) error {
	w, err := p.topWorld(ctx)
	if err != nil {
		return err
	}
	if err := f(ctx, w); err != nil {
		return err
	}
	return p.below(ctx, w, 0, f)
}

func (p *Page) below(ctx context.Context, w *world, level int, f func(context.Context, *world) error) error {
	if level >= maxFrameDepth {
		return nil
	}
	var refs []int
	if err := p.run(ctx, w, "crossFrames", nil, &refs); err != nil {
		return err
	}
	for _, ref := range refs {
		err := func() error {
			in, cancel := context.WithTimeout(ctx, frameWait)
			defer cancel()
			inner, err := p.inside(in, w, ref)
			if err == nil {
				err = f(in, inner)
			}
			if err == nil {
				err = p.below(in, inner, level+1, f)
			}
			return err
		}()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if stop := p.ready(); stop != nil {
				return stop
			}
		}
	}
	return nil
}
