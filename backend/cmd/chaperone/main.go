// Command chaperone is the agents' side of Chaperone: the bridge by which an
// agent reaches its browser, a host without a window, and a look at both.
//
// There is no command here by which anything is allowed or answered: only the
// person in the app can do that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"chaperone/backend/fault"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	failed  = 1
	misused = 2
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// A second signal ends the program at once: the first gives the signals back.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return report(os.Stderr, err)
}

// errSaid ends the program with exit code 1; what there is to say has been said.
var errSaid = errors.New("said")

// misuse is an error in the command line itself.
type misuse struct{ what, hint string }

func (m misuse) Error() string { return m.what }

func report(w io.Writer, err error) int {
	if errors.Is(err, errSaid) {
		return failed
	}
	code, what, hint := failed, err.Error(), ""
	if m, ok := errors.AsType[misuse](err); ok {
		code, what, hint = misused, m.what, m.hint
	} else if e, ok := errors.AsType[*fault.Error](err); ok {
		what, hint = e.Message, e.Hint
	}
	fmt.Fprintf(w, "chaperone: %s\n", what)
	if hint != "" {
		fmt.Fprintf(w, "  %s\n", hint)
	}
	return code
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "chaperone",
		Short: "A browser for agents, with a person who decides",
		Long: "Chaperone gives each agent a browser window of its own, and a person the say.\n" +
			"Agents come in by `chaperone bridge`; the person answers in the app.",
		SilenceErrors: true, SilenceUsage: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			text := fmt.Sprintf("there is no command %q", args[0])
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				text += "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return misuse{text, "`chaperone --help` lists the commands."}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misuse{err.Error(), helpOf(c)}
	})
	root.AddCommand(bridgeCommand(), serveCommand(), statusCommand(), doctorCommand(), versionCommand())
	return root
}

// noArgs refuses arguments as a misuse.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse{fmt.Sprintf("%s takes no argument %q", c.CommandPath(), args[0]), helpOf(c)}
	}
	return nil
}

func helpOf(c *cobra.Command) string {
	return fmt.Sprintf("`%s --help` says what is accepted.", c.CommandPath())
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), "chaperone", version())
			return err
		},
	}
}

// version is the one that the program was built as; "dev" from a checkout.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
