package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	columns    = 118 // of a printed line
	linesShown = 9   // of a page's content
)

// talk prints the show as it goes, whole lines from any goroutine.
type talk struct {
	mu    sync.Mutex
	out   io.Writer
	shown string // the content that was printed last
}

func newTalk(out io.Writer) *talk { return &talk{out: out} }

func (t *talk) print(lines ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lines {
		fmt.Fprintln(t.out, cut(l, columns))
	}
}

// say prints a sentence of the story.
func (t *talk) say(format string, args ...any) { t.print("", fmt.Sprintf(format, args...)) }

// sent prints a request as it went over the line.
func (t *talk) sent(request string) { t.print("  → " + request) }

// got prints an answer: what it said, how long it took, and the beginning of the page that came with it.
func (t *talk) got(a answer, o outcome) {
	head := fmt.Sprintf("  ← {\"id\":%d,\"ok\":%v,…}  %s ms, %s bytes", a.ID, a.OK, thousands(a.took.Milliseconds()),
		thousands(int64(a.bytes)))
	lines := []string{head}
	if a.Error != nil {
		lines = append(lines, fmt.Sprintf("    %s: %s", a.Error.Code, a.Error.Message))
		if a.Error.Hint != "" {
			lines = append(lines, "    "+a.Error.Hint)
		}
	}
	if o.Action.Message != "" {
		lines = append(lines, "    "+strings.ReplaceAll(o.Action.Message, "\n", "\n    "))
	}
	if o.State.URL != "" {
		lines = append(lines, "    "+o.State.Title+" · "+o.State.URL)
	}
	t.print(append(lines, t.beginning(o.State.Content)...)...)
}

// beginning is the first lines of a page's content, from its main part on, with a count of the others.
func (t *talk) beginning(content string) []string {
	if content == "" {
		return nil
	}
	t.mu.Lock()
	same := content == t.shown
	t.shown = content
	t.mu.Unlock()
	if same {
		return []string{"      (the page as before)"}
	}
	lines := strings.Split(strings.TrimRight(content, "\n"), "\n")
	if main := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "<main") }); main > 0 {
		lines = lines[main:]
		lines[0] += fmt.Sprintf("  (after %d lines of the site's head)", main)
	}
	more := len(lines) - linesShown
	if more > 0 {
		lines = lines[:linesShown]
	}
	for i := range lines {
		lines[i] = "      " + lines[i]
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("      … and %d more lines", more))
	}
	return lines
}

// summary ends the show with its numbers.
func (t *talk) summary(a *agent, l *line, s *site, p person) {
	questions := a.asked()
	var refused int
	var alone []time.Duration // actions during which no question waited
	for _, act := range a.actions {
		if act.refused {
			refused++
		}
		if !act.waited {
			alone = append(alone, act.took)
		}
	}
	slices.Sort(alone)
	sent, received := l.bytes()
	lines := []string{"", "Summary", fmt.Sprintf("  actions    %d, of these %d refused", len(a.actions), refused)}
	for i, q := range questions {
		label := ""
		if i == 0 {
			label = "questions"
		}
		lines = append(lines, fmt.Sprintf("  %-10s %s → %s after %s ms", label, q.what, q.answer,
			thousands(q.waited.Milliseconds())))
	}
	lines = append(lines, fmt.Sprintf("  bytes      %s sent, %s received", thousands(sent), thousands(received)))
	if n := len(alone); n > 0 {
		lines = append(lines, fmt.Sprintf("  time       %s ms an action (median), %s ms at most; %d waited for the person",
			thousands(alone[n/2].Milliseconds()), thousands(alone[n-1].Milliseconds()), len(a.actions)-n))
	}
	lines = append(lines, fmt.Sprintf("  requests   shop.localhost saw %d, pay %d, prize %d, bonus %d",
		s.seen("shop"), s.seen("pay"), s.seen("prize"), s.seen("bonus")))
	if pictures := p.pictures(); pictures != "" {
		lines = append(lines, "  pictures   "+pictures)
	}
	t.print(lines...)
}

// cut shortens text to a number of columns, with a sign that it did, and keeps line breaks.
func cut(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width-1]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// thousands writes 12345 as 12,345.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(text) - 3; i > start; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
