package chrome

import (
	"os"
	"strings"
	"sync"
)

// tailSize is how much of what Chromium last complained of is worth showing, in bytes.
const tailSize = 2000

// A tail keeps the end of what a starting Chromium says on its standard error.
// Once the start is over it only keeps the pipe from filling: what is said then
// may be about pages.
type tail struct {
	r    *os.File
	done chan struct{}

	mu        sync.Mutex
	kept      []byte
	forgetful bool
}

func newTail(r *os.File) *tail { return &tail{r: r, done: make(chan struct{})} }

// read runs until the pipe ends or is closed.
func (t *tail) read() {
	defer close(t.done)
	buf := make([]byte, 4096)
	for {
		n, err := t.r.Read(buf)
		t.mu.Lock()
		if !t.forgetful {
			t.kept = append(t.kept, buf[:n]...)
			t.kept = t.kept[max(0, len(t.kept)-tailSize):]
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// forget returns what was kept, in one line, and keeps nothing from now on.
func (t *tail) forget() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.Join(strings.Fields(strings.ToValidUTF8(string(t.kept), "")), " ")
	t.kept, t.forgetful = nil, true
	return said
}
