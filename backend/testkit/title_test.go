package testkit_test

import (
	"testing"
	"time"

	"chaperone/backend/browser"
	"chaperone/backend/testkit"
)

// A popup that no agent has read yet is known by its title too.
func TestPagesAreKnownByTheirTitles(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", `<!doctype html><title>First</title><a href="/two" target=_blank>Next</a>`)
	k.Sites.Page("a.localhost", "/two", `<!doctype html><title>Second</title><p>Hello`)
	a := agent(t, k, "ann")
	do(t, a, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	do(t, a, "click_element", args{"name": "Next"})
	until(t, 5*time.Second, "both pages are in the history by title", func() bool {
		raw, err := k.Person.Send("history", nil)
		visits := decode[struct{ Visits []browser.Visit }](t, raw, err).Visits
		return len(visits) == 2 && visits[0].Title == "Second" && visits[1].Title == "First"
	})
	var titles []string
	for _, tab := range session(t, k, "ann").Tabs {
		titles = append(titles, tab.Title)
	}
	if len(titles) != 2 || titles[0] != "First" || titles[1] != "Second" {
		t.Errorf("the tabs are called %q", titles)
	}
}
