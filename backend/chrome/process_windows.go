package chrome

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"chaperone/backend/fault"
)

// supported says that nobody has yet taught this package the handles of Windows.
func supported() error {
	return fault.New(fault.BrowserUnavailable, "Chaperone cannot run a browser on Windows yet").
		WithHint("Use Linux or macOS, or WSL.")
}

func attributes() *syscall.SysProcAttr              { return nil }
func awaitEnd(int)                                  {}
func killGroup(int)                                 {}
func endProcess(int) error                          { return supported() }
func executable(string) error                       { return nil }
func lockFile(*os.File) error                       { return supported() }
func process(int) (string, []string, bool)          { return "", nil, false }
func exitOf(s *os.ProcessState) Exit                { return Exit{Code: s.ExitCode()} }
func pipes(*exec.Cmd) (in, out *os.File, err error) { return nil, nil, errors.ErrUnsupported }
