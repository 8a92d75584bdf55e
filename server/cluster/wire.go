package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"wirebench/server/store"
)

// A message of the log is a head and a part of a text; the text of consecutive messages, part 0 to the last, is that of changes. No changes are the
// beginning of a node that leads.
const (
	wireVersion = 1
	mostParts   = 1 << 16
	mostChanges = 1 << 20
	mostText    = 256 << 20 // bytes of the changes of one message, or of its parts
)

var errWire = errors.New("a message of the log is not one that this version of Wirebench understands: all nodes must have the same version")

// head begins a message.
type head struct {
	epoch       uint64 // of the node that led
	part, parts uint64
}

// appendHead appends a head.
func appendHead(b []byte, h head) []byte {
	b = append(b, wireVersion)
	b = binary.AppendUvarint(b, h.epoch)
	b = binary.AppendUvarint(b, h.part)
	return binary.AppendUvarint(b, h.parts)
}

// cutHead returns the head of a message, and the rest.
func cutHead(b []byte) (h head, rest []byte, err error) {
	if len(b) == 0 || b[0] != wireVersion {
		return h, nil, errWire
	}
	r := reader{b: b[1:]}
	h = head{r.uvarint(), r.uvarint(), r.uvarint()}
	if r.bad || h.parts > mostParts || h.part >= h.parts {
		return h, nil, errWire
	}
	return h, r.b, nil
}

// appendChange appends a change.
func appendChange(b []byte, c *store.Change) []byte {
	secret := byte(0)
	if c.Secret {
		secret = 1
	}
	b = append(b, byte(c.Kind), secret)
	b = binary.AppendUvarint(b, uint64(len(c.Name)))
	b = append(b, c.Name...)
	b = binary.AppendUvarint(b, uint64(len(c.To)))
	b = append(b, c.To...)
	b = binary.AppendUvarint(b, uint64(c.At))
	b = binary.AppendUvarint(b, uint64(len(c.Data)))
	return append(b, c.Data...)
}

// changesOf returns the changes of a text. They use its memory.
func changesOf(text []byte) (out []store.Change, err error) {
	r := reader{b: text}
	for len(r.b) > 0 && len(out) < mostChanges {
		c := store.Change{Kind: store.ChangeKind(r.byte()), Secret: r.byte() == 1}
		c.Name, c.To, c.At, c.Data = string(r.bytes()), string(r.bytes()), int64(r.uvarint()), r.bytes()
		if r.bad || c.At < 0 {
			return nil, errWire
		}
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%w (%w)", errWire, err)
		}
		out = append(out, c)
	}
	if len(r.b) > 0 {
		return nil, errWire
	}
	return out, nil
}

// reader reads what the append functions wrote.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}
