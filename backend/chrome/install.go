package chrome

import (
	"context"
	"os/exec"
	"regexp"
	"runtime"
	"time"

	"chaperone/backend/fault"
)

// An Install is a Chromium on this machine.
type Install struct {
	// Path is the program.
	Path string
	// Version is such as "156.0.8078.114"; empty when nobody has read it.
	Version string
}

// Find returns the Chromium to use: override when there is one, else the first
// that is installed. It starts no process and leaves Version empty. Its error is
// fault.BrowserUnavailable with a hint on how to get one.
func Find(override string) (Install, error) { return find(override, runtime.GOOS, exec.LookPath) }

func find(override, goos string, look func(string) (string, error)) (Install, error) {
	if override != "" {
		path, err := look(override)
		if err != nil {
			return Install{}, fault.New(fault.BrowserUnavailable, "%s, named by CHAPERONE_CHROMIUM, cannot be run", override).
				WithHint("Point CHAPERONE_CHROMIUM at a Chromium, or unset it.").Because(err)
		}
		return Install{Path: path}, nil
	}
	for _, name := range candidates(goos) {
		if path, err := look(name); err == nil {
			return Install{Path: path}, nil
		}
	}
	return Install{}, fault.New(fault.BrowserUnavailable, "no Chromium is installed").WithHint(howToInstall(goos))
}

func candidates(goos string) []string {
	names := []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}
	if goos == "darwin" {
		names = append(names,
			"/Applications/Chromium.app/Contents/MacOS/Chromium",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
	}
	return names
}

func howToInstall(goos string) string {
	const or = ", or set CHAPERONE_CHROMIUM to the path of one."
	if goos == "darwin" {
		return "Install one with: brew install --cask chromium" + or
	}
	return "Install one with: sudo apt install chromium (Fedora: sudo dnf install chromium)" + or
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+){2,3}`)

// ReadVersion asks the program for its version and returns the completed
// Install. It takes a process and some tens of milliseconds, five seconds at
// the most. Its error is fault.BrowserUnavailable.
func (i Install) ReadVersion(ctx context.Context) (Install, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // a wrapper script that hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, i.Path, "--version")
	cmd.Env = environment(nil, "")
	out, err := cmd.Output()
	if i.Version = versionNumber.FindString(string(out)); i.Version == "" {
		return i, fault.New(fault.BrowserUnavailable, "%s does not tell its version", i.Path).
			WithHint("Run it once by hand to see what is wrong with it.").Because(err)
	}
	return i, nil
}
