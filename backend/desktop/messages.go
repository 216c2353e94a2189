package desktop

import "encoding/binary"

const (
	reply        = 1
	buttonPress  = 4
	focusIn      = 9
	focusOut     = 10
	touchBegin   = 18 // of the input extension
	genericEvent = 35
	// headSize is the length of a message, or of the start of a longer one.
	headSize = 32
	// The modes of a focus event that tell of a grab, which passes.
	modeGrab   = 1
	modeUngrab = 2
	// detailPointer and those after it say only where the pointer is.
	detailPointer = 5
)

// A watcher reads what the server tells one client, in whatever pieces it
// comes, for signs of the person. It changes nothing.
type watcher struct {
	order binary.ByteOrder
	names names
	// focused is told which window of the client has got the focus, and 0 when one has lost it.
	focused func(window uint32)
	// pressed is told that the person has put a button or a finger down on a window of the client.
	pressed func()
	skip    uint64
	head    []byte // the part of a head that has come so far
}

func (w *watcher) read(b []byte) {
	for len(b) > 0 {
		if w.skip > 0 {
			n := min(w.skip, uint64(len(b)))
			b, w.skip = b[n:], w.skip-n
			continue
		}
		n := min(headSize-len(w.head), len(b))
		w.head, b = append(w.head, b[:n]...), b[n:]
		if len(w.head) == headSize {
			w.message(w.head)
			w.head = w.head[:0]
		}
	}
}

func (w *watcher) message(m []byte) {
	switch code := m[0]; code { // what another client has sent has a bit more
	case reply, genericEvent:
		w.skip = uint64(w.order.Uint32(m[4:])) * 4
		if code == genericEvent && w.names.input != 0 && m[1] == w.names.input {
			w.input(m)
		}
	case focusIn, focusOut:
		w.focus(m[8], m[1], w.order.Uint32(m[4:]), code == focusIn)
	case buttonPress:
		w.press(uint32(m[1]))
	}
}

// input takes in an event of the input extension.
func (w *watcher) input(m []byte) {
	switch kind := w.order.Uint16(m[8:]); kind {
	case focusIn, focusOut:
		w.focus(m[18], m[19], w.order.Uint32(m[24:]), kind == focusIn)
	case buttonPress:
		w.press(w.order.Uint32(m[16:]))
	case touchBegin:
		w.pressed()
	}
}

func (w *watcher) focus(mode, detail byte, window uint32, in bool) {
	if mode == modeGrab || mode == modeUngrab || detail >= detailPointer {
		return
	}
	if !in {
		window = 0
	}
	w.focused(window)
}

// press takes in a button. Those of the wheel give no window the focus.
func (w *watcher) press(button uint32) {
	if button < 4 || button > 7 {
		w.pressed()
	}
}
