package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestLargePage(t *testing.T) {
	p := show(t, `<!doctype html><h1>List</h1><div id=l></div><button>Last</button><dialog id=d aria-label=Consent><button>Agree</button></dialog><script>
		let h='';for(let i=0;i<10000;i++)h+='<div><b>Row '+i+'</b> <a href="#'+i+'">Open '+i+'</a> <i>note</i> <button>Delete '+i+'</button></div>'
		l.innerHTML=h;d.show()</script>`)
	start := time.Now()
	s := p.snap(t)
	took := time.Since(start)
	t.Logf("%d elements in %v, %d bytes, %d lines left out", s.Elements, took, len(s.Content), s.LeftOut)
	if took > 6*time.Second {
		t.Errorf("it took %v", took)
	}
	if s.Elements < 50_000 {
		t.Errorf("%d elements counted", s.Elements)
	}
	if n := len(s.Content); n > FullBudget {
		t.Errorf("%d bytes", n)
	}
	// 1 heading, 20,000 texts, 20,002 controls, the dialog.
	if shown := strings.Count(s.Content, "\n") + 1; s.LeftOut+shown != 40_004 {
		t.Errorf("%d shown and %d left out", shown, s.LeftOut)
	}
	if shown := strings.Count(s.Content, "]<"); s.LeftControls+shown != 20_002 {
		t.Errorf("%d controls shown and %d left out", shown, s.LeftControls)
	}
	if !strings.Contains(s.Footer, "find_element") {
		t.Errorf("the footer says %q", s.Footer)
	}
	for _, want := range []string{"<dialog>Consent</dialog>", ">Agree</button>"} {
		if !strings.Contains(s.Content, want) {
			t.Errorf("no %q in the content", want)
		}
	}
	found, total, err := p.Find(deadline(t), FindQuery{Regex: `Delete 999\d<`})
	if err != nil || total != 10 || len(found) != 10 {
		t.Fatalf("found %d of %d, %v", len(found), total, err)
	}
	p.click(t, Target{Index: &found[0].Index})

	compact, err := p.Snapshot(deadline(t), SnapshotOptions{Budget: CompactBudget})
	if err != nil || len(compact.Content) > CompactBudget {
		t.Errorf("compact: %d bytes, %v", len(compact.Content), err)
	}
	if !strings.Contains(compact.Content, "<button focused>"+"Delete 999") {
		t.Error("the focused element is not in the compact content")
	}
	part, err := p.Snapshot(deadline(t), SnapshotOptions{Target: "#l > div:nth-child(8000)"})
	if err != nil || !strings.HasPrefix(part.Content, "Row 7999\n") || part.LeftOut != 0 {
		t.Errorf("the part: %q, %v", part.Content, err)
	}
}

func TestChangedLinesAreKept(t *testing.T) {
	p := show(t, `<!doctype html><script>for(let i=0;i<3000;i++)document.write('<p>Line number '+i+'</p>')</script><p id=end>End</p>`)
	first := p.snap(t)
	if strings.Contains(first.Content, "End") || first.Revision != 1 {
		t.Fatalf("revision %d, End in it: %v", first.Revision, strings.Contains(first.Content, "End"))
	}
	p.eval(t, `end.textContent='The end has changed'`)
	if s := p.snap(t); !strings.Contains(s.Content, "The end has changed") || s.Revision != 2 {
		t.Errorf("revision %d, the change is not shown", s.Revision)
	}
}

// A long text goes on in further lines and loses nothing.
func TestLongText(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("all work and no play ", 60))
	s := show(t, `<!doctype html><p>`+text+`</p>`).snap(t)
	for l := range strings.SplitSeq(s.Content, "\n") {
		if len(l) > maxLine {
			t.Errorf("a line of %d", len(l))
		}
	}
	if strings.ReplaceAll(s.Content, "\n", " ") != text {
		t.Errorf("got %q", s.Content)
	}
}

func BenchmarkSnapshot1000(b *testing.B) {
	p := show(b, thousand)
	for b.Loop() {
		p.snap(b)
	}
}

func BenchmarkClickAndState(b *testing.B) {
	p := show(b, thousand)
	i := ref(b, p.snap(b), "Delete 0")
	for b.Loop() {
		if _, err := p.Click(deadline(b), Target{Index: i}, ClickOptions{}); err != nil {
			b.Fatal(err)
		}
		p.Settle(deadline(b), time.Second)
		p.snap(b)
	}
}

// BenchmarkBareWalker is what the others are measured against: roles, names and
// visibility only, in one call.
func BenchmarkBareWalker(b *testing.B) {
	p := show(b, thousand)
	p.snap(b)
	w, err := p.topWorld(deadline(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.function(deadline(b), w, bareWalker, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareClickAndState clicks by the shortest way there is and walks.
func BenchmarkBareClickAndState(b *testing.B) {
	p := show(b, thousand)
	p.snap(b)
	w, err := p.topWorld(deadline(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		at, err := p.function(deadline(b), w, `function(){const e=document.querySelector('button');e.scrollIntoView({block:'center',behavior:'instant'})
			const r=e.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]}`, true)
		if err != nil {
			b.Fatal(err)
		}
		var xy [2]float64
		if err := json.Unmarshal(at.Value, &xy); err != nil {
			b.Fatal(err)
		}
		if err := p.press(deadline(b), xy[0], xy[1], ClickOptions{}); err != nil {
			b.Fatal(err)
		}
		if _, err := p.function(deadline(b), w, bareWalker, true); err != nil {
			b.Fatal(err)
		}
	}
}

const bareWalker = `function(){const out=[];let n=0;const walk=(e,d)=>{for(const k of e.childNodes){if(k.nodeType===3){const t=k.data.trim();if(t)out.push(d+t);continue}
	if(k.nodeType!==1||!k.checkVisibility({visibilityProperty:true}))continue;const t=k.localName
	if(/^(a|button|input|select|textarea)$/.test(t)){out.push('['+(++n)+']<'+t+'>'+(k.getAttribute('aria-label')||k.textContent||k.value))}else walk(k,d+' ')}}
	walk(document.body,'');return out.join('\n')}`

const thousand = `<!doctype html><h1>List</h1><div id=l></div><script>let h='';for(let i=0;i<200;i++)h+='<div class=row><b>Row '+i+'</b> <a href="#'+i+'">Open '+i+'</a> <i>note</i> <button onclick="this.parentElement.firstChild.textContent=Math.random()">Delete '+i+'</button></div>'
	l.innerHTML=h</script>`
