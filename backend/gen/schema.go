package main

import (
	"bytes"
	"encoding/json"
	"reflect"

	"chaperone/backend/action"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/wire"

	"github.com/google/jsonschema-go/jsonschema"
)

// document is docs/schema/methods.json.
type document struct {
	Comment  string `json:"$comment"`
	Protocol int    `json:"protocol"`
	MaxLine  int    `json:"maxLineBytes"`
	// Lines are the forms of the lines themselves.
	Lines   members `json:"lines"`
	Methods members `json:"methods"`
	Defs    members `json:"$defs"`
}

type described struct {
	Verb     string             `json:"verb,omitempty"`
	Summary  string             `json:"summary"`
	Audience action.Audience    `json:"audience"`
	Effect   action.Effect      `json:"effect"`
	Tab      action.TabScope    `json:"tab"`
	Seconds  float64            `json:"seconds"`
	Args     *jsonschema.Schema `json:"args"`
	Result   *jsonschema.Schema `json:"result"`
}

// members is a JSON object that keeps its order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(x.name)
		if err != nil {
			return nil, err
		}
		value, err := wire.Marshal(x.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemas writes what is spoken, with every named type once.
func schemas(all []method, named map[reflect.Type]string) ([]byte, error) {
	doc := document{Comment: notice, Protocol: wire.Protocol, MaxLine: wire.MaxLine}
	request, err := made(reflect.TypeFor[wire.Request]())
	if err != nil {
		return nil, err
	}
	problem, err := made(reflect.TypeFor[fault.Error]())
	if err != nil {
		return nil, err
	}
	doc.Lines = members{
		{"request", request},
		{"answer", &jsonschema.Schema{Type: "object", Required: []string{"id", "ok", "result"}, PropertyOrder: []string{"id", "ok", "result"},
			Properties: map[string]*jsonschema.Schema{"id": {}, "ok": {Const: jsonschema.Ptr[any](true)}, "result": {Type: "object"}}}},
		{"failure", &jsonschema.Schema{Type: "object", Required: []string{"id", "ok", "error"}, PropertyOrder: []string{"id", "ok", "error"},
			Properties: map[string]*jsonschema.Schema{"id": {}, "ok": {Const: jsonschema.Ptr[any](false)}, "error": problem}}},
		{"event", &jsonschema.Schema{Type: "object", Required: []string{"event"},
			Properties: map[string]*jsonschema.Schema{"event": {Ref: "#/$defs/" + named[reflect.TypeFor[event.Event]()]}}}},
	}
	// A named type is described as the schemas of the methods describe it.
	inside := map[reflect.Type]*jsonschema.Schema{}
	for _, m := range all {
		doc.Methods = append(doc.Methods, member{m.Method, described{m.Verb, m.Summary, m.Audience, m.Effect, m.Tab, m.Budget.Seconds(),
			refer(m.ArgsType, m.Args, named, inside), refer(m.ResultType, m.Result, named, inside)}})
	}
	for _, t := range byName(named) {
		doc.Defs = append(doc.Defs, member{named[t], inside[t]})
	}
	text, err := wire.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		return nil, err
	}
	return append(b.Bytes(), '\n'), nil
}

func made(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{rawJSON: {}}})
}

// refer copies s, the schema of t, with references in place of named types;
// what they refer to is put into inside.
func refer(t reflect.Type, s *jsonschema.Schema, named map[reflect.Type]string, inside map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	t = bare(t)
	name, isNamed := named[t]
	if isNamed && inside[t] != nil {
		return &jsonschema.Schema{Ref: "#/$defs/" + name, Description: s.Description}
	}
	c := *s
	switch t.Kind() {
	case reflect.Struct:
		if t == moment {
			return &c
		}
		if c.Properties != nil {
			c.Properties = map[string]*jsonschema.Schema{}
			for _, f := range fields(t) {
				c.Properties[f.name] = refer(f.typ, s.Properties[f.name], named, inside)
			}
		}
	case reflect.Slice, reflect.Array:
		if t != rawJSON {
			c.Items = refer(t.Elem(), s.Items, named, inside)
		}
	}
	if !isNamed {
		return &c
	}
	whole := c
	whole.Description = "" // said where it is used
	inside[t] = &whole
	return &jsonschema.Schema{Ref: "#/$defs/" + name, Description: s.Description}
}
