package parquet

import (
	"fmt"
	"io"
	"strconv"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Frame is what a row says of a frame besides the values of its message.
type Frame struct {
	Capture string
	Conn    string
	Dir     schema.Dir
	At      time.Time // zero if it is not known
	N       uint64
	Code    uint32
	HasCode bool
	Length  uint32 // bytes of the frame
	Resumed bool   // the first frame found after a problem
}

// RowOf returns what a frame says of itself.
func RowOf(f *transport.Frame) Frame {
	return Frame{Dir: f.Dir, At: f.At, N: uint64(f.N), Code: f.Key.Code, HasCode: f.HasKey, Length: uint32(len(f.Bytes)), Resumed: f.Resumed}
}

// frameNames are the columns that each file has before those of fields.
var frameNames = []string{"_capture", "_conn", "_dir", "_time", "_n", "_code", "_length", "_status", "_resumed"}

// frameNodes are the types of these columns.
var frameNodes = []pq.Node{
	dictionary(pq.String()), dictionary(pq.String()), pq.Optional(dictionary(pq.String())),
	pq.Encoded(pq.Optional(pq.Timestamp(pq.Nanosecond)), &pq.DeltaBinaryPacked), pq.Encoded(pq.Uint(64), &pq.DeltaBinaryPacked),
	pq.Optional(dictionary(pq.Uint(32))), pq.Uint(32), dictionary(pq.String()), pq.Leaf(pq.BooleanType),
}

// fillFrames sets w.out to the values of one of these columns in the frames [from, to).
func (w *Writer) fillFrames(column int, frames []Frame, status []codec.Status, from, to int) {
	w.out = w.out[:0]
	last, text := "", pq.ByteArrayValue(nil).Level(0, 0, column) // of the frame before
	for row := from; row < to; row++ {
		f := &frames[row]
		v, def := pq.Value{}, 0
		switch column {
		case 0, 1:
			s := f.Capture
			if column == 1 {
				s = f.Conn
			}
			if s != last {
				last, text = s, pq.ByteArrayValue([]byte(s)).Level(0, 0, column)
			}
			w.out = append(w.out, text)
			continue
		case 2:
			if f.Dir != schema.Both {
				v, def = dirs[f.Dir], 1
			}
		case 3:
			if year := f.At.Year(); year > 1677 && year < 2262 { // that 64 bits of nanoseconds can say, and not the zero time
				v, def = pq.Int64Value(f.At.UnixNano()), 1
			}
		case 4:
			v = pq.Int64Value(int64(f.N))
		case 5:
			if f.HasCode {
				v, def = pq.Int32Value(int32(f.Code)), 1
			}
		case 6:
			v = pq.Int32Value(int32(f.Length))
		case 7:
			v = statuses[status[row]]
		case 8:
			v = pq.BooleanValue(f.Resumed)
		}
		w.out = append(w.out, v.Level(0, def, column))
	}
}

var dirs, statuses = [...]pq.Value{
	schema.ToServer: pq.ByteArrayValue([]byte(schema.ToServer.String())), schema.ToClient: pq.ByteArrayValue([]byte(schema.ToClient.String())),
}, [...]pq.Value{
	codec.OK: pq.ByteArrayValue([]byte(codec.OK.String())), codec.Incomplete: pq.ByteArrayValue([]byte(codec.Incomplete.String())),
	codec.Illegal: pq.ByteArrayValue([]byte(codec.Illegal.String())),
}

// Writer writes a file. A row group has the rows of one call of Write.
type Writer struct {
	s   *Schema
	w   *pq.GenericWriter[any]
	out []pq.Value
	buf []byte
}

// NewWriter begins a file. info are texts about it, which are a part of it.
func NewWriter(w io.Writer, s *Schema, info map[string]string) *Writer {
	options := []pq.WriterOption{s.whole, pq.Compression(compression), pq.CreatedBy("wirebench", "", ""), pq.DictionaryMaxBytes(maxDictionary)}
	for k, v := range info {
		options = append(options, pq.KeyValueMetadata(k, v))
	}
	return &Writer{s: s, w: pq.NewGenericWriter[any](w, options...)}
}

// compression is what all readers of Parquet have, and the smallest of that.
var compression = &zstd.Codec{Level: zstd.SpeedFastest}

// maxDictionary is the size of a dictionary in bytes up to which values are numbers of its entries.
const maxDictionary = 1 << 18

// Bounds of what is in memory twice, in the Set and as values of Parquet. One message may have more.
const (
	atOnce   = 1 << 10 // rows
	maxOut   = 1 << 16 // values
	maxArena = 1 << 20 // bytes of texts
)

// Write writes messages, which the Set has read with SelectWhole, and their frames.
func (w *Writer) Write(set *columns.Set, frames []Frame) error {
	if set.Program != w.s.Program || set.N != len(frames) {
		return fmt.Errorf("%d messages of %s, but %d frames of %s", set.N, set.Program.Message.Name, len(frames), w.s.Program.Message.Name)
	}
	group := w.w.BeginRowGroup()
	for k, column := range group.ColumnWriters() {
		for from := 0; from < set.N; {
			if k < len(frameNames) {
				to := min(from+atOnce, set.N)
				w.fillFrames(k, frames, set.Status, from, to)
				from = to
			} else {
				from = w.values(set, k, from)
			}
			if _, err := column.WriteRowValues(w.out); err != nil {
				return err
			}
		}
	}
	_, err := group.Commit()
	return err
}

// values sets w.out to the values of a column in the messages from one on, and returns the first message after them.
func (w *Writer) values(set *columns.Set, column, from int) (to int) {
	l := w.s.leaves[column-len(frameNames)]
	s := filler{leaf: l, set: set, column: column, out: w.out[:0], arena: w.buf[:0]}
	for _, n := range l.path {
		s.last += n.levels()
	}
	most := min(from+atOnce, set.N)
	for to = from; to < most && len(s.out) < maxOut && len(s.arena) < maxArena; to++ {
		s.descend(0, to, 0, 0, 0)
	}
	w.out, w.buf = s.out, s.arena
	return to
}

// levels returns the definition levels of a node.
func (n *node) levels() (levels int) {
	if n.optional() {
		levels++
	}
	if n.kind == listNode {
		levels++
	}
	return levels
}

// descend appends the values of a row of the table in which the node path[at] is. rep is the repetition level of the first of them, depth the
// number of lists around, and def the definition level of what is around the node.
func (s *filler) descend(at, row, rep, depth, def int) {
	for ; ; at++ {
		switch n := s.path[at]; n.kind {
		case leafNode:
			s.add(row, rep, def)
			return
		case groupNode:
			if n.pick == codec.NoField {
				continue
			}
			if !s.set.Has(n.pick, row) || n.bodies != nil && !n.filled(s.set.Picks(n.pick)[row]) {
				s.out = append(s.out, pq.Value{}.Level(rep, def, s.column))
				return
			}
			def++
		case listNode:
			if !s.set.Has(n.list, row) {
				s.out = append(s.out, pq.Value{}.Level(rep, def, s.column))
				return
			}
			def++
			first := s.set.First(n.list)
			if first[row] == first[row+1] {
				s.out = append(s.out, pq.Value{}.Level(rep, def, s.column))
				return
			}
			depth++
			for e := first[row]; e < first[row+1]; e++ {
				s.descend(at+1, int(e), rep, depth, def+1)
				rep = depth
			}
			return
		}
	}
}

// filled reports whether an alternative has contents.
func (n *node) filled(pick uint64) bool { return pick < uint64(len(n.bodies)) && n.bodies[pick] }

// Close ends the file.
func (w *Writer) Close() error { return w.w.Close() }

// appendShown appends the name of a number, or the number if it has none.
func appendShown(dst []byte, num *schema.Number, raw uint64) []byte {
	if num.Enum != nil && num.Enum.Shown {
		if name, _ := num.ShownName(raw); name != "" {
			return append(dst, name...)
		}
	}
	if num.Add == 0 && num.Kind == schema.Unsigned {
		return strconv.AppendUint(dst, raw, 10)
	}
	return num.AppendDecimal(dst, raw)
}
