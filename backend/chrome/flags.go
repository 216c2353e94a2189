package chrome

import "strings"

// flags returns the command line for a profile. Why each is there is in
// docs/decisions/0002-cdp-client.md and, row by row, in the tests of what leaks.
func flags(profile string, root bool, env []string) []string {
	f := []string{
		"--remote-debugging-pipe",
		"--no-startup-window",
		"--user-data-dir=" + profile,
		"--no-first-run",
		"--no-default-browser-check",
		"--password-store=basic",
		"--disable-sync",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-domain-reliability",
		"--disable-breakpad",
		"--disable-extensions",
		"--allow-browser-signin=false",
		"--deny-permission-prompts",
		// Without it a press that comes before a new document's first frame is dropped, and answered as if it arrived.
		"--allow-pre-commit-input",
		// A covered or minimised window must go on working for its agent.
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
		"--disable-background-timer-throttling",
		"--disable-features=" + strings.Join([]string{
			"OptimizationHints", "OptimizationGuideModelDownloading", "MediaRouter", "DialMediaRouteProvider",
			"Translate", "AutofillServerCommunication", "NetworkTimeServiceQuerying",
			"NetworkTimeServiceSecureQueries", "FedCm", "WebIdentityDigitalCredentials",
			// A page that comes back from this cache makes no request, so nobody could be asked.
			"BackForwardCache",
		}, ","),
		"--disable-blink-features=EyeDropperAPI,FedCm,WebIdentityDigitalCredentials,DigitalCredentials",
		// The offer to restore pages would open sites that nobody asked for.
		"--hide-crash-restore-bubble",
	}
	if root {
		// Chromium refuses to run its sandbox as root, and root only.
		f = append(f, "--no-sandbox")
	}
	if lookup(env, "DISPLAY") == "" && lookup(env, "WAYLAND_DISPLAY") != "" {
		f = append(f, "--ozone-platform=wayland")
	}
	return f
}
