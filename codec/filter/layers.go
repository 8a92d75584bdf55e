package filter

import (
	"strconv"
	"strings"
)

// The layers around a frame, as in transport.Frame.Via, and its packets. A protocol may describe the layers around its messages: see
// transport.Layers.

// layer moves a leaf of layers or packets to its next value.
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
		v, there, more := l.layer.Value(x.Frame, s.next)
		if !more {
			return false
		}
		s.next++
		if there {
			s.val = intValue(v)
			return true
		}
	}
}

// ends moves a leaf to the address or the port of the next end of the connection.
func (m *machine) ends(s *slot, l *leaf) bool {
	for s.next < 2 {
		end := m.frame.end(s.next == 0)
		if s.next++; end == "" {
			continue
		}
		if l.kind == leafIP {
			return m.say(s, hostOf(end))
		}
		if port, ok := portOf(end); ok {
			s.val = intValue(port)
			return true
		}
	}
	return false
}

// packet returns the number of a packet of the frame, once for several parts in it. It is 0 if it is unknown.
func (x *Frame) packet(i int) (number uint32, ok bool) {
	number = x.From[i].Packet
	return number, number != 0 && (i == 0 || number != x.From[i-1].Packet)
}

// count returns the number of values of via or from.
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

// countFrame compiles the number of values of a frame field that has several.
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

// tag moves to the next tag of the note.
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

// layerPath compiles core.name.
func (c *compiler) layerPath(n *node, info *pathInfo, s *side) (*expr, ty, outcome) {
	if !c.groups[c.layers.Group] {
		return nil, ty{}, c.mistake(n, "there are no "+c.layers.Group+" packets in this protocol", `its messages are not carried in packets with codes; use "via" for the layers around a frame`)
	}
	q := &n.parts[1]
	switch {
	case n.raw:
		return nil, ty{}, c.mistake(n, strconv.Quote(n.String()[1:])+" has no bytes of its own", `"@" must precede a field of a message`)
	case len(q.index) > 0:
		return nil, ty{}, c.mistakeAt(q.index[0].start, q.index[len(q.index)-1].end, strconv.Quote(q.name)+" is a number", "")
	}
	t := ty{class: cNumber, label: n.String()}
	if info.layer.Codes {
		t.codes, t.group = true, c.layers.Group
	}
	return s.leaf(&leaf{kind: leafLayers, layer: info.layer}), t, fine
}

// leaf adds a leaf and returns its expression.
func (s *side) leaf(l *leaf) *expr {
	s.leaves = append(s.leaves, l)
	return &expr{op: xLeaf, leaf: len(s.leaves) - 1}
}
