package api

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/admit"
	"wirebench/server/captures"
	"wirebench/server/frames"
)

// The operations on frames over HTTP: the same that a page requests over its socket, each on a list of its own.

// FramesPath selects and sorts the frames of a capture.
type FramesPath struct {
	CapturePath
	Filter string `query:"filter" maxLength:"8192" doc:"only frames that match this filter"`
}

// FramesOrder is the order of listed frames.
type FramesOrder struct {
	Sort string `query:"sort" maxLength:"1000" doc:"column: n, time, delta, dir, conn, src, dst, code, name, ver, len, status, flags, info, layers, or = and the path of a field; default: capture order"`
	Desc bool   `query:"desc" doc:"descending"`
}

func (o FramesOrder) spec() *frames.SortSpec {
	if o.Sort == "" {
		return nil
	}
	return &frames.SortSpec{By: o.Sort, Desc: o.Desc}
}

// ask makes a list of the frames of a capture, as far as it has been read, and calls a function with it.
func (s *API) ask(ctx context.Context, at CapturePath, spec frames.ListSpec, question func(*frames.List, *captures.Capture) error) error {
	ws, x, err := s.captureAt(at)
	if err != nil {
		return err
	}
	for _, text := range []string{spec.Filter, spec.Highlight} {
		if _, mistakes := ws.Filter(text); len(mistakes) > 0 {
			return filterProblem(mistakes)
		}
	}
	open, err := s.Captures.Use(ws.Workspace, ws.Snapshot, x)
	if err != nil {
		return captureProblem(err)
	}
	defer s.Captures.LetGo(open)
	if _, err := open.Wait(ctx); err != nil {
		return err
	}
	each := admit.PerListed
	if spec.Sort != nil {
		each = admit.PerSorted
	}
	if err := admitted(ctx, admit.Find, open.Log().Len(), each); err != nil {
		return err
	}
	notes := open.Numbered(x.Notes)
	list := frames.NewList(open, ws.Snapshot, spec, notes, nil)
	for !list.View.Advance(ctx, judgeTime) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if list, err = list.Ordered(ctx, notes); err == nil {
		err = question(list, open)
	}
	var missing *frames.MissingError
	var status huma.StatusError
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &status):
		return err
	case errors.As(err, &missing):
		return huma.Error404NotFound(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error())
}

type rowsInput struct {
	FramesPath
	FramesOrder
	From      int      `query:"from" minimum:"0" maximum:"2147483647" doc:"position of the first row"`
	Count     int      `query:"count" minimum:"1" maximum:"500" default:"100" doc:"maximum number of rows"`
	Columns   []string `query:"columns" maxItems:"64" doc:"fields shown as columns: C_CHAT.2.message, C_CHAT.message, .message"`
	Highlight string   `query:"highlight" maxLength:"8192" doc:"filter that marks rows as hits"`
}

type rowsOutput struct {
	Body struct {
		Rows  []frames.Row `json:"rows"`
		From  int          `json:"from" doc:"position of the first row"`
		Fit   int          `json:"fit" doc:"rows of the list"`
		Total int          `json:"total" doc:"frames of the capture, so far"`
		Done  bool         `json:"done" doc:"reading has ended"`
		Whole bool         `json:"whole" doc:"the capture has been read to its end, and all its frames are there; otherwise see note"`
		Note  string       `json:"note,omitempty" doc:"why frames of the file are missing"`
	}
}

// listRows lists frames as the page does: sorted, with columns of fields.
func (s *API) listRows(ctx context.Context, in *rowsInput) (*rowsOutput, error) {
	out := &rowsOutput{}
	spec := frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}, Columns: in.Columns, Highlight: in.Highlight, Sort: in.spec()}
	err := s.ask(ctx, in.CapturePath, spec, func(l *frames.List, open *captures.Capture) error {
		rows, b := l.Rows(ctx, frames.RowsQuery{From: in.From, Count: in.Count}), &out.Body
		b.Rows, b.From, b.Fit = rows.Rows, rows.From, l.Fit()
		b.Total, b.Done, b.Note = open.Log().Len(), open.Complete(), open.Note()
		b.Whole = b.Done && open.PartNote() == ""
		if m, costly := l.View.TooCostly(); costly {
			b.Note = strings.TrimPrefix(b.Note+"; "+m.Message, "; ")
		}
		return ctx.Err()
	})
	return out, err
}

type whereOutput struct {
	Body struct {
		frames.Where
		Fit   int    `json:"fit" doc:"frames that match"`
		Total int    `json:"total" doc:"frames of the capture, so far"`
		Whole bool   `json:"whole" doc:"the capture has been read to its end, and all its frames are there; otherwise see note"`
		Note  string `json:"note,omitempty" doc:"why frames of the file are missing"`
	}
}

// whereFrames counts the frames that match a filter, by message and field.
func (s *API) whereFrames(ctx context.Context, in *FramesPath) (*whereOutput, error) {
	out := &whereOutput{}
	spec := frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}
	err := s.ask(ctx, in.CapturePath, spec, func(l *frames.List, open *captures.Capture) error {
		b := &out.Body
		b.Where, b.Fit, b.Total, b.Note = l.Where(ctx), l.Fit(), open.Log().Len(), open.Note()
		b.Whole = open.Complete() && open.PartNote() == ""
		if m, costly := l.View.TooCostly(); costly {
			b.Note = strings.TrimPrefix(b.Note+"; "+m.Message, "; ")
		}
		return ctx.Err()
	})
	return out, err
}

type frameInput struct {
	CapturePath
	N frameName `path:"n" doc:"number of the frame, from 1, or its identity, PACKET:OFFSET:NTH"`
}

type frameOutput struct{ Body *frames.Frame }

// readOneFrame answers with one frame.
func (s *API) readOneFrame(ctx context.Context, in *frameInput) (out *frameOutput, err error) {
	err = s.ask(ctx, in.CapturePath, frames.ListSpec{}, func(l *frames.List, open *captures.Capture) error {
		n, err := in.N.numberIn(open)
		if err != nil {
			return err
		}
		f, err := l.Frame(n)
		out = &frameOutput{f}
		return err
	})
	return out, err
}

type findInput struct {
	FramesPath
	FramesOrder
	Text string `query:"text" required:"true" minLength:"1" maxLength:"8192" doc:"what to find"`
	As   string `query:"as" enum:"filter,text,regex,hex,value" default:"text" doc:"interpretation of text"`
	Fold bool   `query:"fold" doc:"ignore case"`
	From int    `query:"from" minimum:"-1" maximum:"2147483647" default:"-1" doc:"position in the list after which the search begins; it wraps around"`
	Back bool   `query:"back" doc:"search backwards"`
}

type findOutput struct{ Body frames.Found }

// findFrame finds the next matching frame.
func (s *API) findFrame(ctx context.Context, in *findInput) (*findOutput, error) {
	out := &findOutput{}
	spec := frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}, Sort: in.spec()}
	err := s.ask(ctx, in.CapturePath, spec, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Find(ctx, &frames.FindQuery{Text: in.Text, As: in.As, From: in.From, Back: in.Back, Fold: in.Fold})
		if len(out.Body.Mistakes) > 0 {
			var all []string
			for _, m := range out.Body.Mistakes {
				all = append(all, m.Message)
			}
			return huma.Error422UnprocessableEntity("text: " + strings.Join(all, "; "))
		}
		return err
	})
	return out, err
}

type typesOutput struct{ Body *frames.Types }

// countTypes counts frames by their type.
func (s *API) countTypes(ctx context.Context, in *FramesPath) (*typesOutput, error) {
	out := &typesOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Types(ctx)
		return err
	})
	return out, err
}

type timelineInput struct {
	FramesPath
	Buckets int      `query:"buckets" minimum:"1" maximum:"4000" default:"100" doc:"number of time spans"`
	Step    int64    `query:"step" minimum:"0" maximum:"1000000000000" doc:"length of a time span, microseconds; it is lengthened if there were more than 4,000; default: from their number"`
	Lines   []string `query:"line,explode" maxItems:"6" doc:"filters whose frames are counted as well"`
}

type timelineOutput struct{ Body *frames.Timeline }

// timeline counts frames by their time.
func (s *API) timeline(ctx context.Context, in *timelineInput) (*timelineOutput, error) {
	out := &timelineOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Timeline(ctx, frames.TimelineQuery{Buckets: in.Buckets, Step: in.Step, Filters: in.Lines})
		return err
	})
	return out, err
}

type problemsOutput struct{ Body *frames.Problems }

// countProblems counts problems by the type of frame.
func (s *API) countProblems(ctx context.Context, in *FramesPath) (*problemsOutput, error) {
	out := &problemsOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Problems(ctx)
		return err
	})
	return out, err
}

type connectionsInput struct {
	FramesPath
	Ends string `query:"ends" enum:"port,address" doc:"also sum up the ends of the connections: by address and port, or by address"`
}

type connectionsOutput struct{ Body *frames.Conns }

// listConnections sums up the connections.
func (s *API) listConnections(ctx context.Context, in *connectionsInput) (*connectionsOutput, error) {
	out := &connectionsOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Conns(ctx, frames.ConnsQuery{Listed: true, Ends: in.Ends})
		return err
	})
	return out, err
}

type repliesOutput struct{ Body *frames.Replies }

// listReplies measures the times between requests and answers.
func (s *API) listReplies(ctx context.Context, in *FramesPath) (*repliesOutput, error) {
	out := &repliesOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Replies(ctx)
		return err
	})
	return out, err
}

type graphInput struct {
	FramesPath
	Fields []string `query:"field,explode" required:"true" minItems:"1" maxItems:"8" doc:"fields with numbers: C_CHAT.2.message, C_CHAT.message, .message"`
	Points int      `query:"points" minimum:"2" maximum:"4000" default:"1000" doc:"maximum number of points of a field"`
}

type graphOutput struct{ Body *frames.Graph }

// graphFields reads numbers over time.
func (s *API) graphFields(ctx context.Context, in *graphInput) (*graphOutput, error) {
	out := &graphOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Graph(ctx, frames.GraphQuery{Fields: in.Fields, Points: in.Points})
		return err
	})
	return out, err
}

type followInput struct {
	CapturePath
	N    int  `query:"n" required:"true" minimum:"1" doc:"number of a frame of the connection"`
	From int  `query:"from" minimum:"0" doc:"number of a frame: it and later ones; default: from the start"`
	Back bool `query:"back" doc:"the frame and earlier ones, in order"`
}

type followOutput struct{ Body *frames.Follow }

// followConnection returns a part of a conversation.
func (s *API) followConnection(ctx context.Context, in *followInput) (*followOutput, error) {
	out := &followOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Follow(ctx, frames.FollowQuery{N: in.N, From: in.From, Back: in.Back})
		return err
	})
	return out, err
}

type mapInput struct {
	FramesPath
	FramesOrder
	Buckets   int    `query:"buckets" minimum:"1" maximum:"4000" default:"100" doc:"number of parts of the list; a shorter list has one part per row"`
	Highlight string `query:"highlight" maxLength:"8192" doc:"filter that marks rows as hits"`
}

type mapOutput struct{ Body *frames.Map }

// mapFrames summarizes the rows of a list, part by part.
func (s *API) mapFrames(ctx context.Context, in *mapInput) (*mapOutput, error) {
	out := &mapOutput{}
	spec := frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}, Highlight: in.Highlight, Sort: in.spec()}
	err := s.ask(ctx, in.CapturePath, spec, func(l *frames.List, open *captures.Capture) (err error) {
		for done := false; !done && err == nil; {
			if out.Body, err = l.Map(ctx, in.Buckets); err == nil {
				done = out.Body.Done || open.Running() // do not wait for rows added meanwhile
			}
		}
		return err
	})
	return out, err
}

type fieldsInput struct {
	FramesPath
	Type  string `query:"type" required:"true" maxLength:"8192" doc:"filter for the frames of a type, from the types or rows operation"`
	From  int    `query:"from" minimum:"0" maximum:"2147483647" doc:"number of rows to skip"`
	Count int    `query:"count" minimum:"0" maximum:"500" default:"100" doc:"maximum number of rows"`
	Sort  string `query:"sort" maxLength:"1000" doc:"path of a column; default: frame number"`
	Desc  bool   `query:"desc" doc:"descending"`

	Groups []string `query:"groups" maxItems:"32" doc:"for frames without a definition, bytes shown as one value: OFFSET:TYPE, where the type is a number as in filters (u16le, f32be ...), text or utf16 up to a zero, or text:N or utf16:N of N bytes: 4:u16le,8:text:16"`
}

type fieldsOutput struct{ Body *frames.Table }

// tableOfFields describes the frames of a type by their fields.
func (s *API) tableOfFields(ctx context.Context, in *fieldsInput) (*fieldsOutput, error) {
	out := &fieldsOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: in.Filter}}, func(l *frames.List, _ *captures.Capture) (err error) {
		out.Body, err = l.Table(ctx, frames.TableQuery{Type: in.Type, From: in.From, Count: in.Count, Sort: in.Sort, Desc: in.Desc, Groups: in.Groups})
		return err
	})
	return out, err
}

type compareInput struct {
	CapturePath
	A frameName `query:"a" required:"true" doc:"number or identity of a frame"`
	B frameName `query:"b" required:"true" doc:"number or identity of another one"`
}

type compareOutput struct{ Body *frames.Diff }

// compareFrames compares two frames.
func (s *API) compareFrames(ctx context.Context, in *compareInput) (*compareOutput, error) {
	out := &compareOutput{}
	err := s.ask(ctx, in.CapturePath, frames.ListSpec{}, func(l *frames.List, open *captures.Capture) error {
		a, err := in.A.numberIn(open)
		if err != nil {
			return err
		}
		b, err := in.B.numberIn(open)
		if err != nil {
			return err
		}
		out.Body, err = l.Diff(frames.DiffQuery{A: a, B: b})
		return err
	})
	return out, err
}

type differencesInput struct {
	CapturePath
	With      string `query:"with" required:"true" maxLength:"100" doc:"id of the other capture"`
	Type      string `query:"type" required:"true" maxLength:"8192" doc:"filter for the frames to compare, such as a type from the types operation"`
	OtherType string `query:"other_type" maxLength:"8192" doc:"the same for the other capture, if it is another filter"`
}

type differencesOutput struct{ Body *frames.DifferingFrames }

// differencesOf compares the frames of a type in two captures.
func (s *API) differencesOf(ctx context.Context, in *differencesInput) (*differencesOutput, error) {
	of := func(filter string) frames.ListSpec { return frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: filter}} }
	out := &differencesOutput{}
	err := s.ask(ctx, in.CapturePath, of(in.Type), func(l *frames.List, _ *captures.Capture) error {
		return s.ask(ctx, CapturePath{in.Workspace, in.With}, of(cmp.Or(in.OtherType, in.Type)), func(other *frames.List, _ *captures.Capture) (err error) {
			out.Body, err = l.Differ(ctx, other)
			return err
		})
	})
	return out, err
}
