// Package setting is what the person can choose.
//
// It promises a complete, valid value at any time: what is missing or unknown
// in storage is the default. It does not store anything.
package setting

import "chaperone/backend/policy"

// Settings is every choice, as a value.
type Settings struct {
	// AgentControl is whether agents may act at all. Default true.
	AgentControl bool `json:"agentControl" jsonschema:"whether agents may act at all"`
	// Navigation is what happens to a destination without a site rule. Default ask.
	Navigation policy.Access `json:"navigation" jsonschema:"what happens when an agent wants to open a site without a rule of its own"`
}

// Default returns the settings of a new installation.
func Default() Settings { return Settings{AgentControl: true, Navigation: policy.Ask} }

// Sane returns s with every unknown value replaced by its default.
func (s Settings) Sane() Settings {
	switch s.Navigation {
	case policy.Allow, policy.Ask, policy.Block:
	default:
		s.Navigation = policy.Ask
	}
	return s
}
