package logs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The network log of a browser (HAR 1.2), with the messages of websockets as Chrome and mitmproxy add them:
//
//	{"log":{…,"entries":[{"request":{"url":"wss://…"},"serverIPAddress":"…",
//	  "_webSocketMessages":[{"type":"send","time":1700000000.123,"opcode":2,"data":"AQI="},…]},…]}}
//
// Opcode 2 is bytes in base64, 1 is plain text; other opcodes (pings, errors) are counted and skipped. Each entry with messages is a
// connection, whose client address is unknown. Messages are complete.

func sniffHAR(head []byte, _ bool) bool {
	b := scan.StartsLikeText(head)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	b, ok := bytes.CutPrefix(bytes.TrimLeft(b[1:], " \t\r\n"), []byte(`"log"`))
	if !ok {
		return false
	}
	b, ok = bytes.CutPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte(":"))
	b = bytes.TrimLeft(b, " \t\r\n")
	return ok && len(b) > 0 && b[0] == '{' && (bytes.Contains(b, []byte(`"creator"`)) || bytes.Contains(b, []byte(`"entries"`)))
}

// harEntry holds the relevant parts of a request.
type harEntry struct {
	Request         struct{ URL string }
	ServerIPAddress string
	Messages        []struct {
		Type   string
		Time   json.Number
		Opcode int
		Data   string
	} `json:"_webSocketMessages"`
}

// readHAR reads the form "har".
func readHAR(l *reading) {
	if !l.in.SeekList("entries") {
		l.torn("the log has no entries")
		return
	}
	clear(l.conns) // each entry is a connection
	for id := int64(0); l.more; id++ {
		object, why := l.in.NextObject(maxLogWhole)
		if why != "" {
			l.torn("%s", why)
			return
		}
		if object == nil {
			if len(l.in.Peek(1)) == 0 {
				l.torn("the list of entries has no end")
			}
			return
		}
		if bytes.Contains(object, []byte(`"_webSocketMessages"`)) {
			l.harEntry(id, object)
		}
		l.in.Skip(int64(len(object)))
	}
}

func (l *reading) harEntry(id int64, object []byte) {
	var e harEntry
	if err := json.Unmarshal(object, &e); err != nil {
		l.record()
		l.problem(schema.Both, time.Time{}, nil, transport.Unknown, "invalid entry: %v", err)
		return
	}
	to := l.connection(id, transport.Conn{Proto: transport.TCP, Server: harServer(e.Request.URL, e.ServerIPAddress)}, true)
	for _, m := range e.Messages {
		l.record()
		at := time.Time{}
		if s, ok := scan.ParseStamp(m.Time.String()); ok && s.Kind == scan.Absolute {
			at = s.At
		}
		dir := map[string]schema.Dir{"send": schema.ToServer, "receive": schema.ToClient}[m.Type]
		data, err := []byte(m.Data), error(nil)
		switch {
		case dir == schema.Both, m.Opcode != 1 && m.Opcode != 2:
			l.sum.Unserved++
			continue
		case m.Opcode == 2:
			data, err = base64.StdEncoding.DecodeString(m.Data)
		}
		if err != nil {
			if !l.problem(dir, at, []byte(m.Data), transport.Unknown, "the message is not base64") {
				return
			}
			continue
		}
		if to.message(dir, at, data, ""); !l.more {
			return
		}
	}
}

// harServer returns the address of a server, if it is known; the port is that of the URL.
func harServer(address, ip string) netip.AddrPort {
	addr, err := netip.ParseAddr(strings.Trim(ip, "[]"))
	if err != nil {
		return netip.AddrPort{}
	}
	scheme, rest, _ := strings.Cut(address[:min(len(address), 1000)], "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	port, err := strconv.ParseUint(rest[strings.LastIndexByte(rest, ':')+1:], 10, 16)
	switch {
	case err == nil:
	case scheme == "ws" || scheme == "http":
		port = 80
	default:
		port = 443
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(port))
}
