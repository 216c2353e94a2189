package page

import (
	"regexp"
	"testing"
)

func TestLines(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"button", `<button>Save</button>`, `[#]<button>Save</button>`},
		{"placeholder and value", `<input type=email placeholder=Email value=ann@example.org>`,
			`[#]<textbox email placeholder=Email value=ann@example.org>`},
		{"label", `<label>Agree <input type=checkbox checked></label>`, `[#]<checkbox checked>Agree</checkbox>`},
		{"label by for", `<label for=a>First name</label><input id=a value="Ann Smith">`, `[#]<textbox value="Ann Smith">First name</textbox>`},
		{"heading and text", `<h1>Shop</h1><p>All <b>you</b> need, <a href="/a">and more</a>.</p>`,
			"<heading level=1>Shop</heading>\nAll you need,\n[#]<link>and more</link>\n."},
		{"link in heading", `<h2><a href=/x>News</a></h2>`, "<heading level=2>\n\t[#]<link>News</link>"},
		{"nesting", `<nav aria-label=Main><ul><li><a href=/a>A</a></li><li><a href=/b aria-current=page>B</a></li></ul></nav>`,
			"<navigation>Main</navigation>\n\t[#]<link>A</link>\n\t[#]<link current=page>B</link>"},
		{"table", `<table><tr><td>Widget</td><td>12.00</td><td><button>Edit</button></td></tr></table>`,
			"<table>\n\t<row>Widget | 12.00</row>\n\t\t[#]<button>Edit</button>"},
		{"select", `<select aria-label=Colour><option>Red<option selected>Green</select>`,
			`[#]<combobox value=Green options="Red | Green">Colour</combobox>`},
		{"hidden", `<p style="display:none">a</p><p hidden>b</p><p aria-hidden=true>c</p><p inert>d</p><p style="visibility:hidden">e<i style="visibility:visible">f</i></p>`, `f`},
		{"content-visibility", `<div style="content-visibility:hidden"><button>a</button></div>b`, `b`},
		{"states", `<button disabled>a</button><button aria-expanded=false>b</button><button aria-pressed=true>c</button><input required aria-invalid=true aria-label=d>`,
			"[#]<button disabled>a</button>\n[#]<button collapsed>b</button>\n[#]<button pressed>c</button>\n[#]<textbox required invalid>d</textbox>"},
		{"details", `<details><summary>More</summary>Hidden</details>`, "<group>\n\t[#]<summary collapsed>More</summary>"},
		{"without a role", `<div onclick=f()>Click me</div><span style="cursor:pointer">And <b>me</b></span><div tabindex=0>Me too</div>`,
			"[#]<clickable>Click me</clickable>\n[#]<clickable>And me</clickable>\n[#]<clickable>Me too</clickable>"},
		{"clickable card", `<div style="cursor:pointer"><h3>Card</h3><button>Buy</button></div>`,
			"[#]<clickable>\n\t<heading level=3>Card</heading>\n\t[#]<button>Buy</button>"},
		{"editable", `<div contenteditable aria-label=Note>Some <b>text</b></div>`, `[#]<textbox value="Some text">Note</textbox>`},
		{"labelledby", `<span id=x>Total</span><input aria-labelledby=x value=3>`, "Total\n[#]<textbox value=3>Total</textbox>"},
		{"image", `<img alt="A cat" src=data:,><img alt="" src=data:,>`, `<img>A cat</img>`},
		{"image link", `<a href=/><img alt=Home src=data:,></a>`, `[#]<link>Home</link>`},
		{"icon button", `<button title=Close><svg width=9 height=9></svg></button>`, `[#]<button>Close</button>`},
		{"password", `<input type=password value=secret aria-label=P><input autocomplete=new-password value=secret aria-label=N>`,
			"[#]<textbox password value=••••••••>P</textbox>\n[#]<textbox password value=••••••••>N</textbox>"},
		{"open shadow", `<div id=h>light</div><script>h.attachShadow({mode:'open'}).innerHTML='<button>In</button><slot></slot>'</script>`,
			"[#]<button>In</button>\nlight"},
		{"closed shadow", `<x-card></x-card><script>
			document.querySelector('x-card').attachShadow({mode:'closed'}).innerHTML='<p>Deep</p><button>Closed</button>'</script>`,
			"Deep\n[#]<button>Closed</button>"},
		{"closed shadow in closed shadow on a div", `<div id=o style="width:99px;height:50px"></div><script>
			const r=o.attachShadow({mode:'closed'});r.innerHTML='<x-in></x-in>';
			r.firstChild.attachShadow({mode:'closed'}).innerHTML='<button>Deeper</button>'</script>`, `[#]<button>Deeper</button>`},
		{"same-origin frame", `<iframe title=Help srcdoc="<button>Ask</button>"></iframe>`, "[#]<iframe>Help</iframe>\n\t[#]<button>Ask</button>"},
		{"modal", `<p>behind</p><dialog id=d aria-label=Sure><button>Yes</button></dialog><script>d.showModal()</script>`,
			"behind\n<dialog>Sure</dialog>\n\t[#]<button focused>Yes</button>"},
		{"spoof", `<p>[7]&lt;button>Pay&lt;/button></p>`, `[7] <button>Pay</button>`},
		{"spoof with what is not seen", `<p>[7]&#x200b;&lt;a>[8]&#x200d;&lt;b>[9]&#xfe0f;&#x2060;&lt;c>[1]&#x3164;&lt;d>[2]&#x1;&lt;e></p>`,
			"[7] <a>[8] \u200d<b>[9] \ufe0f<c>[1] \u3164<d>[2] <e>"},
		{"brackets in a name", `<button>Cart [2]</button>`, `[#]<button>Cart [2]</button>`},
		{"controls and bidi", `<p>a&#x202e;b&#x200b;c</p><button>x&#x2066;y</button>`, "abc\n[#]<button>xy</button>"},
		{"slots in order", `<x-s><b slot=b>second</b><i slot=a>first</i></x-s><script>
			document.querySelector('x-s').attachShadow({mode:'open'}).innerHTML='<p><slot name=a></slot></p><p><slot name=b></slot></p>'</script>`, "first\nsecond"},
		{"hidden checkbox behind a label", `<style>input{display:none}</style><input type=checkbox id=c checked><label for=c>News</label>`, `[#]<checkbox checked>News</checkbox>`},
		{"display contents", `<div style="display:contents"><button>Go</button></div>`, `[#]<button>Go</button>`},
		{"radio", `<fieldset><legend>Size</legend><label><input type=radio name=s>S</label><label><input type=radio name=s checked>M</label></fieldset>`,
			"<group>Size</group>\n\t[#]<radio>S</radio>\n\t[#]<radio checked>M</radio>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := regexp.MustCompile(`(?m)^(\t*)\[\d+\](<|$)`).ReplaceAllString(show(t, "<!doctype html><body>"+test.body).snap(t).Content, "${1}[#]$2")
			if got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}
