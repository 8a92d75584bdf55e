package filter

import (
	"cmp"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Frame is a frame to judge, with its context. Filters only read it.
type Frame struct {
	*transport.Frame
	Where
	Delta   time.Duration   // since the previous frame
	Message *schema.Message // its definition; nil: none
	Header  *schema.Message // of a frame without a definition: one of Env.Headers, or nil
	Status  codec.Status    // as far as known: also OK before decoding

	Done <-chan struct{} // closing it stops the evaluation with the verdict No; nil: no cancellation
}

// shape returns what has the fields of the frame, nil if nothing has.
func (x *Frame) shape() *schema.Message { return cmp.Or(x.Message, x.Header) }

// Where is the context of a frame in a capture.
type Where struct {
	Conn    string    // client-server, each address:port, IPv6 in brackets
	Session int       // of sessions that reuse the addresses: 0 is the first
	Stream  int       // number of the connection in the capture, from 0
	Proto   string    // transport protocol: "tcp" or "udp"
	Start   time.Time // of the first frame of the capture; zero if it is unknown

	Mark, Note, Marker string // entered by users
}

// note returns the notes of the transport and of users.
func (x *Frame) note() string {
	if x.Frame.Note == "" || x.Where.Note == "" {
		return x.Frame.Note + x.Where.Note
	}
	return x.Frame.Note + "\n" + x.Where.Note
}

// frameField is a reserved name.
type frameField uint8

const (
	ffOp frameField = iota
	ffName
	ffDir
	ffLen
	ffTime
	ffDelta
	ffN
	ffConn
	ffClient
	ffServer
	ffSrc
	ffDst
	ffSession
	ffProto
	ffVer
	ffBuild
	ffKind
	ffGroup
	ffMark
	ffNote
	ffTag
	ffMarker
	ffState
	ffStatus
	ffErr
	ffInfo
	ffInjected
	ffModified
	ffDropped
	ffResumed
	ffDepth
	ffVia
	ffFrom
	ffBytes
	ffSince
	ffIP
	ffSrcIP
	ffDstIP
	ffPort
	ffSrcPort
	ffDstPort
	ffStream
	ffIPVer
	ffOfDay // internal: the time since midnight
	ffLast
)

// frameFieldInfo describes a reserved name.
type frameFieldInfo struct {
	name  string
	class class
	words []string // class cWord: its values, in the order of their numbers
	doc   string
}

var (
	dirWords    = []string{"", "c2s", "s2c"}
	kindWords   = []string{"message", "control", "opaque", "problem", "packet"}
	stateWords  = []string{"clean", "under", "over", "mismatch", "unknown", "error"}
	statusWords = []string{"ok", "incomplete", "illegal", "unknown"}
)

const (
	stateClean = iota
	stateUnder
	stateOver
	stateMismatch
	stateUnknown
	stateError
)

const statusUnknown = 3

var frameInfo = [ffLast]frameFieldInfo{
	ffOp:       {"op", cNumber, nil, "code of the message"},
	ffName:     {"name", cText, nil, "name of the message"},
	ffDir:      {"dir", cWord, dirWords, "direction: c2s or s2c"},
	ffLen:      {"len", cNumber, nil, "bytes"},
	ffTime:     {"time", cTime, nil, `seconds since the first frame, "10:00:05", "2026-11-20 10:00:05" (UTC), or seconds since 1970`},
	ffDelta:    {"delta", cSpan, nil, `seconds since the previous frame, or "20ms"`},
	ffN:        {"n", cNumber, nil, "number of the frame, from 1"},
	ffConn:     {"conn", cText, nil, "connection: client-server, each address:port"},
	ffClient:   {"client", cText, nil, "address:port of the client"},
	ffServer:   {"server", cText, nil, "address:port of the server"},
	ffSrc:      {"src", cText, nil, "address:port of the sender"},
	ffDst:      {"dst", cText, nil, "address:port of the receiver"},
	ffSession:  {"session", cNumber, nil, "number of the session of the same addresses, from 0"},
	ffProto:    {"proto", cText, nil, "transport protocol: tcp or udp"},
	ffVer:      {"ver", cNumber, nil, "version of the definition"},
	ffBuild:    {"build", cNumber, nil, "build of the client"},
	ffKind:     {"kind", cWord, kindWords, "message, control, opaque (encrypted), problem or packet (an event, where they are listed)"},
	ffGroup:    {"group", cText, nil, "group of the message"},
	ffMark:     {"mark", cText, nil, "its mark"},
	ffNote:     {"note", cText, nil, "its note"},
	ffTag:      {"tag", cText, nil, "tags in its note, without the #: shop for #shop"},
	ffMarker:   {"marker", cText, nil, "the last marker before it"},
	ffState:    {"state", cWord, stateWords, "how the definition fits: clean, under (bytes left), over (bytes missing), mismatch (wrong values, or shared bytes), unknown (no definition), error"},
	ffStatus:   {"status", cWord, statusWords, "ok, incomplete, illegal or unknown (no definition)"},
	ffErr:      {"err", cText, nil, `its errors, such as "offset-out-of-range"`},
	ffInfo:     {"info", cText, nil, "all texts of the message, and its note"},
	ffInjected: {"injected", cBool, nil, "made by the proxy"},
	ffModified: {"modified", cBool, nil, "changed by the proxy"},
	ffDropped:  {"dropped", cBool, nil, "dropped by the proxy"},
	ffResumed:  {"resumed", cBool, nil, "first one after a problem"},
	ffDepth:    {"depth", cNumber, nil, "number of layers around it"},
	ffVia:      {"via", cText, nil, `layers around it, outermost first: "cluster:1", "reliable:3", "chunk"`},
	ffFrom:     {"from", cNumber, nil, "numbers of its packets in the capture"},
	ffBytes:    {"bytes", cBytes, nil, "the complete message; bytes[4:2] are two from offset 4"},
	ffSince:    {"t", cSpan, nil, `seconds since the first frame, or "20ms"`},
	ffIP:       {"ip", cText, nil, "addresses of both ends: 10.0.0.1, a network, 10.8.0.0/13, or a range, {10.0.0.1..10.0.0.9}"},
	ffSrcIP:    {"srcip", cText, nil, "address of the sender"},
	ffDstIP:    {"dstip", cText, nil, "address of the receiver"},
	ffPort:     {"port", cNumber, nil, "ports of both ends"},
	ffSrcPort:  {"srcport", cNumber, nil, "port of the sender"},
	ffDstPort:  {"dstport", cNumber, nil, "port of the receiver"},
	ffStream:   {"stream", cNumber, nil, "number of the connection among those of its transport protocol, from 0"},
	ffIPVer:    {"ipver", cNumber, nil, "version of the Internet protocol: 4 or 6"},
	ffOfDay:    {"", cTime, nil, ""},
}

// frameFields maps the reserved names.
var frameFields = func() map[string]frameField {
	m := make(map[string]frameField, ffLast)
	for f := range ffOfDay {
		m[frameInfo[f].name] = f
	}
	m["code"], m["number"] = ffOp, ffN // other names of the same
	return m
}()

// isWeak reports whether a message of the name takes precedence over the property of the frame: its name is newer than definitions.
func (f frameField) isWeak(name string) bool { return f >= ffIP || name != frameInfo[f].name }

// text returns the value of a text field of the frame, "" if it has none.
func (f frameField) text(x *Frame) string {
	switch f {
	case ffConn:
		return x.Where.Conn
	case ffClient:
		return x.end(true)
	case ffServer:
		return x.end(false)
	case ffSrc:
		return x.end(x.Dir != schema.ToClient)
	case ffDst:
		return x.end(x.Dir == schema.ToClient)
	case ffSrcIP:
		return hostOf(x.end(x.Dir != schema.ToClient))
	case ffDstIP:
		return hostOf(x.end(x.Dir == schema.ToClient))
	case ffProto:
		return x.Proto
	case ffGroup:
		return x.Key.Group
	case ffMark:
		return x.Mark
	case ffNote:
		return x.note()
	case ffMarker:
		return x.Marker
	}
	return ""
}

// value returns the value of other fields of the frame, except those that have several values or need the record. ok is false if there is
// none.
func (f frameField) value(x *Frame) (v value, ok bool) {
	switch f {
	case ffOp:
		return intValue(int64(x.Key.Code)), x.HasKey
	case ffDir:
		return intValue(int64(x.Dir)), x.Dir != schema.Both
	case ffLen:
		return intValue(int64(len(x.Bytes))), true
	case ffTime:
		return intValue(x.At.UnixNano()), !x.At.IsZero()
	case ffOfDay:
		return intValue(mod(x.At.UnixNano(), int64(24*time.Hour))), !x.At.IsZero()
	case ffSince:
		return floatValue(x.At.Sub(x.Start).Seconds()), !x.At.IsZero() && !x.Start.IsZero()
	case ffDelta:
		return floatValue(x.Delta.Seconds()), true
	case ffN:
		return uintValue(uint64(x.N)), true
	case ffSrcPort, ffDstPort:
		port, ok := portOf(x.end((f == ffSrcPort) == (x.Dir != schema.ToClient)))
		return intValue(port), ok
	case ffIPVer:
		version, ok := family(hostOf(x.end(true)))
		return intValue(version), ok
	case ffStream:
		return intValue(int64(x.Stream)), true
	case ffSession:
		return intValue(int64(x.Session)), true
	case ffKind:
		return intValue(int64(x.Kind)), true
	case ffInjected:
		return boolValue(x.Marks&transport.Fake != 0), true
	case ffModified:
		return boolValue(x.Marks&transport.Changed != 0), true
	case ffDropped:
		return boolValue(x.Marks&transport.Silenced != 0), true
	case ffResumed:
		return boolValue(x.Resumed), true
	case ffDepth:
		return intValue(int64(len(x.Via))), true
	case ffBytes:
		return bytesValue(x.Bytes), true
	}
	return value{}, false
}

func mod(a, b int64) int64 { return (a%b + b) % b }

// end returns the address of one side of the connection.
func (x *Frame) end(client bool) string {
	a, b, _ := strings.Cut(x.Where.Conn, "-")
	if client {
		return a
	}
	return b
}

// state returns how well the definition fits. ok is false if that requires the record, and there is none.
func (x *Frame) state(rec *codec.Record) (int, bool) {
	switch {
	case x.Kind == transport.Problem:
		return stateError, true
	case x.Message == nil:
		return stateUnknown, true
	case rec == nil:
		return 0, false
	case rec.PastEnd():
		return stateOver, true
	case rec.Illegal:
		return stateMismatch, true
	}
	return [...]int{codec.Exact: stateClean, codec.Leftover: stateUnder, codec.Misplaced: stateMismatch}[rec.Fit()], true
}

// status returns the result of decoding. ok is false if that requires the record, and there is none.
func (x *Frame) status(rec *codec.Record) (int, bool) {
	switch {
	case x.Message == nil:
		return statusUnknown, true
	case rec != nil:
		return int(rec.Status()), true
	}
	return int(x.Status), x.Status != codec.OK
}
