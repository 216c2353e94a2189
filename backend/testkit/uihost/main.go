// Command uihost runs a whole host for tests of the user interface in an
// ordinary browser.
//
// Its first line on stdout is the address of the interface. A page that listens
// to /events is a person who attends. It ends when its stdin does. It holds the
// people's side of its own throw-away host open to this machine, so it is for
// tests alone and is never shipped.
//
//	POST /line           one line of the person's in, its answer line out
//	GET  /events         server-sent events, each data an array of events
//	POST /agent?name=…   one line of an agent's in, its answer line out
//	GET  /sites          the sites of the test web, by name
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/testkit"
	"chaperone/backend/wire"
)

func main() {
	dist := flag.String("dist", "frontend/dist", "the built interface")
	flag.Parse()
	if err := run(*dist, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "uihost:", err)
		os.Exit(1)
	}
}

// run serves until in ends.
func run(dist string, in io.Reader, out io.Writer) (err error) {
	if _, err := os.Stat(dist + "/index.html"); err != nil {
		return fmt.Errorf("the interface is not built (make ui): %w", err)
	}
	kit, err := testkit.Open(testkit.Options{Absent: true})
	if err != nil {
		return err
	}
	defer func() {
		if e := kit.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("%w\n%s", e, kit.Log))
		}
	}()
	kit.Sites.Page("shop", "/", `<title>Shop</title><h1>Shop</h1><a href="http://pay.localhost/">Pay</a> <a href="http://prize.localhost/">You won</a>`)
	kit.Sites.Page("pay", "/", `<title>Pay</title><h1>Pay</h1>`)
	kit.Sites.Page("prize", "/", `<title>Prize</title><h1>You won</h1>`)

	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	s := &server{kit: kit, agents: map[string]*testkit.Agent{}}
	// What still waits when stdin ends is ended by its context.
	web := &http.Server{Handler: s.routes(dist), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	go func() { served <- web.Serve(ln) }()
	fmt.Fprintf(out, "http://%s\n", ln.Addr())

	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // an end by error is an end
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-kit.Over():
		err = errors.New("the host has ended")
	}
	stop()
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if web.Shutdown(closing) != nil {
		web.Close()
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

type server struct {
	kit *testkit.Kit

	mu     sync.Mutex
	agents map[string]*testkit.Agent
}

func (s *server) routes(dist string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(dist)))
	mux.HandleFunc("POST /line", s.line)
	mux.HandleFunc("POST /agent", s.agent)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /sites", s.sites)
	return mux
}

// body reads a line; false when it has answered already.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.MaxLine))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return text, err == nil
}

func (s *server) line(w http.ResponseWriter, r *http.Request) {
	if text, ok := body(w, r); ok {
		reply(w, s.kit.Host.People().Send(r.Context(), text), nil)
	}
}

// agent relays a line to the agent of that name, which stays connected.
func (s *server) agent(w http.ResponseWriter, r *http.Request) {
	text, ok := body(w, r)
	if !ok {
		return
	}
	a, err := s.named(r.URL.Query().Get("name"))
	if err != nil {
		reply(w, nil, err)
		return
	}
	answer, err := a.Relay(r.Context(), text)
	reply(w, answer, err)
}

func (s *server) named(name string) (*testkit.Agent, error) {
	if name == "" {
		name = "scripted"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.agents[name]; a != nil {
		return a, nil
	}
	a, err := s.kit.Agent(name)
	if err == nil {
		s.agents[name] = a
	}
	return a, err
}

func reply(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // who does not read on has gone
}

func (s *server) sites(w http.ResponseWriter, _ *http.Request) {
	origins := map[string]string{}
	for _, name := range []string{"shop", "pay", "prize"} {
		origins[name] = s.kit.Sites.Origin(name)
	}
	text, err := json.Marshal(origins)
	reply(w, text, err)
}

// events streams what happens from now on; meanwhile a person is there.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	last, err := s.last()
	if err != nil {
		reply(w, nil, err)
		return
	}
	leave := s.kit.Host.Attend()
	defer leave()
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if out.Flush() != nil {
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	_ = s.kit.Host.People().Events(ctx, last, func(batch []event.Event) { // ends with the page or the host
		text, err := json.Marshal(batch)
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err != nil || out.Flush() != nil {
			stop()
		}
	})
}

// last returns the newest place in the log.
func (s *server) last() (int64, error) {
	text, err := s.kit.Person.Send("overview", nil)
	if err != nil {
		return 0, err
	}
	var o struct {
		Last int64 `json:"last"`
	}
	err = json.Unmarshal(text, &o)
	return o.Last, err
}
