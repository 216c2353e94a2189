package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"chaperone/backend/event"
	"chaperone/backend/ids"
)

const (
	notifyName  = "org.freedesktop.Notifications"
	notifyPath  = "/org/freedesktop/Notifications"
	notifyWhile = 2 * time.Second // a notification service answers in milliseconds, or hangs
)

// A notifier tells the person through the desktop that a question waits while
// the window has no focus. It shows one notification at a time, takes it back
// when the person looks or nothing waits any more, and is silent where there is
// no session bus. It never starts a bus of its own.
type notifier struct {
	mu      sync.Mutex
	focused bool
	waiting map[ids.Question]string // what each waiting question asks, in words
	newest  ids.Question
	told    ids.Question  // the newest that the person was told of, here or in the window
	changed chan struct{} // holds one token when there may be something to show or take back
}

func newNotifier() *notifier {
	return &notifier{waiting: map[ids.Question]string{}, changed: make(chan struct{}, 1)}
}

// focus tells whether the person is looking at the window.
func (n *notifier) focus(focused bool) {
	n.mu.Lock()
	n.focused = focused
	if focused {
		n.told = n.newest
	}
	n.mu.Unlock()
	n.touch()
}

// see takes in what happened, and reports whether a question came up while the
// window has the focus.
func (n *notifier) see(events []event.Event) (here bool) {
	n.mu.Lock()
	for _, e := range events {
		question := ids.Question(e.Subject)
		switch e.Category {
		case "approval.asked":
			n.waiting[question] = asks(e)
			n.newest = question
			if n.focused {
				n.told, here = question, true
			}
		case "approval.settled":
			delete(n.waiting, question)
		}
	}
	n.mu.Unlock()
	n.touch()
	return here
}

func (n *notifier) touch() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// asks says what a question is about. Sites only: a full address may hold what
// is nobody's business on a lock screen.
func asks(e event.Event) string {
	var data struct {
		Origin string `json:"origin"`
	}
	who := string(e.Agent)
	if who == "" {
		who = "An agent"
	}
	if json.Unmarshal(e.Data, &data) != nil || data.Origin == "" {
		return who + " waits for your answer."
	}
	return fmt.Sprintf("%s wants to open %s.", who, data.Origin)
}

// wanted returns what should be on the screen instead of what is: a
// notification, nothing (with an empty title), or the same as before.
func (n *notifier) wanted() (title, body string, same bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.focused || len(n.waiting) == 0:
		return "", "", false
	case n.newest == n.told:
		return "", "", true
	case len(n.waiting) == 1:
		title = "A question waits in Chaperone"
	default:
		title = fmt.Sprintf("%d questions wait in Chaperone", len(n.waiting))
	}
	n.told = n.newest
	return title, n.waiting[n.newest], false
}

// run shows and takes back notifications until ctx ends. show is called when
// the person clicks one.
func (n *notifier) run(ctx context.Context, show func()) {
	bus, err := sessionBus()
	if err != nil {
		slog.Info("no notifications: there is no session bus", "reason", err)
		return
	}
	defer bus.Close()
	signals := make(chan *dbus.Signal, 16)
	bus.Signal(signals)
	if err := bus.AddMatchSignalContext(ctx, dbus.WithMatchInterface(notifyName)); err != nil {
		slog.Info("no notifications: the session bus does not answer", "reason", err)
		return
	}
	service := bus.Object(notifyName, notifyPath)
	var id uint32 // the notification on the screen, 0 for none
	for {
		select {
		case <-ctx.Done():
			withdraw(context.WithoutCancel(ctx), service, id)
			return
		case s, open := <-signals:
			if !open {
				slog.Info("no more notifications: the session bus has ended")
				return
			}
			if id != 0 && concerns(s, id) {
				if s.Name == notifyName+".ActionInvoked" {
					show()
				}
				id = 0
			}
		case <-n.changed:
			title, body, same := n.wanted()
			switch {
			case same:
			case title == "":
				withdraw(ctx, service, id)
				id = 0
			default:
				id = put(ctx, service, id, title, body)
			}
		}
	}
}

// put shows a notification in the place of the one with id, and returns its id, 0
// if it failed. The end of ctx does not cut it short.
func put(ctx context.Context, service dbus.BusObject, id uint32, title, body string) uint32 {
	// A call that is given up half-way may leave a notification that nobody takes back.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyWhile)
	defer cancel()
	hints := map[string]dbus.Variant{
		"urgency":       dbus.MakeVariant(byte(1)),
		"category":      dbus.MakeVariant("im.received"),
		"desktop-entry": dbus.MakeVariant("chaperone"),
	}
	call := service.CallWithContext(ctx, notifyName+".Notify", 0,
		"Chaperone", id, "chaperone", title, body, []string{"default", "Show the question"}, hints, int32(-1))
	var put uint32
	if err := call.Store(&put); err != nil {
		slog.Info("a notification could not be shown", "err", err)
		return 0
	}
	return put
}

// withdraw takes the notification with id from the screen, if there is one.
func withdraw(ctx context.Context, service dbus.BusObject, id uint32) {
	if id == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notifyWhile)
	defer cancel()
	_ = service.CallWithContext(ctx, notifyName+".CloseNotification", 0, id).Err // gone already is as good
}

// concerns reports whether s says that the notification with id was clicked or closed.
func concerns(s *dbus.Signal, id uint32) bool {
	if s.Name != notifyName+".ActionInvoked" && s.Name != notifyName+".NotificationClosed" || len(s.Body) == 0 {
		return false
	}
	got, ok := s.Body[0].(uint32)
	return ok && got == id
}

// sessionBus connects to the session bus that is there. The library would start
// one where there is none, and that one would outlive the program; so the
// address is looked up here and given.
func sessionBus() (*dbus.Conn, error) {
	address := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if address == "" || address == "autolaunch:" {
		runtimeDir := os.Getenv("XDG_RUNTIME_DIR")
		if runtimeDir == "" {
			return nil, fmt.Errorf("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
		}
		socket := filepath.Join(runtimeDir, "bus")
		conn, err := net.Dial("unix", socket)
		if err != nil {
			return nil, err
		}
		_ = conn.Close()
		address = "unix:path=" + socket
	}
	return dbus.Connect(address)
}
