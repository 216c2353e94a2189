package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"chaperone/backend/fault"
)

func TestFrom(t *testing.T) {
	own := fault.New(fault.NotFound, "no tab %d", 3)
	for _, c := range []struct {
		err    error
		code   fault.Code
		effect fault.Effect
	}{
		{own, fault.NotFound, ""},
		{fmt.Errorf("outer: %w", own), fault.NotFound, ""},
		{context.DeadlineExceeded, fault.BrowserTimeout, fault.EffectUnknown},
		{fmt.Errorf("x: %w", context.Canceled), fault.Cancelled, fault.EffectUnknown},
		{errors.New("secret=hunter2"), fault.Internal, ""},
	} {
		f := fault.From(c.err)
		if f.Code != c.code || f.Effect != c.effect {
			t.Errorf("From(%v) = %s %s", c.err, f.Code, f.Effect)
		}
		if strings.Contains(f.Message, "hunter2") {
			t.Errorf("an unknown error's text leaves: %q", f.Message)
		}
	}
	if fault.From(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	e := fault.New(fault.Busy, "reading: %w", io.ErrUnexpectedEOF)
	c := e.WithHint("Wait.").WithEffect(fault.EffectNone).Because(io.EOF)
	if e.Hint != "" || e.Effect != "" || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("changed: %+v", e)
	}
	if !fault.Is(c, fault.Busy) || fault.Is(c, fault.Internal) || !errors.Is(c, io.EOF) {
		t.Errorf("copy: %+v", c)
	}
	text, err := json.Marshal(c)
	if want := `{"code":"BUSY","message":"reading: unexpected EOF","hint":"Wait.","effect_state":"none"}`; err != nil || string(text) != want {
		t.Errorf("on the wire: %s, %v", text, err)
	}
}
