package desktop

import "encoding/binary"

// The requests that can take the focus, the pointer or a place among the windows.
const (
	opConfigureWindow = 12
	opChangeProperty  = 18
	opSendEvent       = 25
	opGrabPointer     = 26
	opGrabKeyboard    = 31
	opSetInputFocus   = 42
	opNoOperation     = 127
	// opGrabDevice is one of the input extension's.
	opGrabDevice = 51
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
	input        byte   // the input extension in requests and events; 0 if there is none
	hidden       uint32 // a window that is never shown: the server answers a grab for it with no, not with an error
}

// A filter reads one client's requests, in whatever pieces they come. Those that
// would take the focus it makes harmless without changing their length, so that
// the client's count of its requests stays right.
type filter struct {
	order binary.ByteOrder
	names names
	// may reports whether the client may have the focus now.
	may  func() bool
	skip uint64 // bytes of a request that are still to come and of no interest
}

// pass changes b in place and returns how much of it can go on. The rest, less
// than longest bytes, must come again at the start of the next b.
func (f *filter) pass(b []byte) int {
	at := 0
	for {
		n := min(f.skip, uint64(len(b)-at))
		at, f.skip = at+int(n), f.skip-n
		rest := b[at:]
		if len(rest) < 4 {
			return at
		}
		size := uint64(f.order.Uint16(rest[2:])) * 4
		if size == 0 { // the long form, which nothing has that is looked at
			if len(rest) < 8 {
				return at
			}
			f.skip = max(uint64(f.order.Uint32(rest[4:]))*4, 8)
			continue
		}
		if f.looksAt(rest) {
			head := int(min(size, longest))
			if len(rest) < head {
				return at
			}
			if !f.may() {
				f.quiet(rest[:head])
			}
		}
		f.skip = size
	}
}

// looksAt reports whether a request, of which r has at least four bytes, may matter.
func (f *filter) looksAt(r []byte) bool {
	switch r[0] {
	case opConfigureWindow, opChangeProperty, opSendEvent, opGrabPointer, opGrabKeyboard, opSetInputFocus:
		return true
	case f.names.input:
		return r[0] != 0 && r[1] == opGrabDevice
	}
	return false
}

// quiet makes one request harmless. r is all of it, or its first bytes.
func (f *filter) quiet(r []byte) {
	switch {
	case r[0] == opSendEvent && len(r) >= 44:
		// The event is at 12: code, format, sequence, window at 16, type at 20.
		if r[12]&0x7f == clientMessage && f.order.Uint32(r[20:]) == f.names.activeWindow {
			r[0] = opNoOperation
		}
	case r[0] == opSetInputFocus:
		r[0] = opNoOperation
	case r[0] == opConfigureWindow && len(r) >= 12:
		if mask := f.order.Uint16(r[8:]); mask != 0 && mask&^stacking == 0 {
			r[0] = opNoOperation
		}
	case r[0] == opChangeProperty && len(r) >= 28:
		// Property at 8, format at 16, the value at 24.
		if f.order.Uint32(r[8:]) == f.names.userTime && r[16] == 32 {
			f.order.PutUint32(r[24:], 0) // "no focus for me when I appear"
		}
	case (r[0] == opGrabPointer || r[0] == opGrabKeyboard || r[0] == f.names.input) && len(r) >= 8:
		f.order.PutUint32(r[4:], f.names.hidden)
	}
}
