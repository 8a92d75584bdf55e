package capture

import (
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Bounds of capture files.
const (
	MaxPacket      = 16 << 20 // bytes of one packet with what the file says about it
	MaxUnpacked    = 16 << 30 // bytes of a file that came packed
	maxInterfaces  = 4096     // in a section of a pcapng
	maxComments    = 16       // of a packet
	maxFileNotes   = 1000     // comments of sections and interfaces
	pcapHeader     = 24
	pcapRecord     = 16
	maxPacketCount = math.MaxUint32
)

// ErrFormat says that the bytes are no capture file.
var ErrFormat = errors.New("neither pcap nor pcapng")

// LinkType says what a packet starts with: a number of the registry at tcpdump.org/linktypes.html.
type LinkType uint32

// Packet is a captured packet.
type Packet struct {
	N         uint32    // in the file, from 1, as Wireshark counts
	At        time.Time // UTC; zero where the file does not tell
	Interface int       // index in Reader.Interfaces of the section
	Link      LinkType
	Data      []byte // as much as was kept of it; valid until the next call of Next
	Orig      uint32 // bytes that it had on the wire
	Comment   string // several are parted by newlines
	Flow      Flow
	Pos       int64 // of Data in the (unpacked) file
}

// Flow is the direction of a packet at the interface that caught it.
type Flow uint8

// The flows. The numbers are those of pcapng (epb_flags, bits 0 and 1).
const (
	NoFlow   Flow = iota
	Inbound       // came in at the interface
	Outbound      // went out
)

// Interface is where packets were caught.
type Interface struct {
	Name       string
	Link       LinkType
	SnapLen    uint32 // bytes kept of a packet at most; 0 = all
	resolution uint8  // if_tsresol
	offset     int64  // if_tsoffset, seconds
}

// Torn says where a capture file stops being readable. What stands before it was read.
type Torn struct {
	Pos     int64  // bytes from the start of the (unpacked) file
	Packets uint32 // that were read
	Why     string
}

func (t *Torn) Error() string {
	return fmt.Sprintf("after packet %d, at byte %d: %s", t.Packets, t.Pos, t.Why)
}

// Reader reads a pcap or pcapng file, or a text in which Wireshark exported packets, packed with gzip or not. Its memory is bounded by
// MaxPacket (of texts: by what shows one packet, 64 MiB) and what the interfaces and
// comments of a section take.
type Reader struct {
	in      input
	form    string
	packed  bool
	big     bool // byte order of the file or section
	nanos   bool // pcap: fractions are nanoseconds
	packet  Packet
	packets uint32 // that were read
	ifaces  []Interface
	notes   []string
	made    bool   // pcapng: the packets of the section are made up
	lost    uint32 // packets that could not be read, and what follows them could
	failed  error

	record func(body []byte) // takes the blocks of recorded frames, and nil where a section begins; nil: they are passed over

	// Of texts that Wireshark exported.
	export   *export
	exported exported
	shown    shown
}

// SniffCapture tells by the first bytes of a file (4 are enough) what it can be: "pcap", "pcapng", "gzip" or "".
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

// NewReader reads the head of a capture file. The error is ErrFormat, wrapped, if it is none, else that of r.
func NewReader(r io.Reader) (*Reader, error) {
	p := &Reader{in: input{r: r}}
	if SniffCapture(p.in.peek(4)) == "gzip" {
		packed, err := gzip.NewReader(&p.in)
		if err != nil {
			return nil, fmt.Errorf("%w: it starts like gzip, but %w", ErrFormat, err)
		}
		p = &Reader{in: input{r: io.LimitReader(packed, MaxUnpacked)}, packed: true}
	}
	head := p.in.peek(4)
	p.form = SniffCapture(head)
	switch {
	case p.form == "pcap":
		if err := p.pcapHead(); err != nil {
			return nil, err
		}
	case p.form == "pcapng":
	case p.in.failure() != nil && !isDamage(p.in.failure()):
		return nil, p.in.failure()
	case len(head) == 0:
		return nil, fmt.Errorf("%w: there are no bytes", ErrFormat)
	case p.startExport():
	default:
		p.form = ""
		return nil, fmt.Errorf("%w: it starts with % x", ErrFormat, head)
	}
	return p, nil
}

// Read gives the bytes that were looked at again, and then the rest: gzip reads through it.
func (in *input) Read(to []byte) (int, error) {
	have := in.peek(1)
	if len(have) == 0 {
		if in.err == nil {
			return 0, io.ErrNoProgress
		}
		return 0, in.err
	}
	n := copy(to, in.buf[in.from:in.to])
	in.from += n
	in.pos += int64(n)
	return n, nil
}

// isDamage reports whether err speaks of the file and not of the world.
func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
}

// Format is "pcap", "pcapng", or one of SniffExport, with ".gz" behind it if the file came packed.
func (r *Reader) Format() string {
	if r.packed {
		return r.form + ".gz"
	}
	return r.form
}

// Interfaces are those of the section that the last packet is in.
func (r *Reader) Interfaces() []Interface { return r.ifaces }

// Comments are those of the sections and interfaces that were read.
func (r *Reader) Comments() []string { return r.notes }

// Next reads the next packet, which is valid until the call after. The error is io.EOF at the end of a whole file, a *Torn where a file
// cannot be read on, else that of the reader below. It is the same from then on.
func (r *Reader) Next() (*Packet, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.packet.N == maxPacketCount {
		r.failed = r.torn("the packets are more than can be counted")
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

// torn is the error at the place that was reached, unless the reader below failed.
func (r *Reader) torn(format string, args ...any) error {
	err := r.in.failure()
	if err != nil && !isDamage(err) {
		return err
	}
	t := &Torn{Pos: r.in.pos, Packets: r.packets, Why: fmt.Sprintf(format, args...)}
	if err != nil {
		t.Why += " (" + err.Error() + ")"
	}
	return t
}

// end is the error where no byte is left.
func (r *Reader) end() error {
	if r.in.failure() != nil {
		return r.torn("the file breaks off")
	}
	if r.packed && r.in.pos >= MaxUnpacked {
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
