package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"

	"chaperone/backend/event"
	"chaperone/backend/fault"
)

// people is the people's side of a host: the lines that only the person in this
// window may send, and the account of what happens.
type people interface {
	// Send answers one request line with one answer line.
	Send(ctx context.Context, line []byte) []byte
	// Events calls batch with the events after seq from, oldest first, until ctx ends.
	Events(ctx context.Context, from int64, batch func([]event.Event)) error
}

// App is all that the page in the window can call.
type App struct {
	send func(line []byte) []byte
}

// Send takes one request line and returns its answer line. It never panics: a
// panic in a bound method would end the program.
func (a *App) Send(line string) (answer string) {
	defer func() {
		if cause := recover(); cause != nil {
			slog.Error("a request from the window broke", "cause", cause, "stack", string(debug.Stack()))
			answer = broken(line)
		}
	}()
	return string(a.send([]byte(line)))
}

// broken is the answer to a line whose handling panicked.
func broken(line string) string {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal([]byte(line), &request) // without an id the answer has none
	answer, err := json.Marshal(map[string]any{
		"id": request.ID,
		"ok": false,
		"error": fault.New(fault.Internal, "Chaperone could not answer this request").
			WithHint("This is a defect of Chaperone; its log has the details."),
	})
	if err != nil {
		return `{"id":null,"ok":false,"error":{"code":"INTERNAL","message":"Chaperone could not answer this request"}}`
	}
	return string(answer)
}
