package ledger_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"chaperone/backend/event"
	"chaperone/backend/ledger"
)

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			l, _ := fresh(b, ledger.Options{})
			todo := make(chan int)
			var group sync.WaitGroup
			b.ResetTimer()
			for range writers {
				group.Go(func() {
					for i := range todo {
						if err := l.Append(b.Context(), draft(i)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for i := range b.N {
				todo <- i
			}
			close(todo)
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// Of a log that is full.
func BenchmarkFull(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.sqlite")
	l, _ := open(b, path, ledger.Options{})
	for range 20 {
		check(b, l.Append(b.Context(), slices.Repeat([]event.Draft{draft(1)}, 1000)...))
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			must[event.Verification](b)(l.Verify(b.Context()))
		}
	})
	b.Run("rarest of a filter", func(b *testing.B) {
		for b.Loop() {
			_, _, err := l.Events(b.Context(), event.Query{Filter: event.Filter{Prefix: "nothing"}})
			check(b, err)
		}
	})
	b.Run("newest 100", func(b *testing.B) {
		for b.Loop() {
			_, _, err := l.Events(b.Context(), event.Query{})
			check(b, err)
		}
	})
	check(b, l.Close())
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			l, err := ledger.Open(b.Context(), path, &event.Bus{}, ledger.Options{})
			check(b, err)
			check(b, l.Close())
		}
	})
}
