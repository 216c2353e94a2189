package page

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/input"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
)

// ClickOptions says how to click; the zero value is one click of the left button.
type ClickOptions struct {
	Button string // left, middle or right
	Count  int    // 1 to 3
}

// aimed is a point of the tab's viewport where a press reaches the target.
type aimed struct {
	No   string  `json:"no"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	What string  `json:"what"`
	// Scrolled says that something had to be scrolled.
	Scrolled bool `json:"scrolled"`
	List     bool `json:"list"`  // it is a list to choose from, not a field
	Set      bool `json:"set"`   // the field's value is set already
	Empty    bool `json:"empty"` // the field holds nothing yet
}

type aimArgs struct {
	Ref   int       `json:"id"`
	Hover bool      `json:"hover,omitempty"`
	Edit  *editArgs `json:"edit,omitempty"`
}

type editArgs struct {
	Text string `json:"text"`
}

// aim brings the target into view and finds where to press it.
func (p *Page) aim(ctx context.Context, at place, args aimArgs) (aimed, error) {
	if err := p.readyToAct(); err != nil {
		return aimed{}, err
	}
	args.Ref = at.ref
	a, err := p.aimOnce(ctx, at, args)
	moved := a.Scrolled
	// What scrolls in a frame of another process scrolls the frames around it a
	// little later: the point counts when it has come to rest.
	for range maxRest {
		if err != nil || a.No != "" || !a.Scrolled || at.w.parent == nil {
			break
		}
		was := a
		if err = p.frame(ctx); err == nil {
			args.Edit = nil // has been made ready already
			a, err = p.aimOnce(ctx, at, args)
			a.Set, a.Empty = was.Set, was.Empty
			a.Scrolled = a.Scrolled || a.X != was.X || a.Y != was.Y
		}
	}
	a.Scrolled = a.Scrolled || moved
	if errors.Is(err, errLost) {
		return aimed{No: fmt.Sprintf("[%d] is gone with its document; read the state of the page again", at.ref)}, nil
	}
	return a, err
}

// maxRest is how many frames a point may take to come to rest.
const maxRest = 20

// frame waits for the top document to draw a frame.
func (p *Page) frame(ctx context.Context) error {
	w, err := p.topWorld(ctx)
	if err != nil {
		return err
	}
	return p.run(ctx, w, "frame", nil, nil)
}

func (p *Page) aimOnce(ctx context.Context, at place, args aimArgs) (aimed, error) {
	var a aimed
	if err := p.run(ctx, at.w, "aim", args, &a); err != nil {
		return a, err
	}
	label := fmt.Sprintf("[%d] %s ", at.ref, a.What)
	for w := at.w; a.No == "" && w.parent != nil; w = w.parent {
		var up aimed
		err := p.run(ctx, w.parent, "through", map[string]any{"id": w.owner, "x": a.X, "y": a.Y}, &up)
		if err != nil {
			return a, err
		}
		if up.No != "" {
			a.No = label + up.No
		}
		a.X, a.Y, a.Scrolled = up.X, up.Y, a.Scrolled || up.Scrolled
	}
	return a, nil
}

// Click presses and releases the mouse on the target.
func (p *Page) Click(ctx context.Context, t Target, o ClickOptions) (Report, error) {
	at, refusal, err := p.resolve(ctx, t, "")
	if err != nil || refusal != "" {
		return no(refusal), asFault(err)
	}
	return p.clickOn(ctx, at, o)
}

func (p *Page) clickOn(ctx context.Context, at place, o ClickOptions) (Report, error) {
	a, err := p.aim(ctx, at, aimArgs{})
	if err != nil || a.No != "" {
		return no(a.No), asFault(err)
	}
	if err := p.reach(ctx, at, a); err != nil {
		return Report{}, asFault(err)
	}
	if err := p.press(ctx, a.X, a.Y, o); err != nil {
		return Report{}, err
	}
	return yes(fmt.Sprintf("Clicked [%d] %s", at.ref, a.What)), nil
}

// reach waits until input at a point arrives in the frame that it is meant for.
// Where frames of other processes lie is known to the browser some frames later
// than to the page; until then a press would go to what was there before.
func (p *Page) reach(ctx context.Context, at place, a aimed) error {
	p.mu.Lock()
	sure := at.w.parent == nil && (len(p.remote) == 0 || !a.Scrolled)
	p.mu.Unlock()
	if sure {
		return nil
	}
	for n := range maxRest {
		moved := p.mouse(input.DispatchMouseEventTypeMouseMoved, a.X+float64(n%2)/2, a.Y, "", 0, 0)
		if err := p.wait(ctx, moved, nil); err != nil {
			return err
		}
		var reached bool
		if err := p.run(ctx, at.w, "reached", nil, &reached); err != nil || reached {
			return err
		}
		if err := p.frame(ctx); err != nil {
			return err
		}
	}
	return nil // a page may keep the movements of the mouse from everybody
}

// ClickAt presses and releases the mouse at a point of the viewport, in CSS
// pixels. What is there is not looked at.
func (p *Page) ClickAt(ctx context.Context, x, y float64, o ClickOptions) (Report, error) {
	if err := p.readyToAct(); err != nil {
		return Report{}, err
	}
	w, err := p.topWorld(ctx)
	if err != nil {
		return Report{}, asFault(err)
	}
	var size [2]float64
	if err := p.run(ctx, w, "viewport", nil, &size); err != nil {
		return Report{}, asFault(err)
	}
	if x < 0 || y < 0 || x >= size[0] || y >= size[1] {
		return no(fmt.Sprintf("(%g, %g) is outside of the viewport, which is %g×%g px", x, y, size[0], size[1])), nil
	}
	if err := p.press(ctx, x, y, o); err != nil {
		return Report{}, err
	}
	return yes(fmt.Sprintf("Clicked at (%g, %g)", x, y)), nil
}

// Hover moves the mouse over the target.
func (p *Page) Hover(ctx context.Context, t Target) (Report, error) {
	at, refusal, err := p.resolve(ctx, t, "")
	if err != nil || refusal != "" {
		return no(refusal), asFault(err)
	}
	a, err := p.aim(ctx, at, aimArgs{Hover: true})
	if err != nil || a.No != "" {
		return no(a.No), asFault(err)
	}
	if err := p.delivered(ctx, p.mouse(input.DispatchMouseEventTypeMouseMoved, a.X, a.Y, "", 0, 0)); err != nil {
		return Report{}, err
	}
	return yes(fmt.Sprintf("The pointer is over [%d] %s", at.ref, a.What)), nil
}

// press sends one click, or several, without a pause between the events.
func (p *Page) press(ctx context.Context, x, y float64, o ClickOptions) error {
	button, held := input.MouseButtonLeft, int64(1)
	switch o.Button {
	case "right":
		button, held = input.MouseButtonRight, 2
	case "middle":
		button, held = input.MouseButtonMiddle, 4
	}
	replies := []*chrome.Reply{p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, "", 0, 0)}
	for n := int64(1); n <= max(1, min(3, int64(o.Count))); n++ {
		replies = append(replies,
			p.mouse(input.DispatchMouseEventTypeMousePressed, x, y, button, held, n),
			p.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, button, 0, n))
	}
	return p.delivered(ctx, replies...)
}

func (p *Page) mouse(kind input.DispatchMouseEventType, x, y float64, button input.MouseButton, held, count int64) *chrome.Reply {
	return p.top.Send(input.CommandDispatchMouseEvent, input.DispatchMouseEventParams{
		Type: kind, X: x, Y: y, Button: button, Buttons: held, ClickCount: count,
	})
}

// delivered waits until input has arrived. A dialog or a held navigation that
// the input itself brought about is its success; a page that went away under
// it has had it too.
func (p *Page) delivered(ctx context.Context, replies ...*chrome.Reply) error {
	for _, r := range replies {
		err := p.wait(ctx, r, nil)
		switch {
		case err == nil:
		case errors.Is(err, ErrInterrupted):
			p.mu.Lock()
			crashed := p.crashed
			p.mu.Unlock()
			if crashed {
				return fault.New(fault.BrowserGone, "the page crashed during the action").
					WithHint("Reload the page.").WithEffect(fault.EffectUnknown)
			}
			return nil
		case refused(err):
			return fault.New(fault.BrowserGone, "the page went away during the action").
				WithHint("Read the state of the page again.").WithEffect(fault.EffectUnknown).Because(err)
		default:
			f := fault.From(err)
			return f.WithEffect(fault.EffectUnknown)
		}
	}
	return nil
}

// InputText replaces what the target holds by text.
func (p *Page) InputText(ctx context.Context, t Target, text string) (Report, error) {
	at, refusal, err := p.resolve(ctx, t, "edit")
	if err != nil || refusal != "" {
		return no(refusal), asFault(err)
	}
	a, err := p.aim(ctx, at, aimArgs{Edit: &editArgs{Text: text}})
	if err != nil || a.No != "" {
		return no(a.No), asFault(err)
	}
	return p.typeInto(ctx, at, a, text)
}

// typeInto types into a field that aim has made ready.
func (p *Page) typeInto(ctx context.Context, at place, a aimed, text string) (Report, error) {
	label := fmt.Sprintf("[%d] %s", at.ref, a.What)
	if a.Set {
		return yes("Set " + label), nil
	}
	switch {
	case text != "":
		r := at.w.s.Send(input.CommandInsertText, input.InsertTextParams{Text: text})
		if err := p.delivered(ctx, r); err != nil {
			return Report{}, err
		}
	case !a.Empty:
		if err := p.delivered(ctx, p.strike(at.w.s, keyStroke{key: named("Delete")})...); err != nil {
			return Report{}, err
		}
	}
	var now struct {
		Gone  bool `json:"gone"`
		Same  bool `json:"same"`
		Empty bool `json:"empty"`
		Max   int  `json:"max"`
	}
	if err := p.run(ctx, at.w, "typed", editArgs{Text: text}, &now); err != nil {
		// The text arrived; a navigation or dialog that it caused is not a failure of typing.
		return yes("Typed into " + label), nil
	}
	switch {
	case now.Gone:
		return yes("Typed into " + label + "; the page has replaced the field"), nil
	case !now.Same && now.Empty && text != "":
		return no(label + " did not take the text"), nil
	case !now.Same && now.Max > 0:
		return yes(fmt.Sprintf("Typed into %s; it takes at most %d characters", label, now.Max)), nil
	case !now.Same:
		return yes("Typed into " + label + "; the page has changed the text"), nil
	case text == "":
		return yes("Emptied " + label), nil
	}
	return yes("Typed into " + label), nil
}

// SelectOption chooses the option of a list that has text as its label or value.
func (p *Page) SelectOption(ctx context.Context, t Target, text string) (Report, error) {
	at, refusal, err := p.resolve(ctx, t, "select")
	if err != nil || refusal != "" {
		return no(refusal), asFault(err)
	}
	return p.choose(ctx, at, text)
}

func (p *Page) choose(ctx context.Context, at place, text string) (Report, error) {
	var c struct {
		No    string `json:"no"`
		What  string `json:"what"`
		Done  string `json:"done"`
		Press int    `json:"press"`
	}
	err := p.run(ctx, at.w, "choose", map[string]any{"id": at.ref, "text": text}, &c)
	if err != nil || c.No != "" {
		return no(c.No), asFault(err)
	}
	if c.Press != 0 {
		return p.clickOn(ctx, place{w: at.w, ref: c.Press}, ClickOptions{})
	}
	return yes(fmt.Sprintf("Chose “%s” in [%d] %s", c.Done, at.ref, c.What)), nil
}

// A Field is one field to fill.
type Field struct {
	Target Target
	Text   string
}

// FillFields fills fields in order and ends at the first that refuses. Lists
// take the text as the option to choose.
func (p *Page) FillFields(ctx context.Context, fields []Field) (Report, error) {
	for i, f := range fields {
		r, err := p.fill(ctx, f)
		if err != nil {
			if e := fault.From(err); i > 0 && !errors.Is(err, ErrInterrupted) {
				err = e.WithEffect(fault.EffectUnknown)
			}
			return Report{}, err
		}
		if !r.Success {
			return no(fmt.Sprintf("%d of %d fields filled; then: %s", i, len(fields), r.Message)), nil
		}
	}
	return yes(fmt.Sprintf("Filled %d fields", len(fields))), nil
}

// fill types into a field, or chooses where it is a list.
func (p *Page) fill(ctx context.Context, f Field) (Report, error) {
	at, refusal, err := p.resolve(ctx, f.Target, "edit")
	if err != nil || refusal != "" {
		return no(refusal), asFault(err)
	}
	a, err := p.aim(ctx, at, aimArgs{Edit: &editArgs{Text: f.Text}})
	switch {
	case err == nil && a.List:
		return p.choose(ctx, at, f.Text)
	case err != nil || a.No != "":
		return no(a.No), asFault(err)
	}
	return p.typeInto(ctx, at, a, f.Text)
}
