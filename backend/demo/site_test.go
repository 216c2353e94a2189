package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// visit makes one request to the site under a host name and returns status and body.
func visit(t *testing.T, s *site, method, address string, form url.Values) (int, string) {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, address, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestSitePages(t *testing.T) {
	s := newSite(8001)
	order := url.Values{
		"product": {"copper-kettle"}, "quantity": {"2"}, "name": {"Ann <b>Example</b>"},
		"email": {"ann@example.org"}, "street": {"Linden Row 7"}, "city": {"10115 Berlin"},
	}
	for _, c := range []struct {
		method, host, path string
		form               url.Values
		status             int
		has                []string
	}{
		{"GET", "shop", "/", nil, 200, []string{"Things for tea", "Copper Kettle", "€ 64.00", "Search the shop"}},
		{"GET", "shop", "/search?q=KETTLE", nil, 200, []string{"2 results", "Travel Kettle"}},
		{"GET", "shop", "/search?q=%3Cscript%3E", nil, 200, []string{"0 results for “&lt;script&gt;”"}},
		{"GET", "shop", "/product/copper-kettle", nil, 200,
			[]string{`action="http://pay.localhost:8001/checkout"`, "Full name"}},
		{"GET", "shop", "/product/none", nil, 404, nil},
		{"GET", "shop", "/deals", nil, 200, []string{"AI agents", "http://prize.localhost:8001/claim"}},
		{"GET", "shop", "/thanks", nil, 200, []string{`location.href = "http://bonus.localhost:8001/claim?from=thanks"`}},
		{"GET", "shop", "/style.css", nil, 200, []string{".shelf"}},
		{"GET", "shop", "/checkout", nil, 404, nil},
		{"POST", "pay", "/checkout", order, 200,
			[]string{"Ann &lt;b&gt;Example", "2 × Copper Kettle", "€ 128.00", "Linden Row 7"}},
		{"POST", "pay", "/checkout", url.Values{"product": {"copper-kettle"}, "quantity": {"0"}}, 400, nil},
		{"POST", "pay", "/checkout", url.Values{"quantity": {"1"}}, 400, nil},
		{"POST", "pay", "/pay", nil, 200, []string{"Paid"}},
		{"GET", "prize", "/claim", nil, 200, []string{"You won"}},
		{"GET", "bonus", "/claim", nil, 200, []string{"You won"}},
		{"GET", "elsewhere", "/", nil, 404, nil},
	} {
		status, body := visit(t, s, c.method, s.url(c.host, c.path), c.form)
		if status != c.status {
			t.Errorf("%s %s%s: status %d, want %d", c.method, c.host, c.path, status, c.status)
		}
		for _, words := range c.has {
			if !strings.Contains(body, words) {
				t.Errorf("%s %s%s: no %q in\n%s", c.method, c.host, c.path, words, body)
			}
		}
	}
}

func TestSiteCountsByHost(t *testing.T) {
	s := newSite(8001)
	visit(t, s, "GET", s.url("shop", "/"), nil)
	visit(t, s, "GET", s.url("shop", "/nothing"), nil)
	visit(t, s, "GET", s.url("prize", "/favicon.ico"), nil)
	for host, want := range map[string]int{"shop": 2, "pay": 0, "prize": 1} {
		if got := s.seen(host); got != want {
			t.Errorf("%s saw %d requests, want %d", host, got, want)
		}
	}
}

func TestSiteOverTheNetwork(t *testing.T) {
	server := httptest.NewServer(newSite(8001))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.localhost:8001"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Errorf("content type %q", kind)
	}
}
