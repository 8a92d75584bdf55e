package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/store"
)

// Bounds of an export.
const (
	exportWait  = 10 * time.Minute // for a capture to be read
	exportStall = time.Minute      // without progress of the client
)

type exportInput struct {
	CapturePath
	Format   string   `query:"format" required:"true" enum:"pcapng,packets,jsonl,csv,tsv,hex,parquet" doc:"pcapng: reads back as the same frames, with marks and notes; a whole capture file keeps its packets, selected frames and other files get made-up headers; packets: a pcapng with the original packets of the selected frames, which alone may not read back as the same frames; jsonl: as the command line's frames --json --value; csv, tsv: a line per frame, with n, time, conn, dir, kind, code, message, status, len, hex, the chosen columns, and at the end flags, via, note, marked, remark as in jsonl; hex: a line per message; parquet: an archive of tables, one for each message and version, of the frames that have a definition"`
	Filter   string   `query:"filter" maxLength:"8192" doc:"only frames that match this filter"`
	Frames   string   `query:"frames" maxLength:"65536" doc:"only these frames, by number or identity: 1,2,5-9,17:0:0"`
	Columns  []string `query:"columns" maxItems:"100" doc:"csv, tsv: fields with a column of their own: C_CHAT.2.message, C_CHAT.message, .message"`
	Listed   []string `query:"listed" maxItems:"100" doc:"csv, tsv: exactly these columns in this order, as a list of frames shows them: n, time, delta, dir, code, name, ver, len, flags, info, conn, layers, or = and a field as in columns"`
	Values   bool     `query:"values" doc:"csv, tsv: a last column with all values of the message, as JSON"`
	Comments bool     `query:"comments" doc:"pcapng, packets: the data for reading back is part of the comments of packets, as JSON, where programs keep it that drop unknown options"`
	Secrets  bool     `query:"secrets" doc:"values of fields marked @secret in their definition are kept, instead of being replaced; needs the role author"`
	RawRequest
}

// exportCapture writes frames of a capture into a file.
func (s *API) exportCapture(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	ws, of, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	if _, mistakes := ws.Filter(in.Filter); len(mistakes) > 0 {
		return nil, filterProblem(mistakes)
	}
	if _, err := frames.ParseRanges(in.Frames, func(transport.FrameID) uint64 { return 0 }); err != nil {
		return nil, huma.Error422UnprocessableEntity("frames: " + err.Error())
	}
	for _, id := range in.Listed {
		if !frames.IsListedColumn(id) {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("listed: there is no column %.40q", id))
		}
	}
	if why := access.From(ctx).Refusal("secret values", ws.Name); in.Secrets && why != "" {
		return nil, huma.Error403Forbidden("an export with secret values " + why)
	}
	control := http.NewResponseController(in.writer)
	_ = control.SetWriteDeadline(time.Now().Add(exportWait + exportStall))
	open, err := s.Captures.Use(ws.Workspace, ws.Snapshot, of)
	if err != nil {
		return nil, captureProblem(err)
	}
	x := &frames.Export{Capture: of, Snapshot: ws.Snapshot, Log: open.Log(), Filter: in.Filter, Format: in.Format, Columns: in.Columns, Listed: in.Listed, Values: in.Values, Comments: in.Comments, Secrets: in.Secrets}
	x.File = func() (io.ReadCloser, error) {
		file, err := ws.Captures.Open(of.ID)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{captures.Until(ctx, file), file}, nil
	}
	note, err := exportReady(ctx, x, open)
	if err == nil {
		x.Chosen, err = frames.ParseRanges(in.Frames, open.Number)
	}
	if err == nil && in.Format == "packets" {
		err = mustHavePackets(x)
	}
	if err == nil {
		if err = x.Prepare(ctx); errors.Is(err, frames.ErrManySecrets) {
			err = huma.Error422UnprocessableEntity(err.Error())
		}
	}
	if err != nil {
		s.Captures.LetGo(open)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer s.Captures.LetGo(open)
		c.SetHeader("Content-Type", frames.ContentType(in.Format))
		c.SetHeader("Content-Disposition", attachment(strings.TrimSuffix(of.Name, path.Ext(of.Name))+"."+exportExtension(in.Format)))
		c.SetHeader("Cache-Control", "no-store")
		if note != "" {
			c.SetHeader("X-Wirebench-Note", note)
		}
		if err := x.Write(ctx, &steadyWriter{c.BodyWriter(), control, ctx}); err != nil && ctx.Err() == nil {
			s.Log.Warn("export", "capture", in.ID, "format", in.Format, "error", err)
			panic(http.ErrAbortHandler) // so that the client does not take a partial file for a complete one
		}
	}}, nil
}

// exportExtension returns the end of the name of a file in a format.
func exportExtension(format string) string {
	switch format {
	case "packets":
		return "pcapng"
	case "parquet":
		return "parquet.zip"
	}
	return format
}

// exportReady waits until the capture is read, or a growing one up to its current end, and the frames are selected. The note says why frames
// of the file are missing.
func exportReady(ctx context.Context, x *frames.Export, open *captures.Capture) (note string, err error) {
	open.Await(ctx, 0, time.After(exportWait))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !open.Running() && !open.CaughtUp():
		return "", huma.Error503ServiceUnavailable("the capture is still being read: try again")
	}
	x.More = !open.Complete()
	x.Frames = open.Log().Len()
	switch {
	case x.More && open.Log().Base() > 0:
		note = fmt.Sprintf("the capture is still growing: frames %d to %d; earlier frames are no longer in memory", open.Log().Base()+1, x.Frames)
	case x.More:
		note = fmt.Sprintf("the capture is still growing: its first %d frames", x.Frames)
	case errors.Is(open.Err(), context.Canceled):
		return "", huma.Error503ServiceUnavailable("the capture was closed meanwhile: try again")
	case errors.Is(open.Err(), store.ErrAway) && x.Frames == 0:
		return "", captureProblem(open.Err())
	case open.Err() != nil && x.Frames == 0:
		return "", huma.Error422UnprocessableEntity(open.Err().Error())
	default:
		note = open.PartNote()
	}
	if err := admitted(ctx, admit.Find, x.Frames, admit.PerListed); err != nil {
		return "", err
	}
	x.Capture.Notes = open.Numbered(x.Capture.Notes)
	x.View = open.View(x.Snapshot, frames.ViewSpec{Filter: x.Filter}, x.Capture.Notes)
	for !x.View.Advance(ctx, time.Second) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?' // a header is one line of ASCII
		}
		return r
	}, note), nil
}

// mustHavePackets returns an error if a capture has no packets.
func mustHavePackets(x *frames.Export) error {
	ok, err := x.HasPackets()
	switch {
	case err != nil:
		return captureProblem(err)
	case x.Hides():
		return huma.Error422UnprocessableEntity("the packets may contain values of fields marked @secret; use format pcapng, or secrets=true, which needs the role author")
	case !ok:
		return huma.Error422UnprocessableEntity("the capture has no packets; use format pcapng, which makes them up")
	}
	return nil
}

// steadyWriter writes to a client, with a time limit on each write.
type steadyWriter struct {
	io.Writer
	control *http.ResponseController
	ctx     context.Context
}

func (w *steadyWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(exportStall)) // writers without deadlines, as in tests, need none
	return w.Writer.Write(p)
}

// attachment returns the Content-Disposition of a file to be saved under a name.
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
