package testkit_test

import (
	"regexp"
	"strconv"
	"testing"

	"chaperone/backend/testkit"
)

// TestRefsHoldWhenAPageHasJustOpened goes back and forth between sites, by
// address and by form, which changes the process behind the tab each time, and
// uses a ref as soon as it has been read.
func TestRefsHoldWhenAPageHasJustOpened(t *testing.T) {
	k := open(t, testkit.Options{})
	a := agent(t, k, "ann")
	shop, pay := k.Sites.Origin("shop.localhost"), k.Sites.Origin("pay.localhost")
	k.Sites.Page("shop.localhost", "/", `<form method=post action="`+pay+`/checkout"><input name=a value=b><button>Checkout</button></form>`)
	k.Sites.Page("shop.localhost", "/deals", page)
	k.Sites.Page("pay.localhost", "/checkout", "<h1>Your order</h1>")
	button := regexp.MustCompile(`\[(\d+)\]<button`)
	for i := range 25 {
		do(t, a, "navigate", args{"url": shop + "/"})
		do(t, a, "click_element", args{"name": "Checkout"})
		do(t, a, "get_browser_state", nil)
		o := do(t, a, "navigate", args{"url": shop + "/deals"})
		found := button.FindStringSubmatch(o.State.Content)
		if found == nil {
			t.Fatalf("round %d: no button in %q, %s", i, o.State.Content, o.ObservationError)
		}
		ref, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		if o := do(t, a, "click_element", args{"index": ref}); !o.Action.Success {
			t.Fatalf("round %d: %s", i, o.Action.Message)
		}
	}
}
