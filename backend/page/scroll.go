package page

import (
	"context"
	"fmt"
)

// ScrollOptions says how far to scroll, and what.
type ScrollOptions struct {
	Down     bool
	NumPages float64 // 0 means one
	Pixels   *int    // instead of pages
	Index    *int    // an element in what is to scroll; the page otherwise
}

// Scroll scrolls the page, or what holds an element, down or up.
func (p *Page) Scroll(ctx context.Context, o ScrollOptions) (Report, error) {
	pages := o.NumPages
	if pages <= 0 {
		pages = 1
	}
	args := map[string]any{"axis": "y", "pages": pages}
	if o.Pixels != nil {
		args["pixels"] = *o.Pixels
	}
	direction := "down"
	if !o.Down {
		direction = "up"
		args["pages"] = -pages
		if o.Pixels != nil {
			args["pixels"] = -*o.Pixels
		}
	}
	return p.scroll(ctx, args, o.Index, direction)
}

// ScrollHorizontally scrolls the page, or what holds an element, right or left.
func (p *Page) ScrollHorizontally(ctx context.Context, right bool, pixels int, index *int) (Report, error) {
	direction := "right"
	if !right {
		direction, pixels = "left", -pixels
	}
	return p.scroll(ctx, map[string]any{"axis": "x", "pixels": pixels}, index, direction)
}

func (p *Page) scroll(ctx context.Context, args map[string]any, index *int, direction string) (Report, error) {
	w, err := p.topWorld(ctx)
	if err != nil {
		return Report{}, asFault(err)
	}
	if index != nil {
		at, refusal, err := p.byRef(ctx, *index)
		if err != nil || refusal != "" {
			return no(refusal), asFault(err)
		}
		w = at.w
		args["id"] = at.ref
	}
	var s struct {
		No    string `json:"no"`
		Moved int    `json:"moved"`
		Left  int    `json:"left"`
		What  string `json:"what"`
	}
	if err := p.run(ctx, w, "scroll", args, &s); err != nil {
		return Report{}, asFault(err)
	}
	switch {
	case s.No != "":
		return no(s.No), nil
	case s.Moved == 0:
		return no(fmt.Sprintf("%s does not scroll further %s", s.What, direction)), nil
	}
	return yes(fmt.Sprintf("Scrolled %s %s by %d px; %d px are left", s.What, direction, max(s.Moved, -s.Moved), s.Left)), nil
}
