package server

import (
	"bytes"
	"context"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/server/frames"
	"wirebench/server/socket"
)

// question returns the id of a message and the function that answers it.
func (p *framesPage) question(m *listMessage) (id int, work func(context.Context, *shownList) (key string, answer any, err error)) {
	switch {
	case m.Rows != nil:
		return m.Rows.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			return "rows", rowsAnswer{l.seq, l.Epoch, l.Rows(ctx, m.Rows.RowsQuery)}, ctx.Err()
		}
	case m.Frame != nil:
		return m.Frame.ID, func(_ context.Context, l *shownList) (string, any, error) {
			a, err := l.Frame(m.Frame.N)
			return "frame", a, err
		}
	case m.Packet != nil:
		return m.Packet.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Packet(ctx, m.Packet.PacketQuery)
			return "packet", a, err
		}
	case m.Find != nil:
		return m.Find.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Find(ctx, &m.Find.FindQuery)
			return "found", a, err
		}
	case m.Where != nil:
		return m.Where.ID, func(_ context.Context, l *shownList) (string, any, error) {
			n := m.Where.N
			if id := m.Where.Frame; id != (transport.FrameID{}) {
				if n = int(l.open.Number(id)); n == 0 {
					return "found", frames.Found{Pos: -1}, nil
				}
			}
			a := l.Found(l.Position(n - 1))
			a.Meant = n
			return "found", a, nil
		}
	case m.Step != nil:
		return m.Step.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Step(ctx, &m.Step.StepQuery)
			return "found", a, err
		}
	case m.Types != nil:
		return m.Types.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Types(ctx)
			return "types", a, err
		}
	case m.Map != nil:
		return m.Map.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Map(ctx, m.Map.Buckets)
			return "map", mapAnswer{l.seq, a}, err
		}
	case m.Timeline != nil:
		return m.Timeline.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Timeline(ctx, m.Timeline.TimelineQuery)
			return "timeline", a, err
		}
	case m.Table != nil:
		return m.Table.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Table(ctx, m.Table.TableQuery)
			return "table", a, err
		}
	case m.Problems != nil:
		return m.Problems.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Problems(ctx)
			return "problems", a, err
		}
	case m.Conns != nil:
		return m.Conns.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Conns(ctx, m.Conns.ConnsQuery)
			return "conns", a, err
		}
	case m.Replies != nil:
		return m.Replies.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Replies(ctx)
			return "replies", a, err
		}
	case m.Graph != nil:
		return m.Graph.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Graph(ctx, m.Graph.GraphQuery)
			return "graph", a, err
		}
	case m.Follow != nil:
		return m.Follow.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Follow(ctx, m.Follow.FollowQuery)
			return "follow", a, err
		}
	case m.Diff != nil:
		return m.Diff.ID, func(_ context.Context, l *shownList) (string, any, error) {
			a, err := l.Diff(m.Diff.DiffQuery)
			return "diff", a, err
		}
	}
	return 0, nil
}

// scans reports whether a message is about all frames of the list, not just some.
func (m *listMessage) scans() bool {
	return m.Find != nil || m.Step != nil || m.Types != nil || m.Map != nil || m.Timeline != nil || m.Table != nil ||
		m.Problems != nil || m.Conns != nil || m.Replies != nil || m.Graph != nil || m.Follow != nil
}

// asked is the part common to all queries: the id, which is repeated in the result.
type asked struct {
	ID int `json:"id"`
}

type bucketsAsked struct {
	asked
	Buckets int `json:"buckets"`
}

// whereAsked requests the position of a frame in a list.
type whereAsked struct {
	asked
	N     int               `json:"n,omitempty"`
	Frame transport.FrameID `json:"frame,omitzero"` // identity, instead of the number
}

// rowsAnswer and mapAnswer identify their list.
type rowsAnswer struct {
	Seq   int `json:"seq"`
	Epoch int `json:"epoch"`
	frames.Rows
}

type mapAnswer struct {
	Seq int `json:"seq"`
	*frames.Map
}

// answerText returns {key: answer} with the id of the query.
func answerText(key string, id int, answer any) ([]byte, error) {
	body, err := socket.JSON(answer)
	if err != nil {
		return nil, err
	}
	body = bytes.TrimPrefix(body, []byte("{"))
	text := fmt.Appendf(nil, `{%q:{"id":%d`, key, id)
	if len(body) > 1 {
		text = append(text, ',')
	}
	return append(append(text, body...), '}'), nil
}
