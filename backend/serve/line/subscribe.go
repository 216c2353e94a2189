package line

import (
	"context"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

const (
	// page is how many rows of the log are read at a time.
	page = 256
	// again is how long a reader of events waits when the log cannot be read.
	again = time.Second
)

// subscribe answers, then writes the events of the line's own agent after the
// answer. It reads the log by cursor, so that it misses nothing and a slow
// caller holds up only itself.
func (l *line) subscribe(work context.Context, r wire.Request) {
	after, filter, err := l.subscription(work, r)
	if err != nil {
		l.answer(r.ID, nil, err, nil)
		return
	}
	l.subscribed = true
	l.answer(r.ID, subscribeResult{After: after}, nil, nil)
	l.readers.Go(func() { l.follow(work, after, filter) })
}

func (l *line) subscription(work context.Context, r wire.Request) (after int64, filter event.Filter, err error) {
	args, err := action.Decode[subscribeArgs](specOf(wire.MethodSubscribe), r.Args)
	if err != nil {
		return 0, filter, err
	}
	if l.subscribed {
		return 0, filter, fault.New(fault.InvalidArguments, "this line is subscribed already").
			WithHint("Subscribe once, with the widest prefix that you need.")
	}
	if !l.known {
		if err := l.connect(work, helloArgs{}); err != nil {
			return 0, filter, err
		}
	}
	if args.After != nil {
		after = max(0, *args.After)
	} else if after, err = l.door.Log.Last(work); err != nil {
		return 0, filter, err
	}
	return after, event.Filter{Prefix: args.Prefix, Agent: l.me.Agent}, nil
}

func (l *line) follow(ctx context.Context, seq int64, filter event.Filter) {
	told := seq // what the bus has said so far: all of it can be read
	for {
		events, err := l.door.Log.After(ctx, seq, page)
		if err != nil && ctx.Err() == nil {
			l.door.Notes.Warn("events could not be read; trying again", "agent", filter.Agent, "cause", err)
			select {
			case <-time.After(again):
				continue
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		for _, e := range events {
			seq = e.Seq
			if !filter.Match(e) {
				continue
			}
			text, err := wire.Marshal(wire.Notice{Event: e})
			if err != nil {
				l.door.Notes.Error("an event could not be written as JSON", "seq", e.Seq, "cause", err)
				continue
			}
			l.writing.Lock()
			l.write(text)
			l.writing.Unlock()
			if ctx.Err() != nil {
				return
			}
		}
		if len(events) < page {
			seq = max(seq, told)
			if told, err = l.door.Bus.Wait(ctx, seq); err != nil {
				return
			}
		}
	}
}
