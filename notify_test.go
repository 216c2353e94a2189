package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"chaperone/backend/event"
	"chaperone/backend/ids"
)

// patience bounds each wait for the bus, which answers in milliseconds.
const patience = 10 * time.Second

// startBus starts a session bus of the test's own and puts its address into the environment.
func startBus(t *testing.T) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "bus")
	bus := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address=1", "--address=unix:path="+socket)
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.Start(); err != nil {
		t.Fatalf("dbus-daemon is needed: %v", err)
	}
	t.Cleanup(func() { _ = bus.Process.Kill(); _ = bus.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
}

// desktop is a notification service that writes down what it is asked.
type desktop struct {
	t    *testing.T
	conn *dbus.Conn
	did  chan string
	mu   sync.Mutex
	last uint32
}

func startDesktop(t *testing.T) *desktop {
	t.Helper()
	conn, err := sessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d := &desktop{t: t, conn: conn, did: make(chan string, 16)}
	if err := conn.Export(d, notifyPath, notifyName); err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(notifyName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the name was not given: %v %v", reply, err)
	}
	return d
}

// Notify is the service's method.
func (d *desktop) Notify(_ string, replaces uint32, _, title, body string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.mu.Lock()
	if replaces == 0 {
		d.last++
		replaces = d.last
	}
	d.mu.Unlock()
	d.did <- fmt.Sprintf("show %d: %s | %s | %s", replaces, title, body, strings.Join(actions, ","))
	return replaces, nil
}

// CloseNotification is the service's method.
func (d *desktop) CloseNotification(id uint32) *dbus.Error {
	d.did <- fmt.Sprintf("close %d", id)
	return nil
}

func (d *desktop) expect(want string) {
	d.t.Helper()
	select {
	case got := <-d.did:
		if got != want {
			d.t.Fatalf("the desktop was asked %q, want %q", got, want)
		}
	case <-time.After(patience):
		d.t.Fatalf("the desktop was not asked %q", want)
	}
}

func asked(question, agent, origin string) []event.Event {
	return []event.Event{{Category: "approval.asked", Subject: question, Agent: ids.Agent(agent), Data: []byte(`{"origin":"` + origin + `"}`)}}
}

func settled(question string) []event.Event {
	return []event.Event{{Category: "approval.settled", Subject: question}}
}

func TestNotifications(t *testing.T) {
	startBus(t)
	d := startDesktop(t)
	n := newNotifier()
	ctx, cancel := context.WithCancel(t.Context())
	shown := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		n.run(ctx, func() { shown <- struct{}{} })
		close(done)
	}()

	n.see(asked("q1", "shopper", "https://pay.example"))
	d.expect("show 1: A question waits in Chaperone | shopper wants to open https://pay.example. | default,Show the question")
	n.see(asked("q2", "coder", "https://docs.example"))
	d.expect("show 1: 2 questions wait in Chaperone | coder wants to open https://docs.example. | default,Show the question")
	n.see(settled("q1"))
	n.focus(true)
	d.expect("close 1")

	// What came up while the person looked is not told of again when they look away.
	n.see(asked("q3", "", ""))
	n.focus(false)
	n.see(settled("q2"))
	n.see(settled("q3"))

	n.see(asked("q4", "", "x"))
	d.expect("show 2: A question waits in Chaperone | An agent wants to open x. | default,Show the question")
	if err := d.conn.Emit(notifyPath, notifyName+".ActionInvoked", uint32(77), "default"); err != nil {
		t.Fatal(err)
	}
	if err := d.conn.Emit(notifyPath, notifyName+".ActionInvoked", uint32(2), "default"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-shown:
	case <-time.After(patience):
		t.Fatal("a click on the notification did not show the window")
	}
	n.see(settled("q4"))
	n.see(asked("q5", "ann", "https://five.example"))
	d.expect("show 3: A question waits in Chaperone | ann wants to open https://five.example. | default,Show the question")

	cancel()
	d.expect("close 3")
	<-done
	if len(shown) != 0 {
		t.Error("a click on somebody else's notification showed the window")
	}
}

func TestNoBusIsNoTrouble(t *testing.T) {
	for name, address := range map[string]string{"none": "", "one that is gone": "unix:path=/nonexistent/bus", "autolaunch": "autolaunch:"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			n := newNotifier()
			n.run(t.Context(), func() { t.Error("the window was shown") })
			for range 100 { // nobody takes what changed; that must hold nobody up
				n.see(asked("q", "ann", "https://a.example"))
			}
		})
	}
}

func TestAQuestionSaysSitesOnly(t *testing.T) {
	for data, want := range map[string]string{
		`{"origin":"https://pay.example","url":"https://pay.example/secret"}`: "ann wants to open https://pay.example.",
		`{}`:  "ann waits for your answer.",
		`[1]`: "ann waits for your answer.",
	} {
		if got := asks(event.Event{Agent: "ann", Data: []byte(data)}); got != want {
			t.Errorf("asks(%s) = %q, want %q", data, got, want)
		}
	}
}
