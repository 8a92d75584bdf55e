package filter

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Word is a field or protocol of Wireshark. The translation, the completion, the manual and the comparison with tshark use the same table.
type Word struct {
	Name  string
	Here  string // the property of a frame with this meaning; "" for a protocol, and for a word without an equivalent
	Guard string // Wireshark has the field in these frames only
	Why   string // the word is refused: there is no equivalent
	Help  string // refused: what there is instead
	Since string // version of Wireshark, if later than 4.0

	takes taking
}

// taking is what an exact translation compares a word with.
type taking uint8

const (
	takesAny  taking = iota
	takesIPv4        // addresses of IPv4
	takesIPv6
	takesDate // texts with a date
	takesEpoch
	takesFlag // true or false
	takesSearch
)

const (
	overTCP  = `proto == "tcp"`
	overUDP  = `proto == "udp"`
	overIPv4 = "ipver == 4"
	overIPv6 = "ipver == 6"

	packetSizes = "the sizes of packets are not known here"
	packetTimes = "it counts from another packet, which may have no message"
	headers     = "the list has messages, without the headers of packets"
	segments    = "the list has messages, not segments"
	others      = "the list has messages of one protocol"
	ownColumns  = "the columns of Wireshark have other texts"
	ownErrors   = "Wireshark has other errors"
	undissected = "it is what no dissector has read, which depends on the dissectors"
	resolved    = "names of hosts are not resolved here"
	toLen       = "len is the number of bytes of the message"
	toBytes     = "write bytes, which are those of the message"
	toState     = "err and state say how the definition fits; malformed data are kind == problem"
)

// wordTable has a row for each word with an exact equivalent, and for refused words and families of them, whose names end with a dot.
var wordTable = []Word{
	{Name: "tcp", Guard: overTCP},
	{Name: "udp", Guard: overUDP},
	{Name: "ip", Guard: overIPv4},
	{Name: "ipv6", Guard: overIPv6},
	{Name: "ip.version", Here: "ipver"},
	{Name: "ip.addr", Here: "ip", Guard: overIPv4, takes: takesIPv4},
	{Name: "ip.src", Here: "srcip", Guard: overIPv4, takes: takesIPv4},
	{Name: "ip.dst", Here: "dstip", Guard: overIPv4, takes: takesIPv4},
	{Name: "ipv6.addr", Here: "ip", Guard: overIPv6, takes: takesIPv6},
	{Name: "ipv6.src", Here: "srcip", Guard: overIPv6, takes: takesIPv6},
	{Name: "ipv6.dst", Here: "dstip", Guard: overIPv6, takes: takesIPv6},
	{Name: "tcp.port", Here: "port", Guard: overTCP},
	{Name: "tcp.srcport", Here: "srcport", Guard: overTCP},
	{Name: "tcp.dstport", Here: "dstport", Guard: overTCP},
	{Name: "tcp.stream", Here: "stream", Guard: overTCP},
	{Name: "udp.port", Here: "port", Guard: overUDP},
	{Name: "udp.srcport", Here: "srcport", Guard: overUDP},
	{Name: "udp.dstport", Here: "dstport", Guard: overUDP},
	{Name: "udp.stream", Here: "stream", Guard: overUDP},
	{Name: "frame.number", Here: "from"},
	{Name: "frame.time", Here: "time", takes: takesDate},
	{Name: "frame.time_utc", Here: "time", Since: "4.2", takes: takesDate},
	{Name: "frame.time_epoch", Here: "time", takes: takesEpoch},
	{Name: "frame.marked", Here: "mark", takes: takesFlag},
	{Name: "frame", Here: "bytes", takes: takesSearch},
	{Name: "tcp.payload", Here: "bytes", Guard: overTCP, takes: takesSearch},
	{Name: "udp.payload", Here: "bytes", Guard: overUDP, takes: takesSearch},

	{Name: "frame.len", Why: packetSizes, Help: toLen},
	{Name: "frame.cap_len", Why: packetSizes, Help: toLen},
	{Name: "tcp.len", Why: segments, Help: toLen},
	{Name: "udp.length", Why: packetSizes, Help: toLen},
	{Name: "data.len", Why: undissected, Help: toLen},
	{Name: "frame.time_relative", Why: packetTimes, Help: "t is the time since the first frame of the list: t > 2.5"},
	{Name: "frame.time_delta", Why: packetTimes, Help: "delta is the time since the frame above"},
	{Name: "frame.time_delta_displayed", Why: "it depends on what was displayed before", Help: "delta is the time since the frame above"},
	{Name: "frame.time_invalid", Why: headers},
	{Name: "frame.offset_shift", Why: headers},
	{Name: "frame.encap_type", Why: headers},
	{Name: "frame.protocols", Why: others, Help: "write tcp or udp; proto is the transport protocol"},
	{Name: "frame.interface_name", Why: headers},
	{Name: "frame.coloring_rule.name", Why: "Wireshark has other colors"},
	{Name: "frame.ignored", Why: "Wireshark decides which packets it ignores"},
	{Name: "frame.comment", Why: "comments of packets are not read", Help: "note has the remarks made here, and those of the transport"},
	{Name: "pkt_comment", Why: "comments of packets are not read", Help: "note has the remarks made here, and those of the transport"},
	{Name: "tcp.time_relative", Why: packetTimes, Help: "t is the time since the first frame of the list"},
	{Name: "tcp.time_delta", Why: packetTimes, Help: "delta is the time since the frame above, of any connection"},
	{Name: "tcp.segment_data", Why: segments, Help: toBytes},
	{Name: "data", Why: undissected, Help: toBytes},
	{Name: "data.data", Why: undissected, Help: toBytes},
	{Name: "ip.host", Why: resolved, Help: "write ip.addr"},
	{Name: "ip.src_host", Why: resolved, Help: "write ip.src"},
	{Name: "ip.dst_host", Why: resolved, Help: "write ip.dst"},
	{Name: "ipv6.host", Why: resolved, Help: "write ipv6.addr"},
	{Name: "ipv6.src_host", Why: resolved, Help: "write ipv6.src"},
	{Name: "ipv6.dst_host", Why: resolved, Help: "write ipv6.dst"},
	{Name: "ip.proto", Why: headers, Help: "write tcp or udp"},
	{Name: "ipv6.nxt", Why: headers, Help: "write tcp or udp"},
	{Name: "_ws.malformed", Why: ownErrors, Help: toState},
	{Name: "_ws.expert", Why: ownErrors, Help: toState},
	{Name: "_ws.expert.message", Why: ownErrors, Help: toState},
	{Name: "_ws.expert.severity", Why: ownErrors, Help: toState},
	{Name: "_ws.col.info", Why: ownColumns, Help: "info has the texts of the message: info contains \"...\"; name is its name"},
	{Name: "_ws.col.Info", Why: ownColumns, Help: "info has the texts of the message: info contains \"...\"; name is its name"},
	{Name: "_ws.col.protocol", Why: ownColumns, Help: "proto is the transport protocol"},
	{Name: "_ws.col.Protocol", Why: ownColumns, Help: "proto is the transport protocol"},
	{Name: "_ws.col.def_src", Why: resolved, Help: "write ip.src"},
	{Name: "_ws.col.def_dst", Why: resolved, Help: "write ip.dst"},

	{Name: "frame.", Why: headers, Help: "there are from, len, t, time, delta, note and mark"},
	{Name: "_ws.", Why: ownColumns, Help: "there are name, info, err and state"},
	{Name: "tcp.analysis.", Why: segments, Help: "lost and malformed data are kind == problem"},
	{Name: "tcp.", Why: "the list has messages, not segments", Help: "there are tcp.port and tcp.stream; lost and malformed data are kind == problem"},
	{Name: "udp.", Why: "the list has messages, not datagrams", Help: "there are udp.port and udp.stream; the packets of a message are in from"},
	{Name: "ip.", Why: headers, Help: "there are ip, srcip and dstip"},
	{Name: "ipv6.", Why: headers, Help: "there are ip, srcip and dstip"},
	{Name: "data.", Why: undissected, Help: toBytes},
	{Name: "eth.", Why: headers},
	{Name: "wlan.", Why: headers},
	{Name: "vlan.", Why: headers},
	{Name: "sll.", Why: headers},
	{Name: "null.", Why: headers},
	{Name: "icmp.", Why: others},
	{Name: "icmpv6.", Why: others},
	{Name: "arp.", Why: others},
	{Name: "dns.", Why: others},
	{Name: "http.", Why: others},
	{Name: "http2.", Why: others},
	{Name: "tls.", Why: others},
	{Name: "ssl.", Why: others},
	{Name: "quic.", Why: others},
	{Name: "websocket.", Why: others},
	{Name: "dtls.", Why: others},
	{Name: "sctp.", Why: others},
	{Name: "dhcp.", Why: others},
	{Name: "mdns.", Why: others},
	{Name: "ssh.", Why: others},
}

// Words returns the words of Wireshark that filters take or refuse. Those whose name ends with a dot are all others of a protocol.
func Words() []Word { return slices.Clone(wordTable) }

// Means returns what a word is in this language, "" if it is refused.
func (w *Word) Means() string {
	switch {
	case w.Here == "":
		return w.Guard
	case w.Guard == "":
		return w.Here
	}
	return w.Guard + " && " + w.Here
}

// wordOfName returns the row of a name: its own, or that of its family; nil if it is no word of Wireshark.
func wordOfName(name string) *Word {
	var family *Word
	for i := range wordTable {
		w := &wordTable[i]
		if w.Name == name {
			return w
		}
		if strings.HasSuffix(w.Name, ".") && (strings.HasPrefix(name, w.Name) || name+"." == w.Name) && (family == nil || len(w.Name) > len(family.Name)) {
			family = w
		}
	}
	return family
}

// refusal returns the mistake of a refused word.
func (w *Word) refusal(name string) (message, help string) {
	help = w.Help
	if strings.HasSuffix(w.Name, ".") { // the name may have a slip
		rest := strings.TrimPrefix(name, w.Name)
		if near := didYouMean(name, wordNames(w.Name)); near != "" && len(rest) > 3 {
			help = near
		}
	}
	return strconv.Quote(clip(name)) + ": " + w.Why, help
}

// wordNames returns the words of a family that are not refused.
func wordNames(family string) (names []string) {
	for i := range wordTable {
		if w := &wordTable[i]; w.Why == "" && strings.HasPrefix(w.Name, family) {
			names = append(names, w.Name)
		}
	}
	return names
}

// foreign returns the word of Wireshark that a path is, and its name; nil if it is none, or if the definitions have the name.
func (c *compiler) foreign(n *node) (*Word, string) {
	if n.kind != nPath {
		return nil, ""
	}
	head := n.parts[0].name
	if head == "" || c.messageNames[head] || c.groups[head] {
		return nil, ""
	}
	if _, ok := c.codes()[head]; ok {
		return nil, ""
	}
	names := make([]string, len(n.parts))
	for i, q := range n.parts {
		if names[i] = q.name; i < len(n.parts)-1 && len(q.index) > 0 {
			return nil, ""
		}
	}
	name := strings.Join(names, ".")
	w := wordOfName(name)
	if w != nil && len(names) == 1 && w.Why != "" && strings.HasSuffix(w.Name, ".") {
		return nil, "" // the name of a protocol is also a word to search for: see nearly
	}
	return w, name
}

// use is a word of Wireshark in a condition.
type use struct {
	*Word
	name string
	path *node
}

func (c *compiler) uses(n *node) (out []use) {
	if w, name := c.foreign(n); w != nil {
		return []use{{w, name, n}}
	}
	for _, kid := range n.kids {
		if w, _ := c.foreign(kid); w != nil && w.Here == "" && w.Why == "" {
			continue // the name of a protocol is also a value: proto == tcp
		}
		out = append(out, c.uses(kid)...)
	}
	return out
}

// translate replaces the words of Wireshark in a tree, unless the definitions have them, and other forms that people write. changed reports
// whether the tree is another.
func (c *compiler) translate(n *node) (out *node, changed bool) {
	switch n.kind {
	case nOr, nXor, nAnd, nNot:
		var kids []*node
		for _, kid := range n.kids {
			k, did := c.translate(kid)
			changed = changed || did
			if did && n.kind == nAnd && k.kind == nAnd && kid.kind != nAnd {
				kids = append(kids, k.kids...)
			} else {
				kids = append(kids, k)
			}
		}
		if n.kids = kids; changed && n.kind == nAnd {
			n.kids = unrepeated(kids)
		}
		return n, changed
	}
	uses := c.uses(n)
	if len(uses) == 0 || n.kind != nPath && slices.ContainsFunc(uses, func(u use) bool { return u.name == "ip" }) { // ip == 10.0.0.1 is of this language
		return n, c.adapt(n)
	}
	return c.exactly(n, uses)
}

// unrepeated removes the repetitions of a condition, of which the guards of several words may be.
func unrepeated(kids []*node) (out []*node) {
	seen := map[string]bool{}
	for _, kid := range kids {
		if s := kid.String(); !seen[s] {
			seen[s] = true
			out = append(out, kid)
		}
	}
	return out
}

// exactly translates a condition with words of Wireshark, exactly, or reports why it does not.
func (c *compiler) exactly(n *node, uses []use) (*node, bool) {
	for _, u := range uses {
		if message, help := c.unlike(n, u); message != "" {
			c.report(u.path.start, u.path.end, message, help)
			return n, false
		}
	}
	if c.octal(n) || c.unequal(n) {
		return n, false
	}
	var guards []*node
	for _, u := range uses {
		if u.Guard != "" && !(u.takes == takesIPv4 || u.takes == takesIPv6) || u.Guard != "" && !implied(n) {
			guards = append(guards, written(u.Guard, n))
		}
		if u.Here != "" {
			delete(c.paths, u.path)
			u.path.parts = []part{{name: u.Here, start: u.path.start, end: u.path.end}}
		}
	}
	u := uses[0]
	switch {
	case n.kind == nPath && u.Guard != "":
		return guards[0], true
	case u.takes == takesFlag:
		return marked(n, u.path), true
	case n.kind == nMatches && n.kids[1].kind == nText: // as in Wireshark
		n.kids[1].text = "(?i)" + strings.TrimPrefix(n.kids[1].text, "(?i)")
	}
	c.adapt(n)
	if n.kind == nIn && n.negated { // in Wireshark, also of frames without the field
		n.negated = false
		in, _ := c.guarded(n, guards)
		return &node{kind: nNot, start: n.start, end: n.end, kids: []*node{in}}, true
	}
	return c.guarded(n, guards)
}

// guarded puts conditions before another.
func (c *compiler) guarded(n *node, guards []*node) (*node, bool) {
	if guards = unrepeated(guards); len(guards) == 0 {
		return n, true
	}
	return &node{kind: nAnd, start: n.start, end: n.end, kids: append(guards, n)}, true
}

// implied reports whether a comparison with an address holds for addresses of its family only.
func implied(n *node) bool {
	return (n.kind == nCompare && n.op != opNe || n.kind == nIn) && n.kids[0].kind == nPath && !slices.ContainsFunc(n.kids[1:], func(kid *node) bool { return kid.kind != nText && kid.kind != nRange })
}

// unlike says why a condition with a word is not translated, "" if it is.
func (c *compiler) unlike(n *node, u use) (message, help string) {
	last := &u.path.parts[len(u.path.parts)-1]
	compared := n.kind == nCompare && (n.kids[0] == u.path || n.kids[1] == u.path) || n.kind == nIn && n.kids[0] == u.path
	if u.Why != "" {
		return u.refusal(u.name)
	}
	if u.takes == takesSearch {
		return c.unlikeSearch(n, u)
	}
	if u.path.raw || len(last.index) > 0 {
		return "the bytes of " + strconv.Quote(u.name) + ": " + headers, ""
	}
	if u.takes == takesFlag {
		if compared && n.kind == nCompare && (n.op == opEq || n.op == opNe) && n.kids[0] == u.path && isFlag(n.kids[1]) {
			return "", ""
		}
		return strconv.Quote(u.name) + " alone is true of every packet in Wireshark", "write mark for frames that are marked here"
	}
	if !compared {
		return "", ""
	}
	for _, kid := range n.kids {
		values := []*node{kid}
		if kid.kind == nRange {
			values = kid.kids
		}
		for _, v := range values {
			if v == u.path || message != "" {
				continue
			}
			message, help = u.unlikeValue(v)
		}
	}
	return message, help
}

// unlikeValue says why a value does not compare with the word as in Wireshark.
func (u *use) unlikeValue(v *node) (message, help string) {
	text := v.kind == nText
	switch u.takes {
	case takesIPv4, takesIPv6:
		if r, ok := addressesOf(v.text); text && ok && r.lo.Is4() != (u.takes == takesIPv4) {
			family := map[taking]string{takesIPv4: "IPv4", takesIPv6: "IPv6"}[u.takes]
			return clip(v.text) + " is no address of " + family, "write ip for addresses of both: ip == " + clip(v.text)
		}
	case takesDate:
		if _, ofDay, ok := parseTime(v.text); v.kind != nValue && (!text || ok && ofDay) {
			return strconv.Quote(u.name) + " is a date", `write "Nov 20, 2026 10:00:05" or "2026-11-20 10:00:05"; time compares with a time of day, too`
		}
	case takesEpoch:
		switch v.kind {
		case nInt, nFloat:
			if !few(v) {
				return "", ""
			}
			seconds := v.float
			if v.kind == nInt {
				seconds = float64(v.integer)
			}
			v.kind, v.text = nText, time.Unix(0, int64(seconds*1e9)).UTC().Format(time.RFC3339Nano) // few seconds would count from the first frame
		case nText, nNeg:
			return strconv.Quote(u.name) + " is seconds since 1970", "write time for dates"
		}
	}
	return "", ""
}

// unlikeSearch says why bytes of packets are not searched in messages. What a person reads is in messages only. Other bytes may be in headers,
// or across two messages.
func (c *compiler) unlikeSearch(n *node, u use) (message, help string) {
	const why = "the list has the bytes of messages, not of packets"
	last := &u.path.parts[len(u.path.parts)-1]
	name := strconv.Quote(u.name)
	if u.path.raw || len(last.index) > 0 || n.kind != nContains && n.kind != nMatches || n.kids[0] != u.path {
		help = "write bytes"
		switch {
		case len(last.index) > 0:
			if help += c.text[last.index[0].start:last.index[len(last.index)-1].end] + " for those of the message"; last.index[0].form == oneOf {
				help += "; a number that is compared with one is decimal, bytes[0] == 0x20"
			}
		case n.kind == nPath:
			help = "it is in every packet: leave it out, or write true"
		}
		return name + ": " + why, help
	}
	value := n.kids[1]
	switch {
	case n.kind == nMatches && value.kind == nText:
		if re, err := syntax.Parse(value.text, syntax.Perl); err == nil && anchored(re) {
			return name + " with ^, $ or \\b: " + why, "write bytes ~ " + quote(value.text) + " for messages; it distinguishes upper and lower case"
		}
	case value.kind == nText && len(value.text) >= 4 && strings.IndexFunc(value.text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) < 0:
	case value.kind == nCall:
	default:
		return name + " with bytes that may be in a header: " + why, "write bytes contains " + value.String()
	}
	return "", ""
}

// anchored reports whether a regular expression depends on where packets begin and end.
func anchored(re *syntax.Regexp) bool {
	return re.Op >= syntax.OpBeginLine && re.Op <= syntax.OpNoWordBoundary || slices.ContainsFunc(re.Sub, anchored)
}

func isFlag(n *node) bool {
	return n.kind == nTrue || n.kind == nFalse || n.kind == nInt && n.integer <= 1
}

// marked is the comparison of a mark with true or false.
func marked(n, path *node) *node {
	v := n.kids[1]
	if (v.kind == nTrue || v.kind == nInt && v.integer == 1) == (n.op == opEq) {
		return path
	}
	return &node{kind: nNot, start: n.start, end: n.end, kids: []*node{path}}
}

// unequal reports arguments of max and min that other frames have than the rest: Wireshark leaves out those that a packet does not have.
func (c *compiler) unequal(n *node) bool {
	if n.kind == nCall && (n.text == "max" || n.text == "min") {
		var of []string
		for _, kid := range n.kids {
			guard := ""
			for _, u := range c.uses(kid) {
				guard = u.Guard
			}
			of = append(of, guard)
		}
		if slices.Sort(of); len(of) > 1 && of[0] != of[len(of)-1] {
			c.report(n.start, n.end, "the arguments of "+n.text+" are in different packets: Wireshark leaves out those that a packet does not have", "write properties of the frame, such as srcport and len")
			return true
		}
	}
	return slices.ContainsFunc(n.kids, c.unequal)
}

// octal reports numbers that begin with 0, which are octal in Wireshark.
func (c *compiler) octal(n *node) bool {
	if n.kind == nInt && n.end <= len(c.text) && n.end-n.start > 1 && c.text[n.start] == '0' && isDigit(c.text[n.start+1]) {
		c.report(n.start, n.end, "Wireshark reads "+clip(c.text[n.start:n.end])+" as an octal number", "write it without the 0, or as 0o"+strings.TrimLeft(clip(c.text[n.start:n.end]), "0"))
		return true
	}
	return slices.ContainsFunc(n.kids, c.octal)
}

// written parses a condition of this file in the place of a node.
func written(text string, at *node) *node {
	root, _, _ := parse(text)
	return root.place(at.start, at.end)
}
