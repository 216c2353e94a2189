package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"

	"github.com/spf13/cobra"
)

func bridgeCommand() *cobra.Command {
	var agent string
	var noStart bool
	c := &cobra.Command{
		Use:   "bridge",
		Short: "Connect an agent: one JSON object a line on standard input and output",
		Long: `Connect an agent: one JSON object a line on standard input and output.

  {"id":1,"method":"navigate","args":{"url":"https://example.org"}}

"methods" lists what there is. When no host is running, one is started: the app
where there is a display, else a host without a window, which ends a minute
after its last agent has gone. The end of standard
input ends the line when the last answer has been given. Only the protocol goes
to standard output; all else to standard error.`,
		Example: `  echo '{"id":1,"method":"status"}' | chaperone bridge --no-start`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			places := setting.PathsFrom(os.Getenv)
			r := &relay{
				agent: ids.Agent(agent), out: os.Stdout, notes: os.Stderr,
				dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return reach(ctx, places, !noStart) },
			}
			return pump(c.Context(), r)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the agent's `name`, to come back as the same; absent: a fresh agent")
	c.Flags().BoolVar(&noStart, "no-start", false, "never start a host")
	return c
}

// pump runs the relay until it ends or a signal comes. The relay may then hang
// in a read of standard input or a write of standard output that nothing can
// interrupt; it ends with the program.
func pump(ctx context.Context, r *relay) error {
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx, os.Stdin) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(500 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
	}
	return nil
}

// dialing bounds one attempt to connect to the socket of a host.
const dialing = 2 * time.Second

// reach connects to the host, and starts one when there is none and start is
// set. Its errors are fault.BrowserUnavailable.
func reach(ctx context.Context, places setting.Paths, start bool) (io.ReadWriteCloser, error) {
	conn, err := dial(ctx, places)
	if err == nil {
		return conn, nil
	}
	if start {
		return startHost(ctx, places)
	}
	return nil, fault.New(fault.BrowserUnavailable, "Chaperone is not running: %w", plain(err)).
		WithHint("Open the Chaperone app, or run `chaperone serve`; then repeat the request.")
}

func dial(ctx context.Context, places setting.Paths) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	return line.Dial(ctx, places.Socket)
}

// plain says in plain words why a host could not be reached.
func plain(err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no socket to connect to")
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("its socket does not answer")
	}
	return err
}
