package paste

import (
	"regexp"
	"strconv"
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// Follow Stream as YAML. Since Wireshark 4 it is a list of peers and a list of packets with peer, time and base64; before, one entry
// "peer0_0: !!binary |" per packet after a comment with its number. Only these forms are supported, not YAML in general: a parser of YAML
// keeps many times the size of the text, and gives no places inside of blocks.

// isYAML recognises them by "!!binary".
func isYAML(t *pasted) bool {
	for l := range t.head(500) {
		if strings.Contains(l.text, "!!binary") {
			return true
		}
	}
	return false
}

// readYAML reads the form "follow-yaml".
func readYAML(t *pasted) (*builder, *Error) {
	b := &builder{form: formFollowYAML, stream: true, out: make([]byte, 0, len(t.s)/4*3)}
	b.why = `base64 marked "!!binary", as Follow Stream writes it` + whyPeers
	y := yamlReader{t: t, b: b, data: base64Decoder{t: t, b: b}}
	e := t.each(y.take)
	if e == nil {
		e = y.endData()
	}
	b.peers = y.peerNames()
	return b.whole(e, `there is no "!!binary" data in the text`)
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

	data   base64Decoder
	block  span // the data of the packet that is read
	indent int  // of the line before the data
}

func (y *yamlReader) take(l line) *Error {
	s := strings.TrimRight(l.text, " \t")
	indent := skipSpaces(s, 0)
	switch {
	case indent == len(s):
		return nil
	case y.b.open && indent > y.indent:
		y.block.to = l.off + len(s)
		return y.oneWord(l.off+indent, y.block.to)
	}
	if e := y.endData(); e != nil {
		return e
	}
	if s[indent] == '#' {
		n, _ := strings.CutPrefix(strings.TrimSpace(s[indent+1:]), "Packet ")
		y.comment, _ = strconv.Atoi(n)
		return nil
	}
	at := indent
	if strings.HasPrefix(s[at:], "- ") {
		at = skipSpaces(s, at+2)
		y.item = Message{}
	}
	key, value, ok := strings.Cut(s[at:], ":")
	if !ok {
		return errFound(y.t, l.off+at, "a key with a colon")
	}
	value = strings.TrimSpace(value)
	data, ok := strings.CutPrefix(value, "!!binary")
	if !ok {
		return y.entry(key, value, l.off+at, l.off+len(s)-len(value))
	}
	y.beginData(l.off+indent, indent, key)
	data = strings.TrimLeft(data, "|>-+ ")
	y.block = span{l.off + len(s) - len(data), l.off + len(s)}
	return y.oneWord(y.block.from, y.block.to)
}

// oneWord returns an error for white space in a line of data.
func (y *yamlReader) oneWord(from, to int) *Error {
	if n := strings.IndexAny(y.t.s[from:to], " \t"); n >= 0 {
		return errFound(y.t, skipSpaces(y.t.s, from+n), "the end of the line")
	}
	return nil
}

// entry handles a line "key: value" without data.
func (y *yamlReader) entry(key, value string, keyAt, valueAt int) *Error {
	n, err := strconv.ParseUint(value, 10, 31)
	want := ""
	switch key {
	case "index":
	case "peers", "packets":
		y.inPeers = key == "peers"
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
			want = "a time"
		}
	case "peer", "packet":
		switch {
		case err != nil:
			want = "a number"
		case key == "packet":
			y.item.Number = int(n)
		case n > 1:
			want = "peer 0 or 1"
		default:
			y.peer, y.item.Dir = int(n), peerDir(int(n))
		}
	default:
		y.b.note(keyAt, "Follow Stream does not write this key; it was skipped")
	}
	if want == "" {
		return nil
	}
	return errFound(y.t, valueAt, want)
}

// beginData starts the data of a packet. key has the peer in the old form: peer0_3.
func (y *yamlReader) beginData(off, indent int, key string) {
	if peer, ok := peerOfName(key); ok {
		y.item = Message{Dir: peerDir(peer), Number: y.comment}
		y.comment = 0
	} else if key != "data" {
		y.item.Name = key
	}
	y.indent = indent
	_ = y.b.begin(y.item, off) // the one before has ended
}

func (y *yamlReader) endData() (e *Error) {
	if y.b.open {
		if e = y.data.unit(y.block); e == nil {
			y.item = Message{}
			e = y.b.end()
		}
	}
	return e
}

func (y *yamlReader) peerNames() (names []string) {
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

func peerDir(peer int) schema.Dir { return schema.ToServer + schema.Dir(peer) }

var peerName = regexp.MustCompile(`^peer([01])_\d+$`)

// peerOfName returns the peer in a name of Follow Stream: peer0_3.
func peerOfName(name string) (peer int, ok bool) {
	if m := peerName.FindStringSubmatch(name); m != nil {
		return int(m[1][0] - '0'), true
	}
	return 0, false
}
