package page

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The flags of a line. Keep in step with walker.js.
const (
	lineFocused = 1 << iota
	lineDialog
	lineInView
	lineInteractive
	lineHeading
	lineText
	lineFrame
	lineRow
	lineChanged // set here, not by the walker
)

// maxLine bounds a line, in characters; longer text goes on in the next line.
const maxLine = 300

// A line is one line of what a page shows.
type line struct {
	depth int
	ref   int // 0 for none
	flags int
	text  string // cleaned; without indentation and ref
}

// String returns the line as it is shown, without indentation.
func (l line) String() string {
	if l.ref == 0 || l.flags&(lineInteractive|lineFrame) == 0 && !strings.HasPrefix(l.text, "<iframe") {
		return l.text
	}
	between := ""
	if !strings.HasPrefix(l.text, "<") {
		between = " "
	}
	return "[" + strconv.Itoa(l.ref) + "]" + between + l.text
}

// size is what the line costs of a budget, in bytes.
func (l line) size() int { return l.depth + len(l.text) + 10 }

// parseLines is parseWhole with the lines that are too long split.
func parseLines(text, meta string) []line {
	lines := parseWhole(text, meta)
	long := slices.ContainsFunc(lines, func(l line) bool { return len(l.text) > maxLine })
	if !long {
		return lines
	}
	short := make([]line, 0, len(lines)+16)
	for _, l := range lines {
		if l.flags&(lineText|lineRow) != lineText {
			l.text = clip(l.text, 2*maxLine) // an element's line, which the walker keeps short
			short = append(short, l)
			continue
		}
		for part := range wrap(l.text, maxLine) {
			l.text = part
			short = append(short, l)
		}
	}
	return short
}

// parseWhole decodes the walker's two strings, one line for each of its lines.
func parseWhole(text, meta string) []line {
	if text == "" {
		return nil
	}
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	next := func() int {
		var field string
		field, meta, _ = strings.Cut(meta, ",")
		n, _ := strconv.Atoi(field) // a number the walker wrote
		return n
	}
	for t := range strings.SplitSeq(text, "\n") {
		lines = append(lines, line{depth: next(), ref: next(), flags: next(), text: clean(t)})
	}
	return lines
}

// wrap yields s in pieces of at most n bytes, broken at spaces where there are
// any, never inside a character.
func wrap(s string, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > n {
			cut := n
			for cut > 0 && !utf8.RuneStart(s[cut]) {
				cut--
			}
			if space := strings.LastIndexByte(s[:cut], ' '); space > cut/2 {
				cut = space
			}
			if cut == 0 {
				cut = n
			}
			if !yield(strings.TrimRight(s[:cut], " ")) {
				return
			}
			s = strings.TrimLeft(s[cut:], " ")
		}
		if s != "" {
			yield(s)
		}
	}
}

// clip cuts s after n characters and says so with an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n-1 {
			if utf8.RuneCountInString(s[i:]) <= 1 {
				return s
			}
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// clean removes what a page could use to disguise its text: control
// characters, marks that reorder text, and characters that nobody sees. Breaks
// become spaces.
func clean(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
			return ' '
		case r < 0x20, 0x7f <= r && r <= 0x9f, // controls
			0x200e <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x061c, // direction
			r == 0x00ad, r == 0x200b, 0x2060 <= r && r <= 0x2065, 0x206a <= r && r <= 0x206f, r == 0xfeff, r == 0x180e,
			0xfff9 <= r && r <= 0xfffb, 0xe0000 <= r && r <= 0xe0fff: // unseen
			return -1
		}
		return r
	}, s)
}

// rank orders lines by what is kept first: focused, changed, in a dialog, in
// view, interactive, headings, text.
func (l line) rank() int {
	switch f := l.flags; {
	case f&lineFocused != 0:
		return 0
	case f&lineChanged != 0:
		return 1
	case f&lineDialog != 0:
		return 2
	case f&lineInView != 0:
		return 3
	case f&lineInteractive != 0:
		return 4
	case f&lineHeading != 0:
		return 5
	}
	return 6
}

// cut keeps the lines that fit into budget bytes, those of the best rank first
// and those of one rank in reading order. A line is kept whole and only together
// with the lines that it is nested in.
func cut(lines []line, budget int) (kept []line) {
	total := 0
	for _, l := range lines {
		total += l.size()
	}
	if total <= budget {
		return lines
	}
	parents := make([]int, len(lines))
	var open []int // indexes of the lines that the next one may be nested in
	for i, l := range lines {
		for len(open) > 0 && lines[open[len(open)-1]].depth >= l.depth {
			open = open[:len(open)-1]
		}
		parents[i] = -1
		if len(open) > 0 {
			parents[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return lines[a].rank() - lines[b].rank() })
	keep := make([]bool, len(lines))
	for _, i := range order {
		cost := 0
		for k := i; k >= 0 && !keep[k]; k = parents[k] {
			cost += lines[k].size()
		}
		if cost > budget {
			continue
		}
		budget -= cost
		for k := i; k >= 0 && !keep[k]; k = parents[k] {
			keep[k] = true
		}
	}
	for i, l := range lines {
		if keep[i] {
			kept = append(kept, l)
		}
	}
	return kept
}

// render joins lines, a tab for each level.
func render(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for range l.depth {
			b.WriteByte('\t')
		}
		b.WriteString(l.String())
	}
	return b.String()
}
