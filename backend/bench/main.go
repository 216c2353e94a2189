// Command bench measures Chaperone against a bare client (package bare) on the
// same Chromium, the same pages and in the same run, turn by turn, so that
// whatever else the machine does meets both.
//
// It prints a table, writes the figures to backend/bench/out/latest.json and,
// with -write, the page docs/benchmarks.md. A missed goal is marked in the
// table and is not a failure: what the figures are worth depends on the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"chaperone/backend/chrome"
)

// runTime bounds the whole run, which takes about two minutes.
const runTime = 8 * time.Minute

func main() {
	program := flag.String("program", "build/bin/chaperone", "the built agents' program")
	machine := flag.String("write", "", "write docs/benchmarks.md too; the value describes the machine in a few `words`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	if err := run(ctx, *program, *machine); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, machine string) (err error) {
	dir, err := os.MkdirTemp("", "chaperone-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("the program is not built (make build): %w", err)
	}
	install, err := chrome.Find(os.Getenv("CHAPERONE_CHROMIUM"))
	if err != nil {
		return err
	}
	r := newReport()
	for _, part := range []struct {
		name string
		run  func(context.Context, *report) error
	}{
		{"the page actions", func(ctx context.Context, r *report) error { return browsing(ctx, r, install.Path, dir) }},
		{"the path of a call", func(ctx context.Context, r *report) error { return path(ctx, r, filepath.Join(dir, "path")) }},
		{"the programs", func(ctx context.Context, r *report) error { return programs(ctx, r, program, dir) }},
	} {
		fmt.Fprintf(os.Stderr, "measuring %s …\n", part.name)
		if err := part.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	r.Took = time.Since(r.Date).Round(time.Second).String()
	if err := r.save("backend/bench/out/latest.json"); err != nil {
		return err
	}
	if machine != "" {
		if err := r.saveDocument("docs/benchmarks.md", machine); err != nil {
			return err
		}
	}
	return r.print(os.Stdout)
}
