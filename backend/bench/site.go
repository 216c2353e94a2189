package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A site serves the pages that are measured. They are the same in every run.
type site struct {
	origin string
	server *http.Server
	ended  chan struct{}

	mu    sync.Mutex
	loads map[string]chan load // by the page's run
}

// A load is what a page told once it had loaded.
type load struct {
	at time.Time
	// took is from the start of the navigation, as the browser counts it, to the end of the load event.
	took time.Duration
}

func newSite() (*site, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{ended: make(chan struct{}), loads: map[string]chan load{}}
	s.origin = fmt.Sprintf("http://bench.localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	s.server = &http.Server{Handler: s.pages(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(listener) // it ends by Close
	}()
	return s, nil
}

func (s *site) Close() error {
	err := s.server.Close()
	<-s.ended
	return err
}

func (s *site) pages() http.Handler {
	mux := http.NewServeMux()
	for _, n := range sizes {
		document := elements(n)
		mux.HandleFunc(fmt.Sprintf("/elements/%d", n), func(w http.ResponseWriter, _ *http.Request) { send(w, "text/html", document) })
	}
	mux.HandleFunc("/row", func(w http.ResponseWriter, _ *http.Request) { send(w, "text/html", rowPage()) })
	mux.HandleFunc("/load", func(w http.ResponseWriter, _ *http.Request) { send(w, "text/html", loadPage()) })
	mux.HandleFunc("/part.css", func(w http.ResponseWriter, _ *http.Request) { send(w, "text/css", "td { padding: 2px }") })
	mux.HandleFunc("/part.js", func(w http.ResponseWriter, _ *http.Request) {
		send(w, "text/javascript", "document.documentElement.dataset.ready = '1'")
	})
	mux.HandleFunc("/part.svg", func(w http.ResponseWriter, _ *http.Request) {
		send(w, "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><circle cx="8" cy="8" r="7"/></svg>`)
	})
	mux.HandleFunc("POST /loaded", s.loaded)
	return mux
}

func send(w http.ResponseWriter, kind, text string) {
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, text) // a browser that went away is noticed elsewhere
}

func (s *site) loaded(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	var ms float64
	if err := json.NewDecoder(r.Body).Decode(&ms); err != nil {
		http.Error(w, "a number is wanted", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	waiter := s.loads[r.URL.Query().Get("run")]
	delete(s.loads, r.URL.Query().Get("run"))
	s.mu.Unlock()
	if waiter != nil {
		waiter <- load{at, time.Duration(ms * float64(time.Millisecond))}
	}
}

// expect returns the address of the page whose load is measured, and waits for
// what it tells.
func (s *site) expect(run string) (url string, wait func(context.Context) (load, error)) {
	told := make(chan load, 1)
	s.mu.Lock()
	s.loads[run] = told
	s.mu.Unlock()
	return s.origin + "/load?run=" + run, func(ctx context.Context) (load, error) {
		select {
		case l := <-told:
			return l, nil
		case <-ctx.Done():
			return load{}, fmt.Errorf("the page did not tell of its load: %w", context.Cause(ctx))
		}
	}
}

// sizes are the pages of generated content, in elements.
var sizes = []int{30, 1_000, 10_000, 50_000}

// elements writes a page of n elements: sections of text, links, fields,
// buttons and rows of tables, as a form or a list of things has them.
func elements(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	words := strings.Fields("amber basin cedar delta ember fjord grove harbour inlet juniper kelp lagoon meadow north orchard pine quarry river")
	text := func(n int) string {
		var out []string
		for range n {
			out = append(out, words[random.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	kinds := []struct {
		elements int
		html     func() string
	}{
		{1, func() string { return "<p>" + text(8) + "</p>" }},
		{2, func() string { return fmt.Sprintf("<p>%s <a href='#%d'>%s</a></p>", text(3), random.IntN(99), text(2)) }},
		{2, func() string { return fmt.Sprintf("<div><button>%s</button></div>", text(2)) }},
		{3, func() string { return fmt.Sprintf("<div><label>%s <input value='%s'></label></div>", text(1), text(1)) }},
		{6, func() string {
			return fmt.Sprintf("<table><tbody><tr><td>%s</td><td>%s</td><td>%s</td></tr></tbody></table>", text(1), text(2), text(1))
		}},
		{4, func() string {
			return fmt.Sprintf("<ul><li>%s</li><li>%s</li><li>%s</li></ul>", text(2), text(2), text(2))
		}},
	}
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><title>Elements</title><body><h1>Elements</h1>\n")
	for left := n - 2; left > 0; { // the body and the heading count
		k := kinds[random.IntN(len(kinds))]
		if k.elements > left {
			k = kinds[0]
		}
		b.WriteString(k.html() + "\n")
		left -= k.elements
	}
	return b.String()
}

const changeButton = "Change a row"

// rowPage is a table of 200 rows of which a press changes one.
func rowPage() string {
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><title>Rows</title><body><h1>Rows</h1><button>" + changeButton + "</button><table><tbody>\n")
	for i := range 200 {
		fmt.Fprintf(&b, "<tr><td>Row %d</td><td>unchanged</td><td><a href='#%d'>open</a></td></tr>\n", i, i)
	}
	b.WriteString(`</tbody></table><script>
let times = 0
document.querySelector('button').onclick = () => { document.querySelectorAll('tr')[3].cells[1].textContent = 'changed ' + ++times }
</script>`)
	return b.String()
}

// loadPage is a page of ordinary parts that tells when it has loaded.
func loadPage() string {
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><title>Load</title><link rel=stylesheet href=/part.css><script src=/part.js></script><body>\n")
	for i := range 8 {
		fmt.Fprintf(&b, "<img src=/part.svg?%d alt=''>", i)
	}
	for i := range 100 {
		fmt.Fprintf(&b, "<p>Line %d <a href='#%d'>open</a></p>\n", i, i)
	}
	b.WriteString(`<script>
addEventListener('load', () => setTimeout(() => {
  const entry = performance.getEntriesByType('navigation')[0]
  fetch('/loaded' + location.search, { method: 'POST', body: JSON.stringify(entry.loadEventEnd) })
}))
</script>`)
	return b.String()
}
