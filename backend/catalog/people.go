package catalog

import (
	"context"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/policy"
	"chaperone/backend/setting"
)

// Health is how the host is, computed when it is asked for.
type Health struct {
	Status    HealthStatus   `json:"status"`
	Version   string         `json:"version"`
	StartedAt time.Time      `json:"startedAt"`
	Tiers     []TierHealth   `json:"tiers" jsonschema:"bottom up"`
	Chromium  ChromiumHealth `json:"chromium"`
	Display   DisplayHealth  `json:"display"`
	Ledger    LedgerHealth   `json:"ledger"`
}

// HealthStatus sums a Health up.
type HealthStatus string

// Values lists the statuses.
func (HealthStatus) Values() []string { return []string{"ok", "degraded", "down"} }

// The parts of Health.
type (
	TierHealth struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Error  string `json:"error,omitempty"`
	}
	ChromiumHealth struct {
		Path    string `json:"path,omitempty"`
		Version string `json:"version,omitempty"`
		Error   string `json:"error,omitempty"`
	}
	DisplayHealth struct {
		OK    bool   `json:"ok"`
		Error string `json:"error,omitempty"`
	}
	LedgerHealth struct {
		Rows  int64  `json:"rows"`
		Bytes int64  `json:"bytes"`
		Last  int64  `json:"last"`
		Error string `json:"error,omitempty"`
	}
)

// Counts sums up what happened since the host started.
type Counts struct {
	Actions   int `json:"actions"`
	Questions int `json:"questions" jsonschema:"waiting now"`
	Errors    int `json:"errors" jsonschema:"agents whose last action failed"`
}

// Overview is all that the dashboard shows.
type Overview struct {
	Health    Health              `json:"health"`
	Agents    []agent.Agent       `json:"agents"`
	Sessions  []browser.Session   `json:"sessions"`
	Questions []approval.Question `json:"questions"`
	Attended  bool                `json:"attended" jsonschema:"whether a person is there to answer"`
	Counts    Counts              `json:"counts"`
	Last      int64               `json:"last" jsonschema:"the newest row of the log"`
}

// ConnectInfo says how an agent comes in.
type ConnectInfo struct {
	Command  string    `json:"command" jsonschema:"path of the chaperone program"`
	Snippets []Snippet `json:"snippets"`
}

// Snippet is a piece of text to copy.
type Snippet struct {
	Title    string `json:"title"`
	Language string `json:"language"`
	Text     string `json:"text"`
}

// The results of the people's lists.
type (
	Agents struct {
		Agents []agent.Agent `json:"agents"`
	}
	Sessions struct {
		Sessions []browser.Session `json:"sessions"`
	}
	Questions struct {
		Questions []approval.Question `json:"questions"`
	}
	Settings struct {
		Settings setting.Settings `json:"settings"`
	}
	Sites struct {
		Sites []policy.Site `json:"sites"`
	}
	Site struct {
		Site policy.Site `json:"site"`
	}
	Removed struct {
		Removed bool `json:"removed"`
	}
	Cleared struct {
		Removed int `json:"removed"`
	}
	Matched struct {
		Matched bool `json:"matched" jsonschema:"false when it was settled already"`
	}
	Visits struct {
		Visits []browser.Visit `json:"visits"`
		More   bool            `json:"more"`
	}
	Audit struct {
		Events []event.Event `json:"events" jsonschema:"newest first"`
		More   bool          `json:"more"`
		Last   int64         `json:"last"`
	}
)

// The arguments of the people's actions.
type (
	ThumbnailArgs struct {
		Session ids.Session `json:"session"`
		TabID   ids.Tab     `json:"tabId,omitempty" jsonschema:"the selected tab when absent"`
	}
	AgentArgs struct {
		Agent ids.Agent `json:"agent"`
	}
	SessionArgs struct {
		Session ids.Session `json:"session"`
	}
	AnswerArgs struct {
		Question ids.Question    `json:"question"`
		Answer   approval.Answer `json:"answer"`
	}
	ChangeSettingsArgs struct {
		AgentControl *bool          `json:"agentControl,omitempty"`
		Navigation   *policy.Access `json:"navigation,omitempty"`
	}
	SetSiteArgs struct {
		Origin string     `json:"origin" jsonschema:"an address; its origin counts, https when no scheme is given"`
		Access SiteAccess `json:"access"`
	}
	RemoveSiteArgs struct {
		Origin string `json:"origin"`
	}
	HistoryArgs struct {
		Query  string `json:"query,omitempty"`
		Before int64  `json:"before,omitempty"`
		Limit  int    `json:"limit,omitempty"`
	}
	RemoveVisitArgs struct {
		ID int64 `json:"id"`
	}
	AuditArgs struct {
		Prefix  string    `json:"prefix,omitempty" jsonschema:"a category or the start of one"`
		Agent   ids.Agent `json:"agent,omitempty"`
		Subject string    `json:"subject,omitempty"`
		Before  int64     `json:"before,omitempty"`
		Limit   int       `json:"limit,omitempty"`
	}
	WindowStateArgs struct {
		Focused bool `json:"focused"`
	}
)

// SiteAccess is what a site rule can say.
type SiteAccess string

// Values lists the accesses.
func (SiteAccess) Values() []string { return []string{"allow", "block"} }

// overview is what the person looks at.
var overview = []Entry{
	byPerson("overview", "overview", "Everything that the dashboard shows", action.Reads,
		func(ctx context.Context, s *Services, _ None) (Overview, error) {
			last, err := s.Account.Last(ctx)
			if err != nil {
				return Overview{}, err
			}
			o := Overview{Last: last, Health: s.House.Health(ctx), Agents: s.Agents.List(), Sessions: s.Browser.Sessions(),
				Questions: s.Approvals.Waiting(), Attended: s.Approvals.Attended()}
			o.Counts.Questions = len(o.Questions)
			for _, a := range o.Agents {
				o.Counts.Actions += a.Actions
				if a.LastAction != nil && !a.LastAction.OK {
					o.Counts.Errors++
				}
			}
			return o, nil
		}),
	byPerson("agents", "agents", "The agents", action.Reads, func(_ context.Context, s *Services, _ None) (Agents, error) {
		return Agents{s.Agents.List()}, nil
	}),
	byPerson("sessions", "sessions", "The agents' windows", action.Reads, func(_ context.Context, s *Services, _ None) (Sessions, error) {
		return Sessions{s.Browser.Sessions()}, nil
	}),
	byPerson("thumbnail", "thumbnail", "A small picture of a tab", action.Reads,
		func(ctx context.Context, s *Services, a ThumbnailArgs) (browser.Thumbnail, error) {
			return s.Browser.Thumbnail(ctx, a.Session, a.TabID)
		}),
	byPerson("connect_info", "connect", "How an agent comes in", action.Reads, func(_ context.Context, s *Services, _ None) (ConnectInfo, error) {
		return s.House.Connect(), nil
	}),
}

// control is what the person does to agents and questions.
var control = []Entry{
	byPerson("pause_agent", "pause", "Let an agent read but not act", action.Mutates, func(ctx context.Context, s *Services, a AgentArgs) (None, error) {
		return None{}, s.Agents.Pause(ctx, a.Agent)
	}),
	byPerson("resume_agent", "resume", "Let an agent act again", action.Mutates, func(ctx context.Context, s *Services, a AgentArgs) (None, error) {
		return None{}, s.Agents.Resume(ctx, a.Agent)
	}),
	byPerson("stop_agent", "stop", "End what an agent is doing and refuse the rest", action.Mutates, func(ctx context.Context, s *Services, a AgentArgs) (None, error) {
		return None{}, s.Agents.Stop(ctx, a.Agent)
	}),
	byPerson("close_session", "close", "Close an agent's window; its next action opens a fresh one", action.Irreversible,
		func(ctx context.Context, s *Services, a SessionArgs) (None, error) {
			return None{}, s.Browser.CloseSession(ctx, a.Session)
		}),
	byPerson("questions", "questions", "The questions that wait, oldest first", action.Reads, func(_ context.Context, s *Services, _ None) (Questions, error) {
		return Questions{s.Approvals.Waiting()}, nil
	}),
	byPerson("answer_question", "answer", "Settle a question", action.Mutates, func(ctx context.Context, s *Services, a AnswerArgs) (Matched, error) {
		matched, err := s.House.Decide(ctx, a)
		return Matched{matched}, err
	}),
	// The app's own window hears this on its way, for its notifications; nobody else needs it.
	byPerson("window_state", "window-state", "Say whether the app's window has the focus", action.Reads, func(context.Context, *Services, WindowStateArgs) (None, error) {
		return None{}, nil
	}),
}

// choices is what the person sets.
var choices = []Entry{
	byPerson("settings", "settings", "The settings", action.Reads, func(_ context.Context, s *Services, _ None) (Settings, error) {
		return Settings{s.Rules.Settings()}, nil
	}),
	byPerson("change_settings", "set", "Change settings", action.Mutates, func(ctx context.Context, s *Services, a ChangeSettingsArgs) (Settings, error) {
		after, err := s.Rules.Change(ctx, func(now setting.Settings) setting.Settings {
			if a.AgentControl != nil {
				now.AgentControl = *a.AgentControl
			}
			if a.Navigation != nil {
				now.Navigation = *a.Navigation
			}
			return now
		})
		return Settings{after}, err
	}),
	byPerson("sites", "sites", "The rules for single sites", action.Reads, func(_ context.Context, s *Services, _ None) (Sites, error) {
		return Sites{s.Rules.Sites()}, nil
	}),
	byPerson("set_site", "site-set", "Always allow or always block a site", action.Mutates, func(ctx context.Context, s *Services, a SetSiteArgs) (Site, error) {
		origin, err := origin(a.Origin)
		if err != nil {
			return Site{}, err
		}
		site, err := s.Rules.SetSite(ctx, origin, policy.Access(a.Access))
		return Site{site}, err
	}),
	byPerson("remove_site", "site-remove", "Take a site rule back", action.Mutates, func(ctx context.Context, s *Services, a RemoveSiteArgs) (Removed, error) {
		origin, err := origin(a.Origin)
		if err != nil {
			return Removed{}, err
		}
		removed, err := s.Rules.RemoveSite(ctx, origin)
		return Removed{removed}, err
	}),
}

func origin(text string) (policy.Origin, error) {
	o, err := policy.CanonicalOrigin(text)
	if err != nil {
		return "", fault.New(fault.InvalidArguments, "%s", err.Error()).WithHint("Write a site as example.org or https://example.org:8443.")
	}
	return o, nil
}

// account is what the person looks through and clears.
var account = []Entry{
	byPerson("history", "history", "Pages that agents opened, newest first", action.Reads, func(ctx context.Context, s *Services, a HistoryArgs) (Visits, error) {
		visits, more, err := s.Account.Visits(ctx, browser.VisitQuery{Text: a.Query, Before: a.Before, Limit: a.Limit})
		if visits == nil {
			visits = []browser.Visit{}
		}
		return Visits{visits, more}, err
	}),
	byPerson("remove_visit", "history-remove", "Remove a page from the history", action.Mutates, func(ctx context.Context, s *Services, a RemoveVisitArgs) (Removed, error) {
		removed, err := s.Account.RemoveVisit(ctx, a.ID, event.Draft{Category: "history.removed"})
		return Removed{removed}, err
	}),
	byPerson("clear_history", "history-clear", "Remove all pages from the history", action.Irreversible, func(ctx context.Context, s *Services, _ None) (Cleared, error) {
		n, err := s.Account.ClearVisits(ctx, event.Draft{Category: "history.cleared"})
		return Cleared{n}, err
	}),
	byPerson("audit", "audit", "The account of what happened, newest first", action.Reads, func(ctx context.Context, s *Services, a AuditArgs) (Audit, error) {
		events, more, err := s.Account.Events(ctx, event.Query{Filter: event.Filter{Prefix: a.Prefix, Agent: a.Agent, Subject: a.Subject},
			Before: a.Before, Limit: a.Limit})
		if err != nil {
			return Audit{}, err
		}
		if events == nil {
			events = []event.Event{}
		}
		last, err := s.Account.Last(ctx)
		return Audit{events, more, last}, err
	}),
	byPerson("verify_audit", "verify", "Check that the account is as it was written", action.Reads,
		func(ctx context.Context, s *Services, _ None) (event.Verification, error) {
			return s.Account.Verify(ctx)
		}),
}
