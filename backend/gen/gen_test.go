package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/fault"
)

const module = "../.."

func TestFilesAreFresh(t *testing.T) {
	if err := run(module, true); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesTheStaleFile(t *testing.T) {
	root := t.TempDir()
	source, err := os.ReadFile(filepath.Join(module, "backend/fault/fault.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(root, "backend/fault/fault.go"), source); err != nil {
		t.Fatal(err)
	}
	stale := func(want ...string) {
		t.Helper()
		err := run(root, true)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if n := strings.Count(said, "stale"); n != len(want) {
			t.Errorf("%d files are said to be stale, want %d: %s", n, len(want), said)
		}
		for _, path := range want {
			if !strings.Contains(said, path) {
				t.Errorf("%s is not named: %s", path, said)
			}
		}
	}
	stale("docs/schema/methods.json", "docs/reference.md", "frontend/src/api/generated.ts")
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	stale()
	if err := os.WriteFile(filepath.Join(root, "docs/reference.md"), []byte("by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stale("docs/reference.md")
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	outputs, err := generate(module)
	if err != nil {
		t.Fatal(err)
	}
	again, err := generate(module)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(outputs, again) {
		t.Error("two runs differ")
	}
	for _, o := range outputs {
		text := string(o.text)
		switch filepath.Ext(o.path) {
		case ".json":
			var doc struct {
				Methods map[string]json.RawMessage `json:"methods"`
				Defs    map[string]map[string]any  `json:"$defs"`
			}
			if err := json.Unmarshal(o.text, &doc); err != nil {
				t.Fatalf("%s: %v", o.path, err)
			}
			if len(doc.Methods) != len(everything()) {
				t.Errorf("%s has %d methods, want %d", o.path, len(doc.Methods), len(everything()))
			}
			for _, m := range regexp.MustCompile(`"#/\$defs/(\w+)"`).FindAllStringSubmatch(text, -1) {
				if doc.Defs[m[1]]["type"] == nil {
					t.Errorf("%s: $defs has no %s", o.path, m[1])
				}
			}
		case ".md":
			for _, m := range regexp.MustCompile(`\]\(#(\w+)\)`).FindAllStringSubmatch(text, -1) {
				if !strings.Contains(strings.ToLower(text), "\n### "+m[1]+"\n") {
					t.Errorf("%s has no heading %s", o.path, m[1])
				}
			}
		}
	}
}

type (
	inner struct {
		Here bool `json:"here,omitempty" jsonschema:"said of it"`
	}
	colour string
	Leaf   struct {
		At   time.Time         `json:"at"`
		Any  json.RawMessage   `json:"any,omitempty"`
		Many map[string]string `json:"many"`
	}
	outer struct {
		inner
		Leaf   *Leaf   `json:"leaf,omitempty"`
		Leaves []Leaf  `json:"leaves"`
		Colour colour  `json:"colour"`
		Size   float64 `json:"size"`
		hidden int
		Kept   int `json:"-"`
	}
)

func (colour) Values() []string { return []string{"red", "blue"} }

func TestShapes(t *testing.T) {
	var _ = outer{hidden: 1} // a field that is not exported, to be left out
	spec := action.Describe[inner, outer](action.Spec{Method: "look", Verb: "look", Summary: "look at */ it", Audience: action.People,
		Capability: "x", Effect: action.Reads, Tab: action.NoTab})
	all := []method{{spec, false}}
	named := names(all)
	if len(named) != 1 || named[reflect.TypeFor[Leaf]()] != "Leaf" {
		t.Errorf("named are %v", named)
	}
	got := string(typescript(all, named, []code{{"LOST", "it is gone"}}))
	for _, want := range []string{`export interface Leaf {
  at: string;
  any?: unknown;
  many: Record<string, string>;
}
`, `export type ErrorCode =
  | "LOST";
`, `  /** Look at * / it. */
  look: {
    args: {
      /** Said of it. */
      here?: boolean;
    };
    result: {
      /** Said of it. */
      here?: boolean;
      leaf?: Leaf;
      leaves: Leaf[];
      colour: "red" | "blue";
      size: number;
    };
  };
`} {
		if !strings.Contains(got, want) {
			t.Errorf("missing:\n%s\nin:\n%s", want, got)
		}
	}
}

func TestCodesAreThoseOfFault(t *testing.T) {
	codes, err := readCodes(filepath.Join(module, "backend/fault/fault.go"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, c := range codes {
		if c.doc == "" {
			t.Errorf("%s is not explained", c.name)
		}
		said[c.name] = c.doc
	}
	if said[string(fault.BrowserGone)] != "the window, tab or page went away while the call was under way." || said[string(fault.Internal)] == "" {
		t.Errorf("got %v", said)
	}
}
