package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A report is the figures of one run.
type report struct {
	Date     time.Time `json:"date"`
	Chromium string    `json:"chromium"`
	Go       string    `json:"go"`
	System   string    `json:"system"`
	Cores    int       `json:"cores"`
	Took     string    `json:"took"`
	Rows     []Row     `json:"rows"`
}

// Row is one thing that was measured.
type Row struct {
	Name string `json:"name"`
	// Unit is of the figures: milliseconds when empty.
	Unit string `json:"unit,omitempty"`
	// Bare is what it is compared with; nil when there is nothing.
	Bare *Times `json:"bare,omitempty"`
	Ours *Times `json:"ours,omitempty"`
	// Ratio is of the medians, Added their difference.
	Ratio float64 `json:"ratio,omitempty"`
	Added float64 `json:"added,omitempty"`
	Goal  string  `json:"goal,omitempty"`
	// Met is nil where there is no goal.
	Met  *bool  `json:"met,omitempty"`
	Note string `json:"note,omitempty"`
}

func newReport() *report {
	return &report{Date: time.Now(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
}

// compare adds a row of a ratio, whose goal is goal at the most; 0 for none.
func (r *report) compare(name string, bare, ours sample, goal float64, note string) {
	row := Row{Name: name, Bare: bare.times(), Ours: ours.times(), Note: note}
	row.Ratio = row.Ours.Median / row.Bare.Median
	if goal > 0 {
		row.Goal = fmt.Sprintf("≤ %g×", goal)
		row.Met = new(row.Ratio <= goal)
	}
	r.Rows = append(r.Rows, row)
}

// adds adds a row of a difference, whose goal is under goal milliseconds; 0 for none.
func (r *report) adds(name string, without, with sample, goal float64) {
	row := Row{Name: name, Bare: without.times(), Ours: with.times()}
	row.Added = row.Ours.Median - row.Bare.Median
	if goal > 0 {
		row.Goal = fmt.Sprintf("adds < %g ms", goal)
		row.Met = new(row.Added < goal)
	}
	r.Rows = append(r.Rows, row)
}

// limit adds a row whose goal is under goal milliseconds.
func (r *report) limit(name string, s sample, goal float64) {
	r.only(name, s, fmt.Sprintf("< %g ms", goal), new(s.times().Median < goal), "")
}

func (r *report) only(name string, s sample, goal string, met *bool, note string) {
	r.Rows = append(r.Rows, Row{Name: name, Ours: s.times(), Goal: goal, Met: met, Note: note})
}

func (r *report) save(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// columns are a row's cells as text.
var heads = [...]string{"what", "bare", "Chaperone", "comes to", "goal", "", "note"}

func (row Row) cells() [len(heads)]string {
	unit := row.Unit
	if unit == "" {
		unit = "ms"
	}
	times := func(t *Times) string {
		switch {
		case t == nil:
			return ""
		case t.Count == 1:
			return fmt.Sprintf("%s %s", figure(t.Median), unit)
		}
		return fmt.Sprintf("%s / %s %s", figure(t.Min), figure(t.Median), unit)
	}
	cells := [len(heads)]string{0: row.Name, 1: times(row.Bare), 2: times(row.Ours), 4: row.Goal, 6: row.Note}
	switch {
	case row.Ratio != 0:
		cells[3] = fmt.Sprintf("%.2f×", row.Ratio)
	case row.Bare != nil:
		cells[3] = fmt.Sprintf("+%s ms", figure(row.Added))
	}
	if row.Met != nil {
		cells[5] = "met"
		if !*row.Met {
			cells[5] = "MISSED"
		}
	}
	return cells
}

// figure writes a number with as many digits as mean something.
func figure(x float64) string {
	switch {
	case x < 0.1:
		return fmt.Sprintf("%.4f", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// table writes the rows as a table that reads well as text and as Markdown.
func (r *report) table() string {
	rows := [][len(heads)]string{heads}
	for _, row := range r.Rows {
		rows = append(rows, row.cells())
	}
	var width [len(heads)]int
	for _, cells := range rows {
		for i, c := range cells {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for n, cells := range rows {
		for i, c := range cells {
			b.WriteString("| " + c + strings.Repeat(" ", width[i]-len([]rune(c))+1))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range width {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}

const figures = "Times are the shortest / the median; what it comes to is of the medians."

func (r *report) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "\n%s\n%s, %s, %s, %d cores. %s\n", r.table(), r.Chromium, r.Go, r.System, r.Cores, figures)
	return err
}

func (r *report) saveDocument(name, machine string) error {
	text := fmt.Sprintf(`# Benchmarks

`+"`make bench`"+` measures Chaperone against a bare client: the least that can read and press in a headed Chromium over
its pipe, with no policy, account, frames or shadow roots (`+"`backend/bench/bare`"+`). Both work on the same Chromium and the
same pages in the same run, turn by turn, so that whatever else the machine does meets both. Read the ratios; the
milliseconds are this machine's.

%s
%s A state's answer is bounded in characters, a bare walk is not.

- Measured on %s, in %s, with %s and %s.
- Machine: %s, %d cores; %s.
- Command: `+"`build/with-display.sh go run ./backend/bench -write \"…\"`"+` (this page is written by it).
`, r.table(), figures, r.Date.UTC().Format("2 January 2006"), r.Took, r.Chromium, r.Go, r.System, r.Cores, machine)
	return os.WriteFile(name, []byte(text), 0o644)
}
