package testkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sites is a small web on one loopback port: as many origins as one likes, told
// apart by names that end in .localhost, which Chromium takes to this machine by
// itself. It keeps what reaches it.
type Sites struct {
	port   string
	server *http.Server
	served chan error

	mu       sync.Mutex
	pages    map[string]http.HandlerFunc // by host name and path
	requests []Request
	changed  chan struct{}
}

// A Request is one that reached a site.
type Request struct {
	// Host is the name without its port: "shop.localhost".
	Host, Method, Path string
	// Body is what came with it, at most 1 MiB.
	Body string
	// Header is what came before it.
	Header http.Header
}

func openSites() (*Sites, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("sites: %w", err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	s := &Sites{port: port, served: make(chan error, 1), pages: map[string]http.HandlerFunc{}, changed: make(chan struct{})}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: patience}
	go func() { s.served <- s.server.Serve(ln) }()
	return s, nil
}

func (s *Sites) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil { // a page that never ends loading
		s.server.Close()
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("sites: %w", err)
	}
	return nil
}

// Origin returns the origin of a site: "shop" or "shop.localhost".
func (s *Sites) Origin(host string) string {
	return "http://" + strings.TrimSuffix(host, ".localhost") + ".localhost:" + s.port
}

var local = regexp.MustCompile(`[a-z0-9-]+\.localhost(:\d+)?`)

// Ported gives every name in text that ends in .localhost and has no port the sites' own.
func (s *Sites) Ported(text string) string {
	return local.ReplaceAllStringFunc(text, func(name string) string {
		if strings.Contains(name, ":") {
			return name
		}
		return name + ":" + s.port
	})
}

// Portless takes the sites' port out of text.
func (s *Sites) Portless(text string) string {
	return strings.ReplaceAll(text, ".localhost:"+s.port, ".localhost")
}

// Handle serves path of host with h; requests are counted all the same.
func (s *Sites) Handle(host, path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[strings.TrimSuffix(host, ".localhost")+".localhost"+path] = h
}

// Page serves path of host with a page of the given HTML.
func (s *Sites) Page(host, path, html string) {
	html = s.Ported(html)
	s.Handle(host, path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, html) // who does not read on has gone
	})
}

// Redirect leads from path of host to another address.
func (s *Sites) Redirect(host, path, to string) {
	to = s.Ported(to)
	s.Handle(host, path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
}

// ServeHTTP implements http.Handler.
func (s *Sites) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/favicon.ico" { // Chromium's own wish, not the page's
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{Host: host, Method: r.Method, Path: r.URL.RequestURI(), Body: string(body), Header: r.Header})
	close(s.changed)
	s.changed = make(chan struct{})
	page := s.pages[host+r.URL.Path]
	s.mu.Unlock()
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w, r)
}

// Requests returns what has reached host, in order of arrival.
func (s *Sites) Requests(host string) []Request {
	host = strings.TrimSuffix(host, ".localhost") + ".localhost"
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r Request) bool { return r.Host != host })
}

// Await waits until at least n requests have reached host.
func (s *Sites) Await(host string, n int) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		have := len(s.Requests(host))
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return fmt.Errorf("%s has had %d requests within %v, want %d", host, have, patience, n)
		}
	}
}
