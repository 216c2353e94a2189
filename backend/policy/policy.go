// Package policy decides, from rules and facts alone.
//
// A decision is a pure function: the same rules and the same facts give the
// same answer, with the reason. It asks nobody, remembers nothing and knows no
// clock; who asks the person when it says Ask is not its business.
package policy

import (
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// Access is what a rule says.
type Access string

// The accesses.
const (
	Allow Access = "allow"
	Ask   Access = "ask"
	Block Access = "block"
)

// Values lists the accesses, for schemas.
func (Access) Values() []string { return []string{"allow", "ask", "block"} }

// An Origin is scheme, host and port in canonical form ("https://example.org",
// "http://localhost:8080"), as RFC 6454 section 6.2 serialises it. The empty
// Origin is an opaque one; it equals no other, not even itself.
type Origin string

// Same reports whether o and p are the same origin.
func (o Origin) Same(p Origin) bool { return o != "" && o == p }

// OriginOf returns the origin of an http or https URL, and the opaque origin
// for anything else, about:blank and malformed text included.
func OriginOf(raw string) Origin {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return ""
	}
	o, _ := originOf(u)
	return o
}

func originOf(u *url.URL) (Origin, error) {
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return "", fmt.Errorf("scheme %q is not http or https", scheme)
	}
	host := strings.ToLower(u.Hostname())
	if host == "" {
		return "", fmt.Errorf("no host")
	}
	if !strings.Contains(host, ":") { // not an IPv6 literal
		ascii, err := idna.Lookup.ToASCII(host)
		if err == nil {
			host = ascii
		}
	} else {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && !(scheme == "http" && p == "80") && !(scheme == "https" && p == "443") {
		host += ":" + p
	}
	return Origin(scheme + "://" + host), nil
}

// CanonicalOrigin returns the origin that a person typed ("example.org",
// "https://example.org/path"), https when no scheme is given.
func CanonicalOrigin(text string) (Origin, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a web address", text)
	}
	if u.User != nil {
		return "", fmt.Errorf("%q has a user name in it", text)
	}
	o, err := originOf(u)
	if err != nil {
		return "", fmt.Errorf("%q is not a web address: %w", text, err)
	}
	return o, nil
}

// A Kind is how a navigation came about.
type Kind string

// The kinds of navigation.
const (
	// KindDirect: the agent named the address.
	KindDirect Kind = "direct"
	// KindPage: the page did it: a link, a form, a script, a refresh.
	KindPage Kind = "page"
	// KindRedirect: a server answered with another address.
	KindRedirect Kind = "redirect"
	// KindPopup: a page opened a window or tab.
	KindPopup Kind = "popup"
	// KindHistory: back, forward or reload.
	KindHistory Kind = "history"
	// KindPerson: the person, in a tab of their own.
	KindPerson Kind = "person"
)

// A Navigation is the facts of one top-level destination.
type Navigation struct {
	Kind Kind
	// From is the origin of the document now in the tab (of the opener, for a popup).
	From Origin
	// To is the destination as the browser would request it.
	To string
}

// Rules is what the person has set.
type Rules struct {
	// Navigation is the default for destinations without a rule of their own.
	Navigation Access
	// Sites holds exact origins with a rule of their own: Allow or Block.
	Sites map[Origin]Access
}

// A Decision is an access and why.
type Decision struct {
	Access Access
	// Rule names what decided, stable: "scheme", "site", "same-origin", "history", "person", "default".
	Rule string
	// Reason is the same in words for an agent or a person.
	Reason string
	// Origin is the destination's.
	Origin Origin
}

// Navigate decides a top-level destination.
//
// In this order: anything but http and https is blocked; a rule for the exact
// origin decides; the same origin proceeds; back, forward and reload proceed,
// since they were decided when first visited; what the person does in a tab of
// their own proceeds; everything else is as the default says.
func Navigate(r Rules, n Navigation) Decision {
	u, err := url.Parse(n.To)
	if err != nil {
		return Decision{Block, "scheme", "the address is malformed", ""}
	}
	to, err := originOf(u)
	if err != nil {
		return Decision{Block, "scheme", "only http and https pages can be opened", ""}
	}
	switch r.Sites[to] {
	case Block:
		return Decision{Block, "site", fmt.Sprintf("%s is on the person's block list", to), to}
	case Allow:
		return Decision{Allow, "site", fmt.Sprintf("%s is on the person's allow list", to), to}
	}
	switch {
	case n.From.Same(to):
		return Decision{Allow, "same-origin", "it stays on the same origin", to}
	case n.Kind == KindHistory:
		return Decision{Allow, "history", "it was decided when first visited", to}
	case n.Kind == KindPerson:
		return Decision{Allow, "person", "the person does it in a tab of their own", to}
	}
	switch r.Navigation {
	case Allow:
		return Decision{Allow, "default", "new sites are allowed", to}
	case Block:
		return Decision{Block, "default", "new sites are blocked by the person's settings", to}
	}
	// Anything unknown is asked, never allowed.
	return Decision{Ask, "default", "new sites are decided by the person", to}
}
