package page

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// until waits for a condition that the page comes to by itself.
func until(t testing.TB, what string, true func() bool) {
	t.Helper()
	ctx := deadline(t)
	for !true() {
		if ctx.Err() != nil {
			t.Fatal("waited in vain: " + what)
		}
		pause := time.NewTimer(10 * time.Millisecond)
		<-pause.C
	}
}

// inWorld runs an expression where the sign lives.
func (p *Page) inWorld(t testing.TB, function string) string {
	t.Helper()
	w, err := p.topWorld(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.function(deadline(t), w, function, true)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := json.Unmarshal(r.Value, &text); err != nil {
		return string(r.Value)
	}
	return text
}

const signText = `function(){return globalThis.__chaperone.sign.text()}`

func TestSignIsOutsideOfThePage(t *testing.T) {
	for name, body := range map[string]string{
		"flex":     `<body style="display:flex;gap:10px;margin:0;height:100vh"><p>One</p><p>Two</p>`,
		"grid":     `<body style="display:grid;grid-template-columns:1fr 1fr;margin:0"><p>One</p><p>Two</p>`,
		"ordinary": `<body><style>body>p:first-of-type{color:red}</style><p>One</p>text<p>Two</p>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := show(t, `<!doctype html>`+body)
			const layout = `JSON.stringify([document.querySelectorAll('*').length, document.body.innerText, document.body.textContent, document.body.innerHTML,
				document.documentElement.outerHTML.length, document.body.children.length, document.body.shadowRoot, document.scrollingElement.scrollHeight,
				...[...document.querySelectorAll('p')].map(e=>{const r=e.getBoundingClientRect();return [r.x,r.y,r.width,r.height]})])`
			before, snap, shot := p.eval(t, layout), p.snap(t).Content, p.shot(t)
			p.SetSign(Sign{Agent: "ann", Doing: "reading"})
			until(t, "the sign", func() bool { return strings.Contains(p.inWorld(t, signText), "ann · reading") })
			if after := p.eval(t, layout); after != before {
				t.Errorf("the page sees it:\n%s\n%s", before, after)
			}
			if after := p.snap(t).Content; after != snap {
				t.Errorf("the snapshot shows it:\n%s", after)
			}
			if !bytes.Equal(p.shot(t).Data, shot.Data) {
				t.Error("the screenshot shows it")
			}
			if got := p.eval(t, `document.elementsFromPoint(innerWidth-30, 20).filter(e=>!['HTML','BODY','P'].includes(e.tagName)).length`); got != "0" {
				t.Errorf("%s elements of it are found at its place", got)
			}
			if got := p.inWorld(t, `function(){return globalThis.__chaperone.sign.text()}`); !strings.Contains(got, "ann") {
				t.Errorf("the sign did not come back: %s", got)
			}
		})
	}
}

func TestSignIsNoTextOfThePage(t *testing.T) {
	p := show(t, `<!doctype html><body><p>One</p>`)
	p.SetSign(Sign{Agent: "ann", Doing: "reading"})
	until(t, "the sign", func() bool { return strings.Contains(p.inWorld(t, signText), "ann · reading") })
	// That a word of the page's own is found shows that this is how a page would look.
	if got := p.eval(t, `['One', 'ann', 'reading', 'Pause'].map(s => find(s)).join()`); got != "true,false,false,false" {
		t.Errorf("found: %s", got)
	}
	if got := strings.TrimSpace(p.eval(t, `document.execCommand('selectAll'),getSelection().toString()`)); got != "One" {
		t.Errorf("selected: %q", got)
	}
}

func TestSignStaysAbovePopovers(t *testing.T) {
	p := show(t, `<!doctype html><body><p id=p popover=manual style="inset:0;width:100vw;height:100vh">Cover</p>
		<script>for (const on of [window, document]) on.addEventListener('toggle', e => e.stopImmediatePropagation(), true)</script>`)
	p.SetSign(Sign{Agent: "ann", Doing: "reading"})
	until(t, "the sign", func() bool { return strings.Contains(p.inWorld(t, signText), "ann · reading") })
	p.eval(t, `p.showPopover()`)
	until(t, "the sign above the cover", func() bool { return p.eval(t, `document.elementFromPoint(innerWidth-60,24).localName`) == "body" })
}

func TestSignFollows(t *testing.T) {
	p := show(t, `<!doctype html><body>One<dialog id=d>Modal</dialog>`)
	p.SetSign(Sign{Agent: "ann", Doing: "typing"})
	shows := func(words string) func() bool {
		return func() bool { return strings.Contains(p.inWorld(t, signText), words) }
	}
	until(t, "the sign", shows("ann · typing"))
	p.eval(t, `document.body=document.createElement('body')`)
	until(t, "the sign on a new body", shows("ann · typing"))
	p.goTo(t, p.eval(t, "location.href")+"?next")
	until(t, "the sign in a new document", shows("ann · typing"))
	p.SetSign(Sign{Agent: "ann", State: "paused"})
	until(t, "the paused sign", shows("ann · paused"))
	p.SetSign(Sign{})
	until(t, "no sign", func() bool { return p.inWorld(t, signText) == "" })
}

func TestSignAnswersThePersonOnly(t *testing.T) {
	p := show(t, `<!doctype html><body style="margin:0"><button style="position:fixed;right:0;top:0;width:400px;height:60px" onclick="n++">Under</button><script>n=0;seen=0;log=[];
		for (const k of ['pointerdown','mousedown','click']) addEventListener(k,e=>{seen++;log.push([e.type,e.clientX,e.clientY,e.pressure,e.isTrusted].join())},true)</script>`)
	pressed := make(chan string, 9)
	p.OnSign(func(button string) { pressed <- button })
	p.SetSign(Sign{Agent: "ann", Doing: "looking"})
	until(t, "the sign", func() bool { return strings.Contains(p.inWorld(t, signText), "looking") })

	// The agent's press on the button's place goes to what is below.
	p.click(t, Target{Name: "Under"})
	rect := p.inWorld(t, `function(){return globalThis.__chaperone.sign.rect('pause').join()}`)
	x, y := center(t, rect)
	if _, err := p.ClickAt(deadline(t), x, y, ClickOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := p.eval(t, "n"); got != "2" {
		t.Errorf("the agent's presses reached the page %s times, want 2", got)
	}
	select {
	case b := <-pressed:
		t.Errorf("the agent pressed %q", b)
	default:
	}
	until(t, "the sign to take presses again", func() bool { return p.inWorld(t, `function(){return globalThis.__chaperone.sign.takes()}`) == "true" })

	// A person's press, by the X server, is the sign's alone.
	p.eval(t, "document.title='sign-test'")
	seen := p.eval(t, "seen")
	screen := strings.Split(p.eval(t, "[screenX+(outerWidth-innerWidth)/2, screenY+outerHeight-innerHeight].join()"), ",")
	for _, button := range []string{"pause", "resume", "stop"} {
		place := button
		if button == "resume" {
			place = "pause"
			p.SetSign(Sign{Agent: "ann", State: "paused"})
			until(t, "the paused sign", func() bool { return strings.Contains(p.inWorld(t, signText), "paused") })
		}
		x, y := center(t, p.inWorld(t, `function(){return globalThis.__chaperone.sign.rect('`+place+`').join()}`))
		sx, sy := number(t, screen[0])+x, number(t, screen[1])+y
		if out, err := exec.CommandContext(deadline(t), "xdotool", "search", "--sync", "--name", "sign-test", "windowactivate", "--sync",
			"mousemove", itoa(sx), itoa(sy), "click", "1").CombinedOutput(); err != nil {
			t.Fatalf("xdotool: %v %s", err, out)
		}
		select {
		case b := <-pressed:
			if b != button {
				t.Errorf("pressed %q, want %q", b, button)
			}
		case <-deadline(t).Done():
			t.Fatalf("the person's press on %s at %g,%g was not told; the page saw %s", button, sx, sy, p.eval(t, "log.join(' ')"))
		}
	}
	if got := p.eval(t, "seen"); got != seen {
		t.Errorf("the page saw the person's presses on the sign: %s events, %s before: %s", got, seen, p.eval(t, "log.join(' ')"))
	}
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func itoa(f float64) string { return strconv.Itoa(int(f)) }

func center(t testing.TB, rect string) (x, y float64) {
	t.Helper()
	f := strings.Split(rect, ",")
	if len(f) != 4 {
		t.Fatalf("no rectangle: %s", rect)
	}
	return number(t, f[0]) + number(t, f[2])/2, number(t, f[1]) + number(t, f[3])/2
}

func (p *Page) shot(t testing.TB) Picture {
	t.Helper()
	pic, err := p.Screenshot(deadline(t), ScreenshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

func TestScreenshotMasksPasswords(t *testing.T) {
	p := show(t, `<!doctype html><body style="margin:0;background:#fff"><input id=a type=password style="position:absolute;left:100px;top:100px;width:200px;height:40px;border:0;background:#0f0">
		<input id=b value=plain style="position:absolute;left:100px;top:200px;width:200px;height:40px;border:0;background:#0f0">`)
	if _, err := p.InputText(deadline(t), Target{Target: "#a"}, "secret"); err != nil {
		t.Fatal(err)
	}
	p.eval(t, "a.type='text'")
	if s := p.snap(t); strings.Contains(s.Content, "secret") || !strings.Contains(s.Content, "••••••••") {
		t.Errorf("the snapshot shows:\n%s", s.Content)
	}
	pic := p.shot(t)
	img, _, err := image.Decode(bytes.NewReader(pic.Data))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		y    int
		want color.Color
	}{{120, color.RGBA{0x55, 0x55, 0x55, 0xff}}, {220, color.RGBA{0, 0xff, 0, 0xff}}} {
		r, g, b, _ := img.At(290, c.y).RGBA()
		wr, wg, wb, _ := c.want.RGBA()
		if r != wr || g != wg || b != wb {
			t.Errorf("at y %d: %x %x %x, want %v", c.y, r>>8, g>>8, b>>8, c.want)
		}
	}
	small, err := p.Screenshot(deadline(t), ScreenshotOptions{MaxSide: 300})
	if err != nil || small.Width != 300 || small.Height > 300 || small.Format != "png" {
		t.Errorf("%d×%d %s, %v", small.Width, small.Height, small.Format, err)
	}
	few, err := p.Screenshot(deadline(t), ScreenshotOptions{MaxBytes: 2000})
	if err != nil || len(few.Data) > 2000 || few.Format != "jpeg" {
		t.Errorf("%d bytes of %s, %v", len(few.Data), few.Format, err)
	}
}
