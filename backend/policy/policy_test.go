package policy_test

import (
	"net/url"
	"strings"
	"testing"

	"chaperone/backend/policy"
)

func TestOriginOf(t *testing.T) {
	for raw, want := range map[string]policy.Origin{
		"https://Example.org/a?b#c":        "https://example.org",
		"https://example.org:443/":         "https://example.org",
		"http://example.org:80":            "http://example.org",
		"http://example.org:8080/x":        "http://example.org:8080",
		"https://user:pass@example.org/":   "https://example.org",
		"https://bücher.example/":          "https://xn--bcher-kva.example",
		"http://[::1]:9000/":               "http://[::1]:9000",
		"HTTP://A.B":                       "http://a.b",
		"about:blank":                      "",
		"data:text/html,x":                 "",
		"blob:https://example.org/1":       "",
		"file:///etc/passwd":               "",
		"javascript:alert(1)":              "",
		"chrome://settings":                "",
		"view-source:https://example.org/": "",
		"https://":                         "",
		"":                                 "",
		"http://%zz":                       "",
	} {
		if got := policy.OriginOf(raw); got != want {
			t.Errorf("OriginOf(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestOpaqueOriginsAreNeverTheSame(t *testing.T) {
	if policy.Origin("").Same("") {
		t.Error("two opaque origins are the same")
	}
}

func TestCanonicalOrigin(t *testing.T) {
	for text, want := range map[string]policy.Origin{
		"example.org":            "https://example.org",
		" Example.org/path ":     "https://example.org",
		"http://example.org":     "http://example.org",
		"example.org:8443":       "https://example.org:8443",
		"ftp://example.org":      "",
		"https://me@example.org": "",
		"":                       "",
	} {
		got, err := policy.CanonicalOrigin(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("CanonicalOrigin(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestNavigate(t *testing.T) {
	sites := map[policy.Origin]policy.Access{"https://good.example": policy.Allow, "https://bad.example": policy.Block}
	ask := policy.Rules{Navigation: policy.Ask, Sites: sites}
	for _, c := range []struct {
		name   string
		rules  policy.Rules
		nav    policy.Navigation
		access policy.Access
		rule   string
	}{
		{"a new site is asked", ask, policy.Navigation{Kind: policy.KindDirect, To: "https://new.example/"}, policy.Ask, "default"},
		{"the same origin proceeds", ask, policy.Navigation{Kind: policy.KindPage, From: "https://new.example", To: "https://new.example/2"}, policy.Allow, "same-origin"},
		{"another port is another origin", ask, policy.Navigation{Kind: policy.KindPage, From: "https://new.example", To: "https://new.example:444/"}, policy.Ask, "default"},
		{"a subdomain is another origin", ask, policy.Navigation{Kind: policy.KindPage, From: "https://good.example", To: "https://a.good.example/"}, policy.Ask, "default"},
		{"an allowed site proceeds", ask, policy.Navigation{Kind: policy.KindRedirect, To: "https://good.example/x"}, policy.Allow, "site"},
		{"a blocked site is blocked", ask, policy.Navigation{Kind: policy.KindDirect, To: "https://bad.example/x"}, policy.Block, "site"},
		{"a block comes before the same origin", ask, policy.Navigation{Kind: policy.KindPage, From: "https://bad.example", To: "https://bad.example/x"}, policy.Block, "site"},
		{"a block vetoes back", ask, policy.Navigation{Kind: policy.KindHistory, To: "https://bad.example/x"}, policy.Block, "site"},
		{"a block holds for the person", ask, policy.Navigation{Kind: policy.KindPerson, To: "https://bad.example/x"}, policy.Block, "site"},
		{"back proceeds", ask, policy.Navigation{Kind: policy.KindHistory, To: "https://seen.example/"}, policy.Allow, "history"},
		{"the person proceeds", ask, policy.Navigation{Kind: policy.KindPerson, To: "https://new.example/"}, policy.Allow, "person"},
		{"a user name in the address hides nothing", ask, policy.Navigation{Kind: policy.KindDirect, To: "https://good.example@new.example/"}, policy.Ask, "default"},
		{"a script is blocked", ask, policy.Navigation{Kind: policy.KindDirect, To: "javascript:alert(1)"}, policy.Block, "scheme"},
		{"a file is blocked", ask, policy.Navigation{Kind: policy.KindDirect, To: "file:///etc/passwd"}, policy.Block, "scheme"},
		{"a file is blocked for the person too", ask, policy.Navigation{Kind: policy.KindPerson, To: "file:///etc/passwd"}, policy.Block, "scheme"},
		{"data is blocked", policy.Rules{Navigation: policy.Allow}, policy.Navigation{Kind: policy.KindDirect, To: "data:text/html,x"}, policy.Block, "scheme"},
		{"settings can allow", policy.Rules{Navigation: policy.Allow}, policy.Navigation{Kind: policy.KindPage, To: "https://new.example/"}, policy.Allow, "default"},
		{"settings can block", policy.Rules{Navigation: policy.Block}, policy.Navigation{Kind: policy.KindPage, To: "https://new.example/"}, policy.Block, "default"},
		{"an allowed site is open although the rest is blocked", policy.Rules{Navigation: policy.Block, Sites: sites}, policy.Navigation{To: "https://good.example/"}, policy.Allow, "site"},
		{"no setting asks", policy.Rules{}, policy.Navigation{To: "https://new.example/"}, policy.Ask, "default"},
		{"opaque to the same address asks", ask, policy.Navigation{Kind: policy.KindPage, From: "", To: "https://new.example/"}, policy.Ask, "default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := policy.Navigate(c.rules, c.nav)
			if d.Access != c.access || d.Rule != c.rule || d.Reason == "" {
				t.Errorf("got %s by %s (%q), want %s by %s", d.Access, d.Rule, d.Reason, c.access, c.rule)
			}
		})
	}
}

// FuzzNavigate holds what must be true of any address: nothing but http and
// https gets through, and no text other than the origin itself is what a rule
// for an origin opens.
func FuzzNavigate(f *testing.F) {
	for _, s := range []string{"https://good.example/", "javascript:alert(1)", "https://good.example@evil.example", "http:\\\\good.example", "https://good.example.evil.example", "\x00", "https://GOOD.example:443/"} {
		f.Add(s)
	}
	rules := policy.Rules{Navigation: policy.Block, Sites: map[policy.Origin]policy.Access{"https://good.example": policy.Allow}}
	f.Fuzz(func(t *testing.T, to string) {
		d := policy.Navigate(rules, policy.Navigation{Kind: policy.KindDirect, To: to})
		if d.Access == policy.Ask {
			t.Fatalf("%q: asked, although new sites are blocked", to)
		}
		if d.Access != policy.Allow {
			return
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatalf("%q was allowed but is malformed", to)
		}
		if !strings.EqualFold(u.Scheme, "https") || !strings.EqualFold(u.Hostname(), "good.example") && policy.OriginOf(to) != "https://good.example" {
			t.Fatalf("%q was allowed", to)
		}
		if p := u.Port(); p != "" && p != "443" {
			t.Fatalf("%q was allowed on port %s", to, p)
		}
	})
}
