package server

import (
	"context"
)

// question is what a message asks for: its id, and what answers it.
func (p *framesPage) question(m *listMessage) (id int, work func(context.Context, *shownList) (key string, answer any, err error)) {
	switch {
	case m.Rows != nil:
		return m.Rows.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			return "rows", l.Rows(ctx, m.Rows), ctx.Err()
		}
	case m.Frame != nil:
		return m.Frame.ID, func(_ context.Context, l *shownList) (string, any, error) {
			a, err := l.Frame(m.Frame)
			return "frame", a, err
		}
	case m.Packet != nil:
		return m.Packet.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Packet(ctx, m.Packet)
			return "packet", a, err
		}
	case m.Find != nil:
		return m.Find.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Find(ctx, m.Find)
			return "found", a, err
		}
	case m.Where != nil:
		return m.Where.ID, func(_ context.Context, l *shownList) (string, any, error) {
			n := p.set.NumberIn(p.ws.Name, p.id, l.open, m.Where.Cut, m.Where.N)
			a := l.Found(m.Where.ID, l.Position(n-1))
			a.Meant = n
			return "found", a, nil
		}
	case m.Step != nil:
		return m.Step.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Step(ctx, m.Step)
			return "found", a, err
		}
	case m.Types != nil:
		return m.Types.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Types(ctx, m.Types.ID)
			return "types", a, err
		}
	case m.Map != nil:
		return m.Map.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Map(ctx, m.Map)
			return "map", a, err
		}
	case m.Timeline != nil:
		return m.Timeline.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Timeline(ctx, m.Timeline)
			return "timeline", a, err
		}
	case m.Table != nil:
		return m.Table.ID, func(ctx context.Context, l *shownList) (string, any, error) {
			a, err := l.Table(ctx, m.Table)
			return "table", a, err
		}
	case m.Diff != nil:
		return m.Diff.ID, func(_ context.Context, l *shownList) (string, any, error) {
			a, err := l.Diff(m.Diff)
			return "diff", a, err
		}
	}
	return 0, nil
}

// whereAsked asks where a frame is in a list.
type whereAsked struct {
	ID  int    `json:"id"`
	N   int    `json:"n"`
	Cut string `json:"cut"` // of the list that told the number; "": of this one
}
