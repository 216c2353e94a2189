// Package wire is the line format that agents and the window speak: one JSON
// object a line.
//
//	{"id":1,"method":"navigate","args":{"url":"https://example.org"}}
//	{"id":1,"ok":true,"result":{…}}
//	{"id":1,"ok":false,"error":{"code":"BROWSER_GONE","message":"…","hint":"…"}}
//	{"event":{…}}
//
// It promises that a bad line costs that line only, and that an id comes back
// byte for byte. It knows nothing of what methods do.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"chaperone/backend/event"
	"chaperone/backend/fault"
)

// Protocol is the version of the line protocol that this program speaks.
const Protocol = 1

// MaxLine is the longest line that is accepted, in bytes without the line feed.
const MaxLine = 16 << 20

// The methods that a door answers itself; all others are in the catalogue.
const (
	// MethodHello names the protocol version and the agent: {protocol, agent}.
	MethodHello = "hello"
	// MethodPing answers at once: {}.
	MethodPing = "ping"
	// MethodCancel takes a call back: {id}.
	MethodCancel = "cancel"
	// MethodMethods lists the catalogue with schemas.
	MethodMethods = "methods"
	// MethodSubscribe adds {"event":…} lines about the caller's own doings: {after, prefix}.
	MethodSubscribe = "subscribe"
	// MethodStatus says what host this is: {}. It makes no agent.
	MethodStatus = "status"
	// MethodBye says that nothing more comes: what is under way ends, then the line closes.
	MethodBye = "bye"
)

// Request is one line of a caller.
type Request struct {
	// ID is any JSON value; it comes back as it came. Nil when the line had none.
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// Response answers one Request.
type Response struct {
	ID     json.RawMessage `json:"id"`
	OK     bool            `json:"ok"`
	Result any             `json:"result,omitempty"`
	Error  *fault.Error    `json:"error,omitempty"`
}

// Notice is a line that answers nothing.
type Notice struct {
	Event event.Event `json:"event"`
}

// Answer makes the response to id from what a call came to.
func Answer(id json.RawMessage, result any, err error) Response {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if err != nil {
		return Response{ID: id, Error: fault.From(err)}
	}
	if result == nil {
		result = struct{}{}
	}
	return Response{ID: id, OK: true, Result: result}
}

// Parse reads one line. The request's ID is set as far as it could be read,
// also when there is an error: fault.BadLine.
func Parse(line []byte) (Request, error) {
	var r Request
	if !utf8.Valid(line) {
		return r, badLine("the line is not valid UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		if json.Valid(line) {
			return r, badLine("the line is JSON but not an object")
		}
		return r, badLine("the line is not JSON: %s", syntax(err))
	}
	if fields == nil { // the line was null
		return r, badLine("the line is JSON but not an object")
	}
	r.ID = fields["id"]
	method, ok := fields["method"]
	if !ok {
		return r, badLine("the line has no method")
	}
	if err := json.Unmarshal(method, &r.Method); err != nil || r.Method == "" {
		return r, badLine("method is not a name")
	}
	r.Args = fields["args"]
	if args := bytes.TrimSpace(r.Args); len(args) > 0 && args[0] != '{' && !bytes.Equal(args, []byte("null")) {
		return r, fault.New(fault.InvalidArguments, "%s: args is not a JSON object", clip(r.Method)).
			WithHint(`Write {"id":1,"method":"…","args":{…}}.`)
	}
	for name := range fields {
		if name != "id" && name != "method" && name != "args" {
			return r, badLine("the line has an unknown field %q", clip(name))
		}
	}
	return r, nil
}

func syntax(err error) string {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("%s (byte %d)", e.Error(), e.Offset)
	}
	return "it has an unexpected form"
}

func badLine(format string, args ...any) *fault.Error {
	return fault.New(fault.BadLine, format, args...).
		WithHint(`Each line is one JSON object {"id":…,"method":"…","args":{…}}; "methods" lists what is accepted.`)
}

// clip bounds what is repeated of a caller's own words.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// ErrTooLong is what Reader.Next returns for a line longer than its limit; the
// line was skipped and the next one can be read.
var ErrTooLong = fault.New(fault.LineTooLong, "the line is longer than %d bytes", MaxLine).
	WithHint("Send less in one line; files are named by path, not sent.")

// A Reader reads lines of bounded length.
type Reader struct {
	r   *bufio.Reader
	buf []byte
	max int
}

// NewReader returns a Reader of lines of at most MaxLine bytes.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10), max: MaxLine} }

// Next returns the next line that is not blank, without its line feed, valid
// until the next call. A last line without line feed counts. It returns
// ErrTooLong for a line that was skipped, and io.EOF at the end.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	r.buf = r.buf[:0]
	long := false
	for {
		part, err := r.r.ReadSlice('\n')
		if !long {
			r.buf = append(r.buf, part...)
			if len(bytes.TrimRight(r.buf, "\r\n")) > r.max {
				long, r.buf = true, nil
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (long || len(r.buf) > 0):
			// The end shows again at the next call.
		case err != nil:
			return nil, err
		}
		if long {
			return nil, ErrTooLong
		}
		return r.buf, nil
	}
}

// A Writer writes lines; each Write is one whole line however many write at once.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes v as one line. HTML characters are not escaped: a model pays for each.
func (w *Writer) Write(v any) error {
	line, err := Marshal(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(append(line, '\n'))
	return err
}

// Marshal returns v as JSON in one line, without escaping HTML characters. The
// id of a Response comes first, so that a relay need not read on.
func Marshal(v any) ([]byte, error) {
	r, ok := v.(Response)
	if !ok {
		return encode(v)
	}
	rest, err := encode(outcome{OK: r.OK, Result: r.Result, Error: r.Error})
	if err != nil {
		return nil, err
	}
	// By hand, because the encoder would take the blanks out of an id.
	return slices.Concat([]byte(`{"id":`), r.ID, []byte(","), rest[1:]), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// outcome is a Response without its id.
type outcome struct {
	OK     bool         `json:"ok"`
	Result any          `json:"result,omitempty"`
	Error  *fault.Error `json:"error,omitempty"`
}
