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

// rounds does each of the two n times in turn, the first of a round in turn
// too. The first round warms both up and does not count.
func rounds(n int, first, second func() (time.Duration, error)) (a, b sample, err error) {
	for i := range n + 1 {
		both := []struct {
			to *sample
			do func() (time.Duration, error)
		}{{&a, first}, {&b, second}}
		if i%2 == 1 {
			slices.Reverse(both)
		}
		for _, one := range both {
			took, err := one.do()
			if err != nil {
				return nil, nil, err
			}
			if i > 0 {
				one.to.add(took)
			}
		}
	}
	return a, b, nil
}
