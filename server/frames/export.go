package frames

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// exporter writes frames in a format. Its errors are about the capture or the client. One that is an io.Closer is closed, also after an error.
type exporter interface {
	frame(n int, e live.Entry, f *transport.Frame) error
	end() error
}

// ExportFormats are the formats, with the media types of their files.
var ExportFormats = map[string]struct {
	kind string
	make func(x *Export) (exporter, error)
}{
	"pcapng":  {"application/x-pcapng", newPackets},
	"packets": {"application/x-pcapng", newOriginals},
	"jsonl":   {"application/jsonl", newJSONLines},
	"csv":     {"text/csv; charset=utf-8", newTable},
	"tsv":     {"text/tab-separated-values; charset=utf-8", newTable},
	"hex":     {"text/plain; charset=utf-8", newHexLines},
	"parquet": {"application/zip", newParquet},
}

// ContentType returns the media type of a format.
func ContentType(format string) string { return ExportFormats[format].kind }

// Export describes an export: the capture, the selected frames and the format.
type Export struct {
	Capture  store.Capture // with the notes numbered as in the log
	Snapshot *workspace.Snapshot
	Log      *live.Log
	View     *View                         // the matching frames
	File     func() (io.ReadCloser, error) // opens the file of the capture
	Chosen   Ranges                        // selected numbers; nil selects all
	Frames   int                           // number of frames in the capture when the export began
	More     bool                          // the capture may grow
	Filter   string                        // filter text of View
	Format   string                        // a key of ExportFormats
	Columns  []string                      // fields with a column of their own
	Listed   []string                      // csv, tsv: exactly these columns, as a list shows them; see IsListedColumn
	Values   bool                          // csv, tsv: a last column with all values, as JSON
	Secrets  bool                          // values marked @secret are kept
	Comments bool                          // pcapng: the data that reads back is in comments, for programs that drop other options

	ctx   context.Context // context of Write
	out   *bufio.Writer
	notes *listNotes
	hider *hider // nil if nothing is to be hidden
}

// Write writes the selected frames in the format.
func (x *Export) Write(ctx context.Context, w io.Writer) error {
	if err := x.Prepare(ctx); err != nil {
		return err
	}
	if x.hider != nil {
		w = &checked{to: w, values: x.hider.values}
	}
	x.ctx, x.out = ctx, bufio.NewWriterSize(w, 64<<10)
	x.notes = newListNotes(x.Capture.Notes)
	to, err := ExportFormats[x.Format].make(x)
	if err != nil {
		return err
	}
	if c, ok := to.(io.Closer); ok {
		defer c.Close()
	}
	err = x.each(ctx, func(n int, e live.Entry, f *transport.Frame) error {
		if x.hider != nil {
			x.hider.hide(f)
		}
		return to.frame(n, e, f)
	})
	if err == nil {
		err = to.end()
	}
	if err == nil {
		err = x.out.Flush()
	}
	return err
}

// each calls yield with the selected frames and their numbers.
func (x *Export) each(ctx context.Context, yield func(n int, e live.Entry, f *transport.Frame) error) error {
	var frame transport.Frame
	chosen := x.Chosen
	var failed error
	err := x.View.Each(ctx, 0, false, func(_, index int, e live.Entry, data []byte) bool {
		n := index + 1
		if n > x.Frames {
			return false
		}
		for x.Chosen != nil && len(chosen) > 0 && chosen[0].To < n {
			chosen = chosen[1:]
		}
		switch {
		case x.Chosen == nil:
		case len(chosen) == 0:
			return false
		case n < chosen[0].From:
			return true
		}
		x.Log.Frame(index, e, data, &frame)
		failed = yield(n, e, &frame)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// Hides reports whether secret values are replaced.
func (x *Export) Hides() bool { return !x.Secrets && x.Snapshot.HasSecrets() }

// all reports whether all frames are selected.
func (x *Export) all() bool { return x.Chosen == nil && strings.TrimSpace(x.Filter) == "" }

// Ranges are ranges of numbers, both ends included. They ascend and do not touch.
type Ranges []struct{ From, To int }

// MaxRanges is the maximum number of ranges of an export.
const MaxRanges = 10_000

// ParseRanges parses a text such as 1,2,5-9,17:0:0: numbers, ranges of numbers, and identities. number returns the number of an identity, 0
// if there is no such frame. An empty text gives nil, which selects all.
func ParseRanges(text string, number func(transport.FrameID) uint64) (Ranges, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	all := Ranges{}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(strings.TrimSpace(first), 10, 32)
		if id, e := transport.ParseFrameID(first); e == nil && !isRange {
			if from, err = number(id), nil; from == 0 {
				continue
			}
		}
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(strings.TrimSpace(last), 10, 32)
		}
		if err != nil || from == 0 || to < from {
			return nil, fmt.Errorf("%.40q is neither a number nor a range such as 5-9 nor an identity such as 17:0:0", part)
		}
		if len(all) == MaxRanges {
			return nil, fmt.Errorf("more than %d numbers and ranges", MaxRanges)
		}
		all = append(all, struct{ From, To int }{int(from), int(to)})
	}
	slices.SortFunc(all, func(a, b struct{ From, To int }) int { return a.From - b.From })
	out := all[:0]
	for _, r := range all {
		if last := len(out) - 1; last >= 0 && r.From <= out[last].To+1 {
			out[last].To = max(out[last].To, r.To)
		} else {
			out = append(out, r)
		}
	}
	return out, nil
}
