package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"chaperone/backend/bench/bare"
	"chaperone/backend/host"
)

// quiet is how long a page must not change to count as settled: the product's own rule, kept by both.
const quiet = 34 * time.Millisecond

// The two that are compared, on the same pages.
type pair struct {
	site  *site
	bare  *bare.Browser
	agent *client
}

// browsing measures what an agent does with a page.
func browsing(ctx context.Context, r *report, chromium, dir string) (err error) {
	var p pair
	if p.site, err = newSite(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.site.Close()) }()
	if p.bare, err = bare.Launch(ctx, chromium, filepath.Join(dir, "bare")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.bare.Close()) }()
	if r.Chromium, err = p.bare.Version(ctx); err != nil {
		return err
	}
	h, end, err := runHost(filepath.Join(dir, "host"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	allow := fmt.Sprintf(`{"id":1,"method":"set_site","args":{"origin":%q,"access":"allow"}}`, p.site.origin)
	if answer := string(h.People().Send(ctx, []byte(allow))); !strings.Contains(answer, `"ok":true`) {
		return fmt.Errorf("the site could not be allowed: %s", answer)
	}
	if p.agent, err = dial(ctx, h.Paths().Socket); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.agent.Close()) }()
	if err := p.agent.call(ctx, "hello", map[string]any{"agent": "bench"}, nil); err != nil {
		return err
	}
	for _, measure := range []func(context.Context, *report) error{p.click, p.snapshots, p.loads} {
		if err := measure(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// runHost runs a whole host in this process.
func runHost(home string) (_ *host.Host, end func() error, _ error) {
	h, err := host.New(host.Options{Version: "bench", Home: home, Kind: host.Serve})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case <-h.Ready():
		return h, func() error { cancel(); return <-ended }, nil
	case err := <-ended:
		cancel()
		return nil, nil, errors.Join(errors.New("the host did not start"), err)
	}
}

// open brings both to a page and reads it once.
func (p pair) open(ctx context.Context, path string) (bareText, content string, err error) {
	if err := p.bare.Navigate(ctx, p.site.origin+path); err != nil {
		return "", "", err
	}
	if err := p.bare.Inject(ctx); err != nil {
		return "", "", err
	}
	if err := p.bare.Loaded(ctx); err != nil {
		return "", "", err
	}
	if bareText, err = p.bare.Walk(ctx); err != nil {
		return "", "", err
	}
	if _, err := p.agent.act(ctx, "navigate", map[string]any{"url": p.site.origin + path, "captureState": false}); err != nil {
		return "", "", fmt.Errorf("%s: %w", path, err)
	}
	var o outcome
	for range 3 { // the first layout of the largest page may outlast one read
		if o, err = p.agent.act(ctx, "get_browser_state", map[string]any{}); err == nil {
			break
		}
	}
	return bareText, o.State.Content, err
}

// click measures a press that changes one row, with the state that comes back.
func (p pair) click(ctx context.Context, r *report) error {
	bareText, content, err := p.open(ctx, "/row")
	if err != nil {
		return err
	}
	bareRef, err := buttonIn(bareText)
	if err != nil {
		return err
	}
	ref, err := buttonIn(content)
	if err != nil {
		return err
	}
	var bareTimes, ourTimes int
	var characters [2]int
	s, err := rounds(30, func() (time.Duration, error) {
		bareTimes++
		return timed(func() error {
			text, err := p.bare.Click(ctx, bareRef, quiet)
			characters[0] = len(text)
			return errors.Join(err, changed(text, bareTimes))
		})
	}, func() (time.Duration, error) {
		ourTimes++
		return timed(func() error {
			o, err := p.agent.act(ctx, "click_element", map[string]any{"index": ref})
			characters[1] = len(o.State.Content)
			return errors.Join(err, changed(o.State.Content, ourTimes))
		})
	})
	if err != nil {
		return err
	}
	r.compare("Click, and the state that comes back; one row of 200 changes", s[0], s[1], 2.5, note(characters))
	return nil
}

var button = regexp.MustCompile(`\[(\d+)\]<button>` + changeButton + `</button>`)

func buttonIn(text string) (int, error) {
	m := button.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("the button is not in what was read")
	}
	return strconv.Atoi(m[1])
}

// changed makes sure that a state is the one after the press.
func changed(text string, times int) error {
	if want := fmt.Sprintf("changed %d", times); !strings.Contains(text, want) {
		return fmt.Errorf("the state does not say %q", want)
	}
	return nil
}

func note(characters [2]int) string {
	return fmt.Sprintf("answers of %d and %d characters", characters[0], characters[1])
}

// snapshots measures reading pages of growing size.
func (p pair) snapshots(ctx context.Context, r *report) error {
	for _, n := range sizes {
		if _, _, err := p.open(ctx, fmt.Sprintf("/elements/%d", n)); err != nil {
			return err
		}
		times, goal := 25, 0.0
		switch n {
		case 1_000:
			goal = 2.5
		case 10_000:
			times = 9
		case 50_000:
			times = 5
		}
		var characters [2]int
		s, err := rounds(times, func() (time.Duration, error) {
			return timed(func() error {
				text, err := p.bare.Walk(ctx)
				characters[0] = len(text)
				return err
			})
		}, func() (time.Duration, error) {
			return timed(func() error {
				o, err := p.agent.act(ctx, "get_browser_state", map[string]any{})
				characters[1] = len(o.State.Content)
				return err
			})
		})
		if err != nil {
			return err
		}
		r.compare(fmt.Sprintf("State of a page of %s elements", thousands(n)), s[0], s[1], goal, note(characters))
	}
	return nil
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// loads measures page loads: by a bare client, by a bare client that has
// Chromium hold each document and lets it go at once, and by the product, whose
// gate decides each document.
func (p pair) loads(ctx context.Context, r *report) error {
	var whole [3]sample
	run := 0
	one := func(whole *sample, navigate func(url string) error) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			run++
			url, wait := p.site.expect(strconv.Itoa(run))
			begun := time.Now()
			if err := navigate(url); err != nil {
				return 0, err
			}
			l, err := wait(ctx)
			if err != nil {
				return 0, err
			}
			whole.add(l.at.Sub(begun))
			return l.took, nil
		}
	}
	gated := one(&whole[1], func(url string) error { return p.bare.Navigate(ctx, url) })
	s, err := rounds(40,
		one(&whole[0], func(url string) error { return p.bare.Navigate(ctx, url) }),
		func() (took time.Duration, err error) {
			if err := p.bare.Intercept(ctx, true); err != nil {
				return 0, err
			}
			took, err = gated()
			return took, errors.Join(err, p.bare.Intercept(ctx, false))
		},
		one(&whole[2], func(url string) error {
			_, err := p.agent.act(ctx, "navigate", map[string]any{"url": url, "captureState": false})
			return err
		}))
	if err != nil {
		return err
	}
	r.compare("Page load, navigation start to load event, with the gate (site allowed)", s[0], s[2], 1.10, "as the browser counts it")
	r.compare("The same, of the bare client that lets each document go at once", s[0], s[1], 0, "Chromium's own share")
	r.compare("Page load, command to the page's report of its load", whole[0], whole[2], 0, "with the account and the line")
	return nil
}
