package paste

import (
	"strconv"
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// Follow Stream as YAML. Since Wireshark 4 it is a list of peers and a list of packets with peer, time and base64; before, one entry
// "peer0_0: !!binary |" per packet after a comment with its number. Only these forms are supported, not YAML in general.

// isYAML recognises them by "!!binary".
func isYAML(t *pasted) bool {
	return t.among(500, func(l line) bool { return strings.Contains(l.text, "!!binary") })
}

// readYAML reads the form "follow-yaml".
func readYAML(t *pasted) (*builder, *Error) {
	y := yamlReader{t: t, b: &builder{form: formFollowYAML, stream: true}}
	y.b.why = `base64 marked "!!binary", as Follow Stream writes it` + whyPeers
	e := t.each(y.take)
	if e == nil {
		e = y.endData(len(t.s))
	}
	if e == nil && len(y.b.msgs) == 0 {
		e = errWhole(`there is no "!!binary" data in the text`)
	}
	if e != nil {
		return nil, e
	}
	y.b.peers = y.peerNames()
	return y.b, nil
}

type yamlReader struct {
	t *pasted
	b *builder

	item    Message // properties of the next packet
	comment int     // number in the comment before an old entry
	host    [2]string
	port    [2]string
	peer    int // of the entry in the list of peers
	inPeers bool

	indent int // of the line before the data
	dec    base64Decoder
}

func (y *yamlReader) take(l line) *Error {
	s := strings.TrimRight(l.text, " \t")
	at := skipSpaces(s, 0)
	if at == len(s) {
		return nil
	}
	if y.b.open && at > y.indent {
		return y.base64(l.off+at, l.off+len(s))
	}
	if e := y.endData(l.off); e != nil {
		return e
	}
	if s[at] == '#' {
		y.comment = 0
		if n, ok := strings.CutPrefix(strings.TrimSpace(s[at+1:]), "Packet "); ok {
			y.comment, _ = strconv.Atoi(n)
		}
		return nil
	}
	indent := at
	if strings.HasPrefix(s[at:], "- ") {
		at = skipSpaces(s, at+2)
		y.item = Message{}
	}
	key, value, ok := strings.Cut(s[at:], ":")
	if !ok {
		return errFound(y.t, l.off+at, "a key with a colon")
	}
	value = strings.TrimSpace(value)
	if data, ok := strings.CutPrefix(value, "!!binary"); ok {
		return y.beginData(l, s, key, indent, strings.TrimSpace(data))
	}
	return y.entry(l, s, at, key, value)
}

// entry handles a line "key: value" without data.
func (y *yamlReader) entry(l line, s string, at int, key, value string) *Error {
	valueAt := l.off + len(s) - len(value)
	number := func() (int, *Error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return 0, errFound(y.t, valueAt, "a number")
		}
		return n, nil
	}
	var e *Error
	switch key {
	case "peers", "packets":
		y.inPeers = key == "peers"
	case "peer":
		var n int
		if n, e = number(); e == nil && n > 1 {
			e = errFound(y.t, valueAt, "peer 0 or 1")
		} else if e == nil {
			y.peer, y.item.Dir = n, peerDir(n)
		}
	case "packet":
		y.item.Number, e = number()
	case "host":
		if y.inPeers {
			y.host[y.peer] = strings.Trim(value, `"'`)
		}
	case "port":
		if y.inPeers {
			y.port[y.peer] = value
		}
	case "timestamp":
		var ok bool
		if y.item.Time, ok = scan.ParseStamp(value); !ok {
			e = errFound(y.t, valueAt, "a time")
		}
	case "index":
	default:
		y.b.note(l.off+at, "Follow Stream does not write this key; it was skipped")
	}
	return e
}

// beginData starts the data of a packet. key has the peer in the old form: peer0_3.
func (y *yamlReader) beginData(l line, s, key string, indent int, inline string) *Error {
	if peer, ok := peerOfName(key); ok {
		y.item = Message{Dir: peerDir(peer), Number: y.comment}
		y.comment = 0
	} else if key != "data" {
		y.item.Name = key
	}
	if y.b.out == nil {
		y.b.out = make([]byte, 0, len(y.t.s)/4*3)
	}
	y.indent, y.dec = indent, base64Decoder{t: y.t, b: y.b}
	_ = y.b.begin(y.item, l.off+indent) // the one before has ended
	if inline = strings.TrimLeft(inline, "|>-+ "); inline != "" {
		return y.base64(l.off+len(s)-len(inline), l.off+len(s))
	}
	return nil
}

func (y *yamlReader) base64(at, end int) *Error {
	n, e := y.dec.run(at)
	if e == nil && n < end {
		e = errFound(y.t, skipSpaces(y.t.s, n), "the end of the line")
	}
	return e
}

func (y *yamlReader) endData(at int) *Error {
	if !y.b.open {
		return nil
	}
	if e := y.dec.end(max(at-1, 0)); e != nil {
		return e
	}
	y.item = Message{}
	return y.b.end()
}

func (y *yamlReader) peerNames() []string {
	var names []string
	for i, host := range y.host {
		if host == "" {
			return nil
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		names = append(names, host+":"+y.port[i])
	}
	return names
}

func peerDir(peer int) schema.Dir {
	if peer == 0 {
		return schema.ToServer
	}
	return schema.ToClient
}

// peerOfName returns the peer in a name of Follow Stream: peer0_3.
func peerOfName(name string) (peer int, ok bool) {
	rest, ok := strings.CutPrefix(name, "peer")
	if !ok || len(rest) < 3 || rest[0] != '0' && rest[0] != '1' || rest[1] != '_' {
		return 0, false
	}
	for i := 2; i < len(rest); i++ {
		if !scan.IsDigit(rest[i]) {
			return 0, false
		}
	}
	return int(rest[0] - '0'), true
}
