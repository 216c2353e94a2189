package event_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"chaperone/backend/event"
)

func TestFilter(t *testing.T) {
	e := event.Event{Category: "browser.tab.opened", Subject: "sess_1", Agent: "bob"}
	for _, c := range []struct {
		f    event.Filter
		want bool
	}{
		{event.Filter{}, true},
		{event.Filter{Prefix: "browser"}, true},
		{event.Filter{Prefix: "browser."}, true},
		{event.Filter{Prefix: "browser.tab.opened"}, true},
		{event.Filter{Prefix: "brow"}, false},
		{event.Filter{Prefix: "browser.tab.opened.x"}, false},
		{event.Filter{Subject: "sess_1", Agent: "bob"}, true},
		{event.Filter{Subject: "sess_2"}, false},
		{event.Filter{Agent: "eve"}, false},
	} {
		if got := c.f.Match(e); got != c.want {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

func TestBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bus event.Bus
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan int64, 3)
		for range 3 {
			go func() {
				seq, err := bus.Wait(ctx, 5)
				if err != nil {
					seq = -1
				}
				got <- seq
			}()
		}
		synctest.Wait()
		bus.Ring(5) // not above what they know
		synctest.Wait()
		if len(got) != 0 {
			t.Fatal("woken without news")
		}
		bus.Ring(9)
		bus.Ring(7) // an older word changes nothing
		for range 3 {
			if seq := <-got; seq != 9 {
				t.Errorf("woken with %d, want 9", seq)
			}
		}
		if seq, err := bus.Wait(ctx, 8); seq != 9 || err != nil {
			t.Errorf("Wait for what is known already: %d, %v", seq, err)
		}
		cancel()
		if _, err := bus.Wait(ctx, 9); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
}
