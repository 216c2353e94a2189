package desktop

import "encoding/binary"

const (
	focusIn      = 9
	focusOut     = 10
	reply        = 1
	genericEvent = 35
	// headSize is the length of a message, or of the start of a longer one.
	headSize = 32
	// The modes of a focus event that tell of a grab, which passes.
	modeGrab   = 1
	modeUngrab = 2
	// From here on a detail says only where the pointer is.
	detailPointer = 5
)

// A watcher reads what the server tells one client, whatever pieces it comes
// in, for the focus's comings and goings. It changes nothing.
type watcher struct {
	order binary.ByteOrder
	names names
	// focused is told which window of the client has got the focus, and 0 when one has lost it.
	focused func(window uint32)
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
	switch code := m[0] & 0x7f; code {
	case reply, genericEvent:
		w.skip = uint64(w.order.Uint32(m[4:])) * 4
		if code == genericEvent && w.names.input != 0 && m[1] == w.names.input {
			if kind := w.order.Uint16(m[8:]); kind == focusIn || kind == focusOut {
				w.focus(m[18], m[19], w.order.Uint32(m[24:]), kind == focusIn)
			}
		}
	case focusIn, focusOut:
		w.focus(m[8], m[1], w.order.Uint32(m[4:]), code == focusIn)
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
