package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// peer is a line and the other end of it.
func peer(t *testing.T) (l *line, requests *bufio.Scanner, answers io.WriteCloser) {
	t.Helper()
	fromAgent, toPeer := io.Pipe()
	fromPeer, toAgent := io.Pipe()
	l = newLine(toPeer, fromPeer)
	t.Cleanup(func() {
		fromAgent.Close()
		toAgent.Close()
		<-l.ended
	})
	return l, bufio.NewScanner(fromAgent), toAgent
}

func TestLineMatchesAnswersInAnyOrder(t *testing.T) {
	l, requests, answers := peer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() {
		for requests.Scan() {
			if strings.Contains(requests.Text(), `"second"`) {
				fmt.Fprintln(answers, `{"event":{"seq":1,"category":"approval.asked","subject":"q1"}}`)
				fmt.Fprintln(answers, `{"id":2,"ok":false,"error":{"code":"BROWSER_GONE","message":"it went"}}`)
				fmt.Fprintln(answers, `{"id":1,"ok":true,"result":{"n":1}}`)
			}
		}
	}()
	request, first, err := l.start("first", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":1,"method":"first","args":{}}`; request != want {
		t.Errorf("the request was %s, want %s", request, want)
	}
	_, second, err := l.start("second", args{"n": 2})
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.wait(ctx, first)
	if err != nil || !a.OK || string(a.Result) != `{"n":1}` {
		t.Errorf("first: %+v, %v", a, err)
	}
	b, err := l.wait(ctx, second)
	if err != nil || b.OK || b.Error.Code != "BROWSER_GONE" {
		t.Errorf("second: %+v, %v", b, err)
	}
	if e := <-l.events; e.Category != "approval.asked" || e.Subject != "q1" {
		t.Errorf("event: %+v", e)
	}
	if sent, received := l.bytes(); sent != 36+42 || received == 0 {
		t.Errorf("%d bytes sent, %d received", sent, received)
	}
}

func TestLineEnds(t *testing.T) {
	for name, last := range map[string]string{
		"closed":               "",
		"not an answer":        "hello\n",
		"an answer to nothing": `{"id":7,"ok":true}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			l, requests, answers := peer(t)
			go func() {
				requests.Scan()
				_, _ = io.WriteString(answers, last)
				answers.Close()
			}()
			_, waiter, err := l.start("ping", nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if a, err := l.wait(ctx, waiter); !errors.Is(err, errLineOver) {
				t.Errorf("answer %+v, error %v", a, err)
			}
			if _, _, err := l.start("ping", nil); !errors.Is(err, errLineOver) {
				t.Errorf("a request over a line that has ended: %v", err)
			}
		})
	}
}
