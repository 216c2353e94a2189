package host

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestAnIdleHostEndsWhenItsLastAgentHasGone(t *testing.T) {
	home, err := os.MkdirTemp("", "idle") // shorter than t.TempDir: a socket goes into it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	const idle = 50 * time.Millisecond
	h, err := New(Options{Version: "test", Kind: Serve, Home: home, Idle: idle})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-ended:
		t.Fatal(err)
	}
	ann, err := h.whole.Load().agents.Connect(ctx, "ann")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the host ended while an agent was connected: %v", err)
	case <-time.After(5 * idle):
	}
	ann.Leave(ctx)
	if err := <-ended; err != nil {
		t.Errorf("the host ended with %v, want no error", err)
	}
	if ctx.Err() != nil {
		t.Error("the host did not end by itself")
	}
}
