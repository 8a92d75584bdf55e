package envelope

import (
	"strings"

	"wirebench/defs/source"
)

// Carrier is the protocol below the envelope.
type Carrier uint8

// The carriers.
const (
	TCP Carrier = iota
	UDP
	WebSocket
	TERA
	SubSpace
)

// carriers are the carriers, in the order of the constants.
var carriers = []struct {
	keyword
	datagrams bool   // over UDP
	frames    string // the lines about framing and code; "": they are those of the text
}{
	TCP:       {keyword: keyword{name: "tcp", doc: "The messages are in two streams."}},
	UDP:       {keyword: keyword{name: "udp", doc: "The messages are in datagrams."}, datagrams: true},
	WebSocket: {keyword: keyword{name: "websocket", doc: "The messages are in WebSocket messages, over TCP."}},
	TERA: {
		keyword: keyword{name: "tera", doc: "The messages are in TERA's streams: key exchange, cipher, checksums, length and code."},
		frames:  "frame length u16 le including all keep min 4 max 65535\ncode u16 le at 2\n",
	},
	SubSpace: {
		keyword:   keyword{name: "subspace", doc: "The messages are in SubSpace's packets: cipher, acknowledgements, clusters and chunks."},
		datagrams: true, frames: "frame datagram\ncode u8\n",
	},
}

// carrierWords are the words for carriers.
var carrierWords = func() (all []keyword) {
	for _, c := range carriers {
		all = append(all, c.keyword)
	}
	return all
}()

// Dialect returns the dialect of definitions whose messages have a carrier of their own, "" for other carriers.
func (c Carrier) Dialect() string {
	if carriers[c].frames == "" {
		return ""
	}
	return carriers[c].name
}

// Datagrams reports whether a carrier is over UDP.
func (c Carrier) Datagrams() bool { return carriers[c].datagrams }

// carried completes and checks an envelope whose carrier has framing and code of its own.
func (p *parser) carried(common *block) {
	lines := carriers[p.e.Carrier].frames
	if lines == "" {
		return
	}
	own, _ := Parse(source.New("", lines))
	want := &own.States[0]
	if b := &p.blocks[0]; len(p.blocks) > 1 || len(b.s.Rules)+len(b.s.Bundles)+len(b.fields[0])+len(b.fields[1]) > 0 || p.compresses() ||
		p.e.Cipher[0].Kind != NoCipher || p.e.Cipher[1].Kind != NoCipher {
		p.report(misplaced(p.seen["carrier"], "messages over "+p.e.Carrier.Dialect()+" have neither states, rules and bundles nor compression, cipher, fields and checksums of their own", "remove these lines"))
	}
	for w := range 2 {
		if common.frame[w] && common.s.Frame[w].String() != want.Frame[w].String() || common.code[w] && common.s.Code[w].String() != want.Code[w].String() {
			p.report(misplaced(p.seen["carrier"], "messages over "+p.e.Carrier.Dialect()+" have a framing and a code of their own", "write nothing about them, or: "+strings.ReplaceAll(strings.TrimSpace(lines), "\n", "; ")))
			break
		}
	}
	common.s.Frame, common.s.Code = want.Frame, want.Code
	common.frame, common.code = [2]bool{true, true}, [2]bool{true, true}
}
