//go:build unix

package chrome

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the package when a goroutine of it is left, and plays the host
// that is killed for TestSweepAfterKilledHost.
func TestMain(m *testing.M) {
	if profile := os.Getenv(hostProfile); profile != "" {
		playHost(profile)
		return
	}
	code := m.Run()
	if left := leftGoroutines(); left != "" && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines are left:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leftGoroutines returns the stacks of goroutines that run our code, after
// giving those that are about to return two seconds for it.
func leftGoroutines() (left string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		left = ""
		buf := make([]byte, 1<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		for _, s := range stacks[1:] { // the first is this one
			if strings.Contains(s, "backend/chrome.") {
				left += s + "\n\n"
			}
		}
		if left == "" {
			break
		}
		<-tick.C
	}
	return left
}
