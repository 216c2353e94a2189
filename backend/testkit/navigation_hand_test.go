package testkit_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/event"
	"chaperone/backend/policy"
	"chaperone/backend/testkit"
)

// The person's own keyboard in an agent's window: what they type into the
// agent's tab is decided like everything else there; a tab that they open is
// theirs, where only a block stands.
func TestThePersonTypesAddresses(t *testing.T) {
	if !ownDesktop(t) {
		return
	}
	k, a := begin(t)
	for _, host := range []string{"one", "two", "three", "four", "five"} {
		k.Sites.Page(host, "/", arrived)
	}
	site(t, k, k.Sites.Origin("bad"), policy.Block)
	start(t, k, a, "")
	pid := session(t, k, "ann").PID
	keys := func(keys ...string) {
		t.Helper()
		if out, err := exec.Command("xdotool", append([]string{"key", "--clearmodifiers"}, keys...)...).CombinedOutput(); err != nil {
			t.Fatalf("xdotool: %v: %s", err, out)
		}
	}
	types := func(text string) {
		t.Helper()
		if out, err := exec.Command("xdotool", "type", "--delay", "10", text).CombinedOutput(); err != nil {
			t.Fatalf("xdotool: %v: %s", err, out)
		}
	}
	address := func(host string) string { return k.Sites.Origin(host) + "/" }

	// The address bar of the agent's tab.
	hand(t, pid, "ctrl+l")
	types(address("one"))
	keys("Return")
	q := asked(t, k, k.Sites.Origin("one"))
	unseen(t, k, "one", "while it waits")
	answer(t, k, q, approval.BlockOnce)
	alone(t, a)
	hand(t, pid, "ctrl+l")
	types(address("two"))
	keys("alt+Return")
	q = asked(t, k, k.Sites.Origin("two"))
	unseen(t, k, "two", "while it waits")
	answer(t, k, q, approval.BlockOnce)
	alone(t, a)
	unseen(t, k, "one", "blocked")
	unseen(t, k, "two", "blocked")

	// A tab of the person's own, and a window.
	for i, c := range []struct{ open, host, then string }{{"ctrl+t", "three", "four"}, {"ctrl+n", "five", "three"}} {
		hand(t, pid, c.open)
		own := theirs(t, k, i+1)
		types(address(c.host))
		keys("Return")
		until(t, 10*time.Second, "the person's own page", func() bool { return strings.HasPrefix(theirTab(t, k, own).URL, address(c.host)) })
		keys("ctrl+l")
		types(address("bad"))
		keys("Return")
		until(t, 10*time.Second, "the block", func() bool { return len(refusals(k, address("bad"))) == i+1 })
		keys("ctrl+l")
		types(address(c.then))
		keys("Return")
		until(t, 10*time.Second, "the person's next page", func() bool { return strings.HasPrefix(theirTab(t, k, own).URL, address(c.then)) })
		if n := len(questions(t, k)); n != 0 {
			t.Errorf("the person was asked %d times about their own tab", n)
		}
		alone(t, a)
		if _, err := a.Call("get_browser_state", args{"tabId": own}); testkit.Code(err) != "NOT_FOUND" {
			t.Errorf("the agent reads the person's tab: %v", err)
		}
	}
	unseen(t, k, "bad", "typed by the person")

	// A private window is not to be had: whatever opened would be there before the tab that comes after it.
	keys("ctrl+shift+n")
	keys("ctrl+t")
	theirs(t, k, 3)
	if n := len(session(t, k, "ann").Tabs); n != 4 {
		t.Errorf("%d tabs are open: %+v", n, session(t, k, "ann").Tabs)
	}
	keys("ctrl+w")

	// A tab that was closed and comes back is decided anew.
	k.Person.AnswerNext(approval.AllowOnce)
	do(t, a, "open_new_tab", args{"url": address("one")})
	seen := len(k.Sites.Requests("one"))
	for _, tab := range do(t, a, "get_browser_state", args{"captureState": false}).State.Tabs {
		if tab.ID != 1 {
			do(t, a, "close_tab", args{"tabId": tab.ID})
		}
	}
	keys("ctrl+shift+t")
	q = asked(t, k, k.Sites.Origin("one"))
	answer(t, k, q, approval.BlockOnce)
	alone(t, a)
	if n := len(k.Sites.Requests("one")); n != seen {
		t.Errorf("a tab that came back sent %d requests", n-seen)
	}
}

// refusals returns the refused navigations to an address.
func refusals(k *testkit.Kit, address string) []event.Event {
	return slices.DeleteFunc(k.Person.Events(), func(e event.Event) bool {
		return e.Category != "browser.navigation.refused" || !strings.Contains(string(e.Data), strings.TrimSuffix(address, "/"))
	})
}

// theirs waits until n tabs are the person's, and returns the newest.
func theirs(t *testing.T, k *testkit.Kit, n int) (newest int) {
	t.Helper()
	until(t, 10*time.Second, "the person's tab", func() bool {
		have := 0
		for _, tab := range session(t, k, "ann").Tabs {
			if !tab.Controlled {
				have, newest = have+1, int(tab.TabID)
			}
		}
		return have == n
	})
	return newest
}

func theirTab(t *testing.T, k *testkit.Kit, id int) browser.Tab {
	t.Helper()
	for _, tab := range session(t, k, "ann").Tabs {
		if int(tab.TabID) == id {
			return tab
		}
	}
	return browser.Tab{}
}
