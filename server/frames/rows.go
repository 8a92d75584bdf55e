package frames

import (
	"cmp"
	"fmt"
	"regexp"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Row is a frame as a list shows it. Missing values are 0, "" or false.
type Row struct {
	N      int               `json:"n"` // number in the capture, from 1
	ID     transport.FrameID `json:"id,omitzero" doc:"identity PACKET:OFFSET:NTH; missing if the frame is no longer in memory"`
	T      int64             `json:"t"` // microseconds since 1970
	D      int64             `json:"d"` // since the previous row, microseconds
	Dir    string            `json:"dir,omitempty" ts:"'c2s' | 's2c' | ''"`
	Kind   string            `json:"kind"`
	Conn   uint32            `json:"conn"`
	Code   *uint32           `json:"code,omitempty"`
	Name   string            `json:"name,omitempty"`
	Ver    int               `json:"ver,omitempty"` // if the dialect has versions
	Len    int               `json:"len"`
	Status string            `json:"status,omitempty"`
	Info   string            `json:"info,omitempty"`
	Via    []string          `json:"via,omitempty"`
	From   []uint32          `json:"from,omitempty"` // numbers of captured packets
	Type   string            `json:"type"`           // filter for frames of this type
	Note   string            `json:"note,omitempty"` // by the transport
	Flags  string            `json:"flags,omitempty"`
	Hue    int               `json:"hue,omitempty"`
	Hit    bool              `json:"hit,omitempty"`
	Cells  []string          `json:"cells,omitempty"`
}

// maxBrief bounds the text of values in a row, maxFrom the packets that it lists.
const (
	maxBrief = 160
	maxFrom  = 50
)

// RowMaker describes frames as rows. It is for one goroutine.
type RowMaker struct {
	Snap  *workspace.Snapshot
	Rec   *codec.Record // of the last decoded frame; nil if it has no definition
	read  *workspace.Reading
	types map[*schema.Message]string
	names map[codeName]string // of the code map; filled for the first frame without a definition
}

// row describes a frame. The caller adds the time since the previous row, the color and the cells.
func (m *RowMaker) row(i int, e live.Entry, f *transport.Frame) Row {
	r := Row{
		N: i + 1, ID: f.ID, T: e.At / 1000, Dir: f.Dir.String(), Kind: f.Kind.String(), Conn: e.Conn, Len: len(f.Bytes), Via: f.Around(), Note: f.Note,
		Flags: flagText(e.Flags),
	}
	if f.HasKey {
		code := f.Key.Code
		r.Code = &code
	}
	for _, s := range f.From {
		if n := len(r.From); n == 0 || r.From[n-1] != s.Packet {
			if n == maxFrom {
				break
			}
			r.From = append(r.From, s.Packet)
		}
	}
	msg := m.Decode(f)
	r.Type = m.TypeOf(msg, f)
	switch {
	case msg != nil:
		r.Name, r.Status = msg.Name, m.Rec.Status().String()
		if m.Snap.Dialect.Versions {
			r.Ver = msg.Version
		}
	case f.Kind == transport.Message:
		r.Status = "unknown"
		r.Name = cmp.Or(m.nameOf(f), f.Name) // a log may have a name that the code map does not have
	}
	r.Info = string(AppendInfo(nil, f, m.Rec))
	return r
}

// AppendInfo appends a summary of a frame: of a decoded one its first problem and its values, of one without a definition its bytes as
// text, of others the note of the transport. rec is nil if the frame has no definition.
func AppendInfo(dst []byte, f *transport.Frame, rec *codec.Record) []byte {
	start := len(dst)
	switch {
	case rec != nil:
		if rec.Status() != codec.OK {
			dst = appendProblem(dst, rec)
		}
		dst = cutFrom(value.AppendBrief(dst, rec, maxBrief), start, maxBrief+80)
	case f.Kind == transport.Message:
		dst = appendPrintable(dst, f.Bytes[:min(len(f.Bytes), maxBrief)])
	}
	if len(dst) == start {
		dst = append(dst, f.Note...)
	}
	return dst
}

// appendProblem appends the first problem of a record that has any.
func appendProblem(dst []byte, rec *codec.Record) []byte {
	list := rec.Problems
	if len(list) == 0 {
		list = rec.AllProblems()
	}
	if len(list) == 0 {
		return dst
	}
	return append(append(dst, list[0].Message(rec)...), "; "...)
}

// Decode decodes a frame and returns its definition, nil if it has none.
func (m *RowMaker) Decode(f *transport.Frame) *schema.Message {
	if m.Rec = m.reading(f).Record(); m.Rec == nil {
		return nil
	}
	return m.read.Message()
}

// Shown returns the record of the last decoded frame, that of its header if it has no definition; nil if it has neither.
func (m *RowMaker) Shown() *codec.Record { return m.read.Shown() }

// reading returns the reading of a frame, for use by filters too.
func (m *RowMaker) reading(f *transport.Frame) *workspace.Reading {
	if m.read == nil {
		m.read = workspace.NewReading(m.Snap)
	}
	m.read.Take(f)
	return m.read
}

var bareName = regexp.MustCompile(`^[A-Z]_[A-Z0-9_]+$`) // cannot be a reserved word

// TypeOf returns a filter for all frames of the same type.
func (m *RowMaker) TypeOf(msg *schema.Message, f *transport.Frame) string {
	switch {
	case msg != nil:
		if t, ok := m.types[msg]; ok {
			return t
		}
		t := fmt.Sprintf("name == %q", msg.Name)
		if bareName.MatchString(msg.Name) {
			t = msg.Name
		}
		for _, other := range m.Snap.Named(msg.Name) {
			if other.Key.Group != msg.Key.Group {
				t += fmt.Sprintf(" && group == %q", msg.Key.Group)
				break
			}
		}
		for _, other := range m.Snap.Named(msg.Name) {
			if other.Key.Group == msg.Key.Group && other.Key.Dir != msg.Key.Dir {
				t += " && dir == " + f.Dir.String()
				break
			}
		}
		if m.types == nil {
			m.types = map[*schema.Message]string{}
		}
		m.types[msg] = t
		return t
	case f.HasKey:
		t := fmt.Sprintf("op == 0x%04X && dir == %s", f.Key.Code, f.Dir)
		if f.Key.Group != "" {
			t += fmt.Sprintf(" && group == %q", f.Key.Group)
		}
		return t
	case f.Kind == transport.Message:
		return "kind == message && state == unknown && !op"
	}
	return "kind == " + f.Kind.String()
}

// flagText returns the signs for the changes to a frame that proxy logs use.
func flagText(f live.Flags) (s string) {
	if f&live.Injected != 0 {
		s += "*"
	}
	if f&live.Modified != 0 {
		s += "~"
	}
	if f&live.Dropped != 0 {
		s += "X"
	}
	return s
}

// appendPrintable appends bytes as text, with dots for unprintable ones.
func appendPrintable(dst, data []byte) []byte {
	for _, c := range data {
		if c < 0x20 || c > 0x7e {
			c = '.'
		}
		dst = append(dst, c)
	}
	return dst
}

// CutText cuts a text to a number of bytes, at the end of a character.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return string(cutFrom([]byte(s), 0, most))
}

// cutFrom is CutText for the bytes from a position on.
func cutFrom(b []byte, from, most int) []byte {
	if len(b)-from <= most {
		return b
	}
	for most += from; most > from && !utf8.RuneStart(b[most]); {
		most--
	}
	return append(b[:most], "…"...)
}
