package main

import (
	"slices"
	"time"
)

// A sample is what one thing took, each time.
type sample []time.Duration

func (s *sample) add(d time.Duration) { *s = append(*s, d) }

// Times sums a sample up, in milliseconds.
type Times struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Count  int     `json:"count"`
}

func (s sample) times() *Times {
	if len(s) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(s))
	median := sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		median = (median + sorted[len(sorted)/2-1]) / 2
	}
	return &Times{ms(sorted[0]), ms(median), len(sorted)}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// timed returns how long do took.
func timed(do func() error) (time.Duration, error) {
	begun := time.Now()
	err := do()
	return time.Since(begun), err
}

// rounds does each of them n times, turn by turn; who begins a round changes.
// The first round warms up and does not count.
func rounds(n int, each ...func() (time.Duration, error)) ([]sample, error) {
	samples := make([]sample, len(each))
	for round := range n + 1 {
		for turn := range each {
			i := (round + turn) % len(each)
			took, err := each[i]()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				samples[i].add(took)
			}
		}
	}
	return samples, nil
}
