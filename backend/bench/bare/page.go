package bare

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"
)

//go:embed walker.js
var walker string

// Navigate opens url and prepares its document for Walk and Click. It returns
// when the document was committed, which may be before it has loaded.
func (b *Browser) Navigate(ctx context.Context, url string) error {
	var went struct {
		ErrorText string `json:"errorText"`
	}
	if err := b.conn.call(ctx, b.session, "Page.navigate", map[string]any{"url": url}, &went); err != nil {
		return err
	}
	if went.ErrorText != "" {
		return fmt.Errorf("%s: %s", url, went.ErrorText)
	}
	return nil
}

// Intercept has Chromium hold each request for a document, as the product's gate
// does, and lets it go at once; or no longer.
func (b *Browser) Intercept(ctx context.Context, on bool) error {
	if !on {
		return b.conn.call(ctx, "", "Fetch.disable", nil, nil)
	}
	return b.conn.call(ctx, "", "Fetch.enable", map[string]any{
		"handleAuthRequests": true,
		"patterns": []map[string]any{
			{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"},
			{"urlPattern": "*", "resourceType": "Other", "requestStage": "Request"},
		},
	}, nil)
}

// Inject puts the walker into the document.
func (b *Browser) Inject(ctx context.Context) error {
	var made struct {
		ContextID int64 `json:"executionContextId"`
	}
	err := b.conn.call(ctx, b.session, "Page.createIsolatedWorld", map[string]any{"frameId": b.target, "worldName": "bare"}, &made)
	if err != nil {
		return err
	}
	b.world = made.ContextID
	return b.conn.call(ctx, b.session, "Runtime.evaluate", map[string]any{"expression": walker, "contextId": b.world}, nil)
}

// run calls a function of the walker and decodes what it returns.
func (b *Browser) run(ctx context.Context, function string, result any, args ...any) error {
	list := make([]map[string]any, len(args))
	for i, a := range args {
		list[i] = map[string]any{"value": a}
	}
	var out struct {
		Result struct {
			Value jsonValue `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	out.Result.Value.to = result
	err := b.conn.call(ctx, b.session, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": function, "executionContextId": b.world, "arguments": list,
		"returnByValue": true, "awaitPromise": true,
	}, &out)
	if err == nil && out.Exception != nil {
		err = errors.New(out.Exception.Text)
	}
	return err
}

// Walk reads the document into text in one pass.
func (b *Browser) Walk(ctx context.Context) (string, error) {
	var text string
	err := b.run(ctx, "() => bare.walk()", &text)
	return text, err
}

// Click presses the element with the number ref of the latest walk, waits until
// the document has not changed for quiet, and reads it.
func (b *Browser) Click(ctx context.Context, ref int, quiet time.Duration) (string, error) {
	var at [2]float64
	if err := b.run(ctx, "ref => bare.point(ref)", &at, ref); err != nil {
		return "", err
	}
	var sent [3]pending
	for i, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := map[string]any{"type": kind, "x": at[0], "y": at[1]}
		if kind != "mouseMoved" {
			params["button"], params["clickCount"] = "left", 1
		}
		var err error
		if sent[i], err = b.conn.send(b.session, "Input.dispatchMouseEvent", params); err != nil {
			return "", err
		}
	}
	for _, p := range sent {
		if err := p.wait(ctx, nil); err != nil {
			return "", err
		}
	}
	var text string
	err := b.run(ctx, "async quiet => { await bare.settle(quiet); return bare.walk() }", &text, quiet.Milliseconds())
	return text, err
}

// Loaded returns when the document has loaded.
func (b *Browser) Loaded(ctx context.Context) error {
	return b.run(ctx, "() => bare.loaded()", nil)
}
