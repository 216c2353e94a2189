package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

// wired is a relay with both of its sides in the test's hands.
type wired struct {
	t     *testing.T
	agent net.Conn
	heard *bufio.Reader
	hosts chan net.Conn // the host's end of each connection
	dials int
	err   chan error
	notes strings.Builder
}

// wireUp runs a relay whose dial is given; nil connects to hosts.
func wireUp(t *testing.T, dial func(context.Context) (io.ReadWriteCloser, error)) *wired {
	t.Helper()
	near, far := net.Pipe()
	w := &wired{t: t, agent: near, heard: bufio.NewReader(near), hosts: make(chan net.Conn, 10), err: make(chan error, 1)}
	if dial == nil {
		dial = func(context.Context) (io.ReadWriteCloser, error) {
			a, b := net.Pipe()
			w.hosts <- b
			return a, nil
		}
	}
	r := &relay{out: far, notes: &w.notes, dial: func(ctx context.Context) (io.ReadWriteCloser, error) { w.dials++; return dial(ctx) }}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { w.err <- r.run(ctx, far) }()
	t.Cleanup(func() { cancel(); near.Close() })
	return w
}

func (w *wired) say(lines ...string) {
	w.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(w.agent, l+"\n"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *wired) want(parts ...string) {
	w.t.Helper()
	got, err := w.heard.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			w.t.Errorf("got %swant a line with %s", got, part)
		}
	}
}

func TestHostThatDoesNotAnswerHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wireUp(t, nil)
		began := time.Now()
		w.say(`{"id":1,"method":"echo"}`)
		go io.Copy(io.Discard, <-w.hosts)
		w.want(`{"id":1,"ok":false`, `"BROWSER_UNAVAILABLE"`, `"effect_state":"none"`)
		if took := time.Since(began); took != introducing {
			t.Errorf("it took %v, want %v", took, introducing)
		}
		w.say(`{"id":2,"method":"ping"}`)
		<-w.hosts // a new connection
	})
}

func TestRequestsThatCameDuringAFailedStartAreNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wireUp(t, func(context.Context) (io.ReadWriteCloser, error) {
			time.Sleep(10 * time.Second)
			return nil, fault.New(fault.BrowserUnavailable, "no start")
		})
		began := time.Now()
		for i := range 5 {
			w.say(fmt.Sprintf(`{"id":%d,"method":"echo"}`, i))
		}
		for i := range 5 {
			w.want(fmt.Sprintf(`{"id":%d,"ok":false`, i), "no start")
		}
		if took := time.Since(began); took != 10*time.Second || w.dials != 1 {
			t.Errorf("it took %v and %d attempts", took, w.dials)
		}
		w.say(`{"id":"later","method":"echo"}`)
		w.want(`"later"`)
		if w.dials != 2 {
			t.Errorf("a later request was not tried: %d attempts", w.dials)
		}
	})
}

func TestHostThatRefusesTheLineIsBelieved(t *testing.T) {
	for name, line := range map[string]string{"before hello is answered": `{"id":1,"method":"echo"}`, "in mid-call": `{"id":1,"method":"ping"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wireUp(t, nil)
				w.say(line)
				host := <-w.hosts
				if _, err := wire.NewReader(host).Next(); err != nil {
					t.Fatal(err)
				}
				io.WriteString(host, `{"id":null,"ok":false,"error":{"code":"BUSY","message":"128 agents are connected"}}`+"\n")
				host.Close()
				w.want(`{"id":1,"ok":false`, `"BUSY"`, "128 agents")
			})
		})
	}
}

// TestNeitherSideWaitsForTheOther has a host that writes without reading, as one
// does whose answers are long.
func TestNeitherSideWaitsForTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wireUp(t, nil)
		w.say(`{"id":1,"method":"ping"}`, `{"id":2,"method":"ping"}`)
		host := <-w.hosts
		r := wire.NewReader(host)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := fmt.Fprintf(host, `{"event":{"seq":%d}}`+"\n", i); err != nil {
				t.Fatal(err)
			}
			w.want(fmt.Sprintf(`{"event":{"seq":%d}}`, i))
		}
	})
}

func TestHostThatNeverEndsAfterByeIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		out, answers := net.Pipe()
		r := &relay{out: answers, notes: io.Discard, dial: func(context.Context) (io.ReadWriteCloser, error) { return near, nil }}
		go io.Copy(io.Discard, far)
		began := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- r.run(t.Context(), strings.NewReader(`{"id":1,"method":"ping"}`)) }()
		got, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.Contains(got, `{"id":1,"ok":false`) || !strings.Contains(got, `"effect_state":"unknown"`) {
			t.Errorf("got %s, %v", got, err)
		}
		if err := <-ended; err != nil || time.Since(began) != departing {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
	})
}

func TestAgentThatIsGoneEndsTheRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wireUp(t, nil)
		w.say(`{"id":1,"method":"ping"}`)
		host := <-w.hosts
		if _, err := wire.NewReader(host).Next(); err != nil {
			t.Fatal(err)
		}
		w.agent.Close()
		go io.WriteString(host, `{"id":1,"ok":true,"result":{}}`+"\n")
		if err := <-w.err; err == nil || errors.Is(err, context.Canceled) {
			// The end of input may be seen first; then bye is said, and writing the answer fails.
			t.Errorf("got %v", err)
		}
		host.Close()
	})
}

func FuzzPeek(f *testing.F) {
	f.Add([]byte(`{"id":1,"ok":true}`))
	f.Add([]byte(`{"event":{"seq":1}}`))
	f.Add([]byte(`{"id":{"a":[1]},"ok":true`))
	f.Fuzz(func(t *testing.T, text []byte) {
		id, ok := peek(text)
		if ok && len(id) == 0 {
			t.Fatalf("%q: an answer without an id", text)
		}
	})
}
