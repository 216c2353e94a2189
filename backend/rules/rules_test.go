package rules_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
	"chaperone/backend/rules"
	"chaperone/backend/setting"
)

// store keeps choices in memory, and fails when it is told to.
type store struct {
	settings setting.Settings
	sites    map[policy.Origin]policy.Site
	drafts   []event.Draft
	err      error
}

func (s *store) Settings(context.Context) (setting.Settings, error) { return s.settings, nil }
func (s *store) SaveSettings(_ context.Context, v setting.Settings, d ...event.Draft) error {
	if s.err == nil {
		s.settings, s.drafts = v, append(s.drafts, d...)
	}
	return s.err
}
func (s *store) Sites(context.Context) (out []policy.Site, err error) {
	for _, v := range s.sites {
		out = append(out, v)
	}
	return out, nil
}
func (s *store) PutSite(_ context.Context, v policy.Site, d ...event.Draft) error {
	if s.err == nil {
		s.sites[v.Origin], s.drafts = v, append(s.drafts, d...)
	}
	return s.err
}
func (s *store) RemoveSite(_ context.Context, o policy.Origin, d ...event.Draft) (bool, error) {
	_, had := s.sites[o]
	if s.err == nil {
		delete(s.sites, o)
		s.drafts = append(s.drafts, d...)
	}
	return had, s.err
}

func load(t *testing.T, st *store) (*rules.Service, *int) {
	t.Helper()
	n := 0
	s, err := rules.Load(t.Context(), st, time.Now, func(before, after setting.Settings) { n++ })
	if err != nil {
		t.Fatal(err)
	}
	return s, &n
}

func TestSites(t *testing.T) {
	st := &store{settings: setting.Default(), sites: map[policy.Origin]policy.Site{"https://old.example": {Origin: "https://old.example", Access: policy.Block}}}
	s, changes := load(t, st)
	if s.Rules().Sites["https://old.example"] != policy.Block {
		t.Error("a rule from before is not in force")
	}
	held := s.Rules()
	if _, err := s.SetSite(t.Context(), "https://new.example", policy.Allow); err != nil {
		t.Fatal(err)
	}
	if s.Rules().Sites["https://new.example"] != policy.Allow || held.Sites["https://new.example"] != "" {
		t.Error("the rule is not in force, or it changed what a decision was looking at")
	}
	if got := s.Sites(); len(got) != 2 || got[0].Origin != "https://new.example" || got[0].At.IsZero() {
		t.Errorf("%+v", got)
	}
	if removed, err := s.RemoveSite(t.Context(), "https://new.example"); !removed || err != nil || s.Rules().Sites["https://new.example"] != "" {
		t.Errorf("not removed: %v", err)
	}
	if removed, _ := s.RemoveSite(t.Context(), "https://new.example"); removed {
		t.Error("removed twice")
	}
	if *changes != 2 || len(st.drafts) < 2 || st.drafts[0].Category != "site.changed" || st.drafts[0].Subject != "https://new.example" {
		t.Errorf("%d changes told, rows %+v", *changes, st.drafts)
	}
	for _, c := range []struct {
		o policy.Origin
		a policy.Access
	}{{"", policy.Allow}, {"https://a.example", policy.Ask}, {"https://a.example", "maybe"}} {
		if _, err := s.SetSite(t.Context(), c.o, c.a); !fault.Is(err, fault.InvalidArguments) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestSettings(t *testing.T) {
	st := &store{settings: setting.Settings{AgentControl: true, Navigation: "nonsense"}, sites: map[policy.Origin]policy.Site{}}
	s, changes := load(t, st)
	if s.Settings() != setting.Default() {
		t.Errorf("nonsense in storage became %+v", s.Settings())
	}
	off := func(v setting.Settings) setting.Settings {
		v.AgentControl = false
		v.Navigation = policy.Block
		return v
	}
	if _, err := s.Change(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	if s.Settings().AgentControl || s.Rules().Navigation != policy.Block || *changes != 1 {
		t.Errorf("%+v, %d changes", s.Settings(), *changes)
	}
	if _, err := s.Change(t.Context(), off); err != nil || *changes != 1 {
		t.Error("the same again counted as a change")
	}
}

func TestWhatCannotBeKeptIsNotInForce(t *testing.T) {
	st := &store{settings: setting.Default(), sites: map[policy.Origin]policy.Site{}, err: fault.New(fault.LedgerUnavailable, "the disk is full")}
	s, changes := load(t, st)
	if _, err := s.SetSite(t.Context(), "https://a.example", policy.Allow); !errors.Is(err, st.err) {
		t.Error(err)
	}
	if _, err := s.Change(t.Context(), func(v setting.Settings) setting.Settings { v.Navigation = policy.Allow; return v }); !errors.Is(err, st.err) {
		t.Error(err)
	}
	if len(s.Rules().Sites) != 0 || s.Rules().Navigation != policy.Ask || *changes != 0 {
		t.Errorf("in force all the same: %+v", s.Rules())
	}
}
