package logs

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Flows saved by mitmproxy: consecutive tnetstrings, each a dictionary (mitmproxy/io/tnetstring.py). A tnetstring is a length, ":", the
// data and a letter for the type; dictionaries and lists are nested.
//
//	type "tcp", "udp"   messages: [from_client, content, timestamp] (old: a null before the timestamp)
//	type "http"         websocket: {messages: [type, from_client, content, timestamp, dropped, injected]}
//	type "websocket"    messages; of versions without websockets in HTTP flows
//
// Assumptions, as the format is not documented: the messages of TCP are segments of streams, and pass through the transport like those of a
// capture; messages of websockets are complete. Flows without messages, such as plain HTTP, are skipped and counted as other protocols. A
// dropped message is emitted with a note.

const maxFlowParts = 64 // maximum number of keys of a dictionary that are read

// flowKeys are possible first keys of a flow.
var flowKeys = []string{
	"version", "type", "id", "error", "client_conn", "server_conn", "intercepted", "is_replay", "marked", "metadata", "comment",
	"timestamp_created", "messages", "websocket", "request", "response", "mode", "backup",
}

// cutOff is the kind of a truncated value, which has no letter.
const cutOff = '?'

// flowValue is a tnetstring.
type flowValue struct {
	kind byte // its letter
	body []byte
}

// flowHead reads the length of a tnetstring. n is the number of bytes before its body.
func flowHead(b []byte) (size, n int, ok bool) {
	for n < len(b) && n < 10 && scan.IsDigit(b[n]) {
		size = size*10 + int(b[n]-'0')
		n++
	}
	if n == 0 || n == 10 || n >= len(b) || b[n] != ':' {
		return 0, 0, false
	}
	return size, n + 1, true
}

// nextFlowValue reads the tnetstring at the start of b.
func nextFlowValue(b []byte) (v flowValue, rest []byte, ok bool) {
	size, n, ok := flowHead(b)
	if !ok || size >= len(b)-n {
		return v, nil, false
	}
	return flowValue{b[n+size], b[n : n+size]}, b[n+size+1:], true
}

// get returns the value of a key of a dictionary.
func (v flowValue) get(key string) flowValue {
	if v.kind != '}' && v.kind != cutOff {
		return flowValue{}
	}
	rest := v.body
	for range maxFlowParts {
		k, after, ok := nextFlowValue(rest)
		if !ok {
			break
		}
		start := after
		value, after, ok := nextFlowValue(start)
		if !ok {
			if _, n, started := flowHead(start); started && string(k.body) == key {
				return flowValue{cutOff, start[n:]}
			}
			break
		}
		if string(k.body) == key {
			return value
		}
		rest = after
	}
	return flowValue{}
}

// list returns the first elements of a list.
func (v flowValue) list(most int) (list []flowValue) {
	if v.kind != ']' {
		return nil
	}
	for rest := v.body; len(list) < most; {
		x, after, ok := nextFlowValue(rest)
		if !ok {
			break
		}
		list, rest = append(list, x), after
	}
	return list
}

func (v flowValue) isBool() bool { return v.kind == '!' }
func (v flowValue) isTrue() bool { return v.kind == '!' && string(v.body) == "true" }

// moment returns a time given in seconds.
func (v flowValue) moment() time.Time {
	if v.kind != '^' && v.kind != '#' {
		return time.Time{}
	}
	if s, ok := scan.ParseStamp(string(v.body[:min(len(v.body), 41)])); ok && s.Kind == scan.Absolute {
		return s.At
	}
	return time.Time{}
}

// end returns an address: a list of host and port, in old files inside a dictionary.
func (v flowValue) end() (netip.AddrPort, bool) {
	if v.kind == '}' {
		v = v.get("address")
	}
	parts := v.list(2)
	if len(parts) < 2 {
		return netip.AddrPort{}, false
	}
	addr, err := netip.ParseAddr(string(parts[0].body[:min(len(parts[0].body), 64)]))
	port, e := strconv.ParseUint(string(parts[1].body[:min(len(parts[1].body), 6)]), 10, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), err == nil && e == nil
}

func firstEnd(conn flowValue, keys ...string) netip.AddrPort {
	for _, k := range keys {
		if end, ok := conn.get(k).end(); ok {
			return end
		}
	}
	return netip.AddrPort{}
}

func sniffMitmproxy(head []byte, _ bool) bool {
	_, n, ok := flowHead(head)
	if !ok {
		return false
	}
	k, rest, ok := nextFlowValue(head[n:])
	return ok && (k.kind == ';' || k.kind == ',') && slices.Contains(flowKeys, string(k.body)) && len(rest) > 0 && scan.IsDigit(rest[0])
}

// readMitmproxy reads the form "mitmproxy".
func readMitmproxy(l *reading) {
	clear(l.conns) // each flow is a connection
	for flows := int64(0); l.more && !l.ended(); flows++ {
		size, n, ok := flowHead(l.in.Peek(11))
		if !ok {
			l.torn("no flow starts here")
			return
		}
		if size > maxLogWhole {
			l.torn("a flow of %d bytes exceeds %d MiB", size, maxLogWhole>>20)
			return
		}
		b := l.in.Peek(n + size + 1)
		if len(b) < n+size+1 {
			l.torn("a flow has %d bytes, but only %d are left", size, len(b)-n)
			l.flow(flows, flowValue{cutOff, b[min(n, len(b)):]}) // the part that is present
			return
		}
		l.flow(flows, flowValue{b[n+size], b[n : n+size]})
		l.in.Skip(int64(n + size + 1))
	}
}

// flow reads a flow. A truncated one yields its complete messages, if its type precedes them.
func (l *reading) flow(id int64, flow flowValue) {
	kind := string(flow.get("type").body)
	messages := flow.get("messages")
	c := transport.Conn{
		Proto:  transport.TCP,
		Client: firstEnd(flow.get("client_conn"), "peername", "address"),
		Server: firstEnd(flow.get("server_conn"), "peername", "ip_address", "address"),
	}
	whole := kind == "http" || kind == "websocket"
	switch kind {
	case "http":
		messages = flow.get("websocket").get("messages")
	case "udp":
		c.Proto = transport.UDP
	case "tcp", "websocket":
	default:
		messages = flowValue{}
	}
	if messages.kind != ']' && messages.kind != cutOff || len(messages.body) == 0 {
		l.record()
		l.sum.Unserved++
		return
	}
	to := l.connection(id, c, whole)
	var at time.Time
	for rest := messages.body; l.more; {
		m, after, ok := nextFlowValue(rest)
		if !ok {
			break
		}
		rest = after
		parts := m.list(8)
		if whole && len(parts) > 0 {
			parts = parts[1:] // the type of a websocket message: text or bytes
		}
		l.record()
		if len(parts) < 2 || !parts[0].isBool() {
			l.sum.Malformed++
			continue
		}
		dir := schema.ToClient
		if parts[0].isTrue() {
			dir = schema.ToServer
		}
		note, noted := "", parts[2:]
		var marks transport.Marks
		for i, p := range noted {
			if t := p.moment(); !t.IsZero() {
				at = t
				noted = noted[i+1:]
				break
			}
		}
		if whole && len(noted) > 0 && noted[0].isTrue() {
			note, marks = transport.Silenced.String(), transport.Silenced
		}
		if whole && len(noted) > 1 && noted[1].isTrue() {
			note, marks = transport.Join(note, sentByProxy), marks|transport.Fake
		}
		if to.t == nil && !to.left {
			l.out.Marks = marks
		}
		to.message(dir, at, parts[1].body, note)
	}
	to.flush(at)
}

// logConn receives the messages of a connection.
type logConn struct {
	l       *reading
	t       transport.Transport // nil: each message is a frame
	left    bool                // of another protocol
	started [3]bool
	streams bool
}

// connection returns the logConn of a connection. Its messages pass through a transport, unless they are complete (whole).
func (l *reading) connection(id int64, c transport.Conn, whole bool) logConn {
	l.on(id, c)
	if l.out.Conn.Proto = c.Proto; whole {
		l.out.Conn.Proto = l.proto
	}
	to := logConn{l: l, streams: c.Proto == transport.TCP}
	if !whole && l.opts.New != nil {
		to.t = l.opts.New(*l.out.Conn)
		to.left = to.t == nil
	}
	return to
}

func (to *logConn) message(dir schema.Dir, at time.Time, b []byte, note string) {
	l := to.l
	switch {
	case to.left:
		l.sum.Unserved++
	case to.t == nil:
		l.give(transport.Frame{Dir: dir, At: at, Bytes: b, Note: note}, transport.Unknown)
	default:
		start := to.streams && !to.started[dir]
		to.started[dir] = true
		to.t.Feed(transport.Segment{Dir: dir, At: at, Packet: l.sum.Packets, Bytes: bytes.Clone(b), Start: start}, l.pass)
	}
}

func (to *logConn) flush(at time.Time) {
	if to.t != nil {
		to.t.Flush(at, to.l.pass)
	}
}
