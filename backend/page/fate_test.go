package page

import (
	"errors"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
)

func TestRendererCrash(t *testing.T) {
	p := show(t, `<!doctype html><button>Go</button>`)
	i := ref(t, p.snap(t), "Go")
	stopped := p.Interrupted()
	p.top.Send(page.CommandCrash, nil)
	select {
	case <-stopped:
	case <-time.After(within):
		t.Fatal("the crash was not noticed")
	}
	start := time.Now()
	if _, err := p.Snapshot(deadline(t), SnapshotOptions{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("a snapshot: %v", err)
	}
	if _, err := p.Click(deadline(t), Target{Index: i}, ClickOptions{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("a click: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
	p.top.Send(page.CommandReload, page.ReloadParams{})
	until(t, "the page to come back", func() bool { _, err := p.Snapshot(deadline(t), SnapshotOptions{}); return err == nil })
	r, err := p.Click(deadline(t), Target{Index: i}, ClickOptions{})
	refuses(t, r, err, "its document is gone")
	p.click(t, Target{Index: ref(t, p.snap(t), "Go")})
}

// The agent's window may be minimised and its tab in the background.
func TestOutOfSight(t *testing.T) {
	p := show(t, `<!doctype html><button onclick="this.textContent='Gone'">Go</button><input aria-label=F>`)
	w, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	own, err := chrome.Do(deadline(t), w.browser.Root(), browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: p.target})
	if err != nil {
		t.Fatal(err)
	}
	out := func(state browser.WindowState) {
		t.Helper()
		if _, err := chrome.Do(deadline(t), w.browser.Root(), browser.SetWindowBounds, browser.SetWindowBoundsParams{
			WindowID: own.WindowID, Bounds: &browser.Bounds{WindowState: state},
		}); err != nil {
			t.Fatal(err)
		}
	}
	out(browser.WindowStateMinimized)
	p.click(t, Target{Index: ref(t, p.snap(t), "Go")})
	if r, err := p.InputText(deadline(t), Target{Name: "F"}, "typed"); err != nil || !r.Success {
		t.Error(r, err)
	}
	s := p.snap(t)
	ref(t, s, "Gone")
	ref(t, s, "value=typed")
	if pic := p.shot(t); pic.Width < 100 {
		t.Errorf("the picture is %d wide", pic.Width)
	}
	out(browser.WindowStateNormal)
}

func TestLeavingIsAsked(t *testing.T) {
	p := show(t, `<!doctype html><button onclick="0">Touch</button><a href="/?other">Away</a><script>onbeforeunload=e=>e.preventDefault()</script>`)
	s := p.snap(t)
	p.click(t, Target{Index: ref(t, s, "Touch")})
	p.click(t, Target{Index: ref(t, s, "Away")})
	until(t, "the question", func() bool { return p.Dialog() != nil })
	if d := p.Dialog(); d.Type != "beforeunload" {
		t.Errorf("the dialog is %+v", d)
	}
	if err := p.HandleDialog(deadline(t), false, nil); err != nil {
		t.Fatal(err)
	}
	ref(t, p.snap(t), "Away")
}

func TestClosedTab(t *testing.T) {
	p := show(t, `<!doctype html><button>Go</button>`)
	ended := make(chan error, 1)
	go func() {
		_, err := p.WaitFor(deadline(t), "never", "")
		ended <- err
	}()
	p.Close()
	select {
	case err := <-ended:
		if !fault.Is(err, fault.BrowserGone) {
			t.Errorf("the waiting call: %v", err)
		}
	case <-time.After(within):
		t.Fatal("the waiting call goes on")
	}
	if _, err := p.Click(deadline(t), Target{Target: "button"}, ClickOptions{}); !fault.Is(err, fault.BrowserGone) {
		t.Errorf("a click: %v", err)
	}
}
