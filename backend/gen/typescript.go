package main

import (
	"fmt"
	"reflect"
	"strings"

	"chaperone/backend/action"
)

const notice = "Made by `make generate` from the Go sources. Do not edit."

// typescript writes the types that the user interface's client is built on.
func typescript(all []method, named map[reflect.Type]string, codes []code) []byte {
	var b strings.Builder
	w := tsWriter{&b, named}
	fmt.Fprintf(&b, "// %s\n", notice)
	for _, t := range byName(named) {
		if v := values(t); v != nil {
			fmt.Fprintf(&b, "\nexport type %s = %s;\n", named[t], union(v))
			continue
		}
		fmt.Fprintf(&b, "\nexport interface %s ", named[t])
		w.object(t, "")
		b.WriteString("\n")
	}
	var list []string
	for _, c := range codes {
		list = append(list, c.name)
	}
	fmt.Fprintf(&b, "\n/** What an error can be branched on. */\nexport type ErrorCode =\n  | %s;\n", strings.Join(quoted(list), "\n  | "))
	b.WriteString("\ntype None = Record<string, never>;\n")
	w.methods("Every method of the person in the window, with its arguments and its result.", "Methods", all, action.People)
	w.methods("Every method of an agent, with its arguments and its result.", "AgentMethods", all, action.Agents)
	b.WriteString("\nexport type Method = keyof Methods;\n")
	return []byte(b.String())
}

type tsWriter struct {
	*strings.Builder
	named map[reflect.Type]string
}

func (w tsWriter) methods(doc, name string, all []method, who action.Audience) {
	fmt.Fprintf(w, "\n/** %s */\nexport interface %s {\n", doc, name)
	for _, m := range all {
		if m.Audience != who && m.Audience != action.Anyone {
			continue
		}
		fmt.Fprintf(w, "  /** %s */\n  %s: {\n    args: ", sentence(m.Summary), m.Method)
		w.place(m.ArgsType, "    ")
		w.WriteString(";\n    result: ")
		w.place(m.ResultType, "    ")
		w.WriteString(";\n  };\n")
	}
	w.WriteString("}\n")
}

// place writes t where it is used: its name if it has one.
func (w tsWriter) place(t reflect.Type, indent string) {
	t = bare(t)
	if name, ok := w.named[t]; ok {
		w.WriteString(name)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if t == moment {
			w.WriteString("string")
			return
		}
		w.object(t, indent)
	case reflect.Slice, reflect.Array:
		if t == rawJSON {
			w.WriteString("unknown")
			return
		}
		w.place(t.Elem(), indent)
		w.WriteString("[]")
	case reflect.Map:
		w.WriteString("Record<string, ")
		w.place(t.Elem(), indent)
		w.WriteString(">")
	case reflect.Bool:
		w.WriteString("boolean")
	case reflect.String:
		if v := values(t); v != nil {
			w.WriteString(union(v))
			return
		}
		w.WriteString("string")
	case reflect.Interface:
		w.WriteString("unknown")
	default: // only numbers are left; a schema of anything else could not be made
		w.WriteString("number")
	}
}

func (w tsWriter) object(t reflect.Type, indent string) {
	members := fields(t)
	if len(members) == 0 {
		w.WriteString("None")
		return
	}
	w.WriteString("{\n")
	for _, f := range members {
		if f.doc != "" {
			fmt.Fprintf(w, "%s  /** %s */\n", indent, sentence(f.doc))
		}
		mark := ""
		if f.optional {
			mark = "?"
		}
		fmt.Fprintf(w, "%s  %s%s: ", indent, f.name, mark)
		w.place(f.typ, indent+"  ")
		w.WriteString(";\n")
	}
	w.WriteString(indent + "}")
}

func union(values []string) string { return strings.Join(quoted(values), " | ") }

func quoted(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprintf("%q", v)
	}
	return out
}

// sentence begins s with a capital and ends it with a full stop. It cannot end a comment.
func sentence(s string) string {
	s = strings.ReplaceAll(s, "*/", "* /")
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
