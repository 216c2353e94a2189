package event

// A Query chooses rows of the log, newest first.
type Query struct {
	Filter
	// Before chooses rows with a smaller sequence; 0 begins with the newest.
	Before int64
	// Limit is how many; at most 1,000, and 100 if it is 0.
	Limit int
}

// A Verification is what a check of the whole log found.
type Verification struct {
	OK bool `json:"ok" jsonschema:"whether every row is as it was written"`
	// Rows is how many rows were proved, First and Last their ends; 0 when there are none.
	Rows  int64 `json:"rows" jsonschema:"how many rows were proved"`
	First int64 `json:"first,omitempty" jsonschema:"the oldest row proved"`
	Last  int64 `json:"last,omitempty" jsonschema:"the newest row proved"`
	// BrokenAt is the first row that is not as it was written, 0 when OK.
	BrokenAt int64 `json:"brokenAt,omitempty" jsonschema:"the first row that is not as it was written"`
	// Why says what is wrong with it, in words for a person.
	Why string `json:"why,omitempty" jsonschema:"what is wrong with it"`
}
