package pcap

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// The texts in which Wireshark and tshark write packets with their bytes. A Reader reads them as it reads a capture file: what comes out
// are the packets that went in, as far as the text has them.
//
//	tshark-json     -T json -x, -T jsonraw; "Export Packet Dissections, As JSON"
//	tshark-ek       -T ek -x
//	pdml            -T pdml; "As PDML XML"
//	wireshark-text  -x, -V -x, -P -x; "As Plain Text" with the bytes
//
// What they leave open:
//
//   - The link type is the number that Wireshark's own reader gives it, where the text tells it; else it is told by the names of the layers,
//     or by what the first packet looks like.
//   - jsonraw has no times. A list of packets has times since the first one, which then count from 1970.
//   - PDML has the bytes of fields and no whole packet: it is put together of them. It ends where no field has a byte.
//   - A packet has the number that the text gives, so that it is that of Wireshark, also where some were left out by a filter.

// Bounds of exported texts.
const (
	ExportHead      = 64 << 10 // bytes that tell the form
	maxExportPacket = 64 << 20 // bytes of text of one packet
	maxExportNumber = 1 << 24  // the largest number of a packet that is believed; with it others count on
)

// export is a form of exported text.
type export struct {
	id    string // Reader.Format
	sniff func(head []byte) bool
	next  func(r *Reader, to *exported) (more bool, err error)
}

var exports = []export{
	{"tshark-ek", sniffEK, nextEK},
	{"tshark-json", sniffJSON, nextJSON},
	{"pdml", sniffPDML, nextPDML},
	{"wireshark-text", sniffShown, (*Reader).nextShown},
}

// exported is a packet as a text shows it.
type exported struct {
	data   []byte
	number uint64
	orig   uint64
	at     time.Time
	link   packet.LinkType
	linked bool  // link is known
	pos    int64 // where it starts in the text
}

// exportOf tells the form of a text by its first bytes; nil if it is none.
func exportOf(head []byte) *export {
	for i := range exports {
		if exports[i].sniff(head) {
			return &exports[i]
		}
	}
	return nil
}

// SniffExport tells by the first bytes of a file (64 KiB are enough) whether it is a text in which Wireshark or tshark wrote packets with
// their bytes: "tshark-json", "tshark-ek", "pdml", "wireshark-text" or "".
func SniffExport(head []byte) string {
	if order := scan.UTF16Order(head); order != nil {
		head = scan.AppendUTF8(nil, head[2:], order)
	}
	head = bytes.TrimPrefix(head, []byte(scan.ByteOrderMark))
	if x := exportOf(head[:min(len(head), ExportHead)]); x != nil {
		return x.id
	}
	return ""
}

// startExport looks whether the input is an exported text.
func (r *Reader) startExport() bool {
	head := r.in.Peek(ExportHead)
	if order := scan.UTF16Order(head); order != nil { // as a shell of Windows writes what a program prints
		r.in = scan.NewInput(scan.NewUTF16(r.in, order))
		r.in.Peek(1)
		head = r.in.Peek(ExportHead)
	}
	if bytes.HasPrefix(head, []byte(scan.ByteOrderMark)) {
		r.in.Skip(int64(len(scan.ByteOrderMark)))
		head = r.in.Peek(ExportHead)
	}
	if r.export = exportOf(head); r.export == nil {
		return false
	}
	r.form = r.export.id
	return true
}

// nextExported reads the next packet of an exported text.
func (r *Reader) nextExported() error {
	for {
		x := &r.exported
		*x = exported{data: x.data[:0], pos: r.in.Offset()}
		more, err := r.export.next(r, x)
		if err != nil {
			return err
		}
		if !more {
			return r.end()
		}
		if len(x.data) == 0 {
			continue // a packet whose bytes were not written
		}
		if len(x.data) > MaxPacket {
			return r.torn("a packet of %d bytes cannot be right", len(x.data))
		}
		r.takeExported(x)
		return nil
	}
}

func (r *Reader) takeExported(x *exported) {
	n := r.packet.N + 1
	if x.number > uint64(n) && x.number <= maxExportNumber {
		n = uint32(x.number)
	}
	link := x.link
	if !x.linked {
		if len(r.ifaces) == 0 {
			link = packet.GuessLink(x.data)
		} else {
			link = r.ifaces[len(r.ifaces)-1].Link
		}
	}
	iface := slices.IndexFunc(r.ifaces, func(i Interface) bool { return i.Link == link })
	if iface < 0 && len(r.ifaces) < maxInterfaces {
		iface = len(r.ifaces)
		r.ifaces = append(r.ifaces, Interface{Link: link})
	}
	orig := uint32(len(x.data))
	if x.orig > uint64(orig) && x.orig <= MaxPacket {
		orig = uint32(x.orig)
	}
	r.packet = packet.Packet{
		N: n, At: x.at, Interface: max(iface, 0), Link: link, Data: slices.Clip(x.data), Orig: orig, Pos: x.pos,
	}
}

// tsharkLinks are the numbers that Wireshark gives link types (WTAP_ENCAP_... of wiretap), as frame.encap_type shows them.
var tsharkLinks = map[string]packet.LinkType{
	"1": packet.LinkEthernet, "4": packet.LinkPPP, "7": packet.LinkRaw, "15": packet.LinkNull, "25": packet.LinkSLL, "129": packet.LinkIPv4, "130": packet.LinkIPv6, "174": packet.LinkLoop, "210": packet.LinkSLL2,
}

// encapsulated takes the link type from a number of Wireshark.
func (x *exported) encapsulated(number string) {
	if number == "" {
		return
	}
	x.linked = true
	link, ok := tsharkLinks[number]
	if !ok {
		link = packet.LinkUnknown
	}
	x.link = link
}

// took takes a time as texts of Wireshark have it: seconds since 1970, or a date.
func (x *exported) took(text string) {
	if s, ok := scan.ParseStamp(text); ok && x.at.IsZero() {
		x.at = s.Moment(time.Time{})
	}
}

// hex appends bytes that are written as hex digits, and nothing else.
func (x *exported) hex(text string) bool {
	if len(text) == 0 || len(text)%2 != 0 || len(text)/2 > MaxPacket {
		return false
	}
	before := len(x.data)
	out, err := hex.AppendDecode(x.data, []byte(text))
	if err != nil {
		x.data = x.data[:before]
		return false
	}
	x.data = out
	return true
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 63)
	if err != nil {
		return 0
	}
	return n
}
