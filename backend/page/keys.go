package page

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"

	"chaperone/backend/chrome"
)

// The modifiers, as Chromium counts them.
const (
	withAlt int64 = 1 << iota
	withControl
	withMeta
	withShift
)

// A key is one key of the keyboard as a page sees it.
type key struct {
	name string // KeyboardEvent.key
	code string // KeyboardEvent.code; empty for characters that no known key has
	vk   int64  // Windows key code
	text string // what it types
}

// A keyStroke is a key with the modifiers that are held.
type keyStroke struct {
	key
	modifiers int64
}

// named returns a key by its KeyboardEvent.key name.
func named(name string) key {
	for _, k := range keys() {
		if k.name == name {
			return k
		}
	}
	return key{}
}

func keys() []key {
	list := []key{
		{"Enter", "Enter", 13, "\r"}, {"Tab", "Tab", 9, ""}, {"Escape", "Escape", 27, ""}, {"Backspace", "Backspace", 8, ""},
		{"Delete", "Delete", 46, ""}, {"Insert", "Insert", 45, ""}, {"Home", "Home", 36, ""}, {"End", "End", 35, ""},
		{"PageUp", "PageUp", 33, ""}, {"PageDown", "PageDown", 34, ""}, {"ArrowLeft", "ArrowLeft", 37, ""},
		{"ArrowUp", "ArrowUp", 38, ""}, {"ArrowRight", "ArrowRight", 39, ""}, {"ArrowDown", "ArrowDown", 40, ""},
		{" ", "Space", 32, " "}, {"ContextMenu", "ContextMenu", 93, ""}, {"CapsLock", "CapsLock", 20, ""},
		{"Shift", "ShiftLeft", 16, ""}, {"Control", "ControlLeft", 17, ""}, {"Alt", "AltLeft", 18, ""}, {"Meta", "MetaLeft", 91, ""},
	}
	for n := range 12 {
		f := fmt.Sprintf("F%d", n+1)
		list = append(list, key{f, f, int64(112 + n), ""})
	}
	return list
}

// other names that people use.
func synonym(name string) string {
	switch strings.ToLower(name) {
	case "space", "spacebar":
		return " "
	case "return":
		return "Enter"
	case "esc":
		return "Escape"
	case "del":
		return "Delete"
	case "ins":
		return "Insert"
	case "left", "right", "up", "down":
		return "Arrow" + strings.ToUpper(name[:1]) + strings.ToLower(name[1:])
	}
	return name
}

func modifier(name string) int64 {
	switch strings.ToLower(name) {
	case "alt", "option":
		return withAlt
	case "control", "ctrl":
		return withControl
	case "meta", "cmd", "command", "super", "win":
		return withMeta
	case "shift":
		return withShift
	case "controlormeta", "mod":
		if runtime.GOOS == "darwin" {
			return withMeta
		}
		return withControl
	}
	return 0
}

// punctuation lists the keys of a US keyboard that type no letter or digit: the
// code, and what it types without and with Shift.
func punctuation() []struct {
	code           string
	vk             int64
	plain, shifted rune
} {
	return []struct {
		code           string
		vk             int64
		plain, shifted rune
	}{
		{"Minus", 189, '-', '_'}, {"Equal", 187, '=', '+'}, {"BracketLeft", 219, '[', '{'}, {"BracketRight", 221, ']', '}'},
		{"Backslash", 220, '\\', '|'}, {"Semicolon", 186, ';', ':'}, {"Quote", 222, '\'', '"'}, {"Comma", 188, ',', '<'},
		{"Period", 190, '.', '>'}, {"Slash", 191, '/', '?'}, {"Backquote", 192, '`', '~'},
	}
}

const shiftedDigits = ")!@#$%^&*("

// character returns the key that types r. A character that no US keyboard has
// is typed all the same, whatever the layout of the machine.
func character(r rune) (k key, shift bool) {
	s := string(r)
	switch {
	case 'a' <= r && r <= 'z':
		return key{s, "Key" + strings.ToUpper(s), int64(r - 'a' + 'A'), s}, false
	case 'A' <= r && r <= 'Z':
		return key{s, "Key" + s, int64(r), s}, true
	case '0' <= r && r <= '9':
		return key{s, "Digit" + s, int64(r), s}, false
	case r == ' ':
		return named(" "), false
	}
	if i := strings.IndexRune(shiftedDigits, r); i >= 0 {
		return key{s, fmt.Sprintf("Digit%d", i), int64('0' + i), s}, true
	}
	for _, p := range punctuation() {
		if r == p.plain || r == p.shifted {
			return key{s, p.code, p.vk, s}, r == p.shifted
		}
	}
	return key{s, "", 0, s}, false
}

// parseKey reads "Enter", "a", "Control+A", "Shift+Tab" or "Control++".
func parseKey(s string) (keyStroke, bool) {
	var k keyStroke
	rest := s
	for {
		i := strings.IndexByte(rest, '+')
		if i <= 0 || i == len(rest)-1 {
			break
		}
		m := modifier(strings.TrimSpace(rest[:i]))
		if m == 0 {
			return k, false
		}
		k.modifiers |= m
		rest = rest[i+1:]
	}
	if rest != " " {
		rest = strings.TrimSpace(rest)
	}
	if r, n := utf8.DecodeRuneInString(rest); n > 0 && n == len(rest) && r != utf8.RuneError && unicode.IsPrint(r) {
		chorded := k.modifiers&(withControl|withAlt|withMeta) != 0
		if chorded && k.modifiers&withShift == 0 {
			r = unicode.ToLower(r) // Control+A is what people write for the keys Control and a
		} else if k.modifiers&withShift != 0 {
			r = unicode.ToUpper(r)
		}
		var shift bool
		k.key, shift = character(r)
		if shift {
			k.modifiers |= withShift
		}
		if chorded {
			k.text = ""
		}
		return k, true
	}
	for _, name := range []string{rest, synonym(rest)} {
		for _, known := range keys() {
			if strings.EqualFold(known.name, name) {
				k.key = known
				if k.modifiers&(withControl|withAlt|withMeta) != 0 {
					k.text = ""
				}
				return k, true
			}
		}
	}
	return k, false
}

// Press presses and releases a key, such as "Enter", "a" or "Control+A", where
// the focus is.
func (p *Page) Press(ctx context.Context, name string) (Report, error) {
	k, ok := parseKey(name)
	if !ok {
		return no("there is no key “" + clip(name, 40) + "”; keys are named as in Enter, ArrowDown, F5, a, Control+A, Shift+Tab"), nil
	}
	if err := p.readyToAct(); err != nil {
		return Report{}, err
	}
	if err := p.delivered(ctx, p.strike(p.top, k)...); err != nil {
		return Report{}, err
	}
	return yes("Pressed " + clip(name, 40)), nil
}

// strike sends the events of one key stroke.
func (p *Page) strike(s *chrome.Session, k keyStroke) []*chrome.Reply {
	var replies []*chrome.Reply
	send := func(kind input.DispatchKeyEventType, key key, held int64) {
		params := input.DispatchKeyEventParams{
			Type: kind, Modifiers: held, Key: key.name, Code: key.code,
			WindowsVirtualKeyCode: key.vk, NativeVirtualKeyCode: key.vk,
		}
		if kind == input.DispatchKeyEventTypeKeyDown {
			params.Text, params.UnmodifiedText = key.text, key.text
			params.Commands = editing(k)
		}
		replies = append(replies, s.Send(input.CommandDispatchKeyEvent, params))
	}
	var held int64
	type mod struct {
		bit  int64
		name string
	}
	mods := []mod{{withControl, "Control"}, {withAlt, "Alt"}, {withMeta, "Meta"}, {withShift, "Shift"}}
	for _, m := range mods {
		if k.modifiers&m.bit != 0 {
			held |= m.bit
			send(input.DispatchKeyEventTypeRawKeyDown, named(m.name), held)
		}
	}
	down := input.DispatchKeyEventTypeRawKeyDown
	if k.text != "" || editing(k) != nil {
		down = input.DispatchKeyEventTypeKeyDown
	}
	send(down, k.key, held)
	send(input.DispatchKeyEventTypeKeyUp, k.key, held)
	for i := len(mods) - 1; i >= 0; i-- {
		if m := mods[i]; k.modifiers&m.bit != 0 {
			held &^= m.bit
			send(input.DispatchKeyEventTypeKeyUp, named(m.name), held)
		}
	}
	return replies
}

// editing names the editing commands that macOS gives to keys outside of the page.
func editing(k keyStroke) []string {
	if runtime.GOOS != "darwin" || k.modifiers&withMeta == 0 {
		return nil
	}
	switch strings.ToLower(k.name) {
	case "a":
		return []string{"selectAll"}
	case "c":
		return []string{"copy"}
	case "x":
		return []string{"cut"}
	case "v":
		return []string{"paste"}
	case "z":
		if k.modifiers&withShift != 0 {
			return []string{"redo"}
		}
		return []string{"undo"}
	}
	return nil
}
