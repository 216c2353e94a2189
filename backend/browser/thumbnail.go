package browser

import (
	"context"
	"encoding/base64"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/ids"

	cdppage "github.com/chromedp/cdproto/page"
)

// thumbnailWidth is the width of a thumbnail, in pixels.
const thumbnailWidth = 480

// Thumbnail is a small picture of a tab, for the person.
type Thumbnail struct {
	Image string    `json:"image" jsonschema:"JPEG, base64"`
	TabID ids.Tab   `json:"tabId"`
	At    time.Time `json:"at"`
}

// Thumbnail takes a small picture of a tab of session, of the selected one when
// tab is 0. A tab whose page cannot answer now has none: fault.Busy.
func (s *Service) Thumbnail(ctx context.Context, session ids.Session, id ids.Tab) (Thumbnail, error) {
	w, err := s.bySession(session)
	if err != nil {
		return Thumbnail{}, err
	}
	w.mu.Lock()
	l := w.life
	w.mu.Unlock()
	if l == nil {
		return Thumbnail{}, fault.New(fault.NotFound, "the window is not open")
	}
	if id == 0 {
		id = l.selectedTab()
	}
	l.mu.Lock()
	t := l.tabs[id]
	l.mu.Unlock()
	if t == nil {
		return Thumbnail{}, fault.New(fault.NotFound, "there is no tab %d", id)
	}
	t.mu.Lock()
	busy := t.crashed
	t.mu.Unlock()
	if busy || t.page.Dialog() != nil {
		return Thumbnail{}, fault.New(fault.Busy, "the page cannot be pictured now")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var metrics cdppage.GetLayoutMetricsResult
	var shot cdppage.CaptureScreenshotResult
	if !t.isHeld() {
		if err := t.session.Call(ctx, "Page.getLayoutMetrics", nil, &metrics); err != nil {
			return Thumbnail{}, gone(err)
		}
	}
	params := cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatJpeg, Quality: new(int64(60)), OptimizeForSpeed: new(true)}
	if v := metrics.CSSVisualViewport; v != nil && v.ClientWidth > 0 {
		params.Clip = &cdppage.Viewport{X: v.PageX, Y: v.PageY, Width: v.ClientWidth, Height: v.ClientHeight,
			Scale: min(1, thumbnailWidth/v.ClientWidth)}
	}
	if err := t.session.Call(ctx, "Page.captureScreenshot", params, &shot); err != nil {
		return Thumbnail{}, gone(err)
	}
	return Thumbnail{Image: base64.StdEncoding.EncodeToString(shot.Data), TabID: id, At: s.o.Now()}, nil
}
