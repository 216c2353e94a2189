package main

import (
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"chaperone/backend/event"
)

func TestCutAndThousands(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"über alles", 5, "über…"},
		{"one\nlonger", 5, "one\nlong…"},
		{"", 5, ""},
	} {
		if got := cut(c.in, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123",
	} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTalkCountsWhatItLeavesOut(t *testing.T) {
	var out strings.Builder
	var o outcome
	o.State.URL, o.State.Title = "http://shop.localhost/", "Shop"
	o.State.Content = strings.Repeat("[1]<link>x</link>\n", 20)
	talk := newTalk(&out)
	talk.got(answer{ID: 3, OK: true, took: 1234 * time.Millisecond, bytes: 5678}, o)
	for _, want := range []string{
		`"id":3`, "1,234 ms", "5,678 bytes", "Shop · http://shop.localhost/", "… and 11 more lines",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	before := out.Len()
	talk.got(answer{ID: 4, OK: true}, o)
	if again := out.String()[before:]; !strings.Contains(again, "as before") || strings.Contains(again, "<link>") {
		t.Errorf("the same page was printed again:\n%s", again)
	}
}

func TestRef(t *testing.T) {
	s := state{Content: "Things [3]<not a ref\n[1]<link>Copper Kettle</link>\n  [12]<button>Save Copper Kettle</button>\n"}
	if n, err := s.ref("<button", "Copper Kettle"); n != 12 || err != nil {
		t.Errorf("ref = %d, %v; want 12", n, err)
	}
	if n, err := s.ref("Teapot"); err == nil {
		t.Errorf("ref of what is not there = %d", n)
	}
}

func TestQuestionsAreKeptFromAskedToSettled(t *testing.T) {
	var out strings.Builder
	a := newAgent(nil, newTalk(&out), nil, nil)
	q := a.note(event.Event{Category: "approval.asked", Subject: "q1",
		Data: []byte(`{"origin":"http://pay.localhost:1","via":"page"}`)})
	if q == nil || q.what != "http://pay.localhost:1 (page)" || !a.open() {
		t.Fatalf("question %+v, open %v", q, a.open())
	}
	settled := event.Event{Category: "approval.settled", Subject: "q1",
		Data: []byte(`{"answer":"allow_once","allowed":true}`)}
	a.note(settled)
	a.note(settled) // told twice is settled once
	<-q.settled
	if q.answer != "allow_once" || !q.allowed || a.open() {
		t.Errorf("question %+v, open %v", q, a.open())
	}
}

// plain is a picture of one colour with a square of another in it.
func plain(side, square int) picture {
	p := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			p.Set(x, y, color.White)
			if x < square && y < square {
				p.Set(x, y, color.Black)
			}
		}
	}
	return picture{Image: p}
}

func TestPictures(t *testing.T) {
	for square, blank := range map[int]bool{0: true, 4: true, 20: false, 100: true} {
		if got := plain(100, square).blank(); got != blank {
			t.Errorf("a square of %d: blank %v, want %v", square, got, blank)
		}
	}
	if d := plain(100, 0).differs(plain(100, 50)); d != 0.25 {
		t.Errorf("a quarter differs by %v", d)
	}
	if d := plain(100, 9).differs(plain(100, 9)); d != 0 {
		t.Errorf("the same picture differs by %v", d)
	}
	if d := plain(100, 0).differs(plain(90, 0)); d != 1 {
		t.Errorf("another size differs by %v", d)
	}
}
