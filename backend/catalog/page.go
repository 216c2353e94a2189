package catalog

import (
	"context"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/browser"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
)

// OnTab is what every page action takes.
type OnTab struct {
	TabID ids.Tab `json:"tabId,omitempty" jsonschema:"the tab; the selected one when absent"`
	browser.Capture
}

// Element names an element in one of three ways.
type Element struct {
	Index  *int   `json:"index,omitempty" jsonschema:"number of the element in the latest state"`
	Name   string `json:"name,omitempty" jsonschema:"its visible label, accessible name, placeholder or id"`
	Target string `json:"target,omitempty" jsonschema:"a ref from the state (12, e12) or a CSS selector; >> reaches into a frame"`
}

func (e Element) target() (page.Target, error) {
	n := 0
	for _, given := range []bool{e.Index != nil, e.Name != "", e.Target != ""} {
		if given {
			n++
		}
	}
	if n != 1 {
		return page.Target{}, fault.New(fault.InvalidArguments, "name the element in exactly one way").
			WithHint("Give index, name or target.").WithEffect(fault.EffectNone)
	}
	return page.Target{Index: e.Index, Name: e.Name, Target: e.Target}, nil
}

// The arguments of the page actions.
type (
	OnTabArgs    struct{ OnTab }
	NavigateArgs struct {
		URL string `json:"url" jsonschema:"an http or https address"`
		OnTab
	}
	PressArgs struct {
		Key string `json:"key" jsonschema:"a key or chord: Enter, Escape, a, Control+A, Shift+Tab"`
		OnTab
	}
	ClickArgs struct {
		Element
		OnTab
	}
	ClickAtArgs struct {
		X          float64 `json:"x" jsonschema:"in CSS pixels from the left of the view"`
		Y          float64 `json:"y" jsonschema:"in CSS pixels from the top of the view"`
		Button     Button  `json:"button,omitempty" jsonschema:"left when absent"`
		ClickCount int     `json:"clickCount,omitempty" jsonschema:"1 to 3; 1 when absent"`
		OnTab
	}
	TextArgs struct {
		Element
		Text string `json:"text"`
		OnTab
	}
	FillArgs struct {
		Fields []FillField `json:"fields"`
		OnTab
	}
	FillField struct {
		Element
		Text string `json:"text" jsonschema:"replaces what the field holds"`
	}
	FindArgs struct {
		Query string  `json:"query,omitempty" jsonschema:"words looked for in roles and names"`
		Text  string  `json:"text,omitempty" jsonschema:"text that the element contains, case ignored"`
		Regex string  `json:"regex,omitempty" jsonschema:"a regular expression on the element's line"`
		TabID ids.Tab `json:"tabId,omitempty" jsonschema:"the tab; the selected one when absent"`
	}
	ScrollArgs struct {
		Down     bool     `json:"down" jsonschema:"false scrolls up"`
		NumPages *float64 `json:"numPages,omitempty" jsonschema:"how many views; 1 when neither this nor pixels is given"`
		Pixels   *int     `json:"pixels,omitempty"`
		Index    *int     `json:"index,omitempty" jsonschema:"an element to scroll inside of; the page when absent"`
		OnTab
	}
	ScrollSidewaysArgs struct {
		Right  bool `json:"right" jsonschema:"false scrolls left"`
		Pixels int  `json:"pixels"`
		Index  *int `json:"index,omitempty" jsonschema:"an element to scroll inside of; the page when absent"`
		OnTab
	}
	WaitArgs struct {
		Seconds float64 `json:"seconds" jsonschema:"0 to 30"`
		OnTab
	}
	WaitForArgs struct {
		Seconds  float64 `json:"seconds,omitempty" jsonschema:"at most, 0 to 60; 10 when absent"`
		Text     string  `json:"text,omitempty" jsonschema:"text that must show"`
		TextGone string  `json:"textGone,omitempty" jsonschema:"text that must go"`
		OnTab
	}
	DialogArgs struct {
		Accept     bool    `json:"accept"`
		PromptText *string `json:"promptText,omitempty" jsonschema:"the answer to a prompt"`
		OnTab
	}
	PlainTabArgs struct {
		TabID ids.Tab `json:"tabId,omitempty" jsonschema:"the tab; the selected one when absent"`
	}
)

// Button is a mouse button.
type Button string

// Values lists the buttons.
func (Button) Values() []string { return []string{"left", "middle", "right"} }

// reading is what an agent sees a page with.
var reading = []Entry{
	onPage("get_browser_state", "snapshot", "Read the page: its elements with numbers, its text, the tabs", action.Reads,
		func(ctx context.Context, s *Services, c *action.Call, a OnTabArgs) (browser.Outcome, error) {
			return s.Browser.Read(ctx, c, a.Capture)
		}),
	declare(action.Spec{Method: "current_page", Verb: "page", Summary: "Say which page a tab shows, without reading it; starts no browser",
		Audience: action.Agents, Capability: "page.identity", Effect: action.Reads, Tab: action.OneTab},
		func(ctx context.Context, s *Services, c *action.Call, a PlainTabArgs) (browser.Identity, error) {
			return s.Browser.Current(ctx, c)
		}),
	declare(action.Spec{Method: "find_element", Verb: "find", Summary: "Find elements by words, text or regular expression, also those that a state left out",
		Audience: action.Agents, Capability: "page.find", Effect: action.Reads, Tab: action.OneTab},
		func(ctx context.Context, s *Services, c *action.Call, a FindArgs) (browser.Found, error) {
			n := 0
			for _, given := range []string{a.Query, a.Text, a.Regex} {
				if given != "" {
					n++
				}
			}
			if n != 1 {
				return browser.Found{}, fault.New(fault.InvalidArguments, "give exactly one of query, text and regex").WithEffect(fault.EffectNone)
			}
			return s.Browser.Find(ctx, c, page.FindQuery{Query: a.Query, Text: a.Text, Regex: a.Regex})
		}),
	declare(action.Spec{Method: "take_screenshot", Verb: "screenshot", Summary: "Take a picture of what the tab shows, at most 2,000 pixels a side",
		Audience: action.Agents, Capability: "page.screenshot", Effect: action.Reads, Tab: action.OneTab},
		func(ctx context.Context, s *Services, c *action.Call, a PlainTabArgs) (browser.Screenshot, error) {
			return s.Browser.Picture(ctx, c)
		}),
	onPage("wait", "wait", "Wait a while; returns early when the person has decided what waits on the tab", action.Reads,
		func(ctx context.Context, s *Services, c *action.Call, a WaitArgs) (browser.Outcome, error) {
			d, err := seconds(a.Seconds, 30)
			if err != nil {
				return browser.Outcome{}, err
			}
			return s.Browser.Wait(ctx, c, d, a.Capture)
		}),
	declare(action.Spec{Method: "wait_for", Verb: "wait-for", Summary: "Wait until a text shows or goes", Audience: action.Agents,
		Capability: "page.wait", Effect: action.Reads, Tab: action.OneTab, Budget: 75 * time.Second},
		func(ctx context.Context, s *Services, c *action.Call, a WaitForArgs) (browser.Outcome, error) {
			if (a.Text == "") == (a.TextGone == "") {
				return browser.Outcome{}, fault.New(fault.InvalidArguments, "give either text or textGone").WithEffect(fault.EffectNone)
			}
			if a.Seconds == 0 {
				a.Seconds = 10
			}
			d, err := seconds(a.Seconds, 60)
			if err != nil {
				return browser.Outcome{}, err
			}
			return s.Browser.WaitFor(ctx, c, d, a.Text, a.TextGone, a.Capture)
		}),
}

func seconds(n, most float64) (time.Duration, error) {
	if !(n >= 0 && n <= most) {
		return 0, fault.New(fault.InvalidArguments, "seconds is not between 0 and %g", most).WithEffect(fault.EffectNone)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// onElement declares what an agent does to one element.
func onElement[A any](method, verb, summary string, effect action.Effect, parts func(A) (Element, browser.Capture),
	do func(context.Context, *page.Page, page.Target, A) (page.Report, error)) Entry {
	return onPage(method, verb, summary, effect, func(ctx context.Context, s *Services, c *action.Call, a A) (browser.Outcome, error) {
		element, capture := parts(a)
		target, err := element.target()
		if err != nil {
			return browser.Outcome{}, err
		}
		return s.Browser.Page(ctx, c, capture, func(ctx context.Context, p *page.Page) (page.Report, error) { return do(ctx, p, target, a) })
	})
}

func clickParts(a ClickArgs) (Element, browser.Capture) { return a.Element, a.Capture }
func textParts(a TextArgs) (Element, browser.Capture)   { return a.Element, a.Capture }

// acting is what an agent does to a page.
var acting = []Entry{
	declare(action.Spec{Method: "navigate", Verb: "navigate", Summary: "Open an address in the tab; a new site is decided by the person",
		Audience: action.Agents, Capability: "navigate", Effect: action.Mutates, Tab: action.OneTab, Destination: urlOf},
		func(ctx context.Context, s *Services, c *action.Call, a NavigateArgs) (browser.Outcome, error) {
			return s.Browser.Navigate(ctx, c, a.URL, a.Capture)
		}),
	onPage("back", "back", "Go back in the tab's history", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a OnTabArgs) (browser.Outcome, error) {
			return s.Browser.History(ctx, c, -1, a.Capture)
		}),
	onPage("forward", "forward", "Go forward in the tab's history", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a OnTabArgs) (browser.Outcome, error) {
			return s.Browser.History(ctx, c, 1, a.Capture)
		}),
	onPage("reload", "reload", "Load the page again", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a OnTabArgs) (browser.Outcome, error) {
			return s.Browser.Reload(ctx, c, a.Capture)
		}),
	onPage("press", "press", "Press a key or chord on what has the focus", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a PressArgs) (browser.Outcome, error) {
			return s.Browser.Page(ctx, c, a.Capture, func(ctx context.Context, p *page.Page) (page.Report, error) { return p.Press(ctx, a.Key) })
		}),
	onElement("click_element", "click", "Click an element", action.Mutates, clickParts,
		func(ctx context.Context, p *page.Page, t page.Target, _ ClickArgs) (page.Report, error) {
			return p.Click(ctx, t, page.ClickOptions{})
		}),
	onPage("click_at", "click-at", "Click at a point of the view", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a ClickAtArgs) (browser.Outcome, error) {
			if a.ClickCount < 0 || a.ClickCount > 3 {
				return browser.Outcome{}, fault.New(fault.InvalidArguments, "clickCount is not between 1 and 3").WithEffect(fault.EffectNone)
			}
			return s.Browser.Page(ctx, c, a.Capture, func(ctx context.Context, p *page.Page) (page.Report, error) {
				return p.ClickAt(ctx, a.X, a.Y, page.ClickOptions{Button: string(a.Button), Count: a.ClickCount})
			})
		}),
	onElement("hover_element", "hover", "Move the pointer over an element", action.Transient, clickParts,
		func(ctx context.Context, p *page.Page, t page.Target, _ ClickArgs) (page.Report, error) {
			return p.Hover(ctx, t)
		}),
	onElement("input_text", "type", "Replace what a field holds", action.Mutates, textParts,
		func(ctx context.Context, p *page.Page, t page.Target, a TextArgs) (page.Report, error) {
			return p.InputText(ctx, t, a.Text)
		}),
	onElement("select_option", "select", "Choose an option of a list by its label or value", action.Mutates, textParts,
		func(ctx context.Context, p *page.Page, t page.Target, a TextArgs) (page.Report, error) {
			return p.SelectOption(ctx, t, a.Text)
		}),
	onPage("fill_fields", "fill", "Fill several fields, in order", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a FillArgs) (browser.Outcome, error) {
			if len(a.Fields) == 0 || len(a.Fields) > 100 {
				return browser.Outcome{}, fault.New(fault.InvalidArguments, "fields holds 1 to 100 fields").WithEffect(fault.EffectNone)
			}
			fields := make([]page.Field, len(a.Fields))
			for i, f := range a.Fields {
				target, err := f.target()
				if err != nil {
					return browser.Outcome{}, err
				}
				fields[i] = page.Field{Target: target, Text: f.Text}
			}
			return s.Browser.Page(ctx, c, a.Capture, func(ctx context.Context, p *page.Page) (page.Report, error) { return p.FillFields(ctx, fields) })
		}),
	onPage("scroll", "scroll", "Scroll down or up", action.Transient,
		func(ctx context.Context, s *Services, c *action.Call, a ScrollArgs) (browser.Outcome, error) {
			pages := 1.0
			if a.NumPages != nil {
				pages = *a.NumPages
			}
			return s.Browser.Page(ctx, c, a.Capture, func(ctx context.Context, p *page.Page) (page.Report, error) {
				return p.Scroll(ctx, page.ScrollOptions{Down: a.Down, NumPages: pages, Pixels: a.Pixels, Index: a.Index})
			})
		}),
	onPage("scroll_horizontally", "scroll-sideways", "Scroll right or left", action.Transient,
		func(ctx context.Context, s *Services, c *action.Call, a ScrollSidewaysArgs) (browser.Outcome, error) {
			return s.Browser.Page(ctx, c, a.Capture, func(ctx context.Context, p *page.Page) (page.Report, error) {
				return p.ScrollHorizontally(ctx, a.Right, a.Pixels, a.Index)
			})
		}),
	onPage("handle_dialog", "dialog", "Answer the dialog that the page has open", action.Mutates,
		func(ctx context.Context, s *Services, c *action.Call, a DialogArgs) (browser.Outcome, error) {
			return s.Browser.Dialog(ctx, c, a.Accept, a.PromptText, a.Capture)
		}),
}

// The arguments of the tab actions.
type (
	OpenTabArgs struct {
		URL string `json:"url,omitempty" jsonschema:"an http or https address; an empty page when absent"`
		browser.Capture
	}
	TabArgs struct {
		TabID ids.Tab `json:"tabId" jsonschema:"the tab"`
		browser.Capture
	}
)

// tabs is what an agent does to its window's tabs.
var tabs = []Entry{
	declare(action.Spec{Method: "open_new_tab", Verb: "tab-new", Summary: "Open a tab and select it", Audience: action.Agents,
		Capability: "tab.open", Effect: action.Mutates, Tab: action.Lifecycle, Destination: urlOf},
		func(ctx context.Context, s *Services, c *action.Call, a OpenTabArgs) (browser.Outcome, error) {
			return s.Browser.OpenTab(ctx, c, a.URL, a.Capture)
		}),
	declare(action.Spec{Method: "switch_to_tab", Verb: "tab-select", Summary: "Select a tab", Audience: action.Agents,
		Capability: "tab.select", Effect: action.Transient, Tab: action.Lifecycle},
		func(ctx context.Context, s *Services, c *action.Call, a TabArgs) (browser.Outcome, error) {
			return s.Browser.SelectTab(ctx, c, a.Capture)
		}),
	declare(action.Spec{Method: "close_tab", Verb: "tab-close", Summary: "Close a tab; the last one closes the window", Audience: action.Agents,
		Capability: "tab.close", Effect: action.Irreversible, Tab: action.Lifecycle},
		func(ctx context.Context, s *Services, c *action.Call, a TabArgs) (browser.Outcome, error) {
			return s.Browser.CloseTab(ctx, c, a.Capture)
		}),
}
