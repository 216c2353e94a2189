package page

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaperone/backend/fault"
)

// click clicks and wants it to have happened.
func (p *Page) click(t testing.TB, target Target) Report {
	t.Helper()
	r, err := p.Click(deadline(t), target, ClickOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Success {
		t.Fatal(r.Message)
	}
	return r
}

// refuses wants a report that says no, with these words.
func refuses(t testing.TB, r Report, err error, words ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if r.Success {
		t.Fatalf("happened: %s", r.Message)
	}
	for _, w := range words {
		if !strings.Contains(r.Message, w) {
			t.Errorf("message %q does not say %q", r.Message, w)
		}
	}
}

func TestClickReaches(t *testing.T) {
	for _, test := range []struct{ name, body string }{
		{"button", `<button onclick="done()">Go</button>`},
		{"far below", `<div style="height:5000px"></div><button onclick="done()">Go</button>`},
		{"in nested scrollers", `<div style="height:150px;overflow:auto"><div style="height:900px"></div>
			<div style="height:100px;overflow:auto"><div style="height:700px"></div><button onclick="done()">Go</button></div></div>`},
		{"half covered", `<button style="width:400px;height:40px" onclick="done()">Go</button>
			<div style="position:absolute;left:0;top:0;width:300px;height:200px;background:red"></div>`},
		{"below a sticky header", `<header style="position:sticky;top:0;height:300px;background:#eee">H</header><div style="height:2000px"></div>
			<button onclick="done()">Go</button><div style="height:3000px"></div>`},
		{"moving", `<style>@keyframes m{from{margin-left:0}to{margin-left:500px}}button{animation:m .6s linear}</style><button onclick="done()">Go</button>`},
		{"moved by script", `<button id=b style="position:absolute;top:100px" onclick="done()">Go</button><script>
			let n=0;const f=()=>{b.style.left=(n+=4)+'px';if(n<200)requestAnimationFrame(f)};f()</script>`},
		{"open shadow", `<x-a></x-a><script>const r=document.querySelector('x-a').attachShadow({mode:'open'});
			r.innerHTML='<button>Go</button>';r.firstChild.onclick=()=>done()</script>`},
		{"closed shadow", `<x-a></x-a><script>const r=document.querySelector('x-a').attachShadow({mode:'closed'});
			r.innerHTML='<button>Go</button>';r.firstChild.onclick=()=>done()</script>`},
		{"same-origin frame", `<div style="height:900px"></div><iframe style="border:9px solid;padding:7px" srcdoc="<div style='height:700px'></div><button onclick='parent.done()'>Go</button>"></iframe>`},
		{"scaled frame", `<iframe style="transform:scale(.5);transform-origin:0 0" srcdoc="<button onclick='parent.done()'>Go</button>"></iframe>`},
		{"checkbox under its label's paint", `<label style="position:relative"><input type=checkbox onclick="done()" aria-label=Go><i style="position:absolute;inset:0;background:#eee"></i></label>`},
		{"wrapped link", `<div style="width:120px">some words before <a href="#x" onclick="done()">Go to the far and wide place</a></div>`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := show(t, `<!doctype html><script>function done(){document.title='done'}</script><body>`+test.body)
			p.click(t, Target{Index: ref(t, p.snap(t), "Go")})
			if got := p.eval(t, "document.title"); got != "done" {
				t.Errorf("the title is %q", got)
			}
		})
	}
}

func TestClickRefuses(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       []string
	}{
		{"covered", `<button>Save</button><div id=cookie-banner style="position:fixed;inset:0;background:#eee"><p style="height:100%">We use cookies</p></div>`,
			[]string{"button “Save”", "is covered by <div#cookie-banner>"}},
		{"disabled", `<button disabled>Save</button>`, []string{"button “Save” is disabled"}},
		{"aria-disabled", `<div aria-disabled=true><button>Save</button></div>`, []string{"is disabled"}},
		{"never still", `<style>@keyframes m{from{margin-left:0}to{margin-left:500px}}button{animation:m .7s linear infinite}</style><button>Save</button>`,
			[]string{"does not stop moving"}},
		{"behind a modal", `<button>Save</button><dialog id=d>Wait<button>Close</button></dialog><script>d.showModal()</script>`, []string{"is covered by <dialog#d>"}},
		{"untouchable", `<button style="pointer-events:none">Save</button>`, []string{"lets presses through"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := show(t, `<!doctype html><body>`+test.body)
			r, err := p.Click(deadline(t), Target{Index: ref(t, p.snap(t), "Save")}, ClickOptions{})
			refuses(t, r, err, test.want...)
		})
	}
}

func TestRefs(t *testing.T) {
	p := show(t, `<!doctype html><div id=a><button id=b>Save</button></div><button id=c>Other</button>`)
	s := p.snap(t)
	b := ref(t, s, "Save")
	if again := ref(t, p.snap(t), "Save"); *again != *b {
		t.Errorf("the ref of one element went from %d to %d", *b, *again)
	}
	p.eval(t, `a.append(b)`) // moving within the document keeps it
	p.click(t, Target{Target: "[" + strconv.Itoa(*b) + "]"})

	p.eval(t, `b.setAttribute('role','link')`)
	r, err := p.Click(deadline(t), Target{Index: b}, ClickOptions{})
	refuses(t, r, err, "["+strconv.Itoa(*b)+"] was button “Save”; it is something else now")
	p.eval(t, `b.removeAttribute('role'); b.remove()`)
	r, err = p.Click(deadline(t), Target{Index: b}, ClickOptions{})
	refuses(t, r, err, "was button “Save”; it is gone")

	p.eval(t, `a.innerHTML='<button>Save</button>'`)
	if fresh := ref(t, p.snap(t), "Save"); *fresh <= *b {
		t.Errorf("a new element has the ref %d, %d was given before", *fresh, *b)
	}
	r, err = p.Click(deadline(t), Target{Target: "e99999"}, ClickOptions{})
	refuses(t, r, err, "there is no [99999]")

	c := ref(t, p.snap(t), "Other")
	p.goTo(t, p.eval(t, "location.href")+"?again")
	r, err = p.Click(deadline(t), Target{Index: c}, ClickOptions{})
	refuses(t, r, err, "was <button>Other</button>; its document is gone")
	if fresh := ref(t, p.snap(t), "Save"); *fresh <= *c {
		t.Errorf("a new document has the ref %d, %d was given before", *fresh, *c)
	}
}

func TestFrames(t *testing.T) {
	port := site(t, map[string]string{
		"/": `<!doctype html><h1>Shop</h1><div style="height:800px"></div><iframe title=Pay src="http://pay.localhost:PORT/pay" width=500 height=300></iframe>
			<iframe title=Box sandbox="allow-scripts" srcdoc="<button onclick=&quot;this.textContent='boxed'&quot;>In a box</button>"></iframe>
			<iframe title=Port src="http://shop.localhost:PORT/inner"></iframe><button>After</button>`,
		"/pay":   `<!doctype html><p>Card</p><div style="height:400px"></div><input aria-label=Number><iframe title=Deep src="http://bank.localhost:PORT/deep"></iframe>`,
		"/deep":  `<!doctype html><button onclick="this.textContent='paid'">Confirm</button>`,
		"/inner": `<!doctype html><button onclick="this.textContent='same'">Inner</button>`,
	})
	p := newTab(t)
	p.goTo(t, "http://shop.localhost:"+port+"/")
	s := p.snap(t)
	want := []string{"<heading level=1>Shop</heading>", "<iframe>Pay</iframe>", "\tCard", "<textbox>Number</textbox>", "<iframe>Deep</iframe>",
		"\t\t[", "<button>Confirm</button>", "<iframe>Box</iframe>", "<button>In a box</button>", "<button>Inner</button>", "<button>After</button>"}
	rest := s.Content
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Fatalf("no %q in its place in:\n%s", w, s.Content)
		}
		rest = after
	}
	for _, c := range []struct{ button, then string }{{"Confirm", "paid"}, {"In a box", "boxed"}, {"Inner", "same"}} {
		p.click(t, Target{Index: ref(t, s, c.button)})
		ref(t, p.snap(t), c.then)
	}
	r, err := p.InputText(deadline(t), Target{Target: "iframe[title=Pay] >> input"}, "4111 1111")
	if err != nil || !r.Success {
		t.Fatal(r, err)
	}
	ref(t, p.snap(t), `<textbox focused value="4111 1111">Number</textbox>`)
	if r, err := p.Press(deadline(t), "Backspace"); err != nil || !r.Success {
		t.Fatal(r, err)
	}
	ref(t, p.snap(t), `value="4111 111"`)
	p.click(t, Target{Name: "paid"})
	p.click(t, Target{Target: "iframe[title=Pay] >> iframe >> button"})

	in, err := p.Snapshot(deadline(t), SnapshotOptions{Target: "iframe[title=Pay] >> iframe"})
	if err != nil || !strings.Contains(in.Content, "paid") || strings.Contains(in.Content, "Card") {
		t.Errorf("the frame alone: %v\n%s", err, in.Content)
	}
	found, total, err := p.Find(deadline(t), FindQuery{Text: "confirm"})
	if err != nil || total != 0 || len(found) != 0 {
		t.Errorf("found %v of %d, %v", found, total, err)
	}
	found, total, err = p.Find(deadline(t), FindQuery{Query: "paid button"})
	if err != nil || total < 1 || !strings.Contains(found[0].Line, "<button focused>paid</button>") && !strings.Contains(found[0].Line, "<button>paid</button>") {
		t.Errorf("found %v of %d, %v", found, total, err)
	}
}

func TestFrameThatHangsCostsItself(t *testing.T) {
	port := site(t, map[string]string{
		"/":     `<!doctype html><iframe title=Ad src="http://ad.localhost:PORT/ad"></iframe><button>Buy</button>`,
		"/ad":   `<!doctype html><button>Ad</button><script>addEventListener('message',()=>{for(;;);})</script>`,
		"/none": ``,
	})
	p := newTab(t)
	p.goTo(t, "http://shop.localhost:"+port+"/")
	ref(t, p.snap(t), "<button>Ad")
	p.eval(t, `frames[0].postMessage(1,'*')`)
	start := time.Now()
	s := p.snap(t)
	if took := time.Since(start); took > 3*frameWait {
		t.Errorf("the snapshot took %v", took)
	}
	ref(t, s, "<button>Buy")
	if !strings.Contains(s.Content, "<iframe>Ad</iframe>\n\t(this frame does not answer)") {
		t.Errorf("the frame is not named:\n%s", s.Content)
	}
}

func TestInputText(t *testing.T) {
	// A field controlled as React does it: the value is tracked by an own
	// property, and what arrives without a change of it is undone.
	const controlled = `<input id=f aria-label=F value=old><script>
		let state='old', seen='old'
		const native=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value')
		Object.defineProperty(f,'value',{get(){return native.get.call(this)},set(v){seen=v;native.set.call(this,v)}})
		f.addEventListener('input',()=>{const v=native.get.call(f);if(v!==seen){seen=v;state=v;document.title=state} f.value=state})
		</script>`
	for _, test := range []struct{ name, body, text, script, want string }{
		{"input", `<input id=f aria-label=F value=old>`, "new ü 漢", "f.value", "new ü 漢"},
		{"textarea", `<textarea id=f aria-label=F>old</textarea>`, "a\nb", "f.value.replace('\\n','|')", "a|b"},
		{"emptied", `<input id=f aria-label=F value=old>`, "", "f.value+'.'", "."},
		{"controlled", controlled, "typed", "document.title+f.value", "typedtyped"},
		{"editable", `<div id=f contenteditable aria-label=F>old <b>text</b></div>`, "fresh", "f.innerText", "fresh"},
		{"date", `<input id=f type=date aria-label=F oninput="document.title='in'">`, "2026-12-24", "f.value+document.title", "2026-12-24in"},
		{"color", `<input id=f type=color aria-label=F>`, "#ff0000", "f.value", "#ff0000"},
		{"range", `<input id=f type=range aria-label=F max=10>`, "7", "f.value", "7"},
		{"number", `<input id=f type=number aria-label=F value=1>`, "42", "f.value", "42"},
		{"by label", `<label for=f>F</label><input id=f>`, "x", "f.value", "x"},
		{"in closed shadow", `<x-a></x-a><script>const r=document.querySelector('x-a').attachShadow({mode:'closed'});
			r.innerHTML='<input aria-label=F>';var f=r.firstChild</script>`, "deep", "f.value", "deep"},
		{"trusted", `<input id=f aria-label=F oninput="document.title=event.isTrusted">`, "x", "document.title", "true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := show(t, `<!doctype html><body>`+test.body)
			r, err := p.InputText(deadline(t), Target{Name: "F"}, test.text)
			if err != nil || !r.Success {
				t.Fatal(r, err)
			}
			if got := p.eval(t, test.script); got != test.want {
				t.Errorf("got %q, want %q (%s)", got, test.want, r.Message)
			}
		})
	}
}

func TestInputTextRefuses(t *testing.T) {
	p := show(t, `<!doctype html><input type=checkbox id=c aria-label=C><input readonly aria-label=R><input type=date aria-label=D>
		<input disabled aria-label=X><p id=p>text</p><input aria-label=N oninput="this.value=''"><input maxlength=3 aria-label=M>`)
	for _, test := range []struct{ target, want string }{
		{"#c", "takes no text; click it"}, {"[aria-label=R]", "is read-only"}, {"[aria-label=D]", "it takes YYYY-MM-DD"},
		{"[aria-label=X]", "is disabled"}, {"#p", "takes no text"}, {"#none", "nothing matches"}, {"p[", "is not a CSS selector"},
		{" >> ", "is not a CSS selector"}, {"[aria-label=N]", "did not take the text"}, {"input", "means 6 elements"},
	} {
		r, err := p.InputText(deadline(t), Target{Target: test.target}, "31.12.2026")
		refuses(t, r, err, test.want)
	}
	r, err := p.InputText(deadline(t), Target{Name: "M"}, "12345")
	if err != nil || !r.Success || !strings.Contains(r.Message, "at most 3") {
		t.Error(r, err)
	}
}

func TestSelectAndFill(t *testing.T) {
	p := show(t, `<!doctype html><label>Size <select id=s onchange="document.title=this.value"><option value=s>Small<option value=l>Large<option disabled>Huge</select></label>
		<label>Name <input id=n></label>
		<div role=listbox aria-label=Fruit><div role=option onclick="document.title='apple'">Apple</div><div role=option>Pear</div></div>`)
	r, err := p.SelectOption(deadline(t), Target{Name: "Size"}, "Large")
	if err != nil || !r.Success || p.eval(t, "document.title") != "l" {
		t.Fatal(r, err)
	}
	r, err = p.SelectOption(deadline(t), Target{Name: "Size"}, "Medium")
	refuses(t, r, err, "has no option “Medium”", "“Small”, “Large”, “Huge”")
	r, err = p.SelectOption(deadline(t), Target{Name: "Size"}, "Huge")
	refuses(t, r, err, "it is disabled")
	r, err = p.SelectOption(deadline(t), Target{Name: "Fruit"}, "apple")
	if err != nil || !r.Success || p.eval(t, "document.title") != "apple" {
		t.Fatal(r, err)
	}
	r, err = p.FillFields(deadline(t), []Field{{Target{Name: "Name"}, "Ann"}, {Target{Name: "Size"}, "s"}})
	if err != nil || !r.Success || p.eval(t, "n.value+s.value") != "Anns" {
		t.Fatal(r, err)
	}
	r, err = p.FillFields(deadline(t), []Field{{Target{Name: "Name"}, "Bob"}, {Target{Name: "Nobody"}, "s"}})
	refuses(t, r, err, "1 of 2 fields filled", "nothing here is called “Nobody”")
}

func TestNames(t *testing.T) {
	p := show(t, `<!doctype html><button onclick="document.title='a'">Delete</button><ul><li><button>Remove</button><li><button>Remove</button></ul>
		<input placeholder="Your email"><button id=buy-now onclick="document.title='b'">Order and pay</button><div style="cursor:pointer" onclick="document.title='c'">Tile</div>`)
	s := p.snap(t)
	p.click(t, Target{Name: "delete"})
	r, err := p.Click(deadline(t), Target{Name: "Remove"}, ClickOptions{})
	first := ref(t, s, "Remove")
	refuses(t, r, err, "“Remove” means 2 elements: ["+strconv.Itoa(*first)+"] button “Remove”")
	p.click(t, Target{Name: "buy-now"})
	p.click(t, Target{Name: "order and"})
	if got := p.eval(t, "document.title"); got != "b" {
		t.Error(got)
	}
	p.click(t, Target{Name: "Tile"})
	if got := p.eval(t, "document.title"); got != "c" {
		t.Error(got)
	}
	if r, err := p.InputText(deadline(t), Target{Name: "Your email"}, "x"); err != nil || !r.Success {
		t.Error(r, err)
	}
}

func TestMouseAndKeys(t *testing.T) {
	p := show(t, `<!doctype html><body style="margin:0"><div id=d style="width:200px;height:200px;background:#ccc" onmouseover="document.title='over'"
		ondblclick="document.title='double'" oncontextmenu="document.title='menu';return false">Pad</div><input id=i value="one two">
		<script>i.addEventListener('keydown',e=>document.title=[e.key,e.code,e.ctrlKey,e.shiftKey])</script>`)
	if r, err := p.ClickAt(deadline(t), 50, 50, ClickOptions{Count: 2}); err != nil || !r.Success || p.eval(t, "document.title") != "double" {
		t.Error(r, err, p.eval(t, "document.title"))
	}
	if r, err := p.ClickAt(deadline(t), 50, 50, ClickOptions{Button: "right"}); err != nil || !r.Success || p.eval(t, "document.title") != "menu" {
		t.Error(r, err, p.eval(t, "document.title"))
	}
	r, err := p.ClickAt(deadline(t), 5000, 50, ClickOptions{})
	refuses(t, r, err, "outside of the viewport")
	p.click(t, Target{Target: "#i"})
	if r, err := p.Hover(deadline(t), Target{Target: "#d"}); err != nil || !r.Success || p.eval(t, "document.title") != "over" {
		t.Error(r, err, p.eval(t, "document.title"))
	}
	for _, test := range []struct{ key, title, value string }{
		{"Control+A", "a,KeyA,true,false", "one two"},
		{"ß", "ß,,false,false", "ß"},
		{"Shift+A", "A,KeyA,false,true", "ßA"},
		{"?", "?,Slash,false,true", "ßA?"},
		{"Control+Backspace", "Backspace,Backspace,true,false", "ßA"},
		{"space", ",Space,false,false", "ßA "},
		{"Home", "Home,Home,false,false", "ßA "},
		{"漢", "漢,,false,false", "漢ßA "},
	} {
		r, err := p.Press(deadline(t), test.key)
		if err != nil || !r.Success {
			t.Fatal(test.key, r, err)
		}
		if title, value := p.eval(t, "document.title"), p.eval(t, "i.value"); test.title != title || test.value != value {
			t.Errorf("%s: title %q, value %q", test.key, title, value)
		}
	}
	r, err = p.Press(deadline(t), "Hyper+X")
	refuses(t, r, err, "there is no key")
}

func TestScrolling(t *testing.T) {
	p := show(t, `<!doctype html><div style="height:5000px;width:3000px">top</div>
		<div style="position:fixed;left:0;top:0;width:200px;height:100px;overflow:auto"><div style="height:500px"><button>In</button></div></div>`)
	in := ref(t, p.snap(t), "In")
	r, err := p.Scroll(deadline(t), ScrollOptions{Down: true, NumPages: 1})
	if err != nil || !r.Success || p.eval(t, "scrollY==innerHeight") != "true" {
		t.Error(r, err)
	}
	if r, err = p.Scroll(deadline(t), ScrollOptions{Down: true, Pixels: new(50), Index: in}); err != nil || !r.Success ||
		p.eval(t, "document.querySelector('div+div').scrollTop") != "50" {
		t.Error(r, err)
	}
	if r, err = p.ScrollHorizontally(deadline(t), true, 300, nil); err != nil || !r.Success || p.eval(t, "scrollX") != "300" {
		t.Error(r, err)
	}
	if r, err = p.Scroll(deadline(t), ScrollOptions{NumPages: 50}); err != nil || !r.Success {
		t.Error(r, err)
	}
	r, err = p.Scroll(deadline(t), ScrollOptions{})
	refuses(t, r, err, "does not scroll further up")
}

func TestDialogs(t *testing.T) {
	p := show(t, `<!doctype html><button onclick="alert('Sure?');document.title='after'">Ask</button><button onclick="document.title=prompt('Name','Ann')">Name</button>`)
	s := p.snap(t)
	start := time.Now()
	r, err := p.Click(deadline(t), Target{Index: ref(t, s, "Ask")}, ClickOptions{})
	if err != nil || !r.Success {
		t.Fatal(r, err)
	}
	if d := p.Dialog(); d == nil || d.Type != "alert" || d.Message != "Sure?" {
		t.Fatalf("the dialog is %+v", d)
	}
	if _, err := p.Snapshot(deadline(t), SnapshotOptions{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("a snapshot under a dialog: %v", err)
	}
	if _, err := p.Press(deadline(t), "a"); !errors.Is(err, ErrInterrupted) {
		t.Errorf("a key under a dialog: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := p.HandleDialog(deadline(t), true, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.HandleDialog(deadline(t), true, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second answer: %v", err)
	}
	if got := p.eval(t, "document.title"); got != "after" {
		t.Error(got)
	}
	for _, test := range []struct {
		accept bool
		text   *string
		want   string
	}{{true, new("Bob"), "Bob"}, {true, nil, "Ann"}, {true, new(""), ""}, {false, nil, "null"}} {
		p.click(t, Target{Index: ref(t, s, "Name")})
		if err := p.HandleDialog(deadline(t), test.accept, test.text); err != nil {
			t.Fatal(err)
		}
		if got := p.eval(t, "document.title"); got != test.want {
			t.Errorf("the prompt gave %q, want %q", got, test.want)
		}
	}
}

func TestHeld(t *testing.T) {
	p := show(t, `<!doctype html><button>Go</button>`)
	waits := make(chan error, 1)
	go func() {
		_, err := p.WaitFor(deadline(t), "never", "")
		waits <- err
	}()
	stopped := p.Interrupted()
	p.SetHeld(true)
	select {
	case <-stopped:
	default:
		t.Error("Interrupted did not close")
	}
	select {
	case err := <-waits:
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("the waiting call: %v", err)
		}
	case <-time.After(within):
		t.Fatal("the waiting call goes on")
	}
	if _, err := p.Snapshot(deadline(t), SnapshotOptions{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("a snapshot: %v", err)
	}
	if p.Settle(deadline(t), time.Second) {
		t.Error("it settled")
	}
	p.SetHeld(false)
	select {
	case <-p.Interrupted():
		t.Error("Interrupted stays closed")
	default:
	}
	ref(t, p.snap(t), "Go")
}

func TestWaitFor(t *testing.T) {
	p := show(t, `<!doctype html><p id=a>Loading</p><script>function later(){setTimeout(()=>a.innerHTML='All <b>done</b>',60)}</script>`)
	p.eval(t, "later()")
	if r, err := p.WaitFor(deadline(t), "all done", ""); err != nil || !r.Success {
		t.Fatal(r, err)
	}
	if r, err := p.WaitFor(deadline(t), "", "Loading"); err != nil || !r.Success {
		t.Fatal(r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.WaitFor(ctx, "never", ""); !fault.Is(err, fault.BrowserTimeout) {
		t.Errorf("out of time: %v", err)
	}
}
