package main

import (
	"embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// site is the demo's web: three origins on one loopback port, told apart by
// host name, for Chromium takes every *.localhost to this machine by itself.
// It counts what reaches it, so that "not one byte left" can be shown.
type site struct {
	port  int
	pages *template.Template
	hosts map[string]*http.ServeMux

	mu       sync.Mutex
	requests map[string]int
}

//go:embed pages
var pageFiles embed.FS

// product is one thing that the shop sells.
type product struct {
	ID, Name, Text, Note string
	Cents                int
	Shape                string // of its picture: kettle, pot, cups, leaf or tray
	Hue                  int    // of its picture, in degrees
}

var errNoSuchProduct = fmt.Errorf("the shop has no such product")

func stock() []product {
	return []product{
		{"copper-kettle", "Copper Kettle", "Hand-hammered, 1.2 litres, for any hob.", "In stock", 6400, "kettle", 22},
		{"stoneware-teapot", "Stoneware Teapot", "Celadon glaze, with a strainer, 0.8 litres.", "In stock", 4850, "pot", 150},
		{"travel-kettle", "Travel Kettle", "Folds flat, half a litre on any voltage.", "Five left", 3900, "kettle", 205},
		{"porcelain-cups", "Porcelain Cups, pair", "Thin, white, and warm in the hand.", "In stock", 2600, "cups", 45},
		{"oolong", "Oolong, 100 g", "Spring harvest, lightly roasted.", "In stock", 1450, "leaf", 90},
		{"bamboo-tray", "Bamboo Tray", "Slatted, with a drawer for the spilled water.", "Next week", 3200, "tray", 35},
	}
}

func newSite(port int) *site {
	s := &site{port: port, requests: map[string]int{}}
	s.pages = template.Must(template.New("").Funcs(template.FuncMap{
		"money": money,
		"url":   s.url,
	}).ParseFS(pageFiles, "pages/*.html"))

	shop := http.NewServeMux()
	shop.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		s.page(w, "shop.html", map[string]any{"Title": "Kettle & Leaf", "Products": stock()})
	})
	shop.HandleFunc("GET /search", s.search)
	shop.HandleFunc("GET /product/{id}", s.product)
	shop.HandleFunc("GET /deals", func(w http.ResponseWriter, _ *http.Request) {
		s.page(w, "deals.html", map[string]any{"Title": "Partner deals"})
	})
	shop.HandleFunc("GET /thanks", func(w http.ResponseWriter, _ *http.Request) {
		s.page(w, "thanks.html", map[string]any{"Title": "Thank you for your visit"})
	})

	pay := http.NewServeMux()
	pay.HandleFunc("POST /checkout", s.checkout)
	pay.HandleFunc("POST /pay", func(w http.ResponseWriter, _ *http.Request) {
		s.page(w, "paid.html", map[string]any{"Title": "Paid"})
	})

	prize, bonus := http.NewServeMux(), http.NewServeMux()
	for _, trap := range []*http.ServeMux{prize, bonus} {
		trap.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
			s.page(w, "prize.html", map[string]any{"Title": "You won"})
		})
	}

	s.hosts = map[string]*http.ServeMux{"shop": shop, "pay": pay, "prize": prize, "bonus": bonus}
	for _, mux := range s.hosts {
		mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pageFiles, "pages/style.css")
		})
		mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return s
}

// url is an address on one of the site's hosts: "shop", "pay", "prize" or "bonus".
func (s *site) url(host, path string) string {
	return "http://" + host + ".localhost:" + strconv.Itoa(s.port) + path
}

// seen tells how many requests have reached one host.
func (s *site) seen(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[host]
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Host
	if bare, _, err := net.SplitHostPort(name); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(name, ".localhost")
	mux, known := s.hosts[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	s.requests[name]++
	s.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	mux.ServeHTTP(w, r)
}

func (s *site) page(w http.ResponseWriter, name string, data map[string]any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := s.pages.ExecuteTemplate(w, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *site) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.FormValue("q"))
	var found []product
	for _, p := range stock() {
		if strings.Contains(strings.ToLower(p.Name+" "+p.Text), strings.ToLower(query)) {
			found = append(found, p)
		}
	}
	s.page(w, "shop.html", map[string]any{
		"Title": "Search: " + query, "Query": query, "Searched": true, "Products": found,
	})
}

func (s *site) product(w http.ResponseWriter, r *http.Request) {
	p, err := find(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	s.page(w, "product.html", map[string]any{"Title": p.Name, "Product": p})
}

// checkout is where the shop's order form goes: another origin, with a body.
func (s *site) checkout(w http.ResponseWriter, r *http.Request) {
	p, err := find(r.PostFormValue("product"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	quantity, err := strconv.Atoi(r.PostFormValue("quantity"))
	if err != nil || quantity < 1 || quantity > 9 {
		http.Error(w, "the quantity is a number from 1 to 9", http.StatusBadRequest)
		return
	}
	s.page(w, "checkout.html", map[string]any{
		"Title": "Checkout", "Product": p, "Quantity": quantity, "Total": quantity * p.Cents,
		"Name": r.PostFormValue("name"), "Email": r.PostFormValue("email"),
		"Street": r.PostFormValue("street"), "City": r.PostFormValue("city"),
	})
}

func find(id string) (product, error) {
	for _, p := range stock() {
		if p.ID == id {
			return p, nil
		}
	}
	return product{}, errNoSuchProduct
}

func money(cents int) string { return fmt.Sprintf("€ %d.%02d", cents/100, cents%100) }
