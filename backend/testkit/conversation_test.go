package testkit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chaperone/backend/approval"
	"chaperone/backend/event"
	"chaperone/backend/policy"

	"golang.org/x/tools/txtar"
)

// TestConversations plays every conversation of testdata with a whole host of
// its own. testdata/README.md says how they are written.
func TestConversations(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { converse(t, path) })
	}
}

func converse(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	c := &conversation{t: t, path: path, kit: Start(t, Options{Absent: bytes.HasPrefix(archive.Comment, []byte("Nobody"))}), agents: map[string]*Agent{}, pending: map[string][]*sent{}}
	talk := -1
	for i, f := range archive.Files {
		host, rest, _ := strings.Cut(f.Name, "/")
		page, to, redirects := strings.Cut(rest, " -> ")
		switch {
		case f.Name == "talk":
			talk = i
		case redirects:
			c.kit.Sites.Redirect(host, "/"+page, to)
		default:
			c.kit.Sites.Page(host, "/"+page, string(f.Data))
		}
	}
	if talk < 0 {
		t.Fatal("there is no section talk")
	}
	first := 1 + bytes.Count(text[:bytes.Index(text, []byte("-- talk --"))], []byte("\n"))
	for i, line := range strings.Split(string(archive.Files[talk].Data), "\n") {
		if line = strings.TrimRight(line, " "); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c.at = first + 1 + i
		if err := c.play(line); err != nil {
			t.Fatalf("%s:%d: %s\n%v\nlast seen: %.3000s", path, c.at, line, err, c.seen)
		}
	}
	for name, calls := range c.pending {
		for _, s := range calls {
			t.Errorf("%s: the answer to %s of %s was not looked at", path, s.method, name)
		}
	}
}

// A conversation is one script being played.
type conversation struct {
	t       *testing.T
	path    string
	kit     *Kit
	at      int
	agents  map[string]*Agent
	pending map[string][]*sent
	// seen is what the indented lines look at.
	seen json.RawMessage
	// heard is the place in the log of the last event that was waited for.
	heard int64
}

type sent struct {
	method string
	reply  *Reply
}

var (
	sends   = regexp.MustCompile(`^(\w+)> (\w+)(?: (\{.*\}))?( &)?$`)
	awaits  = regexp.MustCompile(`^(\w+)< (\w+)$`)
	writes  = regexp.MustCompile(`^(\w+)>> (.*)$`)
	reads   = regexp.MustCompile(`^(\w+)<<$`)
	asks    = regexp.MustCompile(`^person> (\w+)(?: (\{.*\}))?$`)
	answers = regexp.MustCompile(`^person: (\w+) (\S+)(?: (\w+))?$`)
	counts  = regexp.MustCompile(`^requests (\S+) (\d+)$`)
	checks  = regexp.MustCompile(`^\s+(\S+) (=|!=|~|!~) ?(.*)$`)
	absent  = regexp.MustCompile(`^\s+(\S+) (absent|present)$`)
)

func (c *conversation) play(line string) error {
	if m := asks.FindStringSubmatch(line); m != nil {
		out, err := c.kit.Person.Send(m[1], c.args(m[2]))
		return c.see(out, err)
	}
	if m := sends.FindStringSubmatch(line); m != nil {
		return c.send(m[1], m[2], m[3], m[4] != "")
	}
	if m := awaits.FindStringSubmatch(line); m != nil {
		return c.await(m[1], m[2])
	}
	if m := writes.FindStringSubmatch(line); m != nil {
		a, err := c.agent(m[1])
		if err != nil {
			return err
		}
		return a.Send([]byte(c.kit.Sites.Ported(unfold(m[2]))))
	}
	if m := reads.FindStringSubmatch(line); m != nil {
		a, err := c.agent(m[1])
		if err != nil {
			return err
		}
		c.seen, err = a.Next()
		return err
	}
	if m := answers.FindStringSubmatch(line); m != nil {
		return c.answer(approval.Answer(m[1]), m[2], policy.Kind(m[3]))
	}
	if m := counts.FindStringSubmatch(line); m != nil {
		return c.requests(m[1], m[2])
	}
	if m := checks.FindStringSubmatch(line); m != nil {
		return c.check(m[1], m[2], m[3])
	}
	if m := absent.FindStringSubmatch(line); m != nil {
		_, there, err := c.find(m[1])
		if err == nil && there != (m[2] == "present") {
			err = fmt.Errorf("%s is not %s", m[1], m[2])
		}
		return err
	}
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "person leaves":
		c.kit.Person.Leave()
	case line == "person returns":
		c.kit.Person.Return()
	case word == "event":
		category, subject, _ := strings.Cut(rest, " ")
		e, err := c.kit.Person.Event(func(e event.Event) bool {
			return e.Seq > c.heard && e.Category == category && (subject == "" || e.Subject == subject)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", rest, err)
		}
		c.heard = e.Seq
		c.seen, err = json.Marshal(e)
		return err
	case word == "request":
		all := c.kit.Sites.Requests(rest)
		if len(all) == 0 {
			return fmt.Errorf("nothing has reached %s", rest)
		}
		var err error
		c.seen, err = json.Marshal(all[len(all)-1])
		return err
	case rest == "closes" && c.agents[word] != nil:
		c.agents[word].Close()
		delete(c.agents, word)
		delete(c.pending, word)
	default:
		return fmt.Errorf("no such line; see testdata/README.md")
	}
	return nil
}

// unfold writes out a part of a line that is repeated: {{100*x}}.
func unfold(text string) string {
	return regexp.MustCompile(`\{\{(\d+)\*(.)\}\}`).ReplaceAllStringFunc(text, func(s string) string {
		n, what, _ := strings.Cut(strings.Trim(s, "{}"), "*")
		times, _ := strconv.Atoi(n)
		return strings.Repeat(what, times)
	})
}

func (c *conversation) args(text string) json.RawMessage {
	return json.RawMessage(c.kit.Sites.Ported(cmp.Or(text, "{}")))
}

// agent returns the line of that name, opening it first; nothing is said on it yet.
func (c *conversation) agent(name string) (*Agent, error) {
	if a := c.agents[name]; a != nil {
		return a, nil
	}
	a, err := c.kit.Line()
	c.agents[name] = a
	return a, err
}

func (c *conversation) send(name, method, args string, later bool) error {
	a, err := c.agent(name)
	if err != nil {
		return err
	}
	r, err := a.Start(method, c.args(args))
	if err != nil {
		return err
	}
	c.pending[name] = append(c.pending[name], &sent{method, r})
	if later {
		return nil
	}
	return c.await(name, method)
}

// await looks at the answer to the oldest call of method that was not looked at.
func (c *conversation) await(name, method string) error {
	i := slices.IndexFunc(c.pending[name], func(s *sent) bool { return s.method == method })
	if i < 0 {
		return fmt.Errorf("%s has sent no %s that is unanswered", name, method)
	}
	s := c.pending[name][i]
	c.pending[name] = slices.Delete(c.pending[name], i, i+1)
	out, err := s.reply.Wait()
	return c.see(out, err)
}

// see takes a result or the host's error as what the indented lines look at.
func (c *conversation) see(result json.RawMessage, err error) error {
	c.seen = result
	if code := Code(err); code != "" {
		c.seen, err = json.Marshal(map[string]any{"error": err})
	}
	return err
}

func (c *conversation) answer(a approval.Answer, origin string, via policy.Kind) error {
	origin = c.kit.Sites.Ported(origin)
	q, err := c.kit.Person.Question(func(q approval.Question) bool {
		return string(q.Origin) == origin && (via == "" || q.Via == via)
	})
	if err != nil {
		return err
	}
	c.seen, err = json.Marshal(q)
	if err != nil || a == "sees" {
		return err
	}
	if !slices.Contains(a.Values(), string(a)) {
		return fmt.Errorf("there is no answer %q", a)
	}
	matched, err := c.kit.Person.Answer(q.Question, a)
	if err == nil && !matched {
		err = fmt.Errorf("the question was settled already")
	}
	return err
}

func (c *conversation) requests(host, number string) error {
	want, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	if err := c.kit.Sites.Await(host, want); err != nil {
		return err
	}
	if all := c.kit.Sites.Requests(host); len(all) != want {
		return fmt.Errorf("%d requests have reached %s: %+v", len(all), host, all)
	}
	return nil
}

func (c *conversation) check(path, operator, want string) error {
	got, there, err := c.find(path)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("there is no %s", path)
	}
	text, ok := got.(string)
	if !ok {
		raw, err := json.Marshal(got)
		if err != nil {
			return err
		}
		text = string(raw)
	}
	text = c.kit.Sites.Portless(text)
	holds := text == want
	if strings.HasSuffix(operator, "~") {
		pattern, err := regexp.Compile(want)
		if err != nil {
			return err
		}
		holds = pattern.MatchString(text)
	}
	if holds == strings.HasPrefix(operator, "!") {
		return fmt.Errorf("%s is:\n%s", path, text)
	}
	return nil
}

// find returns the part of what was seen that a dotted path leads to. "code" is
// short for error.code, and what is in state or action may be named without.
func (c *conversation) find(path string) (v any, there bool, err error) {
	if err := json.Unmarshal(c.seen, &v); err != nil {
		return nil, false, fmt.Errorf("nothing to look at: %w", err)
	}
	top, _ := v.(map[string]any)
	first, _, _ := strings.Cut(path, ".")
	for _, within := range []string{"error", "state", "action"} {
		inner, ok := top[within].(map[string]any)
		if _, has := top[first]; ok && !has {
			if _, has := inner[first]; has {
				v = inner
			}
		}
	}
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			if part == "keys" {
				v = strings.Join(slices.Sorted(maps.Keys(x)), " ")
				continue
			}
			if v, there = x[part]; !there {
				return nil, false, nil
			}
		case []any:
			if part == "length" {
				v = len(x)
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false, nil
			}
			v = x[i]
		default:
			return nil, false, nil
		}
	}
	return v, true, nil
}
