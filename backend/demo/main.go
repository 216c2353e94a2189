// Command demo shows Chaperone's main job from end to end, and checks it on the way.
//
// It serves a small web of its own on loopback (a shop, a checkout on another
// origin, and a trap), opens the desktop app on a throw-away home, and lets a
// scripted agent in through `chaperone bridge`. Each new site is decided in the
// app: by whoever sits there, or, with -person scripted, by a scripted person
// who reads the window's pixels and answers with the keyboard. There is no
// other way to answer, and the demo has none.
//
// Whatever does not go as told ends the show with exit code 1. Nothing that it
// starts outlives it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"chaperone/backend/setting"
)

// showWithin bounds the scripted show; a person may take as long as they like.
const showWithin = 4 * time.Minute

// What the app and the bridge say on stderr, in the directory for pictures and logs.
const (
	appLog    = "app.log"
	bridgeLog = "bridge.log"
)

func main() {
	person := flag.String("person", "you", "who answers the questions: you, or scripted")
	bin := flag.String("bin", "build/bin", "where chaperone and chaperone-desktop are")
	out := flag.String("out", "demo-out", "where pictures and logs go")
	flag.Parse()
	if *person != "you" && *person != "scripted" {
		fmt.Fprintln(os.Stderr, "demo: -person takes you or scripted")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *person == "scripted" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, showWithin,
			fmt.Errorf("the show was not over within %v", showWithin))
		defer cancel()
	}
	err := show(ctx, newTalk(os.Stdout), *person == "scripted", *bin, *out)
	switch {
	case *person == "you" && errors.Is(err, errTurnedAway):
		fmt.Printf("\nThe show ends here: %v.\n", err)
	case err != nil:
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
		}
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		for _, name := range []string{appLog, bridgeLog} {
			if said := tail(filepath.Join(*out, name)); said != nil {
				fmt.Fprintf(os.Stderr, "\nThe end of %s:\n%v\n", filepath.Join(*out, name), said)
			}
		}
		os.Exit(1)
	}
}

// show runs the whole of it: site, app, agent, person, and their ends.
func show(ctx context.Context, talk *talk, scripted bool, bin, out string) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "chaperone-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	site := newSite(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	defer func() { _ = server.Close(); <-served }()
	talk.say("The demo's web: %s, with pay, prize and bonus.localhost beside it.", site.url("shop", "/"))

	app, err := startApp(filepath.Join(bin, "chaperone-desktop"), home, filepath.Join(out, appLog))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.end()) }()
	paths := setting.PathsFrom(func(name string) string {
		if name == "CHAPERONE_HOME" {
			return home
		}
		return os.Getenv(name)
	})
	if err := app.ready(ctx, paths.Socket); err != nil {
		return err
	}
	talk.say("The app is open.")

	var p person = &you{talk: talk}
	if scripted {
		s := newScripted(talk, out)
		if err := s.findApp(ctx); err != nil {
			return err
		}
		p = s
	}

	bridge, err := startBridge(filepath.Join(bin, "chaperone"), home, filepath.Join(out, bridgeLog))
	if err != nil {
		return err
	}
	agent := newAgent(bridge.line, talk, p, site)
	story := agent.run(ctx)
	if story == nil {
		story = p.bow(ctx)
	}
	// The agent leaves by closing its input; that must end its process and its window.
	err = errors.Join(story, bridge.end())
	agent.wait()
	if err == nil || errors.Is(err, errTurnedAway) {
		err = errors.Join(err, nothingLeft(ctx, home))
	}
	if err == nil || errors.Is(err, errTurnedAway) {
		talk.summary(agent, bridge.line, site, p)
	}
	return err
}
