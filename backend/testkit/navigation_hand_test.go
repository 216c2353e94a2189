package testkit_test

import (
	"cmp"
	"os/exec"
	"slices"
	"strconv"
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
	d := &desk{t: t}
	address := func(host string) string { return k.Sites.Origin(host) + "/" }
	// enter types an address into a window's address bar, in its second row, again until there is what comes of it: keys
	// that come while a busy Chromium moves its focus go astray, as they do for anybody who types ahead.
	enter := func(window, text, key, what string, came func() bool) {
		t.Helper()
		again, late := time.NewTicker(3*time.Second), time.After(20*time.Second)
		defer again.Stop()
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for try := true; !came(); {
			if try {
				d.do("windowactivate", "--sync", window, "mousemove", "--window", window, "500", "62", "click", "1", "key", "--clearmodifiers", "ctrl+a")
				d.do("type", "--delay", "10", text)
				d.do("key", key)
				try = false
			}
			select {
			case <-look.C:
			case <-again.C:
				try = true
			case <-late:
				t.Fatalf("in vain: %s", what)
			}
		}
	}
	waits := func(host string) func() bool {
		return func() bool {
			return slices.ContainsFunc(questions(t, k), func(q approval.Question) bool { return q.Origin == policy.Origin(k.Sites.Origin(host)) })
		}
	}

	// The address bar of the agent's tab.
	agents := windows(t, pid, 1)[0]
	for host, key := range map[string]string{"one": "Return", "two": "alt+Return"} {
		enter(agents, address(host), key, "a question", waits(host))
		unseen(t, k, host, "while it waits")
		answer(t, k, asked(t, k, k.Sites.Origin(host)), approval.BlockOnce)
		alone(t, a)
		unseen(t, k, host, "blocked")
	}

	// A tab of the person's own, and a window.
	for i, c := range []struct{ open, host, then string }{{"ctrl+t", "three", "four"}, {"ctrl+n", "five", "three"}} {
		hand(t, pid, c.open)
		own := theirs(t, k, i+1)
		window := windows(t, pid, i+1)
		in := window[len(window)-1]
		shows := func(host string) func() bool {
			return func() bool { return strings.HasPrefix(theirTab(t, k, own).URL, address(host)) }
		}
		enter(in, address(c.host), "Return", "the person's own page", shows(c.host))
		refused := len(refusals(k, address("bad")))
		enter(in, address("bad"), "Return", "the block", func() bool { return len(refusals(k, address("bad"))) > refused })
		enter(in, address(c.then), "Return", "the person's next page", shows(c.then))
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
	hand(t, pid, "ctrl+shift+n")
	hand(t, pid, "ctrl+t")
	theirs(t, k, 3)
	if n := len(session(t, k, "ann").Tabs); n != 4 {
		t.Errorf("%d tabs are open: %+v", n, session(t, k, "ann").Tabs)
	}

	// A tab that was closed and comes back is decided anew.
	k.Person.AnswerNext(approval.AllowOnce)
	do(t, a, "open_new_tab", args{"url": address("one")})
	seen := len(k.Sites.Requests("one"))
	for _, tab := range do(t, a, "get_browser_state", args{"captureState": false}).State.Tabs {
		if tab.ID != 1 {
			do(t, a, "close_tab", args{"tabId": tab.ID})
		}
	}
	d.do("windowactivate", "--sync", agents, "key", "--clearmodifiers", "ctrl+shift+t")
	answer(t, k, asked(t, k, k.Sites.Origin("one")), approval.BlockOnce)
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

// windows waits until the Chromium pid shows n windows, and returns them, the newest last.
func windows(t *testing.T, pid, n int) (ids []string) {
	t.Helper()
	until(t, 10*time.Second, "the windows", func() bool {
		out, err := exec.Command("xdotool", "search", "--onlyvisible", "--pid", strconv.Itoa(pid), "--name", ".").Output()
		ids = strings.Fields(string(out))
		return err == nil && len(ids) == n
	})
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return ids
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
