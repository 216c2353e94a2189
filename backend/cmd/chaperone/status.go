package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"
	"chaperone/backend/wire"

	"github.com/spf13/cobra"
)

// asking bounds the question to a host how it is.
const asking = 5 * time.Second

// hostState is what `status --json` prints.
type hostState struct {
	Running bool         `json:"running"`
	Socket  string       `json:"socket"`
	Host    *line.Status `json:"host,omitempty"`
}

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Say whether a host is running, and which (exit code 1 when none is)", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			places := setting.PathsFrom(os.Getenv)
			state := hostState{Socket: places.Socket}
			status, err := ask(c.Context(), places)
			if err == nil {
				state.Running, state.Host = true, &status
			} else if !fault.Is(err, fault.BrowserUnavailable) {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				err = printJSON(out, state)
			} else {
				_, err = fmt.Fprintln(out, state.describe(time.Now()))
			}
			if err == nil && !state.Running {
				err = errSaid
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// ask asks the running host. Its error is fault.BrowserUnavailable when there is none.
func ask(ctx context.Context, places setting.Paths) (line.Status, error) {
	var answer struct {
		Result line.Status  `json:"result"`
		Error  *fault.Error `json:"error"`
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	conn, err := reach(ctx, places, false)
	if err != nil {
		return answer.Result, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	if err := wire.NewWriter(conn).Write(wire.Request{ID: json.RawMessage("1"), Method: wire.MethodStatus}); err != nil {
		return answer.Result, fmt.Errorf("asking the host: %w", err)
	}
	text, err := wire.NewReader(conn).Next()
	if err != nil {
		return answer.Result, fmt.Errorf("the host does not answer: %w", err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer.Result, fmt.Errorf("the host's answer is not understood: %w", err)
	}
	if answer.Error != nil {
		return answer.Result, answer.Error
	}
	return answer.Result, nil
}

func (s hostState) describe(now time.Time) string {
	if s.Host == nil {
		return "Chaperone is not running."
	}
	what, asked := "a host without a window", "Nobody can be asked: what needs an answer is refused."
	if s.Host.Kind == "app" {
		what = "the app"
	}
	if s.Host.Attended {
		asked = "A person can be asked."
	}
	return fmt.Sprintf("Chaperone %s is running: %s, process %d, for %v.\n%s, %s. %s",
		s.Host.Version, what, s.Host.PID, now.Sub(s.Host.StartedAt).Round(time.Second),
		count(s.Host.Agents, "agent"), count(s.Host.Sessions, "browser window"), asked)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
