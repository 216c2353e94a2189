package host

import (
	"encoding/json"
	"strings"
	"testing"

	"chaperone/backend/action"
	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/policy"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestShapeKeepsNothingThatWasTyped(t *testing.T) {
	args := `{"text":"hunter2","name":"Card number","fields":[{"text":"hunter2"}],"promptText":"hunter2","key":"h","target":"#hunter2",
		"url":"https://me:hunter2@a.example/p/q?token=hunter2#hunter2","index":12,"captureState":false,"seconds":1.5,
		"query":"hunter2","regex":"hunter2","origin":"https://b.example","answer":"allow_once","hunter2":1,"button":"hunter2"}`
	spec := &action.Spec{Args: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{}}}
	for _, known := range []string{"text", "name", "fields", "promptText", "key", "target", "url", "index", "captureState", "seconds",
		"query", "regex", "origin", "answer", "button"} {
		spec.Args.Properties[known] = &jsonschema.Schema{}
	}
	text, err := json.Marshal(shape(spec, json.RawMessage(args)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "Card") {
		t.Errorf("typed text is in the row: %s", text)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"url": "https://a.example/p/q", "index": 12.0, "captureState": false, "seconds": 1.5,
		"origin": "https://b.example", "answer": "allow_once", "unknown": 1.0} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	if n := got["text"].(map[string]any)["characters"]; n != 7.0 {
		t.Errorf("text: %v characters", n)
	}
	if k, ok := got["key"].(string); ok {
		t.Errorf("a single key is typed text too: %q", k)
	}
	for raw, want := range map[string]string{"hunter2": `{"url":{"characters":7}}`, "my card: hunter2": `{"url":{"characters":16}}`,
		"file:///etc/hunter2": `{"url":"file:"}`, "javascript:hunter2": `{"url":"javascript:"}`} {
		url, err := json.Marshal(map[string]string{"url": raw})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(shape(spec, url)); err != nil || string(text) != want {
			t.Errorf("%s: %s, %v, want %s", raw, text, err, want)
		}
	}
	if shape(spec, json.RawMessage(`[`)) != nil {
		t.Error("broken arguments have a shape")
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name string
		r    browser.Request
		risk approval.Risk
		note string
	}{
		{"plain", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{Kind: policy.KindDirect, To: "https://a.example/"}}, approval.Low, ""},
		{"form", browser.Request{HTTPMethod: "POST", HasBody: true, Navigation: policy.Navigation{Kind: policy.KindPage, To: "https://a.example/"}}, approval.High, "What was filled in"},
		{"look-alike", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{To: "https://xn--pple-43d.com/"}}, approval.High, "letters"},
		{"user name", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{To: "https://paypal.com@evil.example/"}}, approval.High, "user name"},
		{"not encrypted", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{To: "http://a.example/"}}, approval.Low, "not encrypted"},
		{"this machine", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{To: "http://shop.localhost:8080/"}}, approval.Low, ""},
		{"redirect", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{Kind: policy.KindRedirect, To: "https://a.example/"}}, approval.Low, ""},
		{"form without content", browser.Request{HTTPMethod: "POST", Navigation: policy.Navigation{Kind: policy.KindPopup, To: "https://a.example/"}}, approval.High, "A form is sent there."},
		{"malformed", browser.Request{HTTPMethod: "GET", Navigation: policy.Navigation{To: "http://%zz"}}, approval.High, ""},
	} {
		notes, risk := notes(c.r)
		all := strings.Join(notes, " ")
		if risk != c.risk || !strings.Contains(all, c.note) || (c.note == "" && all != "" && c.name != "malformed") {
			t.Errorf("%s: %s %q", c.name, risk, all)
		}
	}
}
