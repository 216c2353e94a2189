package desktop

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

var le = binary.LittleEndian

var some = names{activeWindow: 0x0106, userTime: 0x011f, input: 131, hidden: 0x00c00000}

// words makes a request of a code, the byte after it, and 32-bit words.
func words(order binary.ByteOrder, op, second byte, ws ...uint32) []byte {
	b := make([]byte, 4+4*len(ws))
	b[0], b[1] = op, second
	order.PutUint16(b[2:], uint16(1+len(ws)))
	for i, w := range ws {
		order.PutUint32(b[4+4*i:], w)
	}
	return b
}

// message makes a SendEvent to the root of a client message of kind.
func message(order binary.ByteOrder, kind uint32) []byte {
	r := words(order, opSendEvent, 0, 0x50d, 0x180000, 0, 0x800003, kind, 1, 0x2effce, 0, 0, 0)
	r[12], r[13] = clientMessage, 32
	return r
}

func property(order binary.ByteOrder, name, value uint32) []byte {
	r := words(order, opChangeProperty, 0, 0x800003, name, 6, 0, 1, value)
	r[16] = 32
	return r
}

func configure(order binary.ByteOrder, mask uint16, ws ...uint32) []byte {
	r := words(order, opConfigureWindow, 0, append([]uint32{0x800003, 0}, ws...)...)
	order.PutUint16(r[8:], mask)
	return r
}

func TestWhatIsHeldBack(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		nothing := func(r []byte) []byte { r = bytes.Clone(r); r[0] = opNoOperation; return r }
		with := func(r []byte, at int, v uint32) []byte { r = bytes.Clone(r); order.PutUint32(r[at:], v); return r }
		activate, raise := message(order, some.activeWindow), configure(order, 0x40, 0)
		focus := words(order, opSetInputFocus, 1, 0x800003, 0)
		grab := words(order, some.input, opGrabDevice, 0x800014, 0, 0, 0, 0, 0)
		pointer := words(order, opGrabPointer, 0, 0x800014, 0, 0, 0, 0)
		keyboard := words(order, opGrabKeyboard, 0, 0x800014, 0, 0)
		time := property(order, some.userTime, 0x2effce)
		long := words(order, 72, 2, 6, 0, 0, 0, 0) // PutImage
		order.PutUint16(long[2:], 0)               // in the long form
		copy(long[8:], activate)                   // with data that looks like a request
		cases := []struct {
			name      string
			in, quiet []byte
		}{
			{"asking for the focus", activate, nothing(activate)},
			{"taking the focus", focus, nothing(focus)},
			{"raising", raise, nothing(raise)},
			{"a time of use", time, with(time, 24, 0)},
			{"grabbing a device", grab, with(grab, 4, some.hidden)},
			{"grabbing the pointer", pointer, with(pointer, 4, some.hidden)},
			{"grabbing the keyboard", keyboard, with(keyboard, 4, some.hidden)},
			{"another message", message(order, 7), nil},
			{"another property", property(order, 7, 9), nil},
			{"moving and sizing", configure(order, 0xf, 1, 2, 3, 4), nil},
			{"raising a window that moves too", configure(order, 0x41, 1, 0), nil},
			{"another request of the input extension", words(order, some.input, 46, 1, 2, 3), nil},
			{"showing a window", words(order, 8, 0, 0x800003), nil},
			{"nothing", words(order, opNoOperation, 0), nil},
			{"the long form", long, nil},
		}
		var all, quiet []byte
		for _, c := range cases {
			want := c.quiet
			if want == nil {
				want = c.in
			}
			all, quiet = append(all, c.in...), append(quiet, want...)
			for may, want := range map[bool][]byte{false: want, true: c.in} {
				f := filter{order: order, names: some, may: func() bool { return may }}
				got := bytes.Clone(c.in)
				if n := f.pass(got); n != len(got) || !bytes.Equal(got, want) {
					t.Errorf("%v, %s, person there %v: passed %d of %x as %x, want %x", order, c.name, may, n, c.in, got, want)
				}
			}
		}
		for size := 1; size <= len(all); size++ {
			if got := inPieces(order, all, size); !bytes.Equal(got, quiet) {
				t.Fatalf("%v, in pieces of %d:\n got %x\nwant %x", order, size, got, quiet)
			}
		}
	}
}

// inPieces passes b through a filter as a connection does that reads size bytes at a time.
func inPieces(order binary.ByteOrder, b []byte, size int) (out []byte) {
	f := filter{order: order, names: some, may: func() bool { return false }}
	var held []byte
	for piece := range slices.Chunk(b, size) {
		held = append(held, piece...)
		n := f.pass(held)
		out = append(out, held[:n]...)
		held = bytes.Clone(held[n:])
	}
	return append(out, held...)
}

func FuzzFilter(f *testing.F) {
	f.Add(slices.Concat(message(le, some.activeWindow), property(le, some.userTime, 9), configure(le, 0x40, 0)), 3)
	f.Add([]byte{72, 0, 0, 0, 255, 255, 255, 255, 1}, 1)
	f.Add([]byte{131, 51, 1, 0, 131, 51, 2, 0}, 5)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		fl := filter{order: le, names: some, may: func() bool { return false }}
		whole := bytes.Clone(b)
		if n := fl.pass(whole); n < 0 || n > len(b) || len(b)-n >= longest {
			t.Fatalf("passed %d of %d", n, len(b))
		}
		if len(b) == 0 {
			return
		}
		if got := inPieces(le, b, 1+(size&0xff)); !bytes.Equal(got, whole) {
			t.Fatalf("in pieces %x, at once %x", got, whole)
		}
	})
}
