package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"chaperone/backend/action"
	"chaperone/backend/wire"
)

// reference writes docs/reference.md.
func reference(all []method, named map[reflect.Type]string, codes []code) []byte {
	var b strings.Builder
	w := mdWriter{&b, named}
	fmt.Fprintf(&b, `<!-- %s -->

# Reference

One JSON object a line, at most %d bytes; protocol %d.

    {"id":1,"method":"navigate","args":{"url":"https://example.org"}}
    {"id":1,"ok":true,"result":{…}}
    {"id":1,"ok":false,"error":{"code":"BROWSER_GONE","message":"…","hint":"…"}}
    {"event":{…}}

An id is any JSON value and comes back as it came. Calls may overlap; answers come in any order. The same in JSON Schema:
[schema/methods.json](schema/methods.json).

An effect says what a call may change: `+"`reads`"+` nothing, `+"`transient`"+` what passes with the page (focus, pointer, scrolling),
`+"`mutates`"+` the page or the window, `+"`irreversible`"+` what cannot be taken back. The seconds bound a call's run; the time in
which a person thinks does not count.
`, notice, wire.MaxLine, wire.Protocol)
	w.part("The line itself", "Answered by the agents' door.", all, func(m method) bool { return m.Door })
	w.part("What agents do", "", all, func(m method) bool { return !m.Door && m.Audience != action.People })
	w.part("What the person does", "Bound in process to the app's window; no socket, command or flag leads to them.", all,
		func(m method) bool { return m.Audience == action.People })
	b.WriteString("\n## Types\n")
	for _, t := range byName(named) {
		fmt.Fprintf(&b, "\n### %s\n\n", named[t])
		if v := values(t); v != nil {
			fmt.Fprintf(&b, "One of `%s`.\n", strings.Join(v, "`, `"))
			continue
		}
		w.table(t)
	}
	b.WriteString("\n## Error codes\n\n| code | meaning |\n| --- | --- |\n")
	for _, c := range codes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.name, cell(sentence(c.doc)))
	}
	b.WriteString("\n`effect_state` of an error says whether the page felt the call: `none`, `committed` (only the answer is missing) or `unknown`.\n")
	return []byte(b.String())
}

type mdWriter struct {
	*strings.Builder
	named map[reflect.Type]string
}

func (w mdWriter) part(title, intro string, all []method, chosen func(method) bool) {
	fmt.Fprintf(w, "\n## %s\n", title)
	if intro != "" {
		fmt.Fprintf(w, "\n%s\n", intro)
	}
	for _, m := range all {
		if chosen(m) {
			w.method(m)
		}
	}
}

func (w mdWriter) method(m method) {
	fmt.Fprintf(w, "\n### %s\n\n%s", m.Method, sentence(m.Summary))
	if !m.Door {
		fmt.Fprintf(w, " Effect: `%s`", m.Effect)
		if m.Audience != action.People {
			fmt.Fprintf(w, "; at most %g seconds", m.Budget.Seconds())
		}
		w.WriteString(".")
	}
	w.WriteString("\n\n")
	if len(fields(m.ArgsType)) > 0 {
		w.table(m.ArgsType)
		w.WriteString("\n")
	}
	switch name, ok := w.named[bare(m.ResultType)]; {
	case ok:
		fmt.Fprintf(w, "Result: %s.\n", link(name))
	case len(fields(m.ResultType)) == 0:
		w.WriteString("Result: `{}`.\n")
	default:
		w.WriteString("Result:\n\n")
		w.table(m.ResultType)
	}
}

// table lists the members of t.
func (w mdWriter) table(t reflect.Type) {
	w.WriteString("| member | type | |\n| --- | --- | --- |\n")
	members := fields(t)
	slices.SortStableFunc(members, func(a, b field) int {
		switch {
		case a.optional == b.optional:
			return 0
		case b.optional:
			return -1
		}
		return 1
	})
	for _, f := range members {
		typ := w.typ(f.typ)
		if f.optional {
			typ += ", optional"
		}
		doc := f.doc
		if doc != "" {
			doc = sentence(doc)
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", f.name, typ, cell(doc))
	}
}

func (w mdWriter) typ(t reflect.Type) string {
	t = bare(t)
	if name, ok := w.named[t]; ok {
		return link(name)
	}
	switch t.Kind() {
	case reflect.Struct:
		if t == moment {
			return "time"
		}
		return "object"
	case reflect.Slice, reflect.Array:
		if t == rawJSON {
			return "any JSON"
		}
		return "list of " + w.typ(t.Elem())
	case reflect.Map:
		return "object of " + w.typ(t.Elem())
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "text"
	case reflect.Interface:
		return "any JSON"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "integer"
}

func link(name string) string { return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name)) }

// cell makes text fit into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s)
}
