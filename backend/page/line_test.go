package page

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":               "plain text",
		"tab\tand\nbreak\u2028":    "tab and break ",
		"a\u202eb\u2066c\u200fd":   "abcd",
		"zero\u200bwidth\ufeff":    "zerowidth",
		"bell\x07 del\x7f \u0085":  "bell del ",
		"tags\U000e0041\U000e007f": "tags",
		"👩\u200d💻 ünï 漢字":          "👩\u200d💻 ünï 漢字", // joiners belong to the text
		"bad\xff":                  "bad\ufffd",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{{"short", 5, "short"}, {"longer", 5, "long…"}, {"漢字漢字", 4, "漢字漢字"}, {"漢字漢字漢", 4, "漢字漢…"}, {"", 3, ""}} {
		if got := clip(test.in, test.n); got != test.want {
			t.Errorf("clip(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func TestCutKeepsByRankAndWithParents(t *testing.T) {
	long := strings.Repeat("x", 90)
	lines := []line{
		{0, 0, lineText, "intro " + long},
		{0, 0, 0, "<navigation>"},
		{1, 1, lineInteractive, "<link>A</link>"},
		{1, 0, lineText, "words " + long},
		{0, 0, lineHeading, "<heading>H</heading>"},
		{0, 0, 0, "<form>"},
		{1, 0, 0, "<group>"},
		{2, 2, lineInteractive | lineFocused, "<textbox>B</textbox>"},
		{0, 3, lineInteractive | lineInView, "<button>C</button>"},
	}
	for _, test := range []struct {
		budget int
		want   []int
	}{
		{1 << 20, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{180, []int{1, 2, 4, 5, 6, 7, 8}},
		{100, []int{5, 6, 7, 8}},
		{70, []int{5, 6, 7}},
		{30, []int{8}},
		{0, nil},
	} {
		var want []line
		for _, i := range test.want {
			want = append(want, lines[i])
		}
		if got := cut(lines, test.budget); !slices.Equal(got, want) {
			t.Errorf("budget %d keeps\n%s\nwant\n%s", test.budget, render(got), render(want))
		}
	}
}

func TestParseKey(t *testing.T) {
	for name, want := range map[string]keyStroke{
		"Enter":      {named("Enter"), 0},
		"esc":        {named("Escape"), 0},
		"Control++":  {key{"+", "Equal", 187, ""}, withControl | withShift},
		"+":          {key{"+", "Equal", 187, "+"}, withShift},
		"Shift+Tab":  {named("Tab"), withShift},
		"ctrl+alt+x": {key{"x", "KeyX", 88, ""}, withControl | withAlt},
		"F12":        {key{"F12", "F12", 123, ""}, 0},
		"é":          {key{"é", "", 0, "é"}, 0},
	} {
		if got, ok := parseKey(name); !ok || got != want {
			t.Errorf("parseKey(%q) = %+v, %v; want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "Nope", "Hyper+A", "F13", "ab", "\x00"} {
		if got, ok := parseKey(name); ok {
			t.Errorf("parseKey(%q) = %+v", name, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("<button>a</button>\nsome text\u202e", "0,1,8,1,0,32", 40)
	f.Add(strings.Repeat("漢", 400), "0,0,32", 1000)
	f.Add("\xff\xfe"+strings.Repeat("a b", 300), "x,,-3", 0)
	f.Fuzz(func(t *testing.T, text, meta string, budget int) {
		lines := parseLines(text, meta)
		for _, l := range lines {
			if strings.ContainsAny(l.text, "\n\r\t\u202e\u2066\u200b") || !utf8.ValidString(l.text) {
				t.Fatalf("the line %q is not clean", l.text)
			}
			if utf8.RuneCountInString(l.text) > 2*maxLine {
				t.Fatalf("a line of %d characters", utf8.RuneCountInString(l.text))
			}
		}
		kept := cut(lines, budget)
		total := 0
		for _, l := range kept {
			total += l.size()
		}
		if len(kept) < len(lines) && total > max(budget, 0) {
			t.Fatalf("kept %d of a budget of %d", total, budget)
		}
		// What is kept is a subsequence, and every line stands below the one that it was in.
		i := 0
		for _, l := range kept {
			for i < len(lines) && lines[i] != l {
				i++
			}
			if i == len(lines) {
				t.Fatal("a kept line is not one of the page, in its order")
			}
			i++
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add("Control+Shift+ä")
	f.Fuzz(func(t *testing.T, name string) {
		if k, ok := parseKey(name); ok && k.name == "" {
			t.Fatalf("%q is a key without a name", name)
		}
	})
}
