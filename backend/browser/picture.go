package browser

import (
	"context"
	"encoding/base64"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
)

// Screenshot is a picture of a tab.
type Screenshot struct {
	Data     string  `json:"data" jsonschema:"the picture, base64"`
	MimeType string  `json:"mimeType"`
	Width    int     `json:"width" jsonschema:"in pixels"`
	Height   int     `json:"height" jsonschema:"in pixels"`
	TabID    ids.Tab `json:"tabId"`
}

// Picture takes a picture of what c's tab shows.
func (s *Service) Picture(ctx context.Context, c *action.Call) (Screenshot, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Screenshot{}, err
	}
	if d := t.page.Dialog(); d != nil {
		return Screenshot{}, fault.New(fault.Busy, "the page has a dialog open (%s)", d.Type).
			WithHint("Answer it with handle_dialog first.").WithEffect(fault.EffectNone)
	}
	return t.picture(ctx, page.ScreenshotOptions{})
}

func (t *tab) picture(ctx context.Context, o page.ScreenshotOptions) (Screenshot, error) {
	rctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	p, err := t.page.Screenshot(rctx, o)
	if w := t.view().PendingApproval; err != nil && w != nil {
		return Screenshot{}, fault.New(fault.Busy, "the page cannot be pictured while a navigation to %s waits for the person", w.Origin).
			WithHint("wait returns when the person has decided.").WithEffect(fault.EffectNone)
	}
	if err != nil {
		return Screenshot{}, t.explain(ctx, t.mark(), err)
	}
	return Screenshot{Data: base64.StdEncoding.EncodeToString(p.Data), MimeType: "image/" + p.Format, Width: p.Width, Height: p.Height, TabID: t.id}, nil
}
