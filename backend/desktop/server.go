package desktop

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// socketDir is where X servers listen, by a custom older than every system that runs this.
	socketDir = "/tmp/.X11-unix"
	// answerTime bounds the wait for the server's first answers.
	answerTime = 5 * time.Second
	cookieKind = "MIT-MAGIC-COOKIE-1"
)

// A server is an X server as a DISPLAY names it.
type server struct {
	network, address string
	number           string
	screen           string // with its dot, or empty
	cookie           []byte // nil where none is kept for it
}

// parse reads a display such as ":0", ":0.0", "unix:0" or "host:10".
func parse(display string) (server, error) {
	colon := strings.LastIndexByte(display, ':')
	if colon < 0 {
		return server{}, fmt.Errorf("no display number in %q", display)
	}
	host := display[:colon]
	number, screen, dotted := strings.Cut(display[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return server{}, fmt.Errorf("no display number in %q", display)
	}
	s := server{network: "unix", address: filepath.Join(socketDir, "X"+number), number: number}
	if dotted {
		s.screen = "." + screen
	}
	if host != "" && host != "unix" {
		s.network, s.address = "tcp", net.JoinHostPort(host, strconv.FormatUint(6000+n, 10))
	}
	return s, nil
}

func (s server) dial() (net.Conn, error) {
	c, err := net.DialTimeout(s.network, s.address, answerTime)
	if err != nil && s.network == "unix" {
		// Some servers listen only where no file shows it.
		if c, err2 := net.DialTimeout("unix", "@"+s.address, answerTime); err2 == nil {
			return c, nil
		}
	}
	return c, err
}

// readCookie returns the cookie for a display from an authority file, if there is one.
func readCookie(file []byte, host, number string) []byte {
	const (
		familyLocal = 256
		familyWild  = 65535
	)
	var second []byte
	for r := bytes.NewReader(file); ; {
		var family uint16
		if binary.Read(r, binary.BigEndian, &family) != nil {
			return second
		}
		var fields [4][]byte // address, number, kind, cookie
		for i := range fields {
			var n uint16
			if binary.Read(r, binary.BigEndian, &n) != nil {
				return second
			}
			fields[i] = make([]byte, n)
			if _, err := io.ReadFull(r, fields[i]); err != nil {
				return second
			}
		}
		if string(fields[2]) != cookieKind || len(fields[1]) > 0 && string(fields[1]) != number {
			continue
		}
		if family == familyWild || family == familyLocal && string(fields[0]) == host {
			return fields[3]
		}
		if second == nil {
			second = fields[3] // a renamed machine, or one reached over the network
		}
	}
}

// authority returns the cookie that the user's authority file has for s.
func authority(env func(string) string, number string) []byte {
	name := env("XAUTHORITY")
	if name == "" {
		name = filepath.Join(env("HOME"), ".Xauthority")
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	host, _ := os.Hostname()
	return readCookie(file, host, number)
}

// hello is a client's first message: byte order, version, kind and cookie.
type hello struct {
	order        binary.ByteOrder
	head         [12]byte
	kind, cookie []byte
}

func readHello(r io.Reader) (hello, error) {
	var h hello
	if _, err := io.ReadFull(r, h.head[:]); err != nil {
		return h, err
	}
	switch h.head[0] {
	case 'l':
		h.order = binary.LittleEndian
	case 'B':
		h.order = binary.BigEndian
	default:
		return h, errors.New("not a client of the X protocol")
	}
	var err error
	if h.kind, err = readPadded(r, int(h.order.Uint16(h.head[6:]))); err != nil {
		return h, err
	}
	h.cookie, err = readPadded(r, int(h.order.Uint16(h.head[8:])))
	return h, err
}

func readPadded(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, padded(n))
	_, err := io.ReadFull(r, b)
	return b[:n], err
}

func padded(n int) int { return (n + 3) &^ 3 }

func (h hello) bytes() []byte {
	b := bytes.Clone(h.head[:])
	h.order.PutUint16(b[6:], uint16(len(h.kind)))
	h.order.PutUint16(b[8:], uint16(len(h.cookie)))
	for _, field := range [][]byte{h.kind, h.cookie} {
		b = append(b, field...)
		b = append(b, make([]byte, padded(len(field))-len(field))...)
	}
	return b
}

// readWelcome reads the server's answer to a hello, whole.
func readWelcome(r io.Reader, order binary.ByteOrder) (welcome []byte, accepted bool, err error) {
	b := make([]byte, 8)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, false, err
	}
	b = append(b, make([]byte, int(order.Uint16(b[6:]))*4)...)
	_, err = io.ReadFull(r, b[8:])
	return b, b[0] == 1, err
}

// ask says hello on c, makes the hidden window and learns the names.
func (s server) ask(c net.Conn) (names, error) {
	order := binary.LittleEndian
	h := hello{order: order, head: [12]byte{0: 'l', 2: 11}}
	if s.cookie != nil {
		h.kind, h.cookie = []byte(cookieKind), s.cookie
	}
	if err := c.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return names{}, err
	}
	if _, err := c.Write(h.bytes()); err != nil {
		return names{}, err
	}
	w, accepted, err := readWelcome(c, order)
	if err != nil {
		return names{}, err
	}
	if !accepted {
		return names{}, errors.New("the X server does not let us in")
	}
	base, root, err := roots(w, order)
	if err != nil {
		return names{}, err
	}
	if _, err := c.Write(questions(order, base, root)); err != nil {
		return names{}, err
	}
	var answers [3][]byte
	for i := 0; i < len(answers); {
		m := make([]byte, headSize)
		if _, err := io.ReadFull(c, m); err != nil {
			return names{}, err
		}
		switch m[0] {
		case 0:
			return names{}, errors.New("the X server refuses a plain question")
		case reply: // else an event that every client gets
			answers[i] = m
			i++
		}
	}
	n := names{hidden: base, activeWindow: order.Uint32(answers[0][8:]), userTime: order.Uint32(answers[1][8:])}
	if answers[2][8] != 0 {
		n.input = answers[2][9]
	}
	return n, c.SetDeadline(time.Time{})
}

// roots returns the first name that we may give, and the first screen's window.
func roots(welcome []byte, order binary.ByteOrder) (base, root uint32, err error) {
	const head, format = 40, 8
	if len(welcome) < head {
		return 0, 0, errors.New("the X server's welcome is too short")
	}
	at := head + padded(int(order.Uint16(welcome[24:]))) + int(welcome[29])*format
	if len(welcome) < at+4 {
		return 0, 0, errors.New("the X server's welcome is too short")
	}
	return order.Uint32(welcome[12:]), order.Uint32(welcome[at:]), nil
}

// questions makes the requests for a hidden window and for the names.
func questions(order binary.ByteOrder, window, root uint32) []byte {
	const (
		opCreateWindow, opInternAtom, opQueryExtension = 1, 16, 98
		inputOnly                                      = 2
	)
	b := make([]byte, 32)
	b[0] = opCreateWindow
	for at, v := range map[int]uint16{2: 8, 16: 1, 18: 1, 22: inputOnly} { // length, width, height, class
		order.PutUint16(b[at:], v)
	}
	order.PutUint32(b[4:], window)
	order.PutUint32(b[8:], root)
	for _, q := range []struct {
		op   byte
		name string
	}{{opInternAtom, "_NET_ACTIVE_WINDOW"}, {opInternAtom, "_NET_WM_USER_TIME"}, {opQueryExtension, "XInputExtension"}} {
		r := make([]byte, 8+padded(len(q.name)))
		r[0] = q.op
		order.PutUint16(r[2:], uint16(len(r)/4))
		order.PutUint16(r[4:], uint16(len(q.name)))
		copy(r[8:], q.name)
		b = append(b, r...)
	}
	return b
}
