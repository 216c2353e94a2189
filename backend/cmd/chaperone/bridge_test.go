package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chaperone/backend/ids"
	"chaperone/backend/wire"
)

// listen takes connections at path and does nothing with them.
func (m *machine) listen(path string) {
	m.t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		m.t.Fatal(err)
	}
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
		}
	}()
	m.t.Cleanup(func() {
		ln.Close()
		<-done
		for _, c := range conns {
			c.Close()
		}
	})
}

func TestBridgeCarriesLines(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	m.host(s)
	b := m.bridge("--no-start")
	b.say(`{"id":"slow","method":"work","args":{"text":"a"}}`)
	<-s.began
	for _, id := range []string{`1`, `1.0`, `-0`, `"a"`, `"\u0061"`, `null`, `true`, `[1, 2]`, `{"b": 1, "a":[ ]}`, `12345678901234567890123`} {
		b.ask(`{"id": `+id+`,"method":"echo","args":{"text":"<b>&</b>"}}`, `{"id":`+id+`,"ok":true`, `"text":"<b>&</b>"`)
	}
	b.ask(`{"method":"echo"}`, `{"id":null,"ok":true`)
	b.ask(`{"id":1,"method":"nothing"}`, `"UNKNOWN_METHOD"`, "echo, work")
	b.ask(`{"id":1,"method":"echo","args":{"txt":1}}`, `"INVALID_ARGUMENTS"`, "text")
	b.ask(`not JSON`, `{"id":null,"ok":false`, `"BAD_LINE"`)
	b.ask(`{"id":7,"method":"echo","person":true}`, `{"id":7,"ok":false`, `"BAD_LINE"`)
	b.ask(strings.Repeat("x", wire.MaxLine+1), `"LINE_TOO_LONG"`)
	b.ask(`{"id":"slow","method":"ping"}`, `{"id":"slow","ok":true`)
	b.ask(`{"id":8,"method":"cancel","args":{"id":"no"}}`, `"cancelled":false`)
	long := strings.Repeat("y", 2<<20)
	b.ask(`{"id":"long","method":"echo","args":{"text":"`+long+`"}}`, `{"id":"long"`, long[:100])
	close(s.let)
	b.want(`{"id":"slow","ok":true`, `"text":"a"`)
	b.in.Close()
	b.end()
	if b.notes.Len() > 0 {
		t.Errorf("on standard error: %s", b.notes.String())
	}
	m.until("the agent has left", func() bool { return len(s.gone()) == 1 })
}

func (s *stage) gone() []ids.Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.left)
}

func TestBridgeManyAtOnce(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	m.host(s)
	b := m.bridge("--no-start")
	const n = 2000
	go func() { // all are said before any answer is read
		for i := range n {
			fmt.Fprintf(b.in, `{"id":%d,"method":"ping"}`+"\n", i)
		}
		b.in.Close()
	}()
	for i := range n {
		b.want(fmt.Sprintf(`{"id":%d,"ok":true`, i))
	}
	b.end()
}

func TestBridgeWaitsForTheLastAnswers(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	m.host(s)
	b := m.bridge("--no-start", "--agent", "ann")
	b.say(`{"id":1,"method":"work"}`, `{"id":2,"method":"work"}`)
	b.in.Close()
	<-s.began
	<-s.began
	close(s.let)
	b.want(`"ok":true`, `"by":"ann"`)
	b.want(`"ok":true`)
	b.end()
	m.until("ann has left", func() bool { return slices.Equal(s.gone(), []ids.Agent{"ann"}) })
}

func TestBridgeEndsWithoutAHost(t *testing.T) {
	b := newMachine(t).bridge("--no-start")
	b.in.Close()
	b.end()
}

func TestBridgeEndsAtASignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		m, s := newMachine(t), newStage("app")
		m.host(s)
		b := m.bridge("--no-start")
		b.say(`{"id":1,"method":"work"}`)
		<-s.began
		if err := b.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		b.end()
		m.until("the call was cancelled and the agent has left", func() bool { return len(s.gone()) == 1 })
	}
}

func TestBridgeThatIsKilledEndsItsCalls(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	m.host(s)
	b := m.bridge("--no-start")
	b.say(`{"id":1,"method":"work"}`)
	<-s.began
	if err := b.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	m.until("the call was cancelled and the agent has left", func() bool { return len(s.gone()) == 1 })
}

func TestBridgeSaysHello(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	m.host(s)
	b := m.bridge("--no-start", "--agent", "ann")
	b.ask(`{"id":1,"method":"ping"}`, `{"id":1,"ok":true`)
	b.ask(`{"id":2,"method":"echo"}`, `{"id":2,"ok":true`, `"by":"ann"`)
	b.ask(`{"id":3,"method":"hello","args":{"agent":"bob"}}`, `"INVALID_ARGUMENTS"`, "already has an agent: ann")
	b.ask(`{"id":4,"method":"echo"}`, `"by":"ann"`)

	own := m.bridge("--no-start")
	own.say(`{"id":1,"method":"hello","args":{"agent":"dan","protocol":1}}`, `{"id":2,"method":"echo"}`)
	own.want(`{"id":1,"ok":true`, `"agent":"dan"`)
	own.want(`{"id":2,"ok":true`, `"by":"dan"`)

	wrong := m.bridge("--no-start", "--agent", "../ann")
	for id := range 2 {
		wrong.ask(fmt.Sprintf(`{"id":%d,"method":"echo"}`, id), fmt.Sprintf(`{"id":%d,"ok":false`, id), `"INVALID_ARGUMENTS"`, "1 to 64 letters")
	}
	wrong.in.Close()
	wrong.end()
	if !strings.Contains(wrong.notes.String(), "not a name that can be used") {
		t.Errorf("on standard error: %s", wrong.notes.String())
	}
}

func TestBridgeWithoutAHostAnswersAtOnceAndTriesAgain(t *testing.T) {
	m := newMachine(t)
	b := m.bridge("--no-start", "--agent", "ann")
	b.ask(`{"id":1,"method":"echo"}`, `{"id":1,"ok":false`, `"BROWSER_UNAVAILABLE"`, "not running", "chaperone serve")
	b.ask(`not JSON`, `"BAD_LINE"`)
	b.ask(`{"id":2,"method":"ping"}`, `"BROWSER_UNAVAILABLE"`)
	if _, err := os.Stat(m.places.Run); !os.IsNotExist(err) {
		t.Error("--no-start made something")
	}
	m.host(newStage("app"))
	b.ask(`{"id":3,"method":"echo"}`, `{"id":3,"ok":true`, `"by":"ann"`)
}

var byWhom = regexp.MustCompile(`"by":"([^"]+)"`)

func TestHostThatEndsInMidCall(t *testing.T) {
	for _, c := range []struct {
		name, hello string
		args        []string
	}{
		{"a fresh agent", "", nil},
		{"an agent by flag", "", []string{"--agent", "ann"}},
		{"an agent by its own hello", `{"id":0,"method":"hello","args":{"agent":"ann"}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			m.display()
			m.install(t, appProgram)
			t.Cleanup(func() { m.stopHost(syscall.SIGKILL) })
			b := m.bridge(c.args...)
			if c.hello != "" {
				b.ask(c.hello, `"ok":true`)
			}
			first := byWhom.FindStringSubmatch(b.ask(`{"id":1,"method":"echo"}`, `"ok":true`))
			b.ask(`{"id":"s","method":"status"}`, `"kind":"app"`)
			b.say(`{"id":{"n": 2},"method":"work"}`, `{"id":3,"method":"work"}`)
			b.ask(`{"id":4,"method":"echo"}`, `{"id":4,"ok":true`) // so the two are under way
			m.stopHost(syscall.SIGKILL)
			b.want(`{"id":{"n": 2},"ok":false`, `"BROWSER_GONE"`, `"effect_state":"unknown"`)
			b.want(`{"id":3,"ok":false`, `"BROWSER_GONE"`)
			second := byWhom.FindStringSubmatch(b.ask(`{"id":5,"method":"echo"}`, `{"id":5,"ok":true`))
			if !slices.Equal(first, second) || first == nil {
				t.Errorf("the agent was %v and came back as %v", first, second)
			}
			b.in.Close()
			b.end()
		})
	}
}

func TestHostThatClosesSaysSo(t *testing.T) {
	m, s := newMachine(t), newStage("app")
	kill := m.host(s)
	b := m.bridge("--no-start")
	b.say(`{"id":1,"method":"work"}`)
	<-s.began
	kill()
	b.want(`{"id":1,"ok":false`, `"BROWSER_DISPOSING"`)
	// A request that crosses the end of the line on its way is lost with it, and says so; the next one is not.
	got := b.ask(`{"id":2,"method":"echo"}`, `{"id":2,"ok":false`)
	if strings.Contains(got, `"BROWSER_GONE"`) {
		got = b.ask(`{"id":3,"method":"echo"}`, `{"id":3,"ok":false`)
	}
	if !strings.Contains(got, `"BROWSER_UNAVAILABLE"`) {
		t.Errorf("after the host's end: %s", got)
	}
}

// TestBridgesStartOneHost starts bridges at the same time on a machine without a
// display, where the host is `chaperone serve`.
func TestBridgesStartOneHost(t *testing.T) {
	m := newMachine(t)
	t.Cleanup(func() { m.stopHost(syscall.SIGKILL) })
	var bridges []*bridge
	for range 4 {
		bridges = append(bridges, m.bridge())
	}
	var wg sync.WaitGroup
	pids := make([]string, len(bridges))
	for i, b := range bridges {
		wg.Go(func() {
			b.say(`{"id":1,"method":"status"}`)
			got, err := b.out.ReadString('\n')
			if err != nil || !strings.Contains(got, `"kind":"serve"`) {
				t.Errorf("bridge %d: %s, %v", i, got, err)
			}
			pids[i] = regexp.MustCompile(`"pid":\d+`).FindString(got)
		})
	}
	wg.Wait()
	if slices.Sort(pids); len(slices.Compact(pids)) != 1 {
		t.Errorf("there are several hosts: %v", pids)
	}
	if log, err := os.ReadFile(m.places.Log); err != nil || strings.Contains(string(log), "running already") {
		t.Errorf("a second host was started: %s, %v", log, err)
	}
	if _, stderr, code := m.output("serve"); code != 1 || !strings.Contains(stderr, "running already: a host without a window, process ") {
		t.Errorf("a second serve: exit code %d, %s", code, stderr)
	}
	for _, b := range bridges {
		b.in.Close()
		b.end() // the host holds neither their output nor them
	}
	if _, _, code := m.output("status"); code != 0 {
		t.Error("the host ended with the bridges")
	}
	began := time.Now()
	m.stopHost(syscall.SIGTERM)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the host took %v to end", took)
	}
	if _, err := os.Stat(m.places.Socket); !os.IsNotExist(err) {
		t.Errorf("the ended host left its socket: %v", err)
	}
}

func TestHostThatCannotStart(t *testing.T) {
	m := newMachine(t)
	if err := os.MkdirAll(filepath.Dir(m.places.Data), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.places.Data, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := m.bridge()
	got := b.ask(`{"id":1,"method":"echo"}`, `{"id":1,"ok":false`, `"BROWSER_UNAVAILABLE"`, "could not be started", m.places.Log)
	if strings.Contains(got, "exit status") {
		t.Errorf("it does not say why: %s", got)
	}
	if err := os.Remove(m.places.Data); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.stopHost(syscall.SIGKILL) })
	b.ask(`{"id":2,"method":"status"}`, `{"id":2,"ok":true`)
}
