package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaperone/backend/event"
)

func TestUIHost(t *testing.T) {
	dist := t.TempDir()
	if err := os.WriteFile(filepath.Join(dist, "index.html"), []byte("the interface"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, hangUp := io.Pipe()
	out, said := io.Pipe()
	over := make(chan error, 1)
	go func() {
		over <- run(dist, in, said)
		said.Close()
	}()
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-over)
	}
	url := strings.TrimSuffix(first, "\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(method, path, body string) []byte {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v: %s", path, answer.Status, err, text)
		}
		return text
	}
	attended := func() bool {
		return bytes.Contains(ask("POST", "/agent", `{"id":"s","method":"status"}`), []byte(`"attended":true`))
	}

	if text := ask("GET", "/", ""); string(text) != "the interface" {
		t.Errorf("got %s", text)
	}
	var sites map[string]string
	if err := json.Unmarshal(ask("GET", "/sites", ""), &sites); err != nil || !strings.HasPrefix(sites["shop"], "http://shop.localhost:") {
		t.Errorf("got %v, %v", sites, err)
	}
	if attended() {
		t.Error("nobody looks, and yet somebody is there")
	}
	stream, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	if !attended() {
		t.Error("somebody looks, and yet nobody is there")
	}
	ask("POST", "/line", `{"id":1,"method":"set_site","args":{"origin":"`+sites["shop"]+`","access":"block"}}`)
	events := bufio.NewReader(stream.Body)
	for seen := false; !seen; {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var batch []event.Event
		if err := json.Unmarshal([]byte(data), &batch); err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			seen = seen || e.Category == "site.changed" && e.Subject == sites["shop"]
		}
	}
	if text := ask("POST", "/agent?name=other", `{"id":[1],"method":"navigate","args":{"url":"`+sites["shop"]+`/"}}`); !bytes.Contains(text, []byte("BROWSER_POLICY_DENIED")) {
		t.Errorf("got %s", text)
	}
	stream.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	hangUp.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestNotBuiltIsSaid(t *testing.T) {
	err := run(t.TempDir(), strings.NewReader(""), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "make ui") {
		t.Errorf("got %v", err)
	}
}
