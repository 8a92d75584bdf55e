package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
)

// Bounds of an export.
const (
	exportWait  = 10 * time.Minute // until a capture is read
	exportStall = time.Minute      // in which a client has to take something
	maxRanges   = 10_000
)

type exportInput struct {
	CapturePath
	Format  string   `query:"format" required:"true" enum:"pcapng,packets,jsonl,csv,tsv,hex" doc:"pcapng: gives the same frames when it is read again, with marks and notes: of a capture file all packets as they were, of chosen frames and of other files each frame with made-up headers; packets: a pcapng with the packets that the chosen frames came from as they were, of which alone a reader may not find the frames again; jsonl: as the command line's frames --json --value; csv, tsv: a line a frame, with n, time, conn, dir, kind, code, message, status, len, hex, the chosen columns, and at the end flags, via, note, marked, remark as jsonl has them; hex: a line a message"`
	Filter  string   `query:"filter" maxLength:"8192" doc:"only frames that fit this filter"`
	Frames  string   `query:"frames" maxLength:"65536" doc:"only these, by number: 1,2,5-9"`
	Columns []string `query:"columns" maxItems:"100" doc:"csv, tsv: fields with a column of their own: C_CHAT.2.message, C_CHAT.message, .message"`
	RawRequest
}

// exporter writes frames of a capture in a format. An error that it returns is of the capture or of the client.
type exporter interface {
	frame(n int, e live.Entry, f *transport.Frame) error
	end() error
}

// exportFormats are the formats, with the type of their files.
var exportFormats = map[string]struct {
	kind string
	make func(x *captureExport) (exporter, error)
}{
	"pcapng":  {"application/x-pcapng", newPackets},
	"packets": {"application/x-pcapng", newOriginalPackets},
	"jsonl":   {"application/jsonl", newJSONLines},
	"csv":     {"text/csv; charset=utf-8", newTable},
	"tsv":     {"text/tab-separated-values; charset=utf-8", newTable},
	"hex":     {"text/plain; charset=utf-8", newHexLines},
}

// captureExport is one, on its way to a client.
type captureExport struct {
	ctx    context.Context
	ws     *space
	of     store.Capture
	open   *captures.Capture
	view   *frames.View
	chosen ranges // by number; nil: all
	frames int    // that the capture had when it was looked at; it may grow
	more   bool   // it does
	marked map[uint64]bool
	in     *exportInput
	out    *bufio.Writer
}

// exportCapture writes frames of a capture into a file.
func (s *Server) exportCapture(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	x := &captureExport{ctx: ctx, ws: ws, in: in}
	if x.of, err = ws.Captures.Get(in.ID); err != nil {
		return nil, captureProblem(err)
	}
	if _, mistakes := ws.Filter(in.Filter); len(mistakes) > 0 {
		return nil, filterProblem(mistakes)
	}
	if x.chosen, err = parseRanges(in.Frames); err != nil {
		return nil, huma.Error422UnprocessableEntity("frames: " + err.Error())
	}
	x.marked = make(map[uint64]bool, len(x.of.Notes.Marked))
	for _, n := range x.of.Notes.Marked {
		x.marked[n] = true
	}
	control := http.NewResponseController(in.writer)
	_ = control.SetWriteDeadline(time.Now().Add(exportWait + exportStall))
	for held := false; !held; held = s.captures.Hold(x.open) {
		if x.open, err = s.captures.Get(ws.Workspace, ws.Snapshot, x.of); err != nil {
			return nil, captureProblem(err)
		}
	}
	note, err := x.ready()
	if err == nil && in.Format == "packets" {
		err = x.mustHavePackets()
	}
	if err != nil {
		s.captures.LetGo(x.open)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer s.captures.LetGo(x.open)
		format := exportFormats[in.Format]
		c.SetHeader("Content-Type", format.kind)
		c.SetHeader("Content-Disposition", attachment(strings.TrimSuffix(x.of.Name, path.Ext(x.of.Name))+"."+strings.Replace(in.Format, "packets", "pcapng", 1)))
		c.SetHeader("Cache-Control", "no-store")
		if note != "" {
			c.SetHeader("X-Wirebench-Note", note)
		}
		x.out = bufio.NewWriterSize(&steadyWriter{c.BodyWriter(), control, ctx}, 64<<10)
		if err := x.write(format.make); err != nil && ctx.Err() == nil {
			s.Log.Warn("export", "capture", in.ID, "format", in.Format, "error", err)
			panic(http.ErrAbortHandler) // so that what was sent does not pass for the whole file
		}
	}}, nil
}

// ready waits until the capture is read, of one that grows as far as it is there, and the frames are chosen. The note says why they are
// not all frames of the file.
func (x *captureExport) ready() (note string, err error) {
	x.open.Await(x.ctx, 0, time.After(exportWait))
	switch {
	case x.ctx.Err() != nil:
		return "", x.ctx.Err()
	case !x.open.Running() && !x.open.CaughtUp():
		return "", huma.Error503ServiceUnavailable("the capture is still being read: try again")
	}
	x.more = !x.open.Complete()
	x.frames = x.open.Log().Len()
	switch {
	case x.more && x.open.Log().Base() > 0:
		note = fmt.Sprintf("the capture still grows: frames %d to %d of it, those before are not in memory any more", x.open.Log().Base()+1, x.frames)
	case x.more:
		note = fmt.Sprintf("the capture still grows: its first %d frames", x.frames)
	case errors.Is(x.open.Err(), context.Canceled):
		return "", huma.Error503ServiceUnavailable("the capture was closed meanwhile: try again")
	case x.open.Err() != nil && x.frames == 0:
		return "", huma.Error422UnprocessableEntity(x.open.Err().Error())
	default:
		note = x.open.PartNote()
	}
	x.of.Notes = x.open.Numbered(x.of.Notes)
	clear(x.marked)
	for _, n := range x.of.Notes.Marked {
		x.marked[n] = true
	}
	x.view = x.open.View(x.ws.Snapshot, frames.ViewSpec{Filter: x.in.Filter}, x.of.Notes)
	for !x.view.Advance(x.ctx, time.Second) {
		if x.ctx.Err() != nil {
			return "", x.ctx.Err()
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?' // a header is one line of ASCII
		}
		return r
	}, note), nil
}

// write gives the chosen frames to an exporter.
func (x *captureExport) write(make func(*captureExport) (exporter, error)) error {
	to, err := make(x)
	if err != nil {
		return err
	}
	var frame transport.Frame
	chosen := x.chosen
	var failed error
	err = x.view.Each(x.ctx, 0, false, func(_, index int, e live.Entry, data []byte) bool {
		n := index + 1
		if n > x.frames {
			return false
		}
		for x.chosen != nil && len(chosen) > 0 && chosen[0].to < n {
			chosen = chosen[1:]
		}
		switch {
		case x.chosen == nil:
		case len(chosen) == 0:
			return false
		case n < chosen[0].from:
			return true
		}
		frames.ReadFrame(x.open.Log(), e, data, &frame)
		if e.At == noTime {
			frame.At = time.Time{}
		}
		failed = to.frame(n, e, &frame)
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		err = to.end()
	}
	if err == nil {
		err = x.out.Flush()
	}
	return err
}

// all reports whether no frames were chosen.
func (x *captureExport) all() bool { return x.chosen == nil && strings.TrimSpace(x.in.Filter) == "" }

// noTime is the time of an entry whose frame has none.
var noTime = time.Time{}.UnixNano()

// steadyWriter writes to a client that has to go on taking what is written.
type steadyWriter struct {
	io.Writer
	control *http.ResponseController
	ctx     context.Context
}

func (w *steadyWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(exportStall)) // writers that have none, as in tests, need none
	return w.Writer.Write(p)
}

// attachment is the header of a file to be kept under a name.
func attachment(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:"`, r) {
			return '_'
		}
		return r
	}, name)
	if h := mime.FormatMediaType("attachment", map[string]string{"filename": name}); h != "" {
		return h
	}
	return "attachment"
}

// ranges are numbers from one to another, both included; they rise and do not touch.
type ranges []struct{ from, to int }

// parseRanges reads 1,2,5-9. Nothing is nil: all numbers.
func parseRanges(text string) (ranges, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all ranges
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(strings.TrimSpace(first), 10, 32)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(strings.TrimSpace(last), 10, 32)
		}
		if err != nil || from == 0 || to < from {
			return nil, fmt.Errorf("%.40q is neither a number nor a range of numbers, as 5-9", part)
		}
		if len(all) == maxRanges {
			return nil, fmt.Errorf("more than %d numbers and ranges", maxRanges)
		}
		all = append(all, struct{ from, to int }{int(from), int(to)})
	}
	slices.SortFunc(all, func(a, b struct{ from, to int }) int { return a.from - b.from })
	out := all[:1]
	for _, r := range all[1:] {
		if last := &out[len(out)-1]; r.from <= last.to+1 {
			last.to = max(last.to, r.to)
		} else {
			out = append(out, r)
		}
	}
	return out, nil
}
