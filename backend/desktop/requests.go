package desktop

import "encoding/binary"

// The core requests that can move the focus or the order of windows.
const (
	opConfigureWindow = 12
	opChangeProperty  = 18
	opSendEvent       = 25
	opSetInputFocus   = 42
	opNoOperation     = 127
)

const (
	clientMessage = 33
	// stacking are the bits of ConfigureWindow's mask for a sibling and a place among the windows.
	stacking = 0x20 | 0x40
	// longest bounds what is held back of an unfinished request, in bytes: all that is looked at is shorter.
	longest = 64
)

// names are what the server calls the things that are looked for.
type names struct {
	activeWindow uint32 // the atom _NET_ACTIVE_WINDOW
	userTime     uint32 // the atom _NET_WM_USER_TIME
	input        byte   // the first byte after a generic event's code for the input extension; 0 if there is none
}

// A filter reads one client's requests, whatever pieces they come in. It
// replaces those that would take the focus by requests that do nothing and have
// the same length, so that the client's count of its requests stays right.
type filter struct {
	order binary.ByteOrder
	names names
	// may reports whether the client may move the focus now.
	may  func() bool
	skip uint64 // bytes of a request that are still to come and of no interest
}

// pass changes b in place and returns how much of it can go on. The rest, at
// most longest bytes, must come again at the start of the next b.
func (f *filter) pass(b []byte) int {
	at := 0
	for {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(b)-at))
			at, f.skip = at+int(n), f.skip-n
		}
		rest := b[at:]
		if len(rest) < 4 {
			return at
		}
		size := uint64(f.order.Uint16(rest[2:])) * 4
		if size == 0 { // the long form; nothing that is looked at has it
			if len(rest) < 8 {
				return at
			}
			f.skip = max(uint64(f.order.Uint32(rest[4:]))*4, 8)
			continue
		}
		if f.looksAt(rest[0]) {
			head := int(min(size, longest))
			if len(rest) < head {
				return at
			}
			f.change(rest[:head])
		}
		f.skip = size
	}
}

func (f *filter) looksAt(op byte) bool {
	switch op {
	case opConfigureWindow, opChangeProperty, opSendEvent, opSetInputFocus:
		return true
	}
	return false
}

// change makes one request harmless. r is all of it, or its first bytes.
func (f *filter) change(r []byte) {
	switch {
	case r[0] == opSendEvent && len(r) >= 44:
		// destination 4, mask 8, the event 12: code, format, sequence, window 16, type 20
		if r[12]&0x7f == clientMessage && f.order.Uint32(r[20:]) == f.names.activeWindow && !f.may() {
			r[0] = opNoOperation
		}
	case r[0] == opSetInputFocus:
		if !f.may() {
			r[0] = opNoOperation
		}
	case r[0] == opConfigureWindow && len(r) >= 12:
		if mask := f.order.Uint16(r[8:]); mask != 0 && mask&^stacking == 0 && !f.may() {
			r[0] = opNoOperation
		}
	case r[0] == opChangeProperty && len(r) >= 28:
		// mode 1, window 4, property 8, type 12, format 16, length 20, data 24
		if f.order.Uint32(r[8:]) == f.names.userTime && r[16] == 32 && !f.may() {
			f.order.PutUint32(r[24:], 0) // "do not give me the focus when I appear"
		}
	}
}
