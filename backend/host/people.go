package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"chaperone/backend/action"
	"chaperone/backend/catalog"
	"chaperone/backend/chrome"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/tiers"
	"chaperone/backend/wire"
)

// People is the person's side of a host. Whoever holds it can answer questions
// and change rules, so the program that made the host must hand it to nothing
// but its own window.
type People struct{ h *Host }

// People returns the person's side.
func (h *Host) People() People { return People{h} }

// Send answers one request line with one answer line. It never fails: what is
// wrong is in the answer.
func (p People) Send(ctx context.Context, request []byte) []byte {
	r, err := wire.Parse(request)
	var out any
	if err == nil {
		out, err = p.do(ctx, r)
	}
	answer, merr := wire.Marshal(wire.Answer(r.ID, out, err))
	if merr != nil {
		p.h.log.Error("an answer could not be written as JSON", "method", r.Method, "err", merr)
		answer, _ = wire.Marshal(wire.Answer(r.ID, nil, fault.New(fault.Internal, "internal error")))
	}
	return answer
}

func (p People) do(ctx context.Context, r wire.Request) (out any, err error) {
	w := p.h.whole.Load()
	if w == nil {
		return nil, errNotUp
	}
	begun, err := w.dispatcher.Begin(action.Actor{Person: true}, r.Method, r.Args)
	if err != nil {
		return nil, err
	}
	return begun.Do(ctx)
}

// Events calls batch with the events after seq from, oldest first, until ctx ends.
func (p People) Events(ctx context.Context, from int64, batch func([]event.Event)) error {
	for {
		w := p.h.whole.Load()
		if w == nil {
			return errNotUp
		}
		events, err := w.ledger.After(ctx, from, 500)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			if _, err := p.h.bus.Wait(ctx, from); err != nil {
				return err
			}
			continue
		}
		from = events[len(events)-1].Seq
		batch(events)
	}
}

// Health implements catalog.House.
func (w *whole) Health(ctx context.Context) catalog.Health {
	h := catalog.Health{Status: "ok", Version: w.h.o.Version, StartedAt: w.h.startedAt, Tiers: []catalog.TierHealth{}}
	for _, t := range w.h.statuses.List() {
		h.Tiers = append(h.Tiers, catalog.TierHealth{Name: t.Tier, Status: string(t.Status), Error: t.Error})
		if t.Status != tiers.Up {
			h.Status = "degraded"
		}
	}
	install, err := w.h.chromium.find(w.h.o.Chromium)()
	if err != nil {
		h.Chromium.Error, h.Status = fault.From(err).Message, "degraded"
	} else {
		h.Chromium.Path, h.Chromium.Version = install.Path, w.h.chromium.version(ctx)
	}
	if err := chrome.Display(os.Getenv); err != nil {
		h.Display.Error, h.Status = fault.From(err).Message, "degraded"
	} else {
		h.Display.OK = true
	}
	rows, bytes, last, err := w.ledger.Size(ctx)
	h.Ledger.Rows, h.Ledger.Bytes, h.Ledger.Last = rows, bytes, last
	if err != nil {
		h.Ledger.Error, h.Status = fault.From(err).Message, "down"
	}
	return h
}

// Connect implements catalog.House.
func (w *whole) Connect() catalog.ConnectInfo {
	command := agentsProgram()
	return catalog.ConnectInfo{Command: command, Snippets: []catalog.Snippet{
		{Title: "Any agent, over stdio", Language: "shell", Text: fmt.Sprintf("%s bridge --agent my-agent", quoted(command))},
		{Title: "Try it", Language: "shell", Text: fmt.Sprintf(`echo '{"id":1,"method":"navigate","args":{"url":"https://example.org"}}' | %s bridge`, quoted(command))},
		{Title: "List the methods", Language: "shell", Text: fmt.Sprintf(`echo '{"id":1,"method":"methods"}' | %s bridge`, quoted(command))},
	}}
}

// agentsProgram returns the path of the chaperone program: beside this one, or in PATH.
func agentsProgram() string {
	name := "chaperone"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), name); isFile(beside) {
			return beside
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// quoted makes a path one word of a shell's line.
func quoted(path string) string {
	for _, r := range path {
		if !(r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return "'" + path + "'"
		}
	}
	return path
}
