package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"

	"chaperone/backend/fault"
)

// A client is one agent's line to a host, on which one request is under way at a time.
type client struct {
	rw   io.ReadWriteCloser
	from *bufio.Reader
	next int
}

func dial(ctx context.Context, socket string) (*client, error) {
	var d net.Dialer
	rw, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return &client{rw: rw, from: bufio.NewReaderSize(rw, 64<<10)}, nil
}

// call asks for one thing and decodes the result unless that is nil. An error
// that the host answers with is a *fault.Error. The end of ctx ends the line.
func (a *client) call(ctx context.Context, method string, args, result any) error {
	defer context.AfterFunc(ctx, func() { _ = a.rw.Close() })()
	a.next++
	request, err := json.Marshal(map[string]any{"id": a.next, "method": method, "args": args})
	if err != nil {
		return err
	}
	if _, err := a.rw.Write(append(request, '\n')); err != nil {
		return err
	}
	text, err := a.from.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var answer struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *fault.Error    `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	switch {
	case answer.ID != a.next:
		return fmt.Errorf("%s: the answer to %d is of %d", method, a.next, answer.ID)
	case answer.Error != nil:
		return answer.Error
	case result != nil:
		return json.Unmarshal(answer.Result, result)
	}
	return nil
}

func (a *client) Close() error { return a.rw.Close() }

// outcome is as much of a page action's answer as is looked at here.
type outcome struct {
	Action *struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	} `json:"action"`
	State struct {
		Content string `json:"content"`
		Settled bool   `json:"settled"`
	} `json:"state"`
	ObservationError string `json:"observationError"`
}

// act calls a page action, which must come off.
func (a *client) act(ctx context.Context, method string, args map[string]any) (outcome, error) {
	var o outcome
	if err := a.call(ctx, method, args, &o); err != nil {
		return o, err
	}
	if o.Action != nil && !o.Action.Success {
		return o, fmt.Errorf("%s: %s", method, o.Action.Message)
	}
	if o.ObservationError != "" {
		return o, fmt.Errorf("%s: %s", method, o.ObservationError)
	}
	return o, nil
}
