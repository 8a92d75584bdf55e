package tls

import (
	"encoding/binary"
	"slices"
)

// Types of handshake messages (RFC 8446, section 4).
const (
	clientHello         = 1
	serverHello         = 2
	encryptedExtensions = 8
	finished            = 20
	keyUpdate           = 24
)

// Extensions that matter here.
const (
	extEncryptThenMAC = 22
	extEarlyData      = 42
	extVersions       = 43
)

// maxMessage bounds the handshake messages that are kept to be parsed, in bytes.
const maxMessage = 1 << 16

// retryRandom is the random number by which a ServerHello is a HelloRetryRequest (RFC 8446, section 4.1.3).
var retryRandom = random{
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
}

// messages splits the handshake data of one direction into messages: a type, a length of 3 bytes, and a body. Only the bodies that are parsed
// are kept.
type messages struct {
	head   []byte // of an incomplete header
	kind   byte
	body   []byte
	left   int // bytes of the body that are to come
	broken bool
}

// take takes the next data, and calls each for every message that they complete; the body is nil for messages that are not parsed.
func (m *messages) take(data []byte, each func(kind byte, body []byte)) {
	for !m.broken && len(data) > 0 {
		if m.left == 0 {
			n := min(4-len(m.head), len(data))
			m.head, data = append(m.head, data[:n]...), data[n:]
			if len(m.head) < 4 {
				return
			}
			m.kind, m.left = m.head[0], int(binary.BigEndian.Uint32(m.head)&0xffffff)
			m.head, m.body = m.head[:0], nil
		}
		n := min(m.left, len(data))
		if m.parsed() {
			if m.left > maxMessage || len(m.body)+n > maxMessage {
				m.broken, m.body = true, nil
				return
			}
			m.body = append(m.body, data[:n]...)
		}
		m.left, data = m.left-n, data[n:]
		if m.left == 0 {
			body := m.body
			m.body = nil
			each(m.kind, body)
		}
	}
}

// lose reports a gap. From there on messages are not read: their boundaries are unknown.
func (m *messages) lose() { *m = messages{broken: true} }

func (m *messages) parsed() bool {
	return m.kind == clientHello || m.kind == serverHello || m.kind == encryptedExtensions
}

// hello is what matters of a ClientHello or ServerHello.
type hello struct {
	version   uint16 // of a ServerHello: the selected one
	random    random
	suite     uint16 // of a ServerHello
	packed    bool   // of a ServerHello: with compression
	early     bool   // has the extension for early data
	macBehind bool   // has the extension for encrypt-then-MAC
}

// readHello reads the body of a ClientHello or ServerHello.
func readHello(kind byte, body []byte) (h hello, ok bool) {
	in := fields{rest: body}
	h.version = uint16(in.number(2))
	copy(h.random[:], in.take(len(h.random)))
	in.take(in.number(1)) // session ID
	if kind == clientHello {
		in.take(in.number(2)) // cipher suites
		in.take(in.number(1)) // compression methods
	} else {
		h.suite = uint16(in.number(2))
		h.packed = in.number(1) != 0
	}
	if in.wrong || len(in.rest) == 0 { // extensions are optional
		return h, !in.wrong
	}
	h.extensions(kind, &in)
	return h, !in.wrong
}

func (h *hello) extensions(kind byte, in *fields) {
	exts := fields{rest: in.take(in.number(2))}
	for len(exts.rest) > 0 && !exts.wrong {
		id, value := exts.number(2), exts.take(exts.number(2))
		switch {
		case id == extEarlyData:
			h.early = true
		case id == extEncryptThenMAC:
			h.macBehind = true
		case id == extVersions && kind == serverHello && len(value) == 2:
			h.version = binary.BigEndian.Uint16(value)
		}
	}
	in.wrong = in.wrong || exts.wrong
}

// hasEarly reports whether the body of EncryptedExtensions accepts early data.
func hasEarly(body []byte) bool {
	var h hello
	h.extensions(encryptedExtensions, &fields{rest: body})
	return h.early
}

// fields reads numbers and vectors. After an error all are zero.
type fields struct {
	rest  []byte
	wrong bool
}

func (f *fields) take(n int) []byte {
	if n > len(f.rest) {
		f.rest, f.wrong = nil, true
		return nil
	}
	out := f.rest[:n]
	f.rest = f.rest[n:]
	return out
}

// number reads a big-endian number of 1 or 2 bytes.
func (f *fields) number(size int) (n int) {
	for _, b := range f.take(size) {
		n = n<<8 | int(b)
	}
	return n
}

// likeness reports whether data can be the start of something.
type likeness uint8

const (
	unlike  likeness = iota
	perhaps          // too few bytes to tell
	alike            // it is
)

// looksLike judges whether data start with a record that holds a hello: the header of the record, that of the message, and the version in the
// message. Both versions are 3.0 to 3.4 (RFC 8446, section 5.1 and 4.1.2).
func looksLike(kind byte, data []byte) likeness {
	tests := [...]func(b byte) bool{
		0:  func(b byte) bool { return b == typeHandshake },
		1:  func(b byte) bool { return b == 3 },
		2:  func(b byte) bool { return b <= 4 },
		4:  func(byte) bool { return data[3]|data[4] != 0 && int(binary.BigEndian.Uint16(data[3:])) <= 1<<14 },
		5:  func(b byte) bool { return b == kind },
		6:  func(b byte) bool { return b == 0 },
		9:  func(b byte) bool { return b == 3 },
		10: func(b byte) bool { return b <= 4 },
	}
	for i, is := range tests {
		if i >= len(data) {
			return perhaps
		}
		if is != nil && !is(data[i]) {
			return unlike
		}
	}
	return alike
}

// alertName returns the name of an alert (RFC 8446, section 6).
func alertName(code byte) string {
	names := []struct {
		code byte
		name string
	}{
		{0, "close notify"},
		{10, "unexpected message"},
		{20, "bad record MAC"},
		{22, "record overflow"},
		{40, "handshake failure"},
		{42, "bad certificate"},
		{43, "unsupported certificate"},
		{44, "certificate revoked"},
		{45, "certificate expired"},
		{46, "certificate unknown"},
		{47, "illegal parameter"},
		{48, "unknown CA"},
		{49, "access denied"},
		{50, "decode error"},
		{51, "decrypt error"},
		{70, "protocol version"},
		{71, "insufficient security"},
		{80, "internal error"},
		{86, "inappropriate fallback"},
		{90, "user canceled"},
		{100, "no renegotiation"},
		{109, "missing extension"},
		{110, "unsupported extension"},
		{112, "unrecognized name"},
		{115, "unknown PSK identity"},
		{116, "certificate required"},
		{120, "no application protocol"},
	}
	if i := slices.IndexFunc(names, func(x struct {
		code byte
		name string
	},
	) bool {
		return x.code == code
	}); i >= 0 {
		return names[i].name
	}
	return "unknown alert"
}
