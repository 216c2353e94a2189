package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os/exec"
)

// picture is what a window looks like on the screen.
type picture struct {
	image.Image
	png []byte
}

// look takes a picture of one X window.
func look(ctx context.Context, window string) (picture, error) {
	out, err := exec.CommandContext(ctx, "import", "-silent", "-window", window, "png:-").Output()
	if err != nil {
		return picture{}, fmt.Errorf("no picture of the window %s: %w", window, errors.Join(err, stderrOf(err)))
	}
	shown, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		return picture{}, fmt.Errorf("no picture of the window %s: %w", window, err)
	}
	return picture{shown, out}, nil
}

// blank reports whether there is nothing to see: one colour, give or take half a per cent.
func (p picture) blank() bool {
	count := map[[3]uint8]int{}
	total := 0
	for c := range colours(p) {
		count[[3]uint8{c[0] >> 3, c[1] >> 3, c[2] >> 3}]++
		total++
	}
	for _, n := range count {
		if n*1000 >= total*995 {
			return true
		}
	}
	return total == 0
}

// differs is the share of pixels, 0 to 1, that are visibly unlike those of another picture; 1 for one of another size.
func (p picture) differs(other picture) float64 {
	if p.Image == nil || other.Image == nil || p.Bounds().Size() != other.Bounds().Size() {
		return 1
	}
	const visible = 6 // of 255, in one channel: below it is rendering noise
	var before [][3]uint8
	for c := range colours(other) {
		before = append(before, c)
	}
	i, changed := 0, 0
	for c := range colours(p) {
		for channel, v := range c {
			if max(v, before[i][channel])-min(v, before[i][channel]) > visible {
				changed++
				break
			}
		}
		i++
	}
	return float64(changed) / float64(max(i, 1))
}

// colours goes over every second pixel of every second row: enough to judge by, in a quarter of the time.
func colours(p image.Image) func(func([3]uint8) bool) {
	return func(yield func([3]uint8) bool) {
		b := p.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y += 2 {
			for x := b.Min.X; x < b.Max.X; x += 2 {
				r, g, blue, _ := p.At(x, y).RGBA()
				if !yield([3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(blue >> 8)}) {
					return
				}
			}
		}
	}
}

// stderrOf is what a command said before it failed.
func stderrOf(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return errors.New(string(bytes.TrimSpace(exit.Stderr)))
	}
	return nil
}
