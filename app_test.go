package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"testing"
)

func TestSendPassesLinesAsTheyAre(t *testing.T) {
	app := &App{send: func(line []byte) []byte { return append([]byte("answer to "), line...) }}
	if got, want := app.Send(`{"id":1}`), `answer to {"id":1}`; got != want {
		t.Errorf("Send = %q, want %q", got, want)
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	app := &App{send: func([]byte) []byte { panic("a defect") }}
	for line, id := range map[string]string{
		`{"id":7,"method":"overview"}`: `7`,
		`{"id":"a\"b"}`:                `"a\"b"`,
		`{}`:                           `null`,
		`no line`:                      `null`,
	} {
		var answer struct {
			ID    json.RawMessage `json:"id"`
			OK    bool            `json:"ok"`
			Error struct {
				Code, Message string
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(app.Send(line)), &answer); err != nil {
			t.Fatalf("the answer to %s is no JSON: %v", line, err)
		}
		if string(answer.ID) != id || answer.OK || answer.Error.Code != "INTERNAL" || answer.Error.Message == "" {
			t.Errorf("the answer to %s is %+v with id %s, want INTERNAL with id %s", line, answer, answer.ID, id)
		}
	}
}
