package workspace

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// FrameInfo is a frame in the output of the command line and the API.
type FrameInfo struct {
	N        uint32             `json:"n" doc:"number in the capture, from 1, in delivery order"`
	ID       string             `json:"id,omitempty" doc:"identity PACKET:OFFSET:NTH, unchanged when frames are renumbered"`
	Time     string             `json:"time,omitempty" doc:"RFC 3339 with 6 fractional digits, or 9 if the capture has nanoseconds; omitted if unknown"`
	Conn     string             `json:"conn" doc:"client-server, each address:port"`
	Session  int                `json:"session,omitempty" doc:"number among successive connections of the same addresses"`
	Dir      string             `json:"dir" enum:"c2s,s2c"`
	Kind     string             `json:"kind" enum:"message,control,opaque,problem,packet"`
	From     []uint32           `json:"from" doc:"numbers of the captured packets that it was assembled from"`
	Via      []string           `json:"via,omitempty" doc:"enclosing packets, the outermost first"`
	Code     *uint32            `json:"code,omitempty"`
	Name     string             `json:"name,omitempty" doc:"name in the log, for a message without a definition"`
	Message  string             `json:"message,omitempty"`
	Version  int                `json:"version,omitempty"`
	Status   string             `json:"status,omitempty" enum:"ok,incomplete,illegal,unknown"`
	Leftover int                `json:"leftover,omitempty" doc:"bytes that no field explains"`
	Hex      string             `json:"hex"`
	Value    json.RawMessage    `json:"value,omitempty"`
	Fields   []view.FieldValue  `json:"fields,omitempty"`
	Problems []view.ProblemInfo `json:"problems,omitempty"`
	Offset   *int64             `json:"offset,omitempty" doc:"position of a problem in the byte stream of its direction"`
	Length   *int64             `json:"length,omitempty" doc:"number of missing bytes of a gap"`
	Resumed  bool               `json:"resumed,omitempty" doc:"first frame after a problem"`
	Flags    []string           `json:"flags,omitempty" enum:"injected,modified,dropped" doc:"changes by a proxy"`
	Note     string             `json:"note,omitempty"`
	LeftOut  string             `json:"left_out,omitempty" doc:"what is not in this answer, because it is large, and where it is"`
}

// Size returns about how many bytes the frame is as JSON.
func (f *FrameInfo) Size() int {
	n := 500 + len(f.Hex) + len(f.Value) + len(f.Note) + 10*len(f.From)
	for i := range f.Fields {
		n += 100 + len(f.Fields[i].Path) + len(f.Fields[i].Value)
	}
	for i := range f.Problems {
		n += 200 + len(f.Problems[i].Message)
	}
	return n
}

// Shorten leaves out the values if they are longer than a number of bytes, and then bytes of the frame so that its size is at most all, and
// says so.
func (f *FrameInfo) Shorten(values, all int) {
	if len(f.Value) > values {
		f.LeftOut = fmt.Sprintf("the value, %d bytes: decode hex to have it", len(f.Value))
		f.Value = nil
	}
	if over := f.Size() - all; over > 0 && len(f.Hex) > 0 {
		f.LeftOut = strings.TrimPrefix(fmt.Sprintf("%s; hex has the first bytes of %d: an export of the capture has all", f.LeftOut, len(f.Hex)/2), "; ")
		f.Hex = f.Hex[:max(len(f.Hex)-over, 0)&^1]
	}
}

// Want selects the parts of a frame to describe.
type Want struct{ Value, Fields bool }

// FrameMessage returns the definition of a frame, with the header that the frame has; nil if it has none.
func (s *Snapshot) FrameMessage(x *transport.Frame) *schema.Message {
	m := s.frameMessage(x)
	if m != nil && s.HasAlternate(x) {
		return s.AlternateFor(m, x.Bytes)
	}
	return m
}

// HasAlternate reports whether a frame has the header of the envelope, or the alternative one of the dialect.
func (s *Snapshot) HasAlternate(x *transport.Frame) bool {
	if s.Envelope != nil {
		return x.In(transport.MarkHeader)
	}
	return s.Dialect.Alternate != nil && x.In(s.Dialect.Alternate.Name)
}

// Alternate returns a message with the header of the envelope, or else with the alternative one of the dialect, the same one at each call; m
// itself if there is none.
func (s *Snapshot) Alternate(m *schema.Message) *schema.Message {
	if s.Envelope != nil {
		return s.Behind(s.Envelope.HeaderOf(m.Key), m)
	}
	return s.otherHeader(m)
}

// Sent returns a message as it is sent: behind the header of the envelope, if there is one.
func (s *Snapshot) Sent(m *schema.Message) *schema.Message {
	if s.Envelope == nil {
		return m
	}
	return s.Alternate(m)
}

// AlternateFor is Alternate for a message whose bytes are known: an envelope may have several forms of headers.
func (s *Snapshot) AlternateFor(m *schema.Message, data []byte) *schema.Message {
	if s.Envelope != nil {
		return s.Behind(s.Envelope.HeaderFor(m.Key, data), m)
	}
	return s.otherHeader(m)
}

// otherHeader returns a message with the alternative header of the dialect; m itself if there is none.
func (s *Snapshot) otherHeader(m *schema.Message) *schema.Message {
	if s.Dialect.Alternate == nil {
		return m
	}
	f := s.set.File(m.Span.File)
	if f == nil {
		return s.Dialect.Alternate.Of(m)
	}
	other, ok := f.Memo.Load(alternateOf{m})
	if !ok {
		other, _ = f.Memo.LoadOrStore(alternateOf{m}, s.Dialect.Alternate.Of(m))
	}
	return other.(*schema.Message)
}

// alternateOf is the key in the memo of a file for a message with the alternative header.
type alternateOf struct{ *schema.Message }

func (s *Snapshot) frameMessage(x *transport.Frame) *schema.Message {
	switch {
	case x.Kind != transport.Message && x.Kind != transport.Control:
		return nil
	case x.HasKey:
		if m := s.set.Lookup(x.Key); m != nil {
			return m
		}
	}
	if x.Name != "" { // a log may have a name that the code map does not have
		if m, err := s.FindIn(x.Name, x.Key.Group, x.Dir); err == nil {
			return m
		}
	}
	return nil
}

// TimeText formats a time as RFC 3339 with 6 fractional digits, or 9 if it has nanoseconds; "" if it is unknown.
func TimeText(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.Nanosecond()%1000 != 0:
		return at.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Describe returns the description of the frame.
func (r *Reading) Describe(want Want, in Listed) FrameInfo {
	x, m, rec := r.frame, r.Message(), r.Record()
	info := FrameInfo{
		N: x.N, Time: TimeText(x.At), Conn: in.Conn, Session: in.Session, Dir: x.Dir.String(), Kind: x.Kind.String(), From: appendPackets([]uint32{}, x.From),
		Via: x.Via, Hex: hex.EncodeToString(x.Bytes), Resumed: x.Resumed, Flags: x.Marks.Flags(), Note: x.Note,
	}
	if in.ID != (transport.FrameID{}) {
		info.ID = in.ID.String()
	}
	if x.HasKey {
		code := x.Key.Code
		info.Code = &code
	}
	if x.Kind == transport.Problem && x.Offset >= 0 {
		offset := x.Offset
		info.Offset = &offset
		if x.Length > 0 {
			length := x.Length
			info.Length = &length
		}
	}
	switch {
	case m == nil:
		if info.Name = x.Name; x.Kind == transport.Message {
			info.Status = "unknown"
		}
		rec = r.Shown()
	case rec != nil:
		info.Message, info.Version, info.Status, info.Leftover = m.Name, m.Version, rec.Status().String(), rec.Unexplained()
	}
	if rec == nil {
		return info
	}
	if want.Value {
		info.Value = value.AppendJSON(nil, rec)
	}
	if want.Fields {
		info.Fields = view.Fields(rec)
	}
	if want.Value || want.Fields {
		if all := view.Problems(rec); len(all) > 0 {
			info.Problems = all
		}
	}
	return info
}

// appendPackets appends the distinct packet numbers of a frame, in order of appearance.
func appendPackets(dst []uint32, from []transport.Source) []uint32 {
	first, highest := len(dst), uint32(0)
	for _, f := range from {
		if f.Packet > highest || len(dst) == first || !slices.Contains(dst[first:], f.Packet) {
			dst = append(dst, f.Packet)
			highest = max(highest, f.Packet)
		}
	}
	return dst
}
