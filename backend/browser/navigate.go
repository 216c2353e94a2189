package browser

import (
	"context"
	"strings"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/page"
	"chaperone/backend/policy"

	cdppage "github.com/chromedp/cdproto/page"
)

// Navigate opens url in c's tab.
func (s *Service) Navigate(ctx context.Context, c *action.Call, url string, capture Capture) (Outcome, error) {
	h := capture.after()
	h.budget, h.load = fullBudget, true
	return s.act(ctx, c, h, func(ctx context.Context, t *tab) (page.Report, error) { return t.navigate(ctx, url) })
}

func (t *tab) navigate(ctx context.Context, url string) (page.Report, error) {
	var ret cdppage.NavigateResult
	before := t.mark().commits
	report, err := t.proceed(ctx, expectation{policy.KindDirect, url}, true, func(ctx context.Context) error {
		return t.session.Call(ctx, "Page.navigate", cdppage.NavigateParams{URL: url}, &ret)
	})
	if err != nil || !report.Success {
		return report, err
	}
	switch {
	case ret.ErrorText == "" && !t.shown(ctx, before):
		return page.Report{Message: "The page that is there does not let go of the tab; close_tab ends a page that hangs."}, nil
	case ret.ErrorText == "":
		return page.Report{Success: true, Message: "Opened " + clip(url) + "."}, nil
	case ret.IsDownload || ret.ErrorText == "net::ERR_ABORTED":
		return page.Report{Message: "The address did not answer with a page (a download or an empty answer); the page stays."}, nil
	}
	return page.Report{Message: "The page could not be opened: " + inWords(ret.ErrorText) + "."}, nil
}

// commitTime bounds the wait for a page that is ready to be shown to be shown; it
// takes milliseconds unless the page before it hangs.
const commitTime = 5 * time.Second

// shown waits until the tab shows another document than at the given count.
// Chromium answers a navigation when it is ready to be shown, and a page that
// hangs can keep it from that.
func (t *tab) shown(ctx context.Context, commits int) bool {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	for {
		t.mu.Lock()
		done, changed := t.commits > commits, t.watch()
		t.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-t.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// proceed runs a navigation command and waits until something was committed or
// refused. answers says that the command itself answers only then.
func (t *tab) proceed(ctx context.Context, e expectation, answers bool, command func(context.Context) error) (page.Report, error) {
	t.mu.Lock()
	t.expect = &e
	denied, commits := t.denied.n, t.commits
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		if t.expect == &e { // left over, it would lend its kind to what the page does next
			t.expect = nil
		}
		t.mu.Unlock()
	}()
	cctx, cancel := context.WithCancel(ctx)
	answer := make(chan error, 1)
	go func() { answer <- command(cctx) }()
	defer func() {
		cancel()
		if answer != nil {
			<-answer
		}
	}()
	limit := time.NewTimer(loadTime)
	defer limit.Stop()
	late := limit.C
	if answers {
		late = nil // the command's answer or the call's own time is the bound
	}
	for {
		t.mu.Lock()
		changed, r, committed := t.watch(), t.denied, t.commits > commits
		t.mu.Unlock()
		switch d := t.page.Dialog(); {
		case r.n > denied:
			return page.Report{}, r.err
		case d != nil && d.Type == "beforeunload":
			return page.Report{Message: "The page asks whether it may be left (beforeunload). Answer with handle_dialog: accept leaves it."}, nil
		case committed && !answers:
			return page.Report{Success: true}, nil
		}
		select {
		case err := <-answer:
			answer = nil
			if err != nil && ctx.Err() != nil {
				return page.Report{}, t.takeBack(context.Cause(ctx))
			}
			if err != nil {
				return page.Report{}, err
			}
			if answers {
				t.mu.Lock()
				r := t.denied
				t.mu.Unlock()
				if r.n > denied {
					return page.Report{}, r.err
				}
				return page.Report{Success: true}, nil
			}
		case <-changed:
		case <-t.ended:
			return page.Report{}, errTabGone
		case <-late:
			if t.isHeld() { // the person's time does not count
				limit.Reset(loadTime)
				continue
			}
			return page.Report{Message: "The page did not change."}, nil
		case <-ctx.Done():
			return page.Report{}, t.takeBack(context.Cause(ctx))
		}
	}
}

// takeBack withdraws the question that a call's own navigation waits for, when
// the call has ended with err: nobody wants the answer any more.
func (t *tab) takeBack(err error) error {
	t.mu.Lock()
	h := t.held
	t.mu.Unlock()
	if h == nil {
		return err
	}
	h.withdraw(fault.New(fault.Cancelled, "the call that wanted it has ended"))
	<-h.over // it ends by itself now; what comes next must not meet its refusal
	return fault.From(err).WithEffect(fault.EffectNone)
}

// Back and Forward go through the tab's history; by is -1 or 1.
func (s *Service) History(ctx context.Context, c *action.Call, by int, capture Capture) (Outcome, error) {
	h := capture.after()
	h.budget, h.load = fullBudget, true
	return s.act(ctx, c, h, func(ctx context.Context, t *tab) (page.Report, error) {
		var hist cdppage.GetNavigationHistoryResult
		if err := t.session.Call(ctx, "Page.getNavigationHistory", nil, &hist); err != nil {
			return page.Report{}, err
		}
		at := int(hist.CurrentIndex) + by
		if at < 0 || at >= len(hist.Entries) {
			return page.Report{Message: "There is no further page in that direction."}, nil
		}
		entry := hist.Entries[at]
		if policy.OriginOf(entry.URL) != "" {
			if err := t.veto(entry.URL); err != nil {
				return page.Report{}, err
			}
		}
		report, err := t.proceed(ctx, expectation{policy.KindHistory, entry.URL}, false, func(ctx context.Context) error {
			return t.session.Call(ctx, "Page.navigateToHistoryEntry", cdppage.NavigateToHistoryEntryParams{EntryID: entry.ID}, nil)
		})
		if err == nil && report.Success {
			report.Message = "Went to " + clip(entry.URL) + "."
		}
		return report, err
	})
}

// Reload loads the page of c's tab again.
func (s *Service) Reload(ctx context.Context, c *action.Call, capture Capture) (Outcome, error) {
	h := capture.after()
	h.budget, h.load = fullBudget, true
	return s.act(ctx, c, h, func(ctx context.Context, t *tab) (page.Report, error) {
		t.mu.Lock()
		u := t.url
		t.mu.Unlock()
		if policy.OriginOf(u) != "" {
			if err := t.veto(u); err != nil {
				return page.Report{}, err
			}
		}
		report, err := t.proceed(ctx, expectation{policy.KindHistory, u}, false, func(ctx context.Context) error {
			return t.session.Call(ctx, "Page.reload", cdppage.ReloadParams{}, nil)
		})
		if err == nil && report.Success {
			report.Message = "Reloaded."
		}
		return report, err
	})
}

// veto refuses what a rule blocks before Chromium is asked at all.
func (t *tab) veto(u string) error {
	d := t.l.w.s.o.Gate.Decide(policy.Navigation{Kind: policy.KindHistory, To: u})
	if d.Access != policy.Block {
		return nil
	}
	return fault.New(fault.BrowserPolicyDenied, "%s was not opened: %s", d.Origin, d.Reason).WithEffect(fault.EffectNone)
}

// clip bounds an address that is repeated in a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

// inWords says what a network error of Chromium means.
func inWords(code string) string {
	switch code {
	case "net::ERR_CONNECTION_REFUSED":
		return "nothing answers at that address (connection refused)"
	case "net::ERR_NAME_NOT_RESOLVED":
		return "the host name is not known"
	case "net::ERR_INTERNET_DISCONNECTED":
		return "there is no network"
	case "net::ERR_CONNECTION_TIMED_OUT", "net::ERR_TIMED_OUT":
		return "it did not answer in time"
	case "net::ERR_TOO_MANY_REDIRECTS":
		return "it redirects without end"
	}
	if strings.HasPrefix(code, "net::ERR_CERT_") || strings.HasPrefix(code, "net::ERR_SSL") {
		return "its certificate is not trusted (" + code + ")"
	}
	return code
}
