package logs

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The JSON Lines of frames --json and of an export: an object per line for each frame.
//
//	{"n":7,"time":"2023-11-14T22:13:20.000005Z","conn":"10.0.0.2:4000-10.0.0.1:7801","dir":"c2s","kind":"message","from":[9],"code":1,"hex":"0102…"}
//
// The properties in a line are used as they are, without a transport. Details:
//
//   - "n" and "from" refer to another file: frames are renumbered, and the source of each is its line.
//   - If the definitions do not give the group of a code, it is found by the name of the message.

// A line of a hook in a game or server has "dir" and "hex", and optionally "t" (seconds since 1970) or "time", "conn", "session", "group",
// "code" and "message". If "code" is missing, it is read from the bytes.
//
//	{"t":1700000000.25,"dir":"s2c","hex":"0102…"}

const maxOwnLine = 64 << 20 // bytes

// ownKeys are the keys that every line has.
var ownKeys = []string{`"n":`, `"conn":`, `"dir":`, `"kind":`, `"from":`, `"hex":`}

func sniffOwn(head []byte, _ bool) bool {
	b := scan.StartsLikeText(head)
	if !bytes.HasPrefix(b, []byte("{")) {
		return false
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	for _, k := range ownKeys {
		if at := bytes.Index(line, []byte(k)); at < 0 && len(line) < len(b) {
			return false
		} else if at < 0 && k != `"hex":` { // a line longer than head; the bytes are the last key
			return false
		}
	}
	return true
}

// sniffHook detects lines of a hook by the first one.
func sniffHook(head []byte, _ bool) bool {
	b := scan.StartsLikeText(head)
	if !bytes.HasPrefix(b, []byte("{")) {
		return false
	}
	line, rest, whole := bytes.Cut(b, []byte("\n"))
	if !whole && len(rest) == 0 && len(b) >= Head/2 { // longer than head
		return bytes.Contains(line, []byte(`"dir":"`)) && bytes.Contains(line, []byte(`"hex":"`))
	}
	var x ownFrame
	if json.Unmarshal(line, &x) != nil || schema.DirNamed(x.Dir) == schema.Both || x.Hex == "" {
		return false
	}
	_, err := hex.DecodeString(x.Hex)
	return err == nil
}

func readHook(l *reading) {
	l.hook = true
	readOwn(l)
}

// ownFrame is a parsed line.
type ownFrame struct {
	T       float64
	Time    string
	Conn    string
	Session int
	Dir     string
	Kind    string
	Via     []string
	Code    *uint32
	Group   string
	Name    string
	Message string
	Hex     string
	Offset  *int64
	Length  int64
	Resumed bool
	Flags   []string
	Note    string
}

func readOwn(l *reading) {
	ids := map[string]int64{}
	for l.more {
		object, why := l.in.NextObject(maxOwnLine)
		if why != "" {
			l.torn("%s", why)
			return
		}
		if object == nil {
			l.ended()
			return
		}
		pos := l.in.Offset()
		var x ownFrame
		err := json.Unmarshal(object, &x)
		data, bad := hex.DecodeString(x.Hex)
		l.in.SkipSeen(len(object))
		l.record()
		if err != nil || bad != nil {
			l.tornAt(pos, "not a frame record")
			return
		}
		l.own(&x, data, ids)
	}
}

// ReadTold reads the marks and notes of an export of Wirebench, JSON Lines or a table. ok is false if the file is not one.
func ReadTold(in *scan.Input) (told pcap.CaptureTold, ok bool) {
	head := in.Peek(Head)
	switch {
	case sniffOwn(head, false):
		return linesTold(in), true
	case sniffOwnTable(head, false):
		return tableTold(in), true
	}
	return told, false
}

// linesTold reads the marks and notes of JSON Lines.
func linesTold(in *scan.Input) (out pcap.CaptureTold) {
	for n := uint64(1); ; n++ {
		object, why := in.NextObject(maxOwnLine)
		if object == nil || why != "" {
			return out
		}
		if bytes.Contains(object, []byte(`"marked":`)) || bytes.Contains(object, []byte(`"remark":`)) {
			var x struct {
				Marked bool
				Remark string
			}
			if json.Unmarshal(object, &x) == nil && (x.Marked || x.Remark != "") && len(out.Frames) < pcap.MaxToldFrames {
				out.Frames = append(out.Frames, pcap.FrameTold{N: n, Mark: x.Marked, Note: x.Remark})
			}
		}
		in.SkipSeen(len(object))
	}
}

// own emits the frame of a line.
func (l *reading) own(x *ownFrame, data []byte, ids map[string]int64) {
	name := x.Conn + "#" + strconv.Itoa(x.Session)
	id, known := ids[name]
	if !known {
		id = int64(len(ids)) + 1
		if len(ids) < packet.MaxConns {
			ids[name] = id
		}
	}
	l.on(id, ownConn(x))
	f := transport.Frame{Kind: transport.KindOf(x.Kind), Bytes: data, Via: x.Via, Name: x.Name, Offset: transport.Unknown, Length: x.Length, Resumed: x.Resumed, Note: x.Note}
	f.Dir = schema.DirNamed(x.Dir)
	if f.At, _ = time.Parse(time.RFC3339Nano, x.Time); l.hook && x.T > 0 && x.T < 1<<40 {
		f.At = time.UnixMicro(int64(x.T * 1e6))
	}
	if x.Offset != nil {
		f.Offset = *x.Offset
	}
	if f.Key.Dir = f.Dir; x.Code != nil {
		f.Key.Code, f.HasKey = *x.Code, true
		if l.opts.Key != nil {
			if k, ok := l.opts.Key(f.Dir, data); ok && k.Code == *x.Code {
				f.Key = k
			}
		}
	}
	if l.hook && x.Code == nil && l.opts.Key != nil {
		if k, ok := l.opts.Key(f.Dir, data); ok {
			f.Key, f.HasKey = k, true
		}
	}
	if l.hook && x.Group != "" {
		f.Key.Group = x.Group
	}
	if f.Name == "" && len(x.Message) <= transport.MaxName {
		f.Name = x.Message
	}
	l.out.Marks = transport.MarksOf(x.Flags)
	l.out.From[0] = transport.Source{Packet: l.sum.Packets, Len: uint32(len(data))}
	f.From = l.out.From[:]
	l.pass(&f)
}

// ownConn returns the connection of a line.
func ownConn(x *ownFrame) transport.Conn {
	c := transport.Conn{Session: max(x.Session, 0)}
	client, server, _ := strings.Cut(x.Conn, "-")
	c.Client, _ = netip.ParseAddrPort(client)
	c.Server, _ = netip.ParseAddrPort(server)
	return c
}
