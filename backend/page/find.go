package page

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"chaperone/backend/fault"
)

// A FindQuery says what to look for; one of its fields is set.
type FindQuery struct {
	Query string // words of a role, name or text, in any order
	Text  string // text that a line contains, whatever its case
	Regex string // a regular expression (RE2) that a line matches
}

// A Match is one line that was found.
type Match struct {
	// Index is a ref for the element of the line.
	Index int `json:"index"`
	// Line is the line as a snapshot shows it.
	Line string `json:"line"`
}

// MaxMatches bounds what Find returns.
const MaxMatches = 20

// maxSearched bounds the lines that one frame gives to a search.
const maxSearched = 50_000

// Find looks through the whole page, also where a snapshot left lines out. It
// returns the best MaxMatches, and how many there are.
func (p *Page) Find(ctx context.Context, q FindQuery) (matches []Match, total int, err error) {
	score, err := q.score()
	if err != nil {
		return nil, 0, err
	}
	for attempt := 1; ; attempt++ {
		matches, total, err = p.find(ctx, score)
		if !errors.Is(err, errLost) || attempt == 3 {
			return matches, total, asFault(err)
		}
	}
}

func (p *Page) find(ctx context.Context, score func(line) int) ([]Match, int, error) {
	type hit struct {
		line
		w         *world
		at, score int
	}
	var hits []hit
	err := p.everywhere(ctx, func(ctx context.Context, w *world) error {
		if err := p.pierceAll(ctx, w); err != nil {
			return err
		}
		var k walk
		if err := p.run(ctx, w, "snapshot", readArgs{Budget: 1 << 30, Keep: true, Cap: maxSearched}, &k); err != nil {
			return err
		}
		for i, l := range parseWhole(k.Text, k.Meta) {
			if s := score(l); s > 0 {
				hits = append(hits, hit{l, w, i, s})
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	total := len(hits)
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	hits = hits[:min(total, MaxMatches)]
	matches := make([]Match, 0, len(hits))
	for _, h := range hits {
		if h.ref == 0 {
			var refs []int
			if err := p.run(ctx, h.w, "refsFor", []int{h.at}, &refs); err != nil {
				return nil, 0, err
			}
			if len(refs) == 1 {
				h.ref = refs[0]
			}
		}
		h.flags |= lineInteractive // shows the ref
		matches = append(matches, Match{Index: h.ref, Line: clip(h.String(), maxLine)})
	}
	return matches, total, nil
}

// score returns a function that says how well a line fits; 0 is not at all.
func (q FindQuery) score() (func(line) int, error) {
	switch {
	case q.Regex != "":
		re, err := regexp.Compile(q.Regex)
		if err != nil {
			return nil, fault.New(fault.InvalidArguments, "the regular expression does not compile").
				WithHint("Use RE2 syntax, without look-around or back references.").Because(err)
		}
		return func(l line) int { return ranked(re.MatchString(l.text), l) }, nil
	case q.Text != "":
		key := strings.ToLower(strings.Join(strings.Fields(q.Text), " "))
		return func(l line) int { return ranked(strings.Contains(strings.ToLower(l.text), key), l) }, nil
	}
	words := strings.Fields(strings.ToLower(q.Query))
	if len(words) == 0 {
		return nil, fault.New(fault.InvalidArguments, "nothing to look for").WithHint("Give one of query, text and regex.")
	}
	return func(l line) int {
		text := strings.ToLower(l.text)
		n := 0
		for _, w := range words {
			if strings.Contains(text, w) {
				n++
			}
		}
		if n == 0 || n*2 < len(words) {
			return 0
		}
		score := n * 10
		if strings.Contains(text, strings.Join(words, " ")) {
			score += 5
		}
		return score + ranked(true, l)
	}, nil
}

// ranked prefers what can be acted on.
func ranked(match bool, l line) int {
	switch {
	case !match:
		return 0
	case l.flags&lineInteractive != 0:
		return 3
	case l.flags&lineHeading != 0:
		return 2
	}
	return 1
}
