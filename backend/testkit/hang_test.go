package testkit_test

import (
	"strings"
	"testing"
	"time"

	"chaperone/backend/browser"
	"chaperone/backend/testkit"
)

// A page that computes without end keeps its tab from showing another. That is
// said, and not that the other was opened.
func TestAPageThatHangsIsNotLeftByNavigating(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", `<title>Hangs</title><script>setTimeout(() => { for (;;); }, 1500)</script>`)
	k.Sites.Page("a.localhost", "/next", `<title>Next</title>`)
	a := agent(t, k, "ann")
	do(t, a, "navigate", args{"url": k.Sites.Origin("a.localhost") + "/"})
	do(t, a, "wait", args{"seconds": 2, "captureState": false})
	next := args{"url": k.Sites.Origin("a.localhost") + "/next", "captureState": false}
	raw, err := a.Call("navigate", next)
	if r := decode[browser.Outcome](t, raw, err).Action; r.Success || !strings.Contains(r.Message, "close_tab") {
		t.Errorf("navigate: %+v", r)
	}
	do(t, a, "close_tab", args{"tabId": 1})
	raw, err = a.Call("navigate", next)
	if r := decode[browser.Outcome](t, raw, err).Action; !r.Success {
		t.Errorf("in a fresh window: %+v", r)
	}
}

func TestTheHistoryHoldsNoPasswords(t *testing.T) {
	k := open(t, testkit.Options{})
	k.Sites.Page("a.localhost", "/", `<title>First</title>`)
	a := agent(t, k, "ann")
	at := k.Sites.Origin("a.localhost") + "/?q=1"
	do(t, a, "navigate", args{"url": strings.Replace(at, "//", "//me:hunter2@", 1)})
	var visits []browser.Visit
	until(t, 5*time.Second, "the page is in the history", func() bool {
		raw, err := k.Person.Send("history", nil)
		visits = decode[struct{ Visits []browser.Visit }](t, raw, err).Visits
		return len(visits) == 1
	})
	if visits[0].URL != at {
		t.Errorf("it is there as %s", visits[0].URL)
	}
}
