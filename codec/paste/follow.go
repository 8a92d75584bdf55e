package paste

import (
	"regexp"
	"strings"

	"wirebench/defs/schema"
)

// Wireshark's and tshark's Follow Stream (ui/qt/follow_stream_dialog.cpp, ui/cli/tap-follow.c). The side that sent first is peer 0, "node
// 0", or not indented; the other side is peer 1, or indented. In the supported protocols the client sends first.

const whyPeers = "; peer 0 is read as the client"

var (
	followMode = regexp.MustCompile(`(?m)^\s*Follow: [^,\n]*,(.*?)\s*$`)
	followNode = regexp.MustCompile(`(?m)^\s*Node [01]: (.*?)\s*$`)
)

// maxFollowHeader bounds the header, in bytes: a pattern takes its time.
const maxFollowHeader = 2000

// followHeader reads the header that tshark writes: the mode of the text ("hex", "raw") and the two nodes.
func followHeader(t *pasted) (mode string, nodes []string) {
	head := ""
	for l := range t.head(20) {
		head = t.s[:min(l.off+len(l.text), maxFollowHeader)]
	}
	if m := followMode.FindStringSubmatch(head); m != nil {
		mode = m[1]
	}
	for _, m := range followNode.FindAllStringSubmatch(head, 2) {
		nodes = append(nodes, m[1])
	}
	if len(nodes) < 2 {
		nodes = nil
	}
	return mode, nodes
}

// followHeads are the lines around the data: rules, and the parts of tshark's header.
var followHeads = regexp.MustCompile(`^\s*(?:={20,}\s*$|Follow: |Filter: |Node [01]: )`)

func isFollowHeader(s string) bool { return followHeads.MatchString(s) }

// indentDir returns the direction shown by the indentation of a line. tshark uses a tab, Wireshark four spaces.
func indentDir(s string) schema.Dir {
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "    ") {
		return schema.ToClient
	}
	return schema.ToServer
}

// tryFollowHex distinguishes a Follow hex dump from other dumps: by tshark's header, by lines of both indentations whose offsets count
// separately, or by the gap in the middle of the text column, which other dumps with offsets of eight digits do not have.
func tryFollowHex(t *pasted) (*builder, *Error) {
	mode, _ := followHeader(t)
	if mode != "" && mode != "hex" {
		return nil, nil
	}
	f := followDumper{t: t, b: &builder{form: formFollowHex, stream: true}, sniff: mode == ""}
	e := f.read()
	both := f.count[schema.ToServer] > 0 && f.count[schema.ToClient] > 0
	lines := f.count[schema.ToServer] + f.count[schema.ToClient]
	switch {
	case e != nil && (mode == "hex" || both && lines > 2 && !f.lostIndent && !f.bars):
		return nil, e.as(certain)
	case e != nil, lines == 0, f.lostIndent, f.bars:
		return nil, nil
	case mode == "hex":
		f.b.why = "tshark's header says so"
	case both:
		f.b.why = "lines with and without indentation, each with its own offsets"
	case f.gaps > 0:
		f.b.why = "offsets of eight digits and a gap in the text column; one direction only"
	case f.uneven:
		f.b.why = "offsets of eight digits that continue after partial lines; one direction only"
	default:
		return nil, nil
	}
	f.b.why += whyPeers
	return f.b, nil
}

// readFollowHex reads the form "follow-hex".
func readFollowHex(t *pasted) (*builder, *Error) {
	f := followDumper{t: t, b: &builder{form: formFollowHex, stream: true}}
	return f.b.whole(f.read(), "no line of the text is a line of a hex dump")
}

// followDumper reads a Follow hex dump. Each direction has its own offsets. A packet starts on a new line, so a partial line ends a packet;
// packets of full lines cannot be separated and are joined.
type followDumper struct {
	t     *pasted
	b     *builder
	sniff bool

	line  dumpLine
	next  [3]uint64 // by direction: the next offset
	seen  [3]bool
	count [3]int // lines by direction
	other int
	gaps  int

	longest, last int  // bytes of the longest line, and of the last one
	uneven        bool // a partial line is followed by another one, unlike in a dump of one run of bytes

	lostIndent bool // the lines of one direction continue the offsets of the other: a dump whose first line lost its indentation
	bars       bool // the text column is as hexdump -C writes it
}

// followShape has at most 16 bytes per line; the text column follows after one to three spaces.
var followShape = shape{offsets: plain, base: 16, unit: unitByte, most: followWidth}

const followWidth = 16

func (f *followDumper) read() *Error {
	_, f.b.peers = followHeader(f.t)
	e := f.t.each(f.take)
	if e == nil && f.sniff && f.other > (f.count[1]+f.count[2])/4 {
		e = errWhole("too many other lines").as(weak)
	}
	if e == nil {
		e = f.b.end()
	}
	return e
}

func (f *followDumper) take(l line) *Error {
	s := strings.TrimRight(l.text, " \t")
	at := skipSpaces(s, 0)
	if at == len(s) {
		return nil
	}
	if s[at] > '9' && isFollowHeader(s) {
		f.seen = [3]bool{}
		return f.b.end()
	}
	dir := indentDir(s)
	other := schema.ToServer + schema.ToClient - dir
	lines := f.count[dir] + f.count[other]
	x := &f.line
	x.parse(&followShape, s, at, followWidth)
	switch next := f.next[dir]; {
	case x.kind == lineBad && lines > 0:
		return errFound(f.t, l.off+x.bad, x.want)
	case x.kind != lineData || x.start.end < 8:
		if f.other++; f.sniff && f.other > lines+20 {
			return errWhole("too many other lines").as(weak)
		}
		f.b.leave(span{l.off + at, l.off + len(s)})
		return nil
	case f.seen[dir] && next != x.offset:
		return errAt(l.off+at, "the offset is %08X, but the lines of this direction lead to %08X", x.offset, next)
	}
	f.lostIndent = f.lostIndent || !f.seen[dir] && f.seen[other] && f.next[other] == x.offset
	f.bars = f.bars || x.border == '|' && len(x.text) == len(x.data)
	if f.sniff && (f.lostIndent || f.bars) {
		return errWhole("another dump").as(weak)
	}
	if !f.b.open || f.b.m.Dir != dir {
		if e := f.b.begin(Message{Dir: dir}, l.off+at); e != nil {
			return e
		}
	}
	n := len(x.data)
	f.b.out = append(f.b.out, x.data...)
	f.longest = max(f.longest, n)
	f.uneven = f.uneven || f.last > 0 && f.last < f.longest && (x.text != "" || x.border != 0)
	f.last = n
	f.next[dir], f.seen[dir] = x.offset+uint64(n), true
	f.count[dir]++
	if n > 8 && len(x.text) > 8 && x.text[8] == ' ' && x.fits && !sameText(x.data, x.text) {
		f.gaps++
	}
	if n < followWidth {
		return f.b.end()
	}
	return nil
}

// tryFollowRaw reads tshark's raw form: a line of hex for each packet, the lines of peer 1 after a tab. Without the header, a tab-indented
// line followed by an unindented one distinguishes it from pasted text whose first line lost its indentation.
func tryFollowRaw(t *pasted) (*builder, *Error) {
	mode, _ := followHeader(t)
	tabs, back := false, false
	if mode != "raw" {
		if !strings.Contains(t.s, "\n\t") && t.s[0] != '\t' {
			return nil, nil
		}
		for l := range t.lines() {
			tab := strings.HasPrefix(l.text, "\t")
			back = back || tabs && !tab && !l.blank()
			tabs = tabs || tab && !l.blank()
		}
		if !back {
			return nil, nil
		}
	}
	b, e := readFollowRaw(t)
	switch {
	case e != nil && mode == "raw":
		return nil, e.as(certain)
	case e != nil:
		return nil, nil
	case mode == "raw":
		b.why = "tshark's header says so" + whyPeers
	default:
		b.why = "lines of hex, some of them indented by a tab; also reads as plain hex" + whyPeers
	}
	return b, nil
}

// readFollowRaw reads the form "follow-raw".
func readFollowRaw(t *pasted) (*builder, *Error) {
	b := &builder{form: formFollowRaw, stream: true}
	_, b.peers = followHeader(t)
	return b.whole(t.each(func(l line) *Error {
		if l.blank() || isFollowHeader(l.text) {
			return nil
		}
		s := strings.TrimRight(l.text, " \t")
		at := skipSpaces(s, 0)
		switch n := hexRun(s, at); {
		case at+n != len(s):
			return errFound(t, l.off+at+n, "hex digits")
		case n%2 != 0:
			return errOdd(l.off+at+n-1, n, "# hex digits on this line")
		}
		start := len(b.out)
		b.out = appendPairs(b.out, s[at:])
		return b.add(Message{Dir: indentDir(s)}, start, l.off+at)
	}), "there are no lines of hex in the text")
}
