package subspace

import (
	"encoding/binary"
	"strconv"

	"wirebench/codec/transport"
)

// The types of core packets: the byte after 00. Source: spec of the core protocol, sections 2.1 and 7.
const (
	coreInit         = 0x01
	coreKey          = 0x02
	coreReliable     = 0x03
	coreAck          = 0x04
	coreSync         = 0x05
	coreSyncAnswer   = 0x06
	coreDisconnect   = 0x07
	coreChunk        = 0x08
	coreChunkTail    = 0x09
	coreStream       = 0x0A
	coreCancel       = 0x0B
	coreCancelAck    = 0x0C
	coreNothing      = 0x0D
	coreCluster      = 0x0E
	coreOffer        = 0x10
	coreAccept       = 0x11
	coreExpand       = 0x12
	coreExpanded     = 0x13
	coreHeader       = 2 // bytes: 00 and the type
	clusterHeader    = coreHeader
	chunkHeader      = coreHeader
	initSize         = 8 // u32 client key, u16 version
	keySize          = 6 // u32 server key
	reliableHeader   = 6 // i32 sequence
	ackSize          = 6 // i32 sequence
	syncSize         = 14
	oldSyncSize      = 6 // of old servers: only the time
	syncAnswerSize   = 10
	disconnectSize   = 2
	streamHeader     = 6 // i32 total
	cancelSize       = 2
	offerSize        = 12 // 2 keys and 2 undocumented bytes; without these 10
	oldOfferSize     = 10
	acceptSize       = 8
	expandSize       = 6
	expandedSize     = 86
	sequenceAt       = 2
	keyAt            = 2 // offset in init, key, offer and accept
	versionAt        = 6
	timeAt           = 2 // offset in sync, and of its copy in the answer
	sentAt           = 6
	receivedAt       = 10
	answerTimeAt     = 6
	totalAt          = 2
	versionVIE       = 0x01
	versionContinuum = 0x11
)

const (
	maxDepth  = 16   // nesting depth of packets
	typesEnd  = 0x40 // game types are below
	usualSize = 512  // bytes of a datagram that all servers accept complete
)

const noteType = "servers know no game types of 0x40 and above"

// wrap describes an enclosing packet.
type wrap struct {
	kind wrapKind
	n    int32 // the index in a cluster, from 0; the number of a reliable packet
}

type wrapKind uint8

const (
	inCluster wrapKind = iota
	inReliable
	inChunk
	inStream
)

// read reads a packet: a deciphered datagram, or the content of another packet. off is its offset in the captured payload.
func (t *Transport) read(w *way, data []byte, off uint32) {
	switch {
	case len(data) == 0:
		t.problem(w, data, off, "an empty packet")
	case data[0] != 0:
		t.message(w, data, off, nil, "", false)
	case len(data) == 1:
		t.problem(w, data, off, "a core packet without a type: 00 alone")
	case len(t.path) >= maxDepth && carries(data[1]):
		t.problem(w, data, off, "packets nested more than 16 deep")
	case t.rewriter != nil:
		t.rewriter.core(w, data, off)
	default:
		t.core(w, data, off)
	}
}

// carries reports whether core packets of a type contain other packets.
func carries(code byte) bool {
	return code == coreReliable || code == coreCluster
}

// core reads a core packet of at least its 2 bytes of type.
func (t *Transport) core(w *way, data []byte, off uint32) {
	switch data[1] {
	case coreReliable:
		t.reliable(w, data, off)
	case coreCluster:
		t.cluster(w, data, off)
	case coreChunk, coreChunkTail:
		t.chunk(w, data, off)
	case coreStream:
		t.stream(w, data, off)
	case coreAck:
		t.ack(w, data, off)
	case coreSync:
		t.sync(w, data, off)
	case coreSyncAnswer:
		t.control(w, data, off, sized(len(data) == syncAnswerSize))
	case coreDisconnect:
		t.disconnect(w, data, off)
	case coreCancel:
		t.cancel(w, data, off)
	case coreCancelAck:
		t.cancelled(w, data, off)
	case coreInit, coreKey, coreOffer, coreAccept:
		t.control(w, data, off, "an unexpected part of a handshake, or one of the wrong size")
	case coreNothing:
		t.control(w, data, off, "")
	case coreExpand:
		t.control(w, data, off, sized(len(data) >= expandSize))
	case coreExpanded:
		t.control(w, data, off, sized(len(data) == expandedSize))
	default:
		t.control(w, data, off, "a core packet of an undocumented type")
	}
}

// sized returns the note on a packet, which depends on whether its size is valid.
func sized(right bool) string {
	if right {
		return ""
	}
	return "servers ignore it because of its size"
}

// cluster reads packets that each have a length byte before them. A length of 0 ends the cluster, as in asss.
func (t *Transport) cluster(w *way, data []byte, off uint32) {
	if len(data) < clusterHeader+2 {
		t.problem(w, data, off, "a cluster of "+strconv.Itoa(len(data))+" bytes: too few for a packet in it")
		return
	}
	lost := t.lost
	t.lost = 0 // a packet with a length is complete
	defer func() { t.lost = lost }()
	at := clusterHeader
	for item := int32(0); at < len(data); item++ {
		size, from := int(data[at]), at+1
		note := ""
		switch {
		case size > 0 && from+size <= len(data):
		case t.rewriter != nil:
			note = "the rest of a cluster that servers do not read: it is not forwarded"
		case size == 0:
			note = "a cluster with a packet of length 0: servers stop reading it there"
		default:
			note = "a cluster with a packet of " + strconv.Itoa(size) + " bytes, of which there are " + strconv.Itoa(len(data)-from)
		}
		if note != "" {
			t.problem(w, data[at:], off+uint32(at), note)
			return
		}
		t.path = append(t.path, wrap{inCluster, item})
		t.read(w, data[from:from+size], off+uint32(from))
		t.path = t.path[:len(t.path)-1]
		at = from + size
	}
}

// disconnect ends the session.
func (t *Transport) disconnect(w *way, data []byte, off uint32) {
	if len(data) == disconnectSize {
		t.refused()
	}
	t.control(w, data, off, sized(len(data) == disconnectSize))
	if len(data) == disconnectSize {
		t.session.ended = true
	}
}

// names holds the names of consecutive reliable packets, formatted in bulk because almost every message has one in Via.
type names struct {
	first  int32 // number of the first name, a multiple of nameRun
	text   string
	starts [nameRun + 1]uint16
}

const nameRun = 64

const reliableName = "reliable:"

func (n *names) of(number int32) string {
	first := number &^ (nameRun - 1)
	if n.text == "" || n.first != first {
		n.fill(first)
	}
	i := number - first
	return n.text[n.starts[i]:n.starts[i+1]]
}

func (n *names) fill(first int32) {
	text := make([]byte, 0, nameRun*(len(reliableName)+10))
	for i := range int32(nameRun) {
		n.starts[i] = uint16(len(text))
		text = append(text, reliableName...)
		text = strconv.AppendInt(text, int64(first)+int64(i), 10)
	}
	n.starts[nameRun] = uint16(len(text))
	n.first, n.text = first, string(text)
}

// clusterNames are the names of the first indexes in a cluster.
var clusterNames = func() (names [256]string) {
	for i := range names {
		names[i] = "cluster:" + strconv.Itoa(i)
	}
	return names
}()

// name returns the name of an enclosing packet in Via.
func (p wrap) name(w *way) string {
	switch p.kind {
	case inCluster:
		if int(p.n) < len(clusterNames) {
			return clusterNames[p.n]
		}
		return "cluster:" + strconv.Itoa(int(p.n))
	case inReliable:
		return w.names.of(p.n)
	case inChunk:
		return "chunk"
	default:
		return "stream"
	}
}

// number reads the i32 at the start of reliable packets and acks.
func number(data []byte) int32 {
	return int32(binary.LittleEndian.Uint32(data[sequenceAt:]))
}

var _ transport.Waiter = (*Transport)(nil)
