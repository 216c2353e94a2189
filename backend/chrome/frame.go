package chrome

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// maxMessage bounds one message from Chromium, in bytes. The largest honest
// ones are trees and pictures of huge pages, a few tens of megabytes.
const maxMessage = 100 << 20

var errTooLong = fmt.Errorf("a message from Chromium is longer than %d MB", maxMessage>>20)

// A frameReader cuts the pipe into messages, each of which ends with a zero byte.
type frameReader struct {
	r   *bufio.Reader
	max int
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 256<<10), max: maxMessage}
}

// next returns the next message, which is the caller's to keep. Its error is
// io.EOF after the last whole message.
func (f *frameReader) next() ([]byte, error) {
	var msg []byte
	for {
		part, err := f.r.ReadSlice(0)
		if len(msg)+len(part) > f.max {
			return nil, errTooLong
		}
		msg = append(msg, part...)
		switch {
		case err == nil:
			return msg[:len(msg)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			// More of the same message follows.
		case errors.Is(err, io.EOF) && len(msg) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// An envelope is the outside of a message. Its values are slices of the message
// and have not been checked: that happens once, where they are decoded.
type envelope struct {
	id      int64
	session []byte
	method  []byte
	params  jsonv2.Value
	result  jsonv2.Value
	fail    jsonv2.Value
}

var errGarbage = errors.New("what came over the pipe is not a message of the protocol")

// open reads the outside of a message. It looks only for the ends of the inner
// values, so the cost of a large one is a single pass, and so an oddity inside
// (a page can cause some) fails the one who asked and not the connection.
func open(msg []byte) (e envelope, err error) {
	s := scanner{b: msg}
	s.expect('{')
	for first := true; !s.bad && !s.accept('}'); first = false {
		if !first {
			s.expect(',')
		}
		name := s.text()
		s.expect(':')
		s.space()
		switch string(name) {
		case "id":
			e.id, err = strconv.ParseInt(string(s.value()), 10, 64)
			if err != nil {
				return e, errGarbage
			}
		case "sessionId":
			e.session = s.text()
		case "method":
			e.method = s.text()
		case "params":
			e.params = s.value()
		case "result":
			e.result = s.value()
		case "error":
			e.fail = s.value()
		default:
			s.value()
		}
	}
	s.space()
	if s.bad || s.i != len(msg) {
		return e, errGarbage
	}
	return e, nil
}

// A scanner steps over JSON without building anything. After the first thing
// that does not fit, bad is set and every step is empty.
type scanner struct {
	b   []byte
	i   int
	bad bool
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

func (s *scanner) accept(c byte) bool {
	s.space()
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) expect(c byte) {
	if !s.accept(c) {
		s.bad = true
	}
}

// text steps over a string and returns what is between its quotes. Names,
// session ids and methods of the protocol hold no escapes.
func (s *scanner) text() []byte {
	s.space()
	start := s.i
	s.quoted()
	if s.bad {
		return nil
	}
	return s.b[start+1 : s.i-1]
}

func (s *scanner) quoted() {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		s.bad = true
		return
	}
	for i := s.i + 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.i = i + 1
			return
		}
	}
	s.bad = true
}

// value steps over any value.
func (s *scanner) value() []byte {
	start := s.i
	depth := 0
	for !s.bad {
		if s.i >= len(s.b) {
			s.bad = true
			break
		}
		switch s.b[s.i] {
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
			s.bad = depth < 0
		default:
			s.plain(depth > 0)
		}
		if depth == 0 {
			break
		}
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// plain steps over a number or a word and, inside of a composite, over what
// stands between values.
func (s *scanner) plain(inside bool) {
	stops := "\",:{}[] \t\r\n"
	if inside {
		stops = "\"{}[]"
	}
	n := bytes.IndexAny(s.b[s.i:], stops)
	if n < 0 {
		n = len(s.b) - s.i
	}
	s.i += n
	s.bad = n == 0
}
