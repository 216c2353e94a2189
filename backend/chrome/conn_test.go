//go:build unix

package chrome

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"chaperone/backend/fault"
)

// A fakeBrowser is the far end of a conn.
type fakeBrowser struct {
	*conn
	t        *testing.T
	messages *io.PipeWriter
	commands *frameReader
	readErr  error
	ended    chan struct{}
}

func fake(t *testing.T, handler func(Event)) *fakeBrowser {
	t.Helper()
	fromBrowser, messages := io.Pipe()
	commands, toBrowser := io.Pipe()
	f := &fakeBrowser{
		conn: newConn(handler), t: t, messages: messages,
		commands: newFrameReader(commands), ended: make(chan struct{}),
	}
	var loops sync.WaitGroup
	loops.Go(func() { f.write(toBrowser) })
	loops.Go(func() {
		f.readErr = f.read(newFrameReader(fromBrowser))
		close(f.ended)
	})
	t.Cleanup(func() {
		if err := errors.Join(messages.Close(), fromBrowser.Close(), commands.Close()); err != nil {
			t.Error(err)
		}
		loops.Wait()
	})
	return f
}

func (f *fakeBrowser) say(format string, args ...any) {
	f.t.Helper()
	if _, err := fmt.Fprintf(f.messages, format+"\x00", args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeBrowser) hear() string {
	f.t.Helper()
	msg, err := f.commands.next()
	if err != nil {
		f.t.Fatal(err)
	}
	return string(msg)
}

func TestCommandsOnTheWire(t *testing.T) {
	f := fake(t, nil)
	type params struct {
		Text string `json:"text"`
	}
	f.root.Send("A.b", nil)
	f.session("S1").Send("C.d", params{"<ü\x00\xff>"})
	for _, want := range []string{
		`{"id":1,"method":"A.b"}`,
		`{"id":2,"method":"C.d","sessionId":"S1","params":{"text":"<ü\u0000` + "\uFFFD" + `>"}}`,
	} {
		if got := f.hear(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestAnswersFindTheirCommands(t *testing.T) {
	f := fake(t, nil)
	var one, two struct{ N int }
	first, second, refused := f.root.Send("A.a", nil), f.session("S").Send("A.b", nil), f.root.Send("A.c", nil)
	f.say(`{"id":99,"result":{"N":99}}`) // nobody asked
	f.say(`{"result":{"N":2} , "sessionId":"S", "id":2}`)
	f.say(` `)
	f.say(`{"id":3,"error":{"code":-32000,"message":"No \"such\" thing","data":"x"}}`)
	f.say(`{"id":1,"result":{"N":1,"deep":[{"}":"\"]"}]}}`)
	if err := errors.Join(first.Wait(deadline(t), &one), second.Wait(deadline(t), &two)); err != nil {
		t.Fatal(err)
	}
	if one.N != 1 || two.N != 2 {
		t.Errorf("got %d and %d", one.N, two.N)
	}
	got, ok := errors.AsType[*CDPError](refused.Wait(deadline(t), nil))
	if !ok || *got != (CDPError{-32000, `No "such" thing`}) {
		t.Errorf("refusal: %v", got)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	f := fake(t, nil)
	r := f.root.Send("A.a", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f.say(`{"id":1,"result":{}}`)
	if err := r.Wait(deadline(t), nil); err != nil {
		t.Errorf("a second wait: %v", err)
	}
	if err := r.Wait(ctx, nil); err != nil {
		t.Errorf("an answer that is there counts more than the context: %v", err)
	}
}

func TestEventsComeInOrderWithTheirSession(t *testing.T) {
	var got []string
	f := fake(t, func(e Event) {
		var v struct{ N int }
		if err := e.Decode(&v); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%s %s %d", e.Session.ID(), e.Method, v.N))
	})
	for n := range 3 {
		f.say(`{"method":"X.y","params":{"N":%d},"sessionId":"S%d"}`, n, n)
	}
	if err := f.messages.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, "the end", f.ended)
	if s := strings.Join(got, ", "); s != "S0 X.y 0, S1 X.y 1, S2 X.y 2" || f.readErr != nil {
		t.Errorf("got %s, %v", s, f.readErr)
	}
}

func TestSendInsideAHandler(t *testing.T) {
	f := fake(t, func(e Event) { e.Session.Send("Fetch.continueRequest", nil) })
	f.say(`{"method":"Fetch.requestPaused","params":{}}`)
	if got := f.hear(); !strings.Contains(got, "continueRequest") {
		t.Errorf("heard %s", got)
	}
}

// The end of a session ends what waits on it, and the sessions below it, and nothing else.
func TestSessionsEnd(t *testing.T) {
	const attach = `{"method":"Target.attachedToTarget","sessionId":%[3]q,` +
		`"params":{"sessionId":%[1]q,"targetInfo":{"targetId":%[2]q}}}`
	for name, end := range map[string]string{
		"detached":  `{"method":"Target.detachedFromTarget","params":{"sessionId":"tab"}}`,
		"destroyed": `{"method":"Target.targetDestroyed","params":{"targetId":"T1"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := fake(t, nil)
			f.say(attach, "tab", "T1", "")
			f.say(attach, "frame", "T2", "tab")
			f.say(attach, "other", "T3", "")
			tab, frame, other := f.session("tab"), f.session("frame"), f.session("other")
			lost := []*Reply{tab.Send("A.a", nil), frame.Send("A.b", nil)}
			kept := other.Send("A.c", nil)
			for range 3 {
				f.hear()
			}
			f.say("%s", end)
			for _, r := range lost {
				if err := r.Wait(deadline(t), nil); !fault.Is(err, fault.BrowserGone) {
					t.Errorf("got %v", err)
				}
			}
			await(t, "the tab's end", tab.Gone())
			await(t, "the frame's end", frame.Gone())
			if err := tab.Call(deadline(t), "A.d", nil, nil); !fault.Is(err, fault.BrowserGone) {
				t.Errorf("a call after the end: %v", err)
			}
			f.say(`{"id":3,"result":{},"sessionId":"other"}`)
			if err := kept.Wait(deadline(t), nil); err != nil {
				t.Errorf("the other session: %v", err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.pending) != 0 || len(f.sessions) != 2 {
				t.Errorf("%d pending, %d sessions left", len(f.pending), len(f.sessions))
			}
		})
	}
}

func TestBadStreamsEndTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		say  string
		want error
	}{
		"regular end":       {"", nil},
		"end inside":        {`{"id":1,"res`, nil},
		"words":             {"hello\x00", errGarbage},
		"array":             {"[1]\x00", errGarbage},
		"unclosed":          {`{"id":1,"result":{"a":1}` + "\x00", errGarbage},
		"two at once":       {`{"id":1}{"id":2}` + "\x00", errGarbage},
		"text id":           {`{"id":"1"}` + "\x00", errGarbage},
		"too long":          {`{"id":1,"result":"` + strings.Repeat("x", 1000), errTooLong},
		"too long, in time": {`{"id":1,"result":"` + strings.Repeat("x", 1000) + "\"}\x00", errTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			conn := newConn(nil)
			r := conn.root.Send("A.a", nil)
			frames := newFrameReader(strings.NewReader(c.say))
			frames.max = 900
			if err := conn.read(frames); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err := r.Wait(deadline(t), nil); !fault.Is(err, fault.BrowserGone) || !errors.Is(err, c.want) && c.want != nil {
				t.Errorf("what waited got %v", err)
			}
			if err := conn.session("late").Call(deadline(t), "A.b", nil, nil); !fault.Is(err, fault.BrowserGone) {
				t.Errorf("what came later got %v", err)
			}
		})
	}
}

// A Chromium that does not read its pipe makes sending fail, never block.
func TestSendNeverBlocks(t *testing.T) {
	c := newConn(nil)
	chunk := strings.Repeat("x", 8<<20)
	var last *Reply
	for range 9 {
		last = c.root.Send("A.a", []string{chunk})
	}
	if err := last.Wait(deadline(t), nil); !fault.Is(err, fault.Busy) {
		t.Errorf("got %v", err)
	}
	c.end(nil)
}

func TestFramesLargerThanTheBuffer(t *testing.T) {
	big := strings.Repeat("y", 700<<10)
	f := newFrameReader(strings.NewReader("a\x00" + big + "\x00\x00b\x00"))
	for _, want := range []string{"a", big, "", "b"} {
		got, err := f.next()
		if err != nil || string(got) != want {
			t.Fatalf("got %d bytes, %v; want %d", len(got), err, len(want))
		}
	}
	if _, err := f.next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// Whatever comes over the pipe, the envelope's values are parts of the message
// in balance, and nothing panics or loops.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":{}}`, `{"method":"A.b","params":{"a":[1,"}",{"b":null}]},"sessionId":"S"}`,
		`{"id":2,"error":{"code":-1,"message":"\"\\"}}`, ` { "id" : 3 , "x" : -1.5e3 , "y" : true } `, `{}`, `{"id":}`,
		`{"a":{]}`, `{"a":"\`, `{,}`, `{"id":1 2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		e, err := open(msg)
		if err != nil {
			return
		}
		for _, part := range [][]byte{e.session, e.method, e.params, e.result, e.fail} {
			if !bytes.Contains(msg, part) {
				t.Errorf("%q is no part of the message", part)
			}
		}
		conn := newConn(nil)
		if err := conn.read(newFrameReader(bytes.NewReader(append(msg, 0)))); err != nil && !bytes.Contains(msg, []byte{0}) {
			t.Errorf("opened alone, but not as a frame: %v", err)
		}
	})
}

// What is JSON is read as JSON reads it.
func FuzzOpenAgreesWithJSON(f *testing.F) {
	f.Add(int64(7), "Page.x", `{"a":"b"}`)
	f.Add(int64(-1), "é", `[[{"\"":"\\"}],1.5]`)
	f.Fuzz(func(t *testing.T, id int64, method, value string) {
		if !json.Valid([]byte(value)) || strings.ContainsAny(method, `"\`) {
			return
		}
		e, err := open([]byte(fmt.Sprintf(`{"method":"%s","params":%s,"id":%d}`, method, value, id)))
		if err != nil || e.id != id || string(e.method) != method || string(e.params) != strings.Trim(value, " \t\r\n") {
			t.Errorf("got %d %q %q, %v", e.id, e.method, e.params, err)
		}
	})
}
