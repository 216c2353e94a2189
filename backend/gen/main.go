// Command gen writes the files that are projections of the Go sources: the
// JSON Schema of every method, the types of the user interface's client, and
// the reference.
//
//	go run ./backend/gen          write them
//	go run ./backend/gen -check   exit 1 and name those that are stale
//
// The actions come from the catalogue and from the line's door, the error codes
// from the source of package fault. The output depends on nothing else. It must
// not hold anything that is not said in one of these places.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"chaperone/backend/action"
	"chaperone/backend/catalog"
	"chaperone/backend/serve/line"
)

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 when a file is stale")
	root := flag.String("root", ".", "where the module is")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// An output is one file, with its path below the module.
type output struct {
	path string
	text []byte
}

func run(root string, check bool) error {
	outputs, err := generate(root)
	if err != nil {
		return err
	}
	var stale []error
	for _, o := range outputs {
		path := filepath.Join(root, filepath.FromSlash(o.path))
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, o.text):
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case check:
			stale = append(stale, fmt.Errorf("%s is stale; run `make generate`", o.path))
		default:
			if err := write(path, o.text); err != nil {
				return err
			}
			fmt.Println("wrote", o.path)
		}
	}
	return errors.Join(stale...)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// generate makes every file in memory.
func generate(root string) ([]output, error) {
	codes, err := readCodes(filepath.Join(root, "backend", "fault", "fault.go"))
	if err != nil {
		return nil, err
	}
	all := everything()
	named := names(all)
	schema, err := schemas(all, named)
	if err != nil {
		return nil, err
	}
	return []output{
		{"docs/schema/methods.json", schema},
		{"docs/reference.md", reference(all, named, codes)},
		{"frontend/src/api/generated.ts", typescript(all, named, codes)},
	}, nil
}

// A method is a declared action and who answers it.
type method struct {
	*action.Spec
	// Door is true for what the line's door answers itself.
	Door bool
}

// everything lists the door's own methods, then the catalogue by who may use it
// and otherwise in its own order.
func everything() []method {
	var out []method
	for _, s := range line.Methods() {
		out = append(out, method{s, true})
	}
	var declared []method
	for _, e := range catalog.All() {
		declared = append(declared, method{e.Spec, false})
	}
	slices.SortStableFunc(declared, func(a, b method) int { return cmp.Compare(a.Audience, b.Audience) })
	return append(out, declared...)
}
