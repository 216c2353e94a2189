package page

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/chromedp/cdproto/page"

	"chaperone/backend/fault"
)

// Bounds of a screenshot.
const (
	MaxPictureSide  = 2000
	MaxPictureBytes = 3_500_000
)

// ScreenshotOptions says what picture to take; the zero value is a PNG of the
// viewport within the bounds.
type ScreenshotOptions struct {
	Format   string  // png or jpeg
	Quality  int     // of a JPEG, 1 to 100; 0 means 80
	MaxSide  int     // pixels; 0 and more than MaxPictureSide mean MaxPictureSide
	MaxBytes int     // 0 and more than MaxPictureBytes mean MaxPictureBytes
	Scale    float64 // of the viewport, at most 1; 0 means 1
}

// A Picture is what a tab's viewport looked like.
type Picture struct {
	Data          []byte
	Width, Height int
	// Format is the one of the data: a PNG over the bound becomes a JPEG.
	Format string
}

// Screenshot takes a picture of the viewport, without the control sign and
// with password fields masked. It works while a navigation is held, unless a
// password shows.
func (p *Page) Screenshot(ctx context.Context, o ScreenshotOptions) (Picture, error) {
	o = o.bounded()
	rects, err := p.secrets(ctx)
	switch {
	case errors.Is(err, ErrInterrupted) && p.Dialog() == nil:
		// The page cannot be asked, so what could show a password is not shown.
		return Picture{}, err
	case err != nil:
		return Picture{}, asFault(err)
	}
	hide := p.signHidden(ctx, true)
	defer p.signHidden(ctx, false)
	if hide != nil && !errors.Is(hide, errLost) {
		return Picture{}, asFault(hide)
	}
	shot, err := p.capture(ctx, o)
	if err != nil {
		return Picture{}, asFault(err)
	}
	after, err := p.secrets(ctx)
	if err != nil {
		return Picture{}, asFault(err)
	}
	return o.fit(shot, append(rects, after...))
}

func (o ScreenshotOptions) bounded() ScreenshotOptions {
	if o.Format != "jpeg" {
		o.Format = "png"
	}
	if o.Quality < 1 || o.Quality > 100 {
		o.Quality = 80
	}
	if o.MaxSide <= 0 || o.MaxSide > MaxPictureSide {
		o.MaxSide = MaxPictureSide
	}
	if o.MaxBytes <= 0 || o.MaxBytes > MaxPictureBytes {
		o.MaxBytes = MaxPictureBytes
	}
	if o.Scale <= 0 || o.Scale > 1 {
		o.Scale = 1
	}
	return o
}

// capture is a shot as Chromium took it.
type capture struct {
	data          []byte
	width, height float64 // of the viewport, in CSS pixels
}

func (p *Page) capture(ctx context.Context, o ScreenshotOptions) (capture, error) {
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormat(o.Format), OptimizeForSpeed: new(true)}
	if o.Format == "jpeg" {
		params.Quality = new(int64(o.Quality))
	}
	metrics := p.top.Send(page.CommandGetLayoutMetrics, nil)
	shot := p.top.Send(page.CommandCaptureScreenshot, params)
	var m page.GetLayoutMetricsResult
	var s page.CaptureScreenshotResult
	if err := p.wait(ctx, metrics, &m); err != nil {
		return capture{}, err
	}
	if err := p.wait(ctx, shot, &s); refused(err) { // the document that was to be pictured is on its way out
		return capture{}, errLost
	} else if err != nil {
		return capture{}, err
	}
	c := capture{data: s.Data}
	if v := m.CSSLayoutViewport; v != nil {
		c.width, c.height = float64(v.ClientWidth), float64(v.ClientHeight)
	}
	return c, nil
}

// fit masks rects, given in CSS pixels, and brings a shot within the bounds.
func (o ScreenshotOptions) fit(c capture, rects [][4]float64) (Picture, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(c.data))
	if err != nil {
		return Picture{}, noPicture(err)
	}
	w, h := scaled(config.Width, config.Height, o)
	if len(rects) == 0 && w == config.Width && h == config.Height && len(c.data) <= o.MaxBytes {
		return Picture{Data: c.data, Width: w, Height: h, Format: format}, nil
	}
	decoded, _, err := image.Decode(bytes.NewReader(c.data))
	if err != nil {
		return Picture{}, noPicture(err)
	}
	img := image.NewRGBA(decoded.Bounds())
	draw.Draw(img, img.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	if c.width > 0 {
		ratio := float64(config.Width) / c.width
		for _, r := range rects {
			area := image.Rect(int(math.Floor(r[0]*ratio)), int(math.Floor(r[1]*ratio)),
				int(math.Ceil(r[2]*ratio)), int(math.Ceil(r[3]*ratio)))
			draw.Draw(img, area.Intersect(img.Bounds()), image.NewUniform(color.Gray{0x55}), image.Point{}, draw.Src)
		}
	}
	format = o.Format
	for {
		small := shrink(img, w, h)
		var b bytes.Buffer
		if format == "png" {
			err = png.Encode(&b, small)
		} else {
			err = jpeg.Encode(&b, small, &jpeg.Options{Quality: o.Quality})
		}
		switch {
		case err != nil:
			return Picture{}, noPicture(err)
		case b.Len() <= o.MaxBytes:
			return Picture{Data: b.Bytes(), Width: w, Height: h, Format: format}, nil
		case format == "png":
			format = "jpeg"
		case w < 64 || h < 64:
			return Picture{}, fault.New(fault.InvalidArguments, "no picture is that small").WithHint("Allow more bytes.")
		default:
			w, h = w*3/4, h*3/4
		}
	}
}

func noPicture(err error) error {
	return fault.New(fault.Internal, "the screenshot could not be read").Because(err)
}

func scaled(w, h int, o ScreenshotOptions) (int, int) {
	s := min(o.Scale, float64(o.MaxSide)/float64(max(w, h)))
	if s >= 1 {
		return w, h
	}
	return max(1, int(float64(w)*s)), max(1, int(float64(h)*s))
}

// shrink scales by the mean of the pixels that fall together.
func shrink(img *image.RGBA, w, h int) *image.RGBA {
	b := img.Bounds()
	if w >= b.Dx() && h >= b.Dy() {
		return img
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := y*b.Dy()/h, max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		for x := range w {
			x0, x1 := x*b.Dx()/w, max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			var sum [4]int
			for sy := y0; sy < y1; sy++ {
				row := img.Pix[sy*img.Stride+x0*4 : sy*img.Stride+x1*4]
				for i := 0; i < len(row); i += 4 {
					sum[0] += int(row[i])
					sum[1] += int(row[i+1])
					sum[2] += int(row[i+2])
					sum[3] += int(row[i+3])
				}
			}
			n := (y1 - y0) * (x1 - x0)
			at := out.PixOffset(x, y)
			for k := range sum {
				out.Pix[at+k] = uint8(sum[k] / n)
			}
		}
	}
	return out
}

// secrets gives the rectangles of password fields that show their text, in CSS
// pixels of the tab's viewport.
func (p *Page) secrets(ctx context.Context) ([][4]float64, error) {
	var all [][4]float64
	err := p.everywhere(ctx, func(ctx context.Context, w *world) error {
		var rects [][4]float64
		if err := p.run(ctx, w, "secrets", nil, &rects); err != nil || len(rects) == 0 {
			return err
		}
		for up := w; up.parent != nil; up = up.parent {
			var at struct {
				X float64 `json:"x"`
				Y float64 `json:"y"`
				S float64 `json:"s"`
			}
			if err := p.run(ctx, up.parent, "place", up.owner, &at); err != nil {
				return err
			}
			for i, r := range rects {
				rects[i] = [4]float64{at.X + r[0]*at.S, at.Y + r[1]*at.S, at.X + r[2]*at.S, at.Y + r[3]*at.S}
			}
		}
		all = append(all, rects...)
		return nil
	})
	if errors.Is(err, errLost) {
		err = nil
	}
	return all, err
}
