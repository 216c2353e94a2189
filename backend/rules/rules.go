// Package rules keeps what the person has chosen: the settings and the rules
// for single sites.
//
// It promises that a choice is in the ledger before it is in force, and in
// force for the gate as soon as the call returns. Reading never waits for a
// disk. It does not decide anything: package policy does, from what is kept here.
package rules

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
	"chaperone/backend/setting"
)

// Store keeps the choices. Drafts are committed together with the change.
type Store interface {
	Settings(ctx context.Context) (setting.Settings, error)
	SaveSettings(ctx context.Context, s setting.Settings, drafts ...event.Draft) error
	Sites(ctx context.Context) ([]policy.Site, error)
	PutSite(ctx context.Context, s policy.Site, drafts ...event.Draft) error
	RemoveSite(ctx context.Context, o policy.Origin, drafts ...event.Draft) (bool, error)
}

// Service keeps the choices.
type Service struct {
	store   Store
	now     func() time.Time
	changed func(before, after setting.Settings)

	mu   sync.Mutex // serialises changes
	kept atomic.Pointer[kept]
}

type kept struct {
	settings setting.Settings
	sites    map[policy.Origin]policy.Site
	rules    policy.Rules
}

// Load reads the choices. changed is called after each change, in the caller's
// goroutine, with the settings before and after; they are equal when a site changed.
func Load(ctx context.Context, store Store, now func() time.Time, changed func(before, after setting.Settings)) (*Service, error) {
	s := &Service{store: store, now: now, changed: changed}
	settings, err := store.Settings(ctx)
	if err != nil {
		return nil, err
	}
	list, err := store.Sites(ctx)
	if err != nil {
		return nil, err
	}
	sites := make(map[policy.Origin]policy.Site, len(list))
	for _, site := range list {
		sites[site.Origin] = site
	}
	s.keep(settings, sites)
	return s, nil
}

func (s *Service) keep(settings setting.Settings, sites map[policy.Origin]policy.Site) {
	k := &kept{settings: settings.Sane(), sites: sites}
	k.rules = policy.Rules{Navigation: k.settings.Navigation, Sites: make(map[policy.Origin]policy.Access, len(sites))}
	for o, site := range sites {
		k.rules.Sites[o] = site.Access
	}
	s.kept.Store(k)
}

// Rules returns the rules in force, not to be changed.
func (s *Service) Rules() policy.Rules { return s.kept.Load().rules }

// Settings returns the settings in force.
func (s *Service) Settings() setting.Settings { return s.kept.Load().settings }

// Change puts change's result in force.
func (s *Service) Change(ctx context.Context, change func(setting.Settings) setting.Settings) (setting.Settings, error) {
	s.mu.Lock()
	before := s.kept.Load()
	after := change(before.settings).Sane()
	if after == before.settings {
		s.mu.Unlock()
		return after, nil
	}
	err := s.store.SaveSettings(ctx, after, event.Draft{Category: "setting.changed", Data: after})
	if err == nil {
		s.keep(after, before.sites)
	}
	s.mu.Unlock()
	if err != nil {
		return before.settings, err
	}
	s.changed(before.settings, after)
	return after, nil
}

// SetSite puts a rule for one origin in force: Allow or Block.
func (s *Service) SetSite(ctx context.Context, origin policy.Origin, access policy.Access) (policy.Site, error) {
	if origin == "" || access != policy.Allow && access != policy.Block {
		return policy.Site{}, fault.New(fault.InvalidArguments, "a site rule is allow or block for one web origin")
	}
	site := policy.Site{Origin: origin, Access: access, At: s.now()}
	s.mu.Lock()
	before := s.kept.Load()
	err := s.store.PutSite(ctx, site, event.Draft{Category: "site.changed", Subject: string(origin), Data: map[string]any{"access": access}})
	if err == nil {
		sites := maps.Clone(before.sites)
		sites[origin] = site
		s.keep(before.settings, sites)
	}
	s.mu.Unlock()
	if err != nil {
		return policy.Site{}, err
	}
	s.changed(before.settings, before.settings)
	return site, nil
}

// RemoveSite takes the rule for origin back and reports whether there was one.
func (s *Service) RemoveSite(ctx context.Context, origin policy.Origin) (bool, error) {
	s.mu.Lock()
	before := s.kept.Load()
	removed, err := s.store.RemoveSite(ctx, origin, event.Draft{Category: "site.removed", Subject: string(origin)})
	if err == nil && removed {
		sites := maps.Clone(before.sites)
		delete(sites, origin)
		s.keep(before.settings, sites)
	}
	s.mu.Unlock()
	if err != nil {
		return false, err
	}
	if removed {
		s.changed(before.settings, before.settings)
	}
	return removed, nil
}

// Sites returns the site rules by origin.
func (s *Service) Sites() []policy.Site {
	sites := slices.AppendSeq([]policy.Site{}, maps.Values(s.kept.Load().sites)) // not nil: it goes out as a list
	slices.SortFunc(sites, func(a, b policy.Site) int { return strings.Compare(string(a.Origin), string(b.Origin)) })
	return sites
}
