package testkit_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/backend/approval"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
	"chaperone/backend/testkit"
)

// The ways by which a tab comes to another site, each twice: the person looks at
// the question while the site has seen nothing, and then allows it, or blocks
// it, whereupon the site never sees anything.

// arrived is what every destination of the table shows.
const arrived = `<!doctype html><title>Arrived</title><h1>Arrived</h1>`

// A way is one row of the table.
type way struct {
	name string
	// html is the page that the way starts from; TO stands for the destination's
	// address, and what does it is named Go. Without it an empty page.
	html string
	// by is what the agent does; nil clicks Go.
	by func(k *testkit.Kit, a *testkit.Agent, to string) (*testkit.Reply, error)
	// byItself is whether the page does it as soon as it is opened, so that the way starts from another.
	byItself bool
	// saves is whether what comes is not shown but saved, or would be.
	saves bool
	// via is how the question says that it came about; KindPage if empty.
	via policy.Kind
	// method, path and body are what the destination must get: GET and / if empty.
	method, path, body string
	// keeps is whether a popup of the start's own stays when the way is blocked.
	keeps bool
	// answer is what the destination answers with; arrived if nil.
	answer http.HandlerFunc
}

func call(method string, a args) func(*testkit.Kit, *testkit.Agent, string) (*testkit.Reply, error) {
	return func(_ *testkit.Kit, agent *testkit.Agent, _ string) (*testkit.Reply, error) {
		return agent.Start(method, a)
	}
}

func direct(method string) func(*testkit.Kit, *testkit.Agent, string) (*testkit.Reply, error) {
	return func(_ *testkit.Kit, agent *testkit.Agent, to string) (*testkit.Reply, error) {
		return agent.Start(method, args{"url": to})
	}
}

// loads opens the page anew, which then does it by itself.
func loads(k *testkit.Kit, a *testkit.Agent, _ string) (*testkit.Reply, error) {
	return a.Start("navigate", args{"url": k.Sites.Origin("start") + "/byitself", "tabId": 1})
}

// modified is a link that a click with a key held opens.
func modified(key string) string {
	return `<a id=l href="TO">Link</a><button onclick="l.dispatchEvent(new MouseEvent('click',{` + key + `:true,bubbles:true,cancelable:true}))">Go</button>`
}

func script(js string) string { return `<button onclick="` + js + `">Go</button>` }

var ways = []way{
	{name: "navigate", by: direct("navigate"), via: policy.KindDirect},
	{name: "open_new_tab", by: direct("open_new_tab"), via: policy.KindDirect},
	{name: "link", html: `<a href="TO">Go</a>`},
	{name: "link in SVG", html: `<svg width=200 height=50><a href="TO"><text y=30 id=go>Go</text></a></svg>`, by: call("click_element", args{"target": "#go", "tabId": 1})},
	{name: "link by the keyboard", html: `<a href="TO" id=go>Go</a><script>go.focus()</script>`, by: call("press", args{"key": "Enter", "tabId": 1})},
	{name: "javascript link", html: `<a href="javascript:void(location='TO')">Go</a>`},
	{name: "form GET", html: `<form action="TO"><input name=q value=tea><button>Go</button></form>`, path: "/?q=tea"},
	{name: "form POST", html: `<form action="TO" method=post><input name=q value=tea><button>Go</button></form>`, method: "POST", body: "q=tea"},
	{name: "formaction", html: `<form action="/nowhere" method=post><input name=q value=tea><button formaction="TO">Go</button></form>`, method: "POST", body: "q=tea"},
	{name: "form by script", html: `<form id=f action="TO" method=post><input name=q value=tea></form>` + script(`f.submit()`), method: "POST", body: "q=tea"},
	{name: "href", html: script(`location.href='TO'`)},
	{name: "assign", html: script(`location.assign('TO')`)},
	{name: "replace", html: script(`location.replace('TO')`)},
	{name: "navigation API", html: script(`navigation.navigate('TO')`)},
	{name: "script at load", html: `<script>location='TO'</script>`, by: loads, byItself: true},
	{name: "meta refresh", html: `<meta http-equiv=refresh content="0;url=TO">`, by: loads, byItself: true},
	{name: "204", html: `<a href="TO">Go</a>`, answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},

	{name: "302", html: `<a href="/302?TO">Go</a>`, via: policy.KindRedirect},
	{name: "303 of a POST", html: `<form action="/303?TO" method=post><input name=q value=tea><button>Go</button></form>`, via: policy.KindRedirect},
	{name: "307 of a POST", html: `<form action="/307?TO" method=post><input name=q value=tea><button>Go</button></form>`, via: policy.KindRedirect, method: "POST", body: "q=tea"},
	{name: "308", html: `<a href="/308?TO">Go</a>`, via: policy.KindRedirect},
	{name: "Refresh header", html: `<a href="/refresh?TO">Go</a>`},
	{name: "302 in a popup", html: script(`window.open('/302?TO')`), via: policy.KindRedirect},

	{name: "window.open", html: script(`window.open('TO')`), via: policy.KindPopup},
	{name: "window.open noopener", html: script(`window.open('TO','','noopener')`), via: policy.KindPopup},
	{name: "popup window", html: script(`window.open('TO','','width=300,height=300')`), via: policy.KindPopup},
	{name: "popup that goes on", html: script(`const w=window.open('about:blank');w.location='TO'`), via: policy.KindPopup},
	{name: "popup that is written", html: script(`const w=window.open();w.document.write('<script>location=\'TO\'<\/script>')`), via: policy.KindPopup},
	{name: "popup that changes its mind", html: script(`const w=window.open('http://other.localhost/');w.location='TO'`), via: policy.KindPopup},
	{name: "popup of a blob", html: script(`window.open(window.URL.createObjectURL(new Blob(['<script>location=\'TO\'<\/script>'],{type:'text/html'})))`), keeps: true},
	{name: "popup that moves its opener", html: script(`window.open('/opener?TO')`), keeps: true},
	{name: "named window", html: script(`window.open('/empty','there');setTimeout(()=>window.open('TO','there'),300)`), keeps: true},
	{name: "target _blank", html: `<a href="TO" target=_blank>Go</a>`, via: policy.KindPopup},
	{name: "target _blank with opener", html: `<a href="TO" target=_blank rel=opener>Go</a>`, via: policy.KindPopup},
	{name: "form POST into _blank", html: `<form action="TO" method=post target=_blank><input name=q value=tea><button>Go</button></form>`, via: policy.KindPopup, method: "POST", body: "q=tea"},
	{name: "ctrl-click", html: modified("ctrlKey"), via: policy.KindPopup},
	{name: "shift-click", html: modified("shiftKey"), via: policy.KindPopup},
	{name: "ctrl-shift-click", html: modified("shiftKey:true,ctrlKey"), via: policy.KindPopup},
	{name: "middle-click", html: `<a href="TO" style="position:fixed;left:400px;top:100px">Go</a>`, via: policy.KindPopup,
		by: call("click_at", args{"x": 410, "y": 108, "button": "middle", "tabId": 1})},

	{name: "frame to _blank", html: `<iframe src="http://frame.localhost/blank?TO"></iframe>`, via: policy.KindPopup, by: call("click_element", args{"target": "iframe >> a", "tabId": 1})},
	{name: "frame to _top", html: `<iframe src="http://frame.localhost/top?TO"></iframe>`, by: call("click_element", args{"target": "iframe >> a", "tabId": 1})},
	{name: "frame's form to _top", html: `<iframe src="http://frame.localhost/form?TO"></iframe>`, by: call("click_element", args{"target": "iframe >> button", "tabId": 1}), method: "POST", body: "q=tea"},
	{name: "frame of its own to _top", html: `<iframe srcdoc="<a href='TO' target=_top>Go</a>"></iframe>`, by: call("click_element", args{"target": "iframe >> a", "tabId": 1})},
	{name: "sandboxed frame to _blank", html: `<iframe sandbox="allow-popups allow-scripts" srcdoc="<a href='TO' target=_blank>Go</a>"></iframe>`, via: policy.KindPopup, by: call("click_element", args{"target": "iframe >> a", "tabId": 1})},

	{name: "link after prefetch", html: `<link rel=dns-prefetch href="TO"><link rel=preconnect href="TO"><link rel=prerender href="TO"><a href="TO">Go</a>`},
	{name: "link after speculation", html: `<script type=speculationrules>{"prefetch":[{"urls":["TO"],"eagerness":"immediate"}],"prerender":[{"urls":["TO"],"eagerness":"immediate"}]}</script><a href="TO">Go</a>`},
	{name: "link past a service worker", html: `<p id=sw>…</p><script>navigator.serviceWorker.register('/sw.js').then(()=>sw.textContent='registered',()=>sw.textContent='rejected')</script><a href="TO">Go</a>`},
	{name: "cross-origin download link", html: `<a href="TO" download>Go</a>`},
	{name: "alt-click", html: modified("altKey"), saves: true},
}

// starts serves what the ways start from.
func starts(k *testkit.Kit) {
	for code, path := range map[int]string{302: "/302", 303: "/303", 307: "/307", 308: "/308"} {
		k.Sites.Handle("start", path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.RawQuery, code) })
	}
	k.Sites.Handle("start", "/refresh", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Refresh", "0;url="+r.URL.RawQuery)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>still here"))
	})
	html := func(host, path, text string) {
		k.Sites.Handle(host, path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!doctype html><p>still here</p>" + strings.ReplaceAll(text, "TO", r.URL.RawQuery)))
		})
	}
	html("start", "/opener", `<script>opener.location='TO'</script>`)
	html("start", "/empty", ``)
	html("frame", "/blank", `<a href="TO" target=_blank>Go</a>`)
	html("frame", "/top", `<a href="TO" target=_top>Go</a>`)
	html("frame", "/form", `<form action="TO" method=post target=_top><input name=q value=tea><button>Go</button></form>`)
	k.Sites.Handle("start", "/sw.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(`addEventListener('activate',e=>e.waitUntil(registration.navigationPreload.enable()));addEventListener('fetch',e=>e.respondWith(e.preloadResponse.then(r=>r||fetch(e.request))))`))
	})
}

func site(t *testing.T, k *testkit.Kit, origin string, access policy.Access) {
	t.Helper()
	if _, err := k.Person.Send("set_site", args{"origin": origin, "access": access}); err != nil {
		t.Fatal(err)
	}
}

// asked waits for the question about origin.
func asked(t *testing.T, k *testkit.Kit, origin string) (q approval.Question) {
	t.Helper()
	until(t, 10*time.Second, "the question about "+origin, func() bool {
		i := slices.IndexFunc(questions(t, k), func(one approval.Question) bool { q = one; return q.Origin == policy.Origin(origin) })
		return i >= 0
	})
	return q
}

// questions returns what waits for the person.
func questions(t *testing.T, k *testkit.Kit) []approval.Question {
	t.Helper()
	raw, err := k.Person.Send("questions", nil)
	return decode[struct{ Questions []approval.Question }](t, raw, err).Questions
}

func answer(t *testing.T, k *testkit.Kit, q approval.Question, a approval.Answer) {
	t.Helper()
	if matched, err := k.Person.Answer(q.Question, a); err != nil || !matched {
		t.Fatalf("the answer to %+v: matched %v, %v", q, matched, err)
	}
}

// unseen fails the test when anything has reached host.
func unseen(t *testing.T, k *testkit.Kit, host, when string) {
	t.Helper()
	if r := k.Sites.Requests(host); len(r) != 0 {
		t.Errorf("%s: %s has seen %+v", when, host, r)
	}
}

func TestEveryWayToASite(t *testing.T) {
	k := testkit.Start(t, testkit.Options{})
	starts(k)
	site(t, k, k.Sites.Origin("start"), policy.Allow)
	ann := agent(t, k, "ann")
	var blocked []string
	for i, w := range ways {
		for _, allow := range []bool{true, false} {
			name := strings.ReplaceAll(w.name, " ", "-")
			host := "w" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			if allow {
				name, host = name+"/allowed", host+"-yes"
			} else {
				name, host = name+"/blocked", host+"-no"
				blocked = append(blocked, host)
			}
			if !t.Run(name, func(t *testing.T) { w.go_(t, k, ann, host, allow) }) {
				tidy(t, k, ann)
			}
		}
	}
	for _, host := range blocked {
		unseen(t, k, host, "at the end")
	}
}

// go_ goes the way to host once.
func (w way) go_(t *testing.T, k *testkit.Kit, a *testkit.Agent, host string, allow bool) {
	origin := k.Sites.Origin(host)
	to := origin + "/"
	if w.answer != nil {
		k.Sites.Handle(host, "/", w.answer)
	} else {
		k.Sites.Page(host, "/", arrived)
	}
	text := "<!doctype html><title>Start</title><p>still here</p>" + strings.ReplaceAll(w.html, "TO", to)
	k.Sites.Page("start", "/byitself", text)
	first := k.Sites.Origin("start") + "/byitself"
	by := w.by
	if by == nil {
		by = call("click_element", args{"name": "Go", "tabId": 1})
	}
	if w.byItself {
		first = k.Sites.Origin("start") + "/empty"
	}
	if o := do(t, a, "navigate", args{"url": first, "tabId": 1}); !strings.Contains(o.State.Content, "still here") {
		t.Fatalf("the start: %+v", o)
	}
	unseen(t, k, host, "before")
	reply, err := by(k, a, to)
	if err != nil {
		t.Fatal(err)
	}
	q := asked(t, k, origin)
	if want := cmp.Or(w.via, policy.KindPage); q.Via != want {
		t.Errorf("it came about by %s, want %s", q.Via, want)
	}
	if want := cmp.Or(w.method, "GET"); q.HTTPMethod != want || q.HasBody != (w.body != "") {
		t.Errorf("the question says %s, body %v", q.HTTPMethod, q.HasBody)
	}
	if o := do(t, a, "get_browser_state", args{"tabId": q.TabID, "captureState": false}); o.State.Pending == nil || o.State.Pending.Question != q.Question {
		t.Errorf("while it waits, the tab's state is %+v", o.State)
	}
	unseen(t, k, host, "while it waits")

	if !allow {
		answer(t, k, q, approval.BlockOnce)
		_, err := reply.Wait()
		if code := testkit.Code(err); q.Via == policy.KindDirect && code != fault.BrowserPolicyDenied || q.Via != policy.KindDirect && err != nil {
			t.Errorf("the call came to %v", err)
		}
		if !w.keeps {
			alone(t, a)
		}
		if o := do(t, a, "get_browser_state", args{"tabId": 1}); !strings.Contains(o.State.Content, "still here") || o.State.Pending != nil {
			t.Errorf("the page is gone: %+v", o)
		}
		unseen(t, k, host, "blocked")
		tidy(t, k, a)
		return
	}
	answer(t, k, q, approval.AllowOnce)
	until(t, 10*time.Second, "the request", func() bool { return len(k.Sites.Requests(host)) > 0 })
	if _, err := reply.Wait(); err != nil {
		t.Errorf("the call came to %v", err)
	}
	if w.answer == nil && !w.saves {
		if o := do(t, a, "wait_for", args{"text": "Arrived", "tabId": q.TabID}); !strings.HasPrefix(o.State.URL, to) {
			t.Errorf("the tab shows %+v", o.State)
		}
	}
	if r := k.Sites.Requests(host); len(r) != 1 || r[0].Method != cmp.Or(w.method, "GET") || r[0].Path != cmp.Or(w.path, "/") || r[0].Body != w.body {
		t.Errorf("the site got %+v", r)
	}
	tidy(t, k, a)
}

// alone waits until tab 1 is the only one.
func alone(t *testing.T, a *testkit.Agent) {
	t.Helper()
	until(t, 10*time.Second, "no other tab is left", func() bool {
		return len(do(t, a, "get_browser_state", args{"tabId": 1, "captureState": false}).State.Tabs) == 1
	})
}

// tidy blocks what waits and closes all tabs but the first.
func tidy(t *testing.T, k *testkit.Kit, a *testkit.Agent) {
	t.Helper()
	for _, q := range questions(t, k) {
		_, _ = k.Person.Answer(q.Question, approval.BlockOnce)
	}
	for _, tab := range do(t, a, "get_browser_state", args{"tabId": 1, "captureState": false}).State.Tabs {
		if tab.ID != 1 {
			_, _ = a.Call("close_tab", args{"tabId": tab.ID, "captureState": false})
		}
	}
	alone(t, a)
}
