package pcap

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// Bounds of capture files.
const (
	MaxPacket      = 16 << 20 // bytes of one packet with its metadata
	MaxUnpacked    = 16 << 30 // uncompressed bytes of a compressed file
	maxInterfaces  = 4096     // in a section of a pcapng
	maxComments    = 16       // of a packet
	maxFileNotes   = 1000     // comments of sections and interfaces
	pcapHeader     = 24
	pcapRecord     = 16
	maxPacketCount = math.MaxUint32
)

// ErrFormat is the error for bytes that are not a capture file.
var ErrFormat = errors.New("neither pcap nor pcapng")

// Interface describes a capture interface.
type Interface struct {
	Name       string
	Link       packet.LinkType
	SnapLen    uint32 // maximum captured bytes of a packet; 0 = no limit
	resolution uint8  // if_tsresol
	offset     int64  // if_tsoffset, seconds
}

// Reader reads a pcap or pcapng file, or a text in which Wireshark exported packets, compressed with gzip or not. Its memory is bounded by
// MaxPacket (for texts: by the text of one packet, 64 MiB) and the interfaces and comments of a section.
type Reader struct {
	in      *scan.Input
	form    string
	packed  bool
	big     bool // the file or section is big-endian
	nanos   bool // pcap: fractions are nanoseconds
	packet  packet.Packet
	packets uint32 // that were read
	ifaces  []Interface
	notes   []string
	made    bool   // pcapng: the packets of the section are made up
	lost    uint32 // packets that could not be read, in blocks that could be skipped
	failed  error

	record func(body []byte) // is called with the blocks of recorded frames, and with nil at the start of a section; nil: they are skipped

	// For exported texts.
	export   *export
	exported exported
	shown    shown
}

// SniffCapture detects the format of a file from its first bytes (4 are enough): "pcap", "pcapng", "gzip" or "".
func SniffCapture(head []byte) string {
	if len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b {
		return "gzip"
	}
	if len(head) < 4 {
		return ""
	}
	switch binary.BigEndian.Uint32(head) {
	case pcapMicro, pcapNano, pcapMicroSwapped, pcapNanoSwapped:
		return "pcap"
	case blockSection:
		return "pcapng"
	}
	return ""
}

// NewReader reads the header of a capture file. The error wraps ErrFormat if it is not one, else it is an error of r.
func NewReader(r io.Reader) (*Reader, error) {
	p := &Reader{in: scan.NewInput(r)}
	if SniffCapture(p.in.Peek(4)) == "gzip" {
		packed, err := gzip.NewReader(p.in)
		if err != nil {
			return nil, fmt.Errorf("%w: it starts like gzip, but %w", ErrFormat, err)
		}
		p = &Reader{in: scan.NewInput(io.LimitReader(packed, MaxUnpacked)), packed: true}
	}
	head := p.in.Peek(4)
	p.form = SniffCapture(head)
	switch {
	case p.form == "pcap":
		if err := p.pcapHead(); err != nil {
			return nil, err
		}
	case p.form == "pcapng":
	case p.in.Failure() != nil && !scan.IsDamage(p.in.Failure()):
		return nil, p.in.Failure()
	case len(head) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrFormat)
	case p.startExport():
	default:
		p.form = ""
		return nil, fmt.Errorf("%w: it starts with % x", ErrFormat, head)
	}
	return p, nil
}

// Format is "pcap", "pcapng", or one of SniffExport, followed by ".gz" if the file was compressed.
func (r *Reader) Format() string {
	if r.packed {
		return r.form + ".gz"
	}
	return r.form
}

// Exported reports whether the file is a text in which Wireshark or tshark wrote packets with their bytes.
func (r *Reader) Exported() bool { return r.export != nil }

// Interfaces returns the interfaces of the section that contains the last packet.
func (r *Reader) Interfaces() []Interface { return r.ifaces }

// Comments returns the comments of the sections and interfaces read so far.
func (r *Reader) Comments() []string { return r.notes }

// Next returns the next packet, which is valid until the next call. The error is io.EOF at the end of a complete file, a *Torn where a file
// becomes unreadable, else an error of the underlying reader. Later calls return the same error.
func (r *Reader) Next() (*packet.Packet, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.packet.N == maxPacketCount {
		r.failed = r.torn("the file has too many packets to number")
	} else if r.export != nil {
		r.failed = r.nextExported()
	} else if r.form == "pcap" {
		r.failed = r.nextPcap()
	} else {
		r.failed = r.nextBlock()
	}
	if r.failed != nil {
		return nil, r.failed
	}
	r.packets++
	return &r.packet, nil
}

// torn returns a *Torn at the current position, or the error of the underlying reader if that failed.
func (r *Reader) torn(format string, args ...any) error {
	return r.tornAt(r.in.Offset(), format, args...)
}

func (r *Reader) tornAt(pos int64, format string, args ...any) error {
	err := r.in.Failure()
	if err != nil && !scan.IsDamage(err) {
		return err
	}
	t := &packet.Torn{Pos: pos, Packets: r.packets, Why: fmt.Sprintf(format, args...)}
	if err != nil {
		t.Why += " (" + err.Error() + ")"
	}
	return t
}

// end returns the error for the end of the input.
func (r *Reader) end() error {
	if r.in.Failure() != nil {
		return r.torn("the file is damaged")
	}
	if r.packed && r.in.Offset() >= MaxUnpacked {
		return r.torn("the file unpacks to more than %d GiB", MaxUnpacked>>30)
	}
	return io.EOF
}

func (r *Reader) u16(b []byte) uint16 {
	if r.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (r *Reader) u32(b []byte) uint32 {
	if r.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *Reader) u64(b []byte) uint64 {
	if r.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}
