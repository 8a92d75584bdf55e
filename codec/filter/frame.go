package filter

import (
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Frame is a frame to judge, and what is known about it. Filters only read it.
type Frame struct {
	*transport.Frame
	Where
	Delta   time.Duration // since the frame before it
	Message *schema.Message
	Status  codec.Status // as far as known: OK also before it was decoded

	Done <-chan struct{} // when it is closed, the evaluation stops and its verdict is No; nil: it runs to its end
}

// Where is what a capture knows about a frame in addition to the frame itself.
type Where struct {
	Conn    string // client-server, each address:port, IPv6 in brackets
	Session int    // of those that reuse the addresses: 0 is the first
	Proto   string // what carried it: "tcp" or "udp"

	Mark, Note, Marker string // what people wrote
}

// note is what a transport found odd, and what people wrote.
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
	ffOfDay // not written: the time since midnight
	ffLast
)

// frameFieldInfo is what is known of a reserved name.
type frameFieldInfo struct {
	name  string
	class class
	words []string // class cWord: its values, in the order of their numbers
	doc   string
}

var (
	dirWords    = []string{"", "c2s", "s2c"}
	kindWords   = []string{"message", "control", "opaque", "problem"}
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
	ffTime:     {"time", cTime, nil, `time: "10:00:05", "2026-11-20 10:00:05" (UTC), or seconds since 1970`},
	ffDelta:    {"delta", cSpan, nil, `seconds since the frame before it, or "20ms"`},
	ffN:        {"n", cNumber, nil, "number of the frame, from 1"},
	ffConn:     {"conn", cText, nil, "connection: client-server, each address:port"},
	ffClient:   {"client", cText, nil, "address:port of the client"},
	ffServer:   {"server", cText, nil, "address:port of the server"},
	ffSrc:      {"src", cText, nil, "address:port of the sender"},
	ffDst:      {"dst", cText, nil, "address:port of the receiver"},
	ffSession:  {"session", cNumber, nil, "which session of the same addresses, from 0"},
	ffProto:    {"proto", cText, nil, "what carried it: tcp or udp"},
	ffVer:      {"ver", cNumber, nil, "version of the definition"},
	ffBuild:    {"build", cNumber, nil, "build of the client"},
	ffKind:     {"kind", cWord, kindWords, "message, control, opaque (enciphered) or problem"},
	ffGroup:    {"group", cText, nil, "group of the message"},
	ffMark:     {"mark", cText, nil, "the mark that was set on it"},
	ffNote:     {"note", cText, nil, "what was written about it"},
	ffTag:      {"tag", cText, nil, "words of its note behind a #: shop of #shop"},
	ffMarker:   {"marker", cText, nil, "the marker before it"},
	ffState:    {"state", cWord, stateWords, "how the definition fits: clean, under (bytes left), over (bytes missing), mismatch, unknown (no definition), error"},
	ffStatus:   {"status", cWord, statusWords, "ok, incomplete, illegal or unknown (no definition)"},
	ffErr:      {"err", cText, nil, `what is wrong, such as "offset-out-of-range"`},
	ffInfo:     {"info", cText, nil, "every text of the message, and its note"},
	ffInjected: {"injected", cBool, nil, "sent by the proxy alone"},
	ffModified: {"modified", cBool, nil, "changed by the proxy"},
	ffDropped:  {"dropped", cBool, nil, "held back by the proxy"},
	ffResumed:  {"resumed", cBool, nil, "found again after a problem"},
	ffDepth:    {"depth", cNumber, nil, "number of packets it was in: layers"},
	ffVia:      {"via", cText, nil, `what it was in, the outermost first: "cluster:1", "reliable:3", "chunk"`},
	ffFrom:     {"from", cNumber, nil, "numbers of the packets of the capture that it came in"},
	ffBytes:    {"bytes", cBytes, nil, "the whole message; bytes[4:2] are two from the fifth on"},
	ffOfDay:    {"", cTime, nil, ""},
}

// frameFields are the reserved names that can be written.
var frameFields = func() map[string]frameField {
	m := make(map[string]frameField, ffLast)
	for f := range ffOfDay {
		m[frameInfo[f].name] = f
	}
	return m
}()

// text is what a field of the frame says, "" if there is none.
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

// value is what a field of the frame is, those apart that are text, have several values or need the record. It is false if there is
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
	case ffDelta:
		return floatValue(x.Delta.Seconds()), true
	case ffN:
		return uintValue(uint64(x.N)), true
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

// end is one side of the connection.
func (x *Frame) end(client bool) string {
	a, b, _ := strings.Cut(x.Where.Conn, "-")
	if client {
		return a
	}
	return b
}

// state is how the definition fits. It is false if that takes the record, and there is none.
func (x *Frame) state(rec *codec.Record) (int, bool) {
	switch {
	case x.Kind == transport.Problem:
		return stateError, true
	case x.Message == nil:
		return stateUnknown, true
	case rec == nil:
		return 0, false
	case rec.Short:
		return stateOver, true
	case rec.Illegal:
		for i := range rec.Problems {
			switch rec.Problems[i].Code {
			case codec.PastFrame, codec.ContentsOutside, codec.OffsetOutside, codec.NotTerminated, codec.Truncated:
				return stateOver, true
			}
		}
		return stateMismatch, true
	case rec.Used < len(rec.Data) || len(rec.Gaps()) > 0:
		return stateUnder, true
	}
	return stateClean, true
}

// status is how decoding went. It is false if that takes the record, and there is none.
func (x *Frame) status(rec *codec.Record) (int, bool) {
	switch {
	case x.Message == nil:
		return statusUnknown, true
	case rec != nil:
		return int(rec.Status()), true
	}
	return int(x.Status), x.Status != codec.OK
}
