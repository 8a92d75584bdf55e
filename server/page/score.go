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
	N     int          `json:"n"` // number of the last message of the page that it takes into account
	Score scores.Score `json:"score"`
}

// Times of the figures of an open page.
const (
	firstScore = 30 * time.Millisecond  // until the first figures are sent
	nextScore  = 150 * time.Millisecond // between two further parts
	scorePause = time.Second            // between two updates, while more messages arrive
)

// scored is a definition whose figures the page wants; nil for none.
type scored struct {
	def *workspace.Definition
	n   int // see ScoreAnswer

	texts int // number of texts that the page has had: it drops the figures of all but the last one
}

// want sets the definition whose figures the page wants.
func (l *livePage) want(def *workspace.Definition) {
	d := scored{def, l.n, l.texts}
	if def != nil && (!l.form.score || def.Message == nil) {
		d.def = nil
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
	var wanted scored
	var run *scores.Run
	var changed <-chan struct{} // the messages of the project
	var forgot <-chan struct{}  // the board was forgotten
	var sent *scores.Score      // of what is wanted
	had := false                // the page shows figures
	pause := time.NewTimer(time.Hour)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next := <-l.scored:
			if changed = nil; next.def != wanted.def || next.texts != wanted.texts {
				sent = nil // otherwise the page has them, as when another frame of a capture is shown
			}
			wanted = next
		case <-changed:
			changed = nil
			pause.Reset(scorePause)
			continue
		case <-forgot: // it is made again when there is something new to judge
			run, changed, forgot = nil, nil, nil
			continue
		case <-pause.C:
		}
		if wanted.def == nil {
			if run = nil; had {
				had = false
				if err := c.Send(ctx, ScoreAnswer{N: wanted.n}); err != nil {
					return err
				}
			}
			continue
		}
		board := l.bench.Scores.Of(l.ws)
		changed, forgot = board.Changed(), board.Done()
		run = board.Run(wanted.def, run)
		for slice, more := firstScore, true; more; slice = nextScore {
			more = run.Advance(ctx, slice)
			if s := run.Score(); sent == nil || !reflect.DeepEqual(s, *sent) {
				sent, had = &s, true
				if err := c.Send(ctx, ScoreAnswer{wanted.n, s}); err != nil {
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
