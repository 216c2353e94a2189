package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A code is an error code and what it means.
type code struct{ name, doc string }

// readCodes reads the constants of type Code, and what is said of them, from the
// source of package fault.
func readCodes(path string) ([]code, error) {
	source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []code
	for _, d := range source.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			c := s.(*ast.ValueSpec)
			if typ, ok := c.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				continue
			}
			literal, ok := c.Values[0].(*ast.BasicLit)
			if !ok || c.Doc == nil {
				return nil, fmt.Errorf("%s: %s is not a commented text", path, c.Names[0].Name)
			}
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path, c.Names[0].Name, err)
			}
			_, doc, _ := strings.Cut(strings.Join(strings.Fields(c.Doc.Text()), " "), ": ")
			out = append(out, code{name, doc})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no codes found", path)
	}
	return out, nil
}
