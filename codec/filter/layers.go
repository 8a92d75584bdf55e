package filter

import (
	"strconv"
	"strings"
)

// What a frame was in, as transport.Frame.Via tells it, and which packets it came in. Where a protocol has a core protocol below its
// messages, the layers are packets of that, which have codes and numbers but make no frames.

// layerGroup is the group of the packets that carry others, where a protocol has such.
const layerGroup = "core"

// layerField is what core.name asks of a frame and of all that it was in.
type layerField uint8

const (
	layerNone     layerField = iota
	layerType                // codes
	layerReliable            // numbers of reliable packets
	layerAck                 // the same, and the numbers that acks are for
)

// layerFields are those that can be written, beside the fields of the packets themselves.
var layerFields = map[string]struct {
	field layerField
	doc   string
}{
	"type":        {layerType, "codes of the core packet and of those it was in: 3 reliable, 8 and 9 chunk, 0x0a stream, 0x0e cluster"},
	"reliable_id": {layerReliable, "numbers of the reliable packets that it is, or was in"},
	"ack_id":      {layerAck, "numbers of the reliable packets that it is, or was in, or that it is the ack for"},
}

// The codes of core packets. Source: the spec of the core protocol.
const (
	codeReliable  = 0x03
	codeAck       = 0x04
	codeChunk     = 0x08
	codeChunkTail = 0x09
	codeStream    = 0x0A
	codeCluster   = 0x0E
	numberAt      = 2 // of the number in reliable packets and acks, 4 bytes
)

// layerCodes are the codes of a layer by the name that it has in Via, up to its colon; 0 is none. Chunks end with a packet of its own.
func layerCodes(via string) (codes [2]uint8) {
	name, _, _ := strings.Cut(via, ":")
	switch name {
	case "reliable":
		codes[0] = codeReliable
	case "chunk":
		codes = [2]uint8{codeChunk, codeChunkTail}
	case "stream":
		codes[0] = codeStream
	case "cluster":
		codes[0] = codeCluster
	}
	return codes
}

// coreCode is the code of a frame that is a core packet itself.
func (x *Frame) coreCode() (code uint32, ok bool) {
	return x.Key.Code, x.HasKey && x.Key.Group == layerGroup
}

// coreNumber is the number in a reliable packet or an ack.
func (x *Frame) coreNumber(of uint32) (v value, ok bool) {
	code, ok := x.coreCode()
	if !ok || code != of || len(x.Bytes) < numberAt+4 {
		return v, false
	}
	return intValue(int64(int32(readNumber(x.Bytes[numberAt:numberAt+4], false)))), true
}

// value is one of those that core.name asks for, counted from 0. there is false if there is no such value; more come while ok is true.
func (f layerField) value(x *Frame, i int) (v value, there, ok bool) {
	if i == 0 {
		switch f {
		case layerType:
			code, there := x.coreCode()
			return intValue(int64(code)), there, true
		case layerReliable:
			v, there = x.coreNumber(codeReliable)
			return v, there, true
		}
		if v, there = x.coreNumber(codeReliable); !there {
			v, there = x.coreNumber(codeAck)
		}
		return v, there, true
	}
	i--
	if i/2 >= len(x.Via) {
		return v, false, false
	}
	via := x.Via[i/2]
	if f == layerType {
		code := layerCodes(via)[i%2]
		return intValue(int64(code)), code != 0, true
	}
	number, is := strings.CutPrefix(via, "reliable:")
	if !is || i%2 != 0 {
		return v, false, true
	}
	n, err := strconv.ParseInt(number, 10, 64)
	return intValue(n), err == nil, true
}

// layer moves on to the next value of a leaf that is about what a frame was in, and where.
func (m *machine) layer(s *slot, l *leaf) bool {
	x := m.frame
	switch l.kind {
	case leafVia:
		if s.next >= len(x.Via) {
			return false
		}
		s.next++
		return m.say(s, x.Via[s.next-1])
	case leafFrom:
		for s.next < len(x.From) {
			s.next++
			if packet, ok := x.packet(s.next - 1); ok {
				s.val = intValue(int64(packet))
				return true
			}
		}
		return false
	}
	for {
		v, there, ok := l.layer.value(x, s.next)
		if !ok {
			return false
		}
		s.next++
		if there {
			s.val = v
			return true
		}
	}
}

// packet is the number of a packet that the frame came in, once if several parts of it did. It is 0 where nobody knows.
func (x *Frame) packet(i int) (number uint32, ok bool) {
	number = x.From[i].Packet
	return number, number != 0 && (i == 0 || number != x.From[i-1].Packet)
}

// count is how many values via or from has.
func (f frameField) count(x *Frame) (n int64) {
	if f == ffVia {
		return int64(len(x.Via))
	}
	for i := range x.From {
		if _, ok := x.packet(i); ok {
			n++
		}
	}
	return n
}

// countFrame is the number of values of a field of the frame that has several.
func (c *compiler) countFrame(n *node) (*expr, bool) {
	if n.kind != nPath {
		return nil, false
	}
	info := c.classify(n)
	ok := info.kind == pathFrame && (info.field == ffVia || info.field == ffFrom) && !n.raw && len(n.parts[0].index) == 0
	return &expr{op: xCountFrame, field: info.field}, ok
}

// say makes a text the value of a leaf.
func (m *machine) say(s *slot, text string) bool {
	s.text = append(s.text[:0], text...)
	s.val = textValue(s.text)
	return true
}

// tag moves on to the next word of the note that begins with "#".
func (m *machine) tag(s *slot) bool {
	note := m.frame.note()
	for s.next < len(note) {
		at := strings.IndexByte(note[s.next:], '#')
		if at < 0 {
			break
		}
		from := s.next + at + 1
		end := from
		for end < len(note) && (isNameByte(note[end]) || note[end] == '-') {
			end++
		}
		s.next = end
		inWord := from >= 2 && isNameByte(note[from-2])
		if end > from && !inWord {
			return m.say(s, note[from:end])
		}
	}
	s.next = len(note)
	return false
}

// layerPath makes an expression of core.name.
func (c *compiler) layerPath(n *node, info *pathInfo, s *side) (*expr, ty, outcome) {
	if !c.groups[layerGroup] {
		return nil, ty{}, c.mistake(n, "there are no core packets in this protocol", `its messages travel in no packets with codes; "via" says what a frame was in`)
	}
	q := &n.parts[1]
	switch {
	case n.raw:
		return nil, ty{}, c.mistake(n, strconv.Quote(n.String()[1:])+" has no bytes of its own", `"@" stands before a field of a message`)
	case len(q.index) > 0:
		return nil, ty{}, c.mistakeAt(q.index[0].start, q.index[len(q.index)-1].end, strconv.Quote(q.name)+" is a number", "")
	}
	t := ty{class: cNumber, label: n.String()}
	if info.layer == layerType {
		t.codes, t.group = true, layerGroup
	}
	return s.leaf(&leaf{kind: leafLayers, layer: info.layer}), t, fine
}

// leaf adds a source of values and is it.
func (s *side) leaf(l *leaf) *expr {
	s.leaves = append(s.leaves, l)
	return &expr{op: xLeaf, leaf: len(s.leaves) - 1}
}
