package bare

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// conn frames messages with a zero byte and matches answers to commands.
type conn struct {
	to    io.Writer
	ended chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan message
	err     error // why the reader ended
}

type message struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func newConn(to io.Writer, from io.Reader) *conn {
	c := &conn{to: to, ended: make(chan struct{}), waiting: map[int64]chan message{}}
	go c.read(bufio.NewReaderSize(from, 256<<10))
	return c
}

// read ends when the browser closes the pipe.
func (c *conn) read(from *bufio.Reader) {
	defer close(c.ended)
	for {
		text, err := from.ReadBytes(0)
		if err != nil {
			c.err = err
			return
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			c.err = err
			return
		}
		if m.ID == 0 {
			if c.err = c.event(m); c.err != nil {
				return
			}
			continue
		}
		c.mu.Lock()
		waiter := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if waiter != nil {
			waiter <- m
		}
	}
}

// event lets a held request go; this client waits for no other event.
func (c *conn) event(m message) error {
	if m.Method != "Fetch.requestPaused" {
		return nil
	}
	var held struct {
		RequestID string `json:"requestId"`
	}
	if err := json.Unmarshal(m.Params, &held); err != nil {
		return err
	}
	_, err := c.send("", "Fetch.continueRequest", held)
	return err
}

// A pending is a command that was sent.
type pending struct {
	c      *conn
	method string
	answer chan message
}

// send writes a command and does not wait.
func (c *conn) send(session, method string, params any) (pending, error) {
	p := pending{c, method, make(chan message, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	var text bytes.Buffer
	err := json.NewEncoder(&text).Encode(struct {
		ID        int64  `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
	}{c.next, session, method, params})
	if err != nil {
		return p, err
	}
	c.waiting[c.next] = p.answer
	_, err = c.to.Write(append(bytes.TrimRight(text.Bytes(), "\n"), 0))
	return p, err
}

// wait decodes the answer into result unless that is nil.
func (p pending) wait(ctx context.Context, result any) error {
	select {
	case m := <-p.answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", p.method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-p.c.ended:
		return errors.Join(errors.New("the browser has closed the pipe"), p.c.err)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", p.method, context.Cause(ctx))
	}
}

func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	p, err := c.send(session, method, params)
	if err != nil {
		return err
	}
	return p.wait(ctx, result)
}
