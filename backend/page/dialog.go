package page

import (
	"context"

	"github.com/chromedp/cdproto/page"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
)

// A Dialog is a question of the page that stops it until it is answered.
type Dialog struct {
	Type          string `json:"type"` // alert, confirm, prompt or beforeunload
	Message       string `json:"message"`
	DefaultPrompt string `json:"defaultPrompt,omitempty"`
	URL           string `json:"url"` // of the frame that asks
}

// maxDialogText bounds a dialog's message, in characters.
const maxDialogText = 2000

// Dialog returns the open dialog, nil when there is none.
func (p *Page) Dialog() *Dialog {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialog
}

func (p *Page) dialogOpened(s *chrome.Session, e page.EventJavascriptDialogOpening) {
	d := &Dialog{
		Type:          string(e.Type),
		Message:       clip(clean(e.Message), maxDialogText),
		DefaultPrompt: clip(clean(e.DefaultPrompt), maxDialogText),
		URL:           e.URL,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialog, p.dialogOn = d, s
	p.interrupt()
}

func (p *Page) dialogClosed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialog, p.dialogOn = nil, nil
	p.interrupt()
}

// HandleDialog answers the open dialog; promptText is for a prompt that is
// accepted. It fails with NOT_FOUND when no dialog is open.
func (p *Page) HandleDialog(ctx context.Context, accept bool, promptText *string) error {
	p.mu.Lock()
	s, open := p.dialogOn, p.dialog
	p.mu.Unlock()
	if open == nil {
		return noDialog()
	}
	params := page.HandleJavaScriptDialogParams{Accept: accept, PromptText: open.DefaultPrompt}
	if promptText != nil {
		params.PromptText = *promptText
	}
	r := s.Send(page.CommandHandleJavaScriptDialog, params)
	if err := r.Wait(ctx, nil); err != nil {
		if refused(err) {
			return noDialog()
		}
		return fault.From(err)
	}
	// The closing event may come after the answer; a second dialog after that.
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialog == open {
		p.dialog, p.dialogOn = nil, nil
		p.interrupt()
	}
	return nil
}

func noDialog() error {
	return fault.New(fault.NotFound, "no dialog is open").WithHint("Read the state of the page.")
}
