package workspace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/codec/view"
)

// FrameWriter writes frames as JSON Lines. Each line is the JSON of a FrameInfo, as encoding/json writes it without HTML escapes, but no
// FrameInfo is built. It is for one goroutine.
type FrameWriter struct {
	want    Want
	second  int64 // the second whose text prefix is
	prefix  []byte
	packets []uint32
}

// Listed holds the properties of a frame that a list knows.
type Listed struct {
	ID      transport.FrameID // omitted if zero
	Conn    string
	Session int
	Marked  bool   // written as "marked" after the members of FrameInfo
	Remark  string // note of a user, written as "remark" likewise
}

// NewFrameWriter returns a writer of the wanted parts.
func NewFrameWriter(want Want) *FrameWriter { return &FrameWriter{want: want} }

// Append appends the line of a frame.
func (w *FrameWriter) Append(dst []byte, r *Reading, in Listed) []byte {
	x := r.frame
	dst = append(dst, `{"n":`...)
	dst = value.AppendUint(dst, uint64(x.N))
	if in.ID != (transport.FrameID{}) {
		dst = append(dst, `,"id":"`...)
		dst, _ = in.ID.AppendText(dst) // never fails
		dst = append(dst, '"')
	}
	if !x.At.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = w.appendTime(dst, x.At)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"conn":`...)
	dst = appendString(dst, in.Conn)
	if in.Session != 0 {
		dst = append(dst, `,"session":`...)
		dst = strconv.AppendInt(dst, int64(in.Session), 10)
	}
	dst = append(dst, `,"dir":"`...)
	dst = append(dst, x.Dir.String()...)
	dst = append(dst, `","kind":"`...)
	dst = append(dst, x.Kind.String()...)
	dst = append(dst, `","from":[`...)
	w.packets = appendPackets(w.packets[:0], x.From)
	for i, p := range w.packets {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value.AppendUint(dst, uint64(p))
	}
	dst = append(dst, ']')
	dst = appendStrings(dst, `,"via":[`, x.Via)
	if x.HasKey {
		dst = append(dst, `,"code":`...)
		dst = strconv.AppendUint(dst, uint64(x.Key.Code), 10)
	}
	m := r.Message()
	rec := r.Record()
	switch {
	case m == nil:
		if x.Name != "" {
			dst = append(dst, `,"name":`...)
			dst = appendString(dst, x.Name)
		}
		if x.Kind == transport.Message {
			dst = append(dst, `,"status":"unknown"`...)
		}
	case rec != nil:
		if m.Name != "" {
			dst = append(dst, `,"message":`...)
			dst = appendString(dst, m.Name)
		}
		if m.Version != 0 {
			dst = append(dst, `,"version":`...)
			dst = strconv.AppendInt(dst, int64(m.Version), 10)
		}
		dst = append(dst, `,"status":"`...)
		dst = append(dst, rec.Status().String()...)
		dst = append(dst, '"')
		if n := rec.Unexplained(); n > 0 {
			dst = append(dst, `,"leftover":`...)
			dst = strconv.AppendInt(dst, int64(n), 10)
		}
	}
	dst = append(dst, `,"hex":"`...)
	dst = hex.AppendEncode(dst, x.Bytes)
	dst = append(dst, '"')
	rec = r.Shown()
	if rec != nil && w.want.Value {
		dst = append(dst, `,"value":`...)
		dst = value.AppendJSON(dst, rec)
	}
	if rec != nil && w.want.Fields {
		if all := view.Fields(rec); len(all) > 0 {
			dst = append(dst, `,"fields":`...)
			dst = appendAny(dst, all)
		}
	}
	if rec != nil && (w.want.Value || w.want.Fields) {
		if all := view.Problems(rec); len(all) > 0 {
			dst = append(dst, `,"problems":`...)
			dst = appendAny(dst, all)
		}
	}
	if x.Kind == transport.Problem && x.Offset >= 0 {
		dst = append(dst, `,"offset":`...)
		dst = strconv.AppendInt(dst, x.Offset, 10)
		if x.Length > 0 {
			dst = append(dst, `,"length":`...)
			dst = strconv.AppendInt(dst, x.Length, 10)
		}
	}
	if x.Resumed {
		dst = append(dst, `,"resumed":true`...)
	}
	dst = appendStrings(dst, `,"flags":[`, x.Marks.Flags())
	if x.Note != "" {
		dst = append(dst, `,"note":`...)
		dst = appendString(dst, x.Note)
	}
	if in.Marked {
		dst = append(dst, `,"marked":true`...)
	}
	if in.Remark != "" {
		dst = append(dst, `,"remark":`...)
		dst = appendString(dst, in.Remark)
	}
	return append(dst, '}', '\n')
}

// AppendTime appends a time in the format of TimeText. The time must be known.
func (w *FrameWriter) AppendTime(dst []byte, at time.Time) []byte { return w.appendTime(dst, at) }

// AppendClock appends the time of day, in microseconds.
func (w *FrameWriter) AppendClock(dst []byte, at time.Time) []byte {
	w.cache(at)
	return value.AppendDigits(append(dst, w.prefix[len("2006-01-02T"):]...), uint64(at.Nanosecond()/1000), 6)
}

// cache keeps the text of the last second.
func (w *FrameWriter) cache(at time.Time) {
	if second := at.Unix(); second != w.second || len(w.prefix) == 0 {
		w.second, w.prefix = second, at.UTC().AppendFormat(w.prefix[:0], "2006-01-02T15:04:05.")
	}
}

func (w *FrameWriter) appendTime(dst []byte, at time.Time) []byte {
	w.cache(at)
	dst = append(dst, w.prefix...)
	ns, digits := at.Nanosecond(), 9
	if ns%1000 == 0 {
		ns, digits = ns/1000, 6
	}
	dst = value.AppendDigits(dst, uint64(ns), digits)
	return append(dst, 'Z')
}

// appendStrings appends a list of strings after name, or nothing if the list is empty.
func appendStrings(dst []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	for i, s := range list {
		if i == 0 {
			dst = append(dst, name...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// appendString appends a string as JSON.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return appendAny(dst, s)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// appendAny appends a rare value by means of encoding/json.
func appendAny(dst []byte, v any) []byte {
	out := bytes.NewBuffer(dst)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return append(dst, "null"...)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
