package main

import (
	"log/slog"
	"os"
	"time"

	"chaperone/backend/host"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var idle time.Duration
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a host without a window, for servers and tests",
		Long: `Run a host without a window, in the foreground, until it is told to end.

Nobody can answer here: whatever would be asked is refused. Sites that a person
has allowed for good in the app are open. The app can't run beside it: end this
host first, by Ctrl+C or a signal.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := host.New(host.Options{
				Version: version(), Kind: host.Serve, Home: os.Getenv("CHAPERONE_HOME"),
				Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Idle: idle,
			})
			if err != nil {
				return err
			}
			return h.Run(c.Context())
		},
	}
	c.Flags().DurationVar(&idle, "idle", 0, "end when no agent has been connected for this `time`, such as 5m; 0 is never")
	return c
}
