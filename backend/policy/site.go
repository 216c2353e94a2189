package policy

import "time"

// A Site is the person's rule for one origin.
type Site struct {
	Origin Origin `json:"origin" jsonschema:"scheme, host and port"`
	// Access is Allow or Block.
	Access Access    `json:"access" jsonschema:"what happens to it"`
	At     time.Time `json:"at" jsonschema:"when the person decided"`
}
