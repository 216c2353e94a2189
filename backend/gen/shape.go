package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"chaperone/backend/action"
)

var (
	moment  = reflect.TypeFor[time.Time]()
	rawJSON = reflect.TypeFor[json.RawMessage]()
	enum    = reflect.TypeFor[action.Enum]()
)

// A field is one member of a JSON object.
type field struct {
	name, doc string
	optional  bool
	typ       reflect.Type
}

// fields lists the members of t as encoding/json writes them, those of embedded
// structs in their place.
func fields(t reflect.Type) []field {
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		out = append(out, field{
			name:     cmp.Or(name, f.Name),
			doc:      f.Tag.Get("jsonschema"),
			optional: strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"),
			typ:      bare(f.Type),
		})
	}
	return out
}

// bare takes the pointers off t: nil is left out of what is written.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// values returns what an enumeration may hold, nil for any other type.
func values(t reflect.Type) []string {
	if t.Kind() == reflect.String && t.Implements(enum) {
		return reflect.Zero(t).Interface().(action.Enum).Values()
	}
	return nil
}

// names gives a name to every type that is worth one: structures and
// enumerations that arguments and results are made of. Arguments themselves,
// and results of a single member, are written where they stand. Two types of
// one name get their packages' names before it.
func names(all []method) map[reflect.Type]string {
	found := map[reflect.Type]string{}
	var visit func(t reflect.Type, top bool)
	visit = func(t reflect.Type, top bool) {
		t = bare(t)
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			visit(t.Elem(), false)
		case reflect.Struct:
			if t == moment {
				return
			}
			if _, seen := found[t]; seen {
				return
			}
			if exported(t) && !top {
				found[t] = t.Name()
			}
			for _, f := range fields(t) {
				visit(f.typ, false)
			}
		case reflect.String:
			if exported(t) && values(t) != nil {
				found[t] = t.Name()
			}
		}
	}
	for _, m := range all {
		visit(m.ArgsType, true)
		visit(m.ResultType, m.ResultType.Kind() == reflect.Struct && m.ResultType.NumField() < 2)
	}
	count := map[string]int{}
	for _, name := range found {
		count[name]++
	}
	for t, name := range found {
		if count[name] > 1 {
			pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
			found[t] = strings.ToUpper(pkg[:1]) + pkg[1:] + name
		}
	}
	return found
}

func exported(t reflect.Type) bool {
	return t.Name() != "" && strings.ToUpper(t.Name()[:1]) == t.Name()[:1]
}

// byName lists the named types in the order of their names.
func byName(named map[reflect.Type]string) []reflect.Type {
	return slices.SortedFunc(maps.Keys(named), func(a, b reflect.Type) int { return cmp.Compare(named[a], named[b]) })
}
