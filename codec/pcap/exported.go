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

// The texts in which Wireshark and tshark write packets with their bytes. A Reader reads them like a capture file and returns the original
// packets as far as the text has them.
//
//	tshark-json     -T json -x, -T jsonraw; "Export Packet Dissections, As JSON"
//	tshark-ek       -T ek -x
//	pdml            -T pdml; "As PDML XML"
//	wireshark-text  -x, -V -x, -P -x; "As Plain Text" with the bytes
//
// Details that the forms leave open:
//
//   - The link type is the number that Wireshark's own reader gives it, if the text has it; else it is inferred from the names of the layers,
//     or from the bytes of the first packet.
//   - jsonraw has no times. Times in a list of packets are relative to the first one, which is set to 1970.
//   - PDML has the bytes of fields, from which packets are assembled. A packet ends at the first byte that no field has.
//   - Packets have the numbers of the text, which are those of Wireshark even if a filter excluded some.

// Bounds of exported texts.
const (
	ExportHead      = 64 << 10 // bytes from which the form is detected
	maxExportPacket = 64 << 20 // bytes of text of one packet
	maxExportNumber = 1 << 24  // the largest packet number that is accepted; after a larger one packets are counted
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

// exported is a packet as it is in a text.
type exported struct {
	data   []byte
	number uint64
	orig   uint64
	at     time.Time
	link   packet.LinkType
	linked bool  // link is known
	pos    int64 // of its first byte in the text
}

// exportOf returns the form of a text that starts with head; nil if it is none.
func exportOf(head []byte) *export {
	for i := range exports {
		if exports[i].sniff(head) {
			return &exports[i]
		}
	}
	return nil
}

// SniffExport detects from the first bytes of a file (64 KiB are enough) whether it is a text in which Wireshark or tshark wrote packets
// with their bytes. It returns "tshark-json", "tshark-ek", "pdml", "wireshark-text" or "".
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

// startExport reports whether the input is an exported text, and prepares to read it.
func (r *Reader) startExport() bool {
	head := r.in.Peek(ExportHead)
	if order := scan.UTF16Order(head); order != nil { // as a Windows shell writes the output of a program
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
			continue // a packet without its bytes
		}
		if len(x.data) > MaxPacket {
			return r.torn("a packet size of %d bytes is invalid", len(x.data))
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

// tsharkLinks maps Wireshark's numbers of link types (WTAP_ENCAP_... of wiretap, shown as frame.encap_type).
var tsharkLinks = map[string]packet.LinkType{
	"1": packet.LinkEthernet, "4": packet.LinkPPP, "7": packet.LinkRaw, "15": packet.LinkNull, "25": packet.LinkSLL, "129": packet.LinkIPv4, "130": packet.LinkIPv6, "174": packet.LinkLoop, "210": packet.LinkSLL2,
}

// encapsulated sets the link type from a number of Wireshark.
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

// took sets the time from a text of Wireshark: seconds since 1970, or a date.
func (x *exported) took(text string) {
	if s, ok := scan.ParseStamp(text); ok && x.at.IsZero() {
		x.at = s.Moment(time.Time{})
	}
}

// hex appends bytes written as hex digits and reports whether text holds nothing else.
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
