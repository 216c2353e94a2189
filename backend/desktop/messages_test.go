package desktop

import (
	"fmt"
	"slices"
	"testing"
)

// head makes the first 32 bytes of a message.
func head(code byte, put func(m []byte)) []byte {
	m := make([]byte, headSize)
	m[0] = code
	put(m)
	return m
}

// generic makes an event of the input extension, which has more than 32 bytes.
func generic(extension byte, kind uint16, put func(m []byte)) []byte {
	m := head(genericEvent, func(m []byte) {
		m[1] = extension
		le.PutUint32(m[4:], 2)
		le.PutUint16(m[8:], kind)
		put(m)
	})
	return append(m, focusIn, 0, 0, 0, focusIn, 0, 0, 0)
}

func TestSignsOfThePerson(t *testing.T) {
	core := func(code, mode, detail byte) []byte {
		return head(code, func(m []byte) { m[1], m[8] = detail, mode; le.PutUint32(m[4:], 7) })
	}
	input := func(kind uint16, mode, detail byte) []byte {
		return generic(some.input, kind, func(m []byte) { m[18], m[19] = mode, detail; le.PutUint32(m[24:], 7) })
	}
	button := func(n uint32) []byte {
		return generic(some.input, buttonPress, func(m []byte) { le.PutUint32(m[16:], n) })
	}
	picture := append(head(reply, func(m []byte) { le.PutUint32(m[4:], 16) }), make([]byte, 64)...)
	picture[headSize], picture[2*headSize] = focusIn, buttonPress // data
	var all []byte
	var want []string
	for _, c := range []struct {
		name string
		in   []byte
		want []string
	}{
		{"focus comes", core(focusIn, 0, 3), []string{"focus 7"}},
		{"focus goes", core(focusOut, 0, 3), []string{"focus 0"}},
		{"focus goes while somebody grabs", core(focusOut, 3, 3), []string{"focus 0"}},
		{"a grab", core(focusOut, modeGrab, 3), nil},
		{"the end of a grab", core(focusIn, modeUngrab, 3), nil},
		{"only the pointer is there", core(focusIn, 0, detailPointer), nil},
		{"an error", make([]byte, headSize), nil},
		{"a picture", picture, nil},
		{"focus comes, by the extension", input(focusIn, 0, 0), []string{"focus 7"}},
		{"focus goes, by the extension", input(focusOut, 0, 3), []string{"focus 0"}},
		{"a grab, by the extension", input(focusOut, modeGrab, 3), nil},
		{"another extension's", generic(99, focusIn, func([]byte) {}), nil},
		{"a button", button(1), []string{"press"}},
		{"the wheel", button(5), nil},
		{"a side button", button(8), []string{"press"}},
		{"a core button", head(buttonPress, func(m []byte) { m[1] = 3 }), []string{"press"}},
		{"a core button, sent by a client", head(buttonPress|0x80, func(m []byte) { m[1] = 1 }), nil},
		{"a finger", generic(some.input, touchBegin, func([]byte) {}), []string{"press"}},
	} {
		if got := signs(c.in, len(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		all, want = append(all, c.in...), append(want, c.want...)
	}
	for size := 1; size <= len(all); size++ {
		if got := signs(all, size); !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

// signs reads b, size bytes at a time.
func signs(b []byte, size int) (out []string) {
	w := watcher{order: le, names: some,
		focused: func(window uint32) { out = append(out, fmt.Sprint("focus ", window)) },
		pressed: func() { out = append(out, "press") }}
	for piece := range slices.Chunk(b, size) {
		w.read(piece)
	}
	return out
}

func FuzzWatcher(f *testing.F) {
	f.Add(head(reply, func(m []byte) { le.PutUint32(m[4:], 1<<31) }), 3)
	f.Add(generic(some.input, focusIn, func([]byte) {}), 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if len(b) == 0 {
			return
		}
		if got, want := signs(b, 1+size&0xff), signs(b, len(b)); !slices.Equal(got, want) {
			t.Fatalf("in pieces %q, at once %q", got, want)
		}
	})
}
