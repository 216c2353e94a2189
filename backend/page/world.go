package page

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
)

// A world is the isolated world of one document. It sees the document's frame
// and the frames of the same origin below it; a frame of another origin has a
// world of its own, whose parent and owner say where it sits.
type world struct {
	s       *chrome.Session
	frame   cdp.FrameID
	created *chrome.Reply

	parent *world // nil for the top document
	owner  int    // ref of the frame element in parent
	block  span   // numbers that it may still give; guarded by Page.mu
	calls  int    // under way, which may use them; guarded by Page.mu
	lost   bool   // its document is gone; guarded by Page.mu
	read   bool   // it was read once, so its closed roots are known; guarded by Page.mu
}

// errLost says that a world's document went away while it was asked.
var errLost = errors.New("the document is gone")

// newWorld asks for the world of a frame. p.mu is held.
func (p *Page) newWorld(s *chrome.Session, frame cdp.FrameID) *world {
	w := &world{s: s, frame: frame, created: s.Send(page.CommandCreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: frame, WorldName: worldName,
	})}
	if p.isTop(frame) {
		// As long as the Runtime domain is off, which spares its flood of events, a
		// binding comes into the worlds that exist only.
		s.Send(runtime.CommandAddBinding, runtime.AddBindingParams{Name: signBinding, ExecutionContextName: worldName})
	}
	return w
}

// lose forgets the world of a frame whose document went away. p.mu is held.
func (p *Page) lose(frame cdp.FrameID) {
	w := p.worlds[frame]
	if w == nil {
		return
	}
	delete(p.worlds, frame)
	w.lost = true
	p.leave(w)
	for f, c := range p.worlds {
		if c.parent == w {
			p.lose(f)
		}
	}
}

func (p *Page) topWorld(ctx context.Context) (*world, error) {
	return p.worldOf(ctx, p.top, cdp.FrameID(p.target), nil, 0)
}

// worldOf returns the world of a frame, making it when there is none.
func (p *Page) worldOf(ctx context.Context, s *chrome.Session, frame cdp.FrameID, parent *world, owner int) (*world, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	w := p.worlds[frame]
	if w == nil || w.s != s {
		p.lose(frame)
		w = p.newWorld(s, frame)
		p.worlds[frame] = w
	}
	w.parent, w.owner = parent, owner
	p.mu.Unlock()
	if err := p.wait(ctx, w.created, nil); err != nil {
		return nil, p.ifRefused(w, err)
	}
	return w, nil
}

// ifRefused turns Chromium's refusal to work in w into errLost, and forgets w.
func (p *Page) ifRefused(w *world, err error) error {
	if !refused(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worlds[w.frame] == w {
		p.lose(w.frame)
	}
	w.lost = true
	return errLost
}

func refused(err error) bool {
	_, ok := errors.AsType[*chrome.CDPError](err)
	return ok
}

// context returns the number of w's execution context. The world exists by then.
func (w *world) context(ctx context.Context) (runtime.ExecutionContextID, error) {
	var made page.CreateIsolatedWorldResult
	err := w.created.Wait(ctx, &made)
	return made.ExecutionContextID, err
}

// answer is what Runtime.callFunctionOn gives, as far as it is looked at.
type answer struct {
	Result struct {
		ObjectID runtime.RemoteObjectID `json:"objectId"`
		Value    jsonv2.Value           `json:"value"`
	} `json:"result"`
	Exception *struct {
		Text string `json:"text"`
	} `json:"exceptionDetails"`
}

type argument struct {
	Value    any                    `json:"value,omitzero"`
	ObjectID runtime.RemoteObjectID `json:"objectId,omitempty"`
}

type callParams struct {
	Function  string                     `json:"functionDeclaration"`
	Context   runtime.ExecutionContextID `json:"executionContextId,omitempty"`
	Arguments []argument                 `json:"arguments"`
	ByValue   bool                       `json:"returnByValue,omitempty"`
	Await     bool                       `json:"awaitPromise,omitempty"`
}

const runFunction = `function(op,a,n){const c=globalThis.__chaperone;return c?c.run(op,a,n):0}`

// run has the walker of w do op and decodes its answer into result.
func (p *Page) run(ctx context.Context, w *world, op string, args, result any) error {
	for attempt := 0; ; attempt++ {
		if err := p.ready(); err != nil {
			return err
		}
		first, spare := p.reserve(w)
		reply, err := p.function(ctx, w, runFunction, true,
			argument{Value: op}, argument{Value: args}, argument{Value: []int{first.from, first.to, spare.from, spare.to}})
		if err != nil {
			p.used(w, first, spare, first.from, false)
			return err
		}
		if string(reply.Value) == "0" && attempt == 0 { // the script has not run in this document
			p.used(w, first, spare, first.from, false)
			if err := p.inject(ctx, w); err != nil {
				return err
			}
			continue
		}
		var done struct {
			Value jsonv2.Value `json:"v"`
			Next  int          `json:"n"`
			Of    int          `json:"m"`
		}
		if err := jsonv2.Unmarshal(reply.Value, &done, lenient()); err != nil {
			return fmt.Errorf("the walker's answer to %s: %w", op, err)
		}
		p.used(w, first, spare, done.Next, done.Of == spare.to)
		if result == nil {
			return nil
		}
		if err := jsonv2.Unmarshal(done.Value, result, lenient()); err != nil {
			return fmt.Errorf("the walker's answer to %s: %w", op, err)
		}
		return nil
	}
}

type reply struct {
	Value    jsonv2.Value
	ObjectID runtime.RemoteObjectID
}

// function calls a function in w.
func (p *Page) function(ctx context.Context, w *world, f string, byValue bool, args ...argument) (reply, error) {
	id, err := w.context(ctx)
	if err != nil {
		return reply{}, p.ifRefused(w, err)
	}
	r := w.s.Send(runtime.CommandCallFunctionOn, callParams{Function: f, Context: id, Arguments: args, ByValue: byValue, Await: true})
	return p.answered(ctx, w, r)
}

func (p *Page) answered(ctx context.Context, w *world, r *chrome.Reply) (reply, error) {
	var a answer
	if err := p.wait(ctx, r, &a); err != nil {
		return reply{}, p.ifRefused(w, err)
	}
	if a.Exception != nil { // its text may quote the page, so it goes no further
		return reply{}, fault.New(fault.Internal, "the page could not be read").
			WithHint("This is a defect of Chaperone; try a narrower target.")
	}
	return reply{Value: a.Result.Value, ObjectID: a.Result.ObjectID}, nil
}

// inject runs the walker's source in w, for documents older than Prepare.
func (p *Page) inject(ctx context.Context, w *world) error {
	id, err := w.context(ctx)
	if err != nil {
		return p.ifRefused(w, err)
	}
	_, err = p.answered(ctx, w, w.s.Send(runtime.CommandEvaluate, runtime.EvaluateParams{Expression: source(), ContextID: id}))
	return err
}

// inside returns the world of the frame that the frame element ref of w holds.
func (p *Page) inside(ctx context.Context, w *world, ref int) (*world, error) {
	p.mu.Lock()
	frame, known := p.owners[ref]
	p.mu.Unlock()
	if !known {
		object, err := p.function(ctx, w, `function(i){return globalThis.__chaperone.element(i)}`, false, argument{Value: ref})
		if err != nil {
			return nil, err
		}
		if object.ObjectID == "" {
			return nil, errLost
		}
		defer w.s.Send(runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: object.ObjectID})
		var node dom.DescribeNodeResult
		err = p.wait(ctx, w.s.Send(dom.CommandDescribeNode, dom.DescribeNodeParams{ObjectID: object.ObjectID}), &node)
		if err != nil {
			return nil, p.ifRefused(w, err)
		}
		if node.Node == nil || node.Node.FrameID == "" {
			return nil, errLost
		}
		frame = node.Node.FrameID
	}
	p.mu.Lock()
	p.owners[ref] = frame
	s := p.remote[frame]
	p.mu.Unlock()
	if s == nil {
		s = w.s
	}
	return p.worldOf(ctx, s, frame, w, ref)
}

// pierce finds the closed shadow roots of the elements that the latest walk of
// w suspected to have one, gives them to the walker, and says whether there was
// any.
func (p *Page) pierce(ctx context.Context, w *world) (bool, error) {
	list, err := p.function(ctx, w, `function(){return globalThis.__chaperone.hostsToAsk()}`, false)
	if err != nil {
		return false, err
	}
	defer w.s.Send(runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: list.ObjectID})
	var hosts struct {
		Result []struct {
			Name  string `json:"name"`
			Value struct {
				Subtype  string                 `json:"subtype"`
				ObjectID runtime.RemoteObjectID `json:"objectId"`
			} `json:"value"`
		} `json:"result"`
	}
	err = p.wait(ctx, w.s.Send(runtime.CommandGetProperties, runtime.GetPropertiesParams{
		ObjectID: list.ObjectID, OwnProperties: new(true),
	}), &hosts)
	if err != nil {
		return false, p.ifRefused(w, err)
	}
	id, err := w.context(ctx)
	if err != nil {
		return false, p.ifRefused(w, err)
	}
	var described []*chrome.Reply
	var objects []runtime.RemoteObjectID
	for _, h := range hosts.Result {
		if h.Value.Subtype != "node" {
			continue
		}
		objects = append(objects, h.Value.ObjectID)
		described = append(described, w.s.Send(dom.CommandDescribeNode, dom.DescribeNodeParams{ObjectID: h.Value.ObjectID}))
	}
	type pair struct {
		host runtime.RemoteObjectID
		root *chrome.Reply
	}
	var roots []pair
	for i, r := range described {
		var n dom.DescribeNodeResult
		if err := p.wait(ctx, r, &n); err != nil {
			if refused(err) {
				continue // the host went away meanwhile
			}
			return false, err
		}
		for _, root := range n.Node.ShadowRoots {
			if root.ShadowRootType == cdp.ShadowRootTypeClosed {
				roots = append(roots, pair{objects[i], w.s.Send(dom.CommandResolveNode, dom.ResolveNodeParams{
					BackendNodeID: root.BackendNodeID, ExecutionContextID: id,
				})})
			}
		}
	}
	var adopted []*chrome.Reply
	for _, r := range roots {
		var n dom.ResolveNodeResult
		if err := p.wait(ctx, r.root, &n); err != nil {
			if refused(err) {
				continue
			}
			return false, err
		}
		adopted = append(adopted, w.s.Send(runtime.CommandCallFunctionOn, callParams{
			Function: `function(h,r){globalThis.__chaperone.adopt(h,r)}`, Context: id,
			Arguments: []argument{{ObjectID: r.host}, {ObjectID: n.Object.ObjectID}},
		}))
	}
	for _, r := range adopted {
		if _, err := p.answered(ctx, w, r); err != nil {
			return false, err
		}
	}
	for _, o := range objects {
		w.s.Send(runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: o})
	}
	return len(adopted) > 0, nil
}

func lenient() jsonv2.Options {
	return jsonv2.JoinOptions(jsonv2.DefaultOptionsV2(), jsonv2.AllowInvalidUTF8(true))
}
