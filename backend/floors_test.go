package backend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "chaperone"

// floors is where every package stands. A package imports only from floors
// below its own. Paths are below backend; "." is the root of the module, the app.
var floors = map[string]int{
	// Names of things; the one error.
	"ids": 0, "fault": 0,
	// Contracts: what the rest agrees on.
	"event": 1, "policy": 1, "tiers": 1,
	"wire": 2, "setting": 2,
	// Mechanism: what a call is, a desktop, Chromium on it, and one tab of that.
	"desktop": 2,
	"action":  3, "chrome": 3,
	"page": 4,
	// Services, which do not know one another.
	"agent": 5, "approval": 5, "browser": 5, "rules": 5,
	// Adapters: all SQL, and every action.
	"ledger": 6, "catalog": 6,
	// Doors.
	"serve/line": 7,
	"host":       8,
	"testkit":    9, "bench/bare": 9,
	// Programs.
	"cmd/chaperone": 10, "gen": 10, "bench": 10, "demo": 10, "testkit/uihost": 10,
	".": 11,
}

// only says who may import what is not for everybody, by the start of its path.
var only = map[string][]string{
	"database/sql":              {"ledger"},
	"modernc.org/sqlite":        {"ledger"},
	"github.com/pressly/goose":  {"ledger"},
	"github.com/wailsapp/wails": {"."},
	"github.com/godbus/dbus":    {".", "cmd/chaperone"}, // the doctor asks who shows notifications
	"C":                         {"."},                  // the agents' program is pure Go
	"net/http":                  {"testkit", "testkit/uihost", "demo", "bench"},
}

// listeners may open a door: to agents, to a Chromium that draws, and above the
// host to pages of their own.
var listeners = []string{"serve/line", "desktop", "testkit", "testkit/uihost", "demo", "bench"}

// opens are the functions that open one.
var opens = map[string][]string{
	"net": {"Listen", "ListenUnix", "ListenTCP", "ListenPacket", "ListenUDP", "ListenUnixgram", "ListenIP", "ListenConfig", "FileListener"},
}

// A file is one source file as far as this test looks at it.
type file struct {
	name, pkg string // pkg as in floors
	test      bool
	syntax    *ast.File
}

func TestFloors(t *testing.T) {
	files := sources(t)
	if len(files) < 50 {
		t.Fatalf("only %d files were found", len(files))
	}
	for _, f := range files {
		floor, ok := floors[f.pkg]
		if !ok {
			t.Errorf("%s: package %s is on no floor", f.name, f.pkg)
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := within(imported); ours {
				checkFloor(t, f, floor, to)
			} else if !f.test {
				checkOnly(t, f, imported)
			}
		}
		if !f.test && !slices.Contains(listeners, f.pkg) {
			checkOpens(t, f)
		}
	}
}

// checkFloor holds that an import leads downwards. A test may also import the
// package that it tests, and the test kit, which runs a whole host.
func checkFloor(t *testing.T, f file, floor int, to string) {
	below, ok := floors[to]
	switch {
	case to == ".":
		t.Errorf("%s imports the app", f.name)
	case !ok:
		t.Errorf("%s imports %s, which is on no floor", f.name, to)
	case below < floor, f.test && (to == f.pkg || to == "testkit"):
	default:
		t.Errorf("%s: %s is on floor %d and imports %s from floor %d", f.name, f.pkg, floor, to, below)
	}
}

func checkOnly(t *testing.T, f file, imported string) {
	for start, who := range only {
		if (imported == start || strings.HasPrefix(imported, start+"/")) && !slices.Contains(who, f.pkg) {
			t.Errorf("%s imports %s; only %s may", f.name, imported, strings.Join(who, ", "))
		}
	}
}

func checkOpens(t *testing.T, f file) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(opens[x.Name], sel.Sel.Name) {
			t.Errorf("%s: %s.%s opens a door; only %s may", f.name, x.Name, sel.Sel.Name, strings.Join(listeners, ", "))
		}
		return true
	})
}

// within returns the package as in floors, if it is one of this module.
func within(imported string) (pkg string, ours bool) {
	if imported == module {
		return ".", true
	}
	rest, ours := strings.CutPrefix(imported, module+"/")
	return strings.TrimPrefix(rest, "backend/"), ours
}

// sources parses every Go file of the module, whatever system it is for.
func sources(t *testing.T) []file {
	t.Helper()
	var out []file
	set := token.NewFileSet()
	root := ".."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "node_modules" || base == "testdata" || strings.HasPrefix(base, ".") && name != root {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		syntax, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if path.Dir(rel) == module || path.Dir(rel) == "backend" {
			return nil // this package: its doc, and this test
		}
		pkg, _ := within(path.Join(module, path.Dir(rel)))
		out = append(out, file{name: rel, pkg: pkg, test: strings.HasSuffix(rel, "_test.go"), syntax: syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
