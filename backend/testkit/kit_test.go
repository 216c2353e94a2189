package testkit

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/fault"
	"chaperone/backend/host"
)

func TestCloseLeavesNothing(t *testing.T) {
	k, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.Sites.Page("shop", "/", "<h1>Shop</h1>")
	a, err := k.Agent("ann")
	if err != nil {
		t.Fatal(err)
	}
	// One call is under way when everything ends.
	if _, err := a.Start("navigate", map[string]any{"url": k.Sites.Origin("shop") + "/"}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person.Question(nil); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if left := leftGoroutines(); left != "" {
		t.Error("goroutines are left:\n" + left)
	}
	if _, err := os.Stat(k.Host.Paths().Data); !os.IsNotExist(err) {
		t.Errorf("the home is left: %v", err)
	}
}

// leftGoroutines returns the stacks of goroutines that run our code, after
// giving those that are about to return two seconds for it.
func leftGoroutines() (left string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		left = ""
		buf := make([]byte, 4<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		for _, s := range stacks[1:] { // the first is this one
			if strings.Contains(s, "chaperone/backend/") && !strings.Contains(s, "testing.(*M).Run") {
				left += s + "\n\n"
			}
		}
		if left == "" {
			break
		}
		<-tick.C
	}
	return left
}

func TestNoDisplayIsSaid(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	k, err := Open(Options{})
	if err == nil {
		k.Close()
		t.Fatal("it opened without a display")
	}
	if Code(err) != fault.BrowserUnavailable || !strings.Contains(err.Error(), "with-display.sh") {
		t.Errorf("got %v", err)
	}
}

func TestServeAsksNobody(t *testing.T) {
	k := Start(t, Options{Headless: true, Kind: host.Serve, Absent: true})
	a, err := k.Agent("ann")
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.Call("status", nil)
	var s struct {
		Kind     string
		Attended bool
	}
	if err != nil || json.Unmarshal(out, &s) != nil || s.Kind != host.Serve || s.Attended {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestPersonAnswersAsTold(t *testing.T) {
	k := Start(t, Options{})
	k.Sites.Page("shop", "/", "<h1>Shop</h1>")
	a, err := k.Agent("ann")
	if err != nil {
		t.Fatal(err)
	}
	k.Person.AnswerNext(approval.BlockOnce)
	k.Person.Always(approval.AllowOnce)
	args := map[string]any{"url": k.Sites.Origin("shop") + "/"}
	if _, err := a.Call("navigate", args); Code(err) != fault.BrowserPolicyDenied {
		t.Errorf("blocked: got %v", err)
	}
	if n := len(k.Sites.Requests("shop")); n != 0 {
		t.Errorf("%d requests left", n)
	}
	if _, err := a.Call("navigate", args); err != nil {
		t.Errorf("allowed: got %v", err)
	}
	if n := len(k.Sites.Requests("shop")); n != 1 {
		t.Errorf("%d requests left", n)
	}
}

func TestResultsAreProved(t *testing.T) {
	for result, ok := range map[string]bool{
		`{"cancelled":true}`: true, `{}`: false, `{"cancelled":"yes"}`: false, `{"cancelled":true,"more":1}`: false, `[]`: false,
	} {
		if err := fits("cancel", json.RawMessage(result)); (err == nil) != ok {
			t.Errorf("%s: %v", result, err)
		}
	}
	if fits("nothing_of_the_kind", json.RawMessage(`{}`)) == nil {
		t.Error("a method that does not exist has a result")
	}
}

func TestNamesGetThePort(t *testing.T) {
	s := &Sites{port: "81"}
	for text, want := range map[string]string{
		"http://shop.localhost/a":     "http://shop.localhost:81/a",
		"http://shop.localhost":       "http://shop.localhost:81",
		"http://shop.localhost:82/a":  "http://shop.localhost:82/a",
		"shop.localhost, b.localhost": "shop.localhost:81, b.localhost:81",
		"http://localhost/":           "http://localhost/",
	} {
		if got := s.Ported(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		} else if got := s.Portless(got); got != strings.ReplaceAll(text, ":81", "") {
			t.Errorf("%s came back as %s", text, got)
		}
	}
}
