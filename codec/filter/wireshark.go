package filter

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// The names of Wireshark, and the filters of packet captures, in the words of this language.

// foreign maps the fields of Wireshark that frames have to their names here.
var foreign = map[string]string{
	"frame":                         "bytes",
	"frame.number":                  "n",
	"frame.len":                     "len",
	"frame.cap_len":                 "len",
	"frame.time":                    "time",
	"frame.time_epoch":              "time",
	"frame.time_utc":                "time",
	"frame.time_relative":           "t",
	"frame.time_delta":              "delta",
	"frame.time_delta_displayed":    "delta",
	"frame.comment":                 "note",
	"frame.marked":                  "mark",
	"pkt_comment":                   "note",
	"data":                          "bytes",
	"data.data":                     "bytes",
	"data.len":                      "len",
	"_ws.col.info":                  "info",
	"_ws.col.Info":                  "info",
	"_ws.col.def_src":               "src",
	"_ws.col.def_dst":               "dst",
	"_ws.malformed":                 "err",
	"_ws.expert":                    "err",
	"_ws.expert.message":            "err",
	"ip.addr":                       "ip",
	"ip.host":                       "ip",
	"ip.src":                        "srcip",
	"ip.src_host":                   "srcip",
	"ip.dst":                        "dstip",
	"ip.dst_host":                   "dstip",
	"ipv6.addr":                     "ip",
	"ipv6.src":                      "srcip",
	"ipv6.dst":                      "dstip",
	"tcp.port":                      "port",
	"tcp.srcport":                   "srcport",
	"tcp.dstport":                   "dstport",
	"tcp.stream":                    "stream",
	"tcp.len":                       "len",
	"tcp.payload":                   "bytes",
	"tcp.segment_data":              "bytes",
	"tcp.time_relative":             "t",
	"tcp.time_delta":                "delta",
	"udp.port":                      "port",
	"udp.srcport":                   "srcport",
	"udp.dstport":                   "dstport",
	"udp.stream":                    "stream",
	"udp.length":                    "len",
	"udp.payload":                   "bytes",
	"tcp.analysis.lost_segment":     `kind == problem`,
	"tcp.analysis.ack_lost_segment": `kind == problem`,
	"tcp":                           `proto == "tcp"`,
	"udp":                           `proto == "udp"`,
}

// foreignHelp helps with fields of Wireshark that frames do not have, by the first name of the path.
var foreignHelp = map[string]string{
	"tcp":   "the list has messages, not segments: lost and malformed data are kind == problem",
	"udp":   "the list has messages, not datagrams: their packets are in from",
	"ip":    "the list has messages, not packets: there are ip, srcip and dstip",
	"ipv6":  "the list has messages, not packets: there are ip, srcip and dstip",
	"frame": "there are n, len, t, time, delta, note and mark",
	"_ws":   "there are name, info, err and state",
	"eth":   "the list has messages, without the headers of packets",
	"wlan":  "the list has messages, without the headers of packets",
	"vlan":  "the list has messages, without the headers of packets",
	"icmp":  "the list has messages of one protocol",
	"arp":   "the list has messages of one protocol",
	"dns":   "the list has messages of one protocol",
	"http":  "the list has messages of one protocol",
	"tls":   "the list has messages of one protocol",
	"ssl":   "the list has messages of one protocol",
	"quic":  "the list has messages of one protocol",
}

// translate replaces the names of Wireshark in a tree, unless the definitions have them, and addresses without a port. It reports whether
// it changed something.
func (c *compiler) translate(n *node) (changed bool) {
	switch n.kind {
	case nOr, nXor, nAnd, nNot:
		for i, kid := range n.kids {
			if word := c.foreignName(kid); strings.Contains(word, " ") {
				n.kids[i] = written(word, kid)
				changed = true
			} else {
				changed = c.translate(kid) || changed
			}
		}
		return changed
	case nPath:
		if word := c.foreignName(n); word != "" && !strings.Contains(word, " ") {
			delete(c.paths, n)
			n.parts = []part{{name: word, start: n.start, end: n.end, index: n.parts[len(n.parts)-1].index}}
			return true
		}
		return c.addDot(n, false)
	}
	for i, kid := range n.kids {
		if kid.kind == nPath && i == 0 && (n.kind == nCompare || n.kind == nIn || n.kind == nContains || n.kind == nMatches) {
			changed = c.addDot(kid, true) || changed
		}
		changed = c.translate(kid) || changed
	}
	switch n.kind {
	case nCompare, nIn:
		c.words(n)
		changed = c.addresses(n) || changed
		changed = c.seconds(n) || changed
	}
	return changed
}

// translateRoot is translate for the whole filter.
func (c *compiler) translateRoot(root *node) (*node, bool) {
	top := &node{kind: nAnd, kids: []*node{root}}
	changed := c.translate(top)
	return top.kids[0], changed
}

// foreignName returns the name of a field of Wireshark here, or a condition, which has spaces.
func (c *compiler) foreignName(n *node) string {
	if n.kind != nPath || n.raw || n.quant != quantNone && len(n.parts) == 1 {
		return ""
	}
	head := n.parts[0].name
	if head == "" || c.messageNames[head] || c.groups[head] {
		return ""
	}
	if _, ok := c.codes()[head]; ok {
		return ""
	}
	names := make([]string, len(n.parts))
	for i, q := range n.parts {
		if names[i] = q.name; i < len(n.parts)-1 && len(q.index) > 0 {
			return ""
		}
	}
	return foreign[strings.Join(names, ".")]
}

// written parses a condition of this file in the place of a node.
func written(text string, at *node) *node {
	root, _, _ := parse(text)
	return root.place(at.start, at.end)
}

// addDot makes the bare name of a field on the left of a comparison a field of any message.
func (c *compiler) addDot(n *node, compared bool) bool {
	if !compared || n.raw || len(n.parts) == 0 || n.parts[0].name == "" || n.parts[0].glob || c.classify(n).kind != pathWord && c.classify(n).kind != pathInFields {
		return false
	}
	head := n.parts[0].name
	_, coded := c.codes()[head]
	if c.foreignName(n) != "" || c.messageNames[head] || c.groups[head] || coded || !c.hasAnywhere(head) {
		return false
	}
	delete(c.paths, n)
	n.parts = append([]part{{start: n.start, end: n.start}}, n.parts...)
	return true
}

// hasAnywhere reports whether a field of some message has the name.
func (c *compiler) hasAnywhere(name string) bool {
	return slices.ContainsFunc(c.messages, func(m *schema.Message) bool {
		return m.Body != nil && (hasField(m.Body, name) || hasInside(m.Body, name))
	})
}

// seconds makes a time that is compared with few seconds the time since the first frame.
func (c *compiler) seconds(n *node) bool {
	for i, kid := range n.kids {
		if kid.kind != nPath || len(kid.parts) != 1 || kid.raw || c.classify(kid).kind != pathFrame || c.classify(kid).field != ffTime {
			continue
		}
		if n.kind == nIn && i > 0 {
			return false
		}
		for j, other := range n.kids {
			if j != i && !few(other) {
				return false
			}
		}
		delete(c.paths, kid)
		kid.parts[0].name = "t"
		return true
	}
	return false
}

// words makes the names of properties, where a text is compared with one, the text: via == stream.
func (c *compiler) words(n *node) {
	left := n.kids[0]
	if left.kind != nPath || c.classify(left).kind != pathFrame || frameInfo[c.classify(left).field].class != cText {
		return
	}
	for _, kid := range n.kids[1:] {
		if kid.kind != nPath || len(kid.parts) != 1 || kid.raw || len(kid.parts[0].index) > 0 {
			continue
		}
		name := kid.parts[0].name
		if f, ok := frameFields[name]; ok && f.isWeak(name) && frameInfo[f].class == cNumber {
			*kid = node{kind: nText, text: name, start: kid.start, end: kid.end}
		}
	}
}

// few reports whether a literal is a number of seconds that counts from the first frame.
func few(n *node) bool {
	switch n.kind {
	case nInt:
		return n.integer < maxSince
	case nFloat:
		return n.float < maxSince
	case nNeg, nRange:
		return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !few(kid) })
	}
	return false
}

// addresses compares the address of an end only, if the other side of the comparison has no port, and networks by their bytes.
func (c *compiler) addresses(n *node) bool {
	path := n.kids[0]
	if path.kind != nPath || path.raw || len(path.parts) != 1 || len(path.parts[0].index) > 0 || len(n.kids) < 2 || n.kind == nCompare && n.op != opEq && n.op != opNe {
		return false
	}
	only := map[string]string{"src": "srcip", "dst": "dstip", "ip": "ip", "srcip": "srcip", "dstip": "dstip"}[path.parts[0].name]
	if only == "" || c.classify(path).kind != pathFrame {
		return false
	}
	for _, kid := range n.kids[1:] {
		if kid.kind != nText {
			return false
		}
		if _, err := netip.ParseAddr(kid.text); err == nil {
			continue
		}
		net, err := netip.ParsePrefix(kid.text)
		if err != nil || len(n.kids) > 2 {
			return false
		}
		pattern := networkPattern(net)
		if pattern == "" {
			c.report(kid.start, kid.end, "a network of "+strconv.Itoa(net.Bits())+" bits", "IPv4 networks of 8, 16, 24 and 32 bits can be compared")
			return false
		}
		match := &node{kind: nMatches, start: n.start, end: n.end, kids: []*node{path, (&node{kind: nText, text: pattern}).place(kid.start, kid.end)}}
		path.parts[0].name = only
		delete(c.paths, path)
		if n.kind == nCompare && n.op == opNe || n.negated {
			*n = node{kind: nNot, start: n.start, end: n.end, kids: []*node{match}}
		} else {
			*n = *match
		}
		return true
	}
	if path.parts[0].name == only {
		return false
	}
	path.parts[0].name = only
	delete(c.paths, path)
	return true
}

// networkPattern returns a regular expression for the addresses of an IPv4 network of whole bytes, or "".
func networkPattern(net netip.Prefix) string {
	if !net.Addr().Is4() || net.Bits() < 8 || net.Bits()%8 != 0 {
		return ""
	}
	b := net.Addr().As4()
	var out strings.Builder
	out.WriteString("^")
	for i := range net.Bits() / 8 {
		if i > 0 {
			out.WriteString(`\.`)
		}
		out.WriteString(strconv.Itoa(int(b[i])))
	}
	if net.Bits() < 32 {
		return out.String() + `\.`
	}
	return out.String() + "$"
}

// captured returns the filter that means the same as a capture filter of tcpdump, such as "tcp port 7801", or "".
func captured(text string) string {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", "&&", " and ", "||", " or ").Replace(text))
	var out []string
	said, joined := false, true
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch w {
		case "and", "or":
			if joined {
				return ""
			}
			out, joined = append(out, map[string]string{"and": "&&", "or": "||"}[w]), true
			continue
		case "not", "!", "(", ")":
			out = append(out, strings.Replace(w, "not", "!", 1))
			joined = w != ")"
			continue
		}
		if !joined {
			return ""
		}
		joined = false
		var parts []string
		if w == "tcp" || w == "udp" {
			parts = append(parts, "proto == "+strconv.Quote(w))
			if i++; i >= len(words) || words[i] == "and" || words[i] == "or" || words[i] == ")" {
				out, i = append(out, parts[0]), i-1
				continue
			}
			w = words[i]
		}
		end := ""
		if w == "src" || w == "dst" {
			end = w
			if i++; i >= len(words) {
				return ""
			}
			w = words[i]
		}
		if w != "port" && w != "host" && w != "net" && (end == "" || !isAddress(w)) {
			return ""
		}
		if !isAddress(w) {
			if i++; i >= len(words) {
				return ""
			}
		}
		value := words[i]
		switch _, err := strconv.ParseUint(value, 10, 16); {
		case w == "port" && err == nil:
			parts = append(parts, end+"port == "+value)
		case w != "port" && isAddress(value):
			parts = append(parts, map[string]string{"": "ip", "src": "src", "dst": "dst"}[end]+" == "+value)
		default:
			return ""
		}
		said = true
		condition := strings.Join(parts, " && ")
		if len(parts) > 1 {
			condition = "(" + condition + ")"
		}
		out = append(out, condition)
	}
	if !said || joined {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(out, " "), "! ", "!"), "( ", "(")
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	if err != nil {
		_, err = netip.ParsePrefix(s)
	}
	return err == nil
}

// address reads an IP address, or a network, with the port of the address: 10.0.0.1, 10.0.0.1:7801, 10.0.0.0/8, fe80::1.
func (s *scanner) address(t *token) bool {
	n := 0
	for isHex(s.peekByte(n)) || s.peekByte(n) == '.' || s.peekByte(n) == ':' {
		n++
	}
	run := s.text[s.at : s.at+n]
	if _, err := netip.ParseAddrPort(run); err != nil && !isAddress(run) {
		return false
	}
	if !strings.Contains(run, "::") && strings.Count(run, ".") != 3 {
		return false // 0a:1b:2c:3d:4e:5f:60:71 are bytes
	}
	if s.peekByte(n) == '/' {
		end := n + 1
		for isDigit(s.peekByte(end)) {
			end++
		}
		if !isAddress(s.text[s.at : s.at+end]) {
			return false
		}
		n = end
	}
	if isNameByte(s.peekByte(n)) {
		return false
	}
	t.kind, t.text = tText, s.text[s.at:s.at+n]
	s.at += n
	return true
}

// hostOf returns the address of "address:port", and portOf the port. The brackets of IPv6 are left out.
func hostOf(end string) string {
	i := strings.LastIndexByte(end, ':')
	if i < 0 {
		return end
	}
	return strings.TrimSuffix(strings.TrimPrefix(end[:i], "["), "]")
}

func portOf(end string) (int64, bool) {
	n, err := strconv.ParseUint(end[strings.LastIndexByte(end, ':')+1:], 10, 16)
	return int64(n), err == nil
}
