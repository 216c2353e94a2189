package catalog_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"chaperone/backend/action"
	"chaperone/backend/catalog"
)

// The seam that agents already know, with the methods that are offered so far.
var agentMethods = []string{"get_browser_state", "navigate", "back", "forward", "reload", "press", "click_element", "click_at",
	"hover_element", "input_text", "select_option", "fill_fields", "find_element", "scroll", "scroll_horizontally", "wait", "wait_for",
	"handle_dialog", "open_new_tab", "switch_to_tab", "close_tab", "take_screenshot", "current_page"}

func TestEachActionIsDeclaredOnceAndWhole(t *testing.T) {
	methods, verbs := map[string]action.Audience{}, map[string]bool{}
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, e := range catalog.All() {
		if _, twice := methods[e.Method]; twice || verbs[e.Verb+string(e.Audience)] {
			t.Errorf("%s (%s) is declared twice", e.Method, e.Verb)
		}
		methods[e.Method], verbs[e.Verb+string(e.Audience)] = e.Audience, true
		if !name.MatchString(e.Method) {
			t.Errorf("%q is not a method's name", e.Method)
		}
		if e.Args.Type != "object" || e.Result.Type != "object" {
			t.Errorf("%s: arguments and result are not objects", e.Method)
		}
		if e.Audience == action.Agents && e.Tab == action.NoTab {
			t.Errorf("%s: an agent's action without a place in line", e.Method)
		}
		for field, s := range e.Args.Properties {
			if s.Description == "" && len(field) > 12 {
				t.Errorf("%s: %s has no description", e.Method, field)
			}
		}
	}
	for _, m := range agentMethods {
		if methods[m] != action.Agents {
			t.Errorf("%s is not offered to agents", m)
		}
		delete(methods, m)
	}
	for m, audience := range methods {
		if audience != action.People {
			t.Errorf("%s is offered to %s, but is not in the list of what agents may do", m, audience)
		}
	}
}

func TestOnlyWhatOpensAnAddressHasADestination(t *testing.T) {
	for _, e := range catalog.All() {
		opens := e.Args.Properties["url"] != nil
		if (e.Destination != nil) != opens {
			t.Errorf("%s: destination %v, url argument %v", e.Method, e.Destination != nil, opens)
		}
		if opens && e.Destination(json.RawMessage(`{"url":"https://a.example/x"}`)) != "https://a.example/x" {
			t.Errorf("%s: its destination is not its url", e.Method)
		}
	}
}
