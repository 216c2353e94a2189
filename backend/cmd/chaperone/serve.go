package main

import (
	"log/slog"
	"os"

	"chaperone/backend/host"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run a host without a window, for servers and tests",
		Long: `Run a host without a window, in the foreground, until it is told to end.

Nobody can answer here: whatever would be asked is refused. Sites that a person
has allowed for good in the app are open.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := host.New(host.Options{
				Version: version(), Kind: host.Serve, Home: os.Getenv("CHAPERONE_HOME"),
				Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
			})
			if err != nil {
				return err
			}
			return h.Run(c.Context())
		},
	}
}
