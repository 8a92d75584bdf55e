package page

import (
	"context"
	"reflect"
	"time"

	"wirebench/server/scores"
	"wirebench/server/socket"
	"wirebench/server/workspace"
)

// ScoreAnswer is a message to an open page that wants them: the figures of the messages that the project owns, for the text of the page. They
// follow the answer to a change of the text, in parts.
type ScoreAnswer struct {
	Score scores.Score `json:"score"`
}

// Times of the figures of an open page.
const (
	firstScore = 30 * time.Millisecond  // until the first figures are sent
	nextScore  = 150 * time.Millisecond // between two further parts
	scorePause = time.Second            // between two updates, while more messages arrive
)

// want sets the definition whose figures the page wants; nil for none.
func (l *livePage) want(d *workspace.Definition) {
	if d != nil && (!l.form.score || d.Message == nil) {
		d = nil
	}
	for {
		select {
		case l.scored <- d:
			return
		default:
		}
		select { // only the last one counts
		case <-l.scored:
		default:
		}
	}
}

// score sends the figures of the definitions that are wanted, until the context is done.
func (l *livePage) score(ctx context.Context, c *socket.Channel) error {
	var def *workspace.Definition
	var run *scores.Run
	var changed <-chan struct{} // the messages of the project
	var sent scores.Score
	pause := time.NewTimer(time.Hour)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case def = <-l.scored:
			changed = nil
		case <-changed:
			changed = nil
			pause.Reset(scorePause)
			continue
		case <-pause.C:
		}
		if def == nil {
			if run = nil; sent.Message != "" {
				sent = scores.Score{}
				if err := c.Send(ctx, ScoreAnswer{sent}); err != nil {
					return err
				}
			}
			continue
		}
		board := l.bench.Scores.Of(l.ws)
		changed = board.Changed()
		run = board.Run(def, run)
		for slice, more := firstScore, true; more; slice = nextScore {
			more = run.Advance(ctx, slice)
			if s := run.Score(); !reflect.DeepEqual(s, sent) {
				sent = s
				if err := c.Send(ctx, ScoreAnswer{s}); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if len(l.scored) > 0 { // the next key
				break
			}
		}
	}
}
