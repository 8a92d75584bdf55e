package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// Bounds of capture files.
const (
	MaxPacket       = 16 << 20 // bytes of one packet with its metadata
	MaxUnpacked     = 16 << 30 // uncompressed bytes of a compressed file
	maxInterfaces   = 1 << 18  // in a section of a pcapng
	maxNames        = 4 << 20  // bytes of their names
	maxComments     = 16       // of a packet
	maxTold         = 1000     // data of frames, of a packet
	maxFileNotes    = 1000     // comments of sections and interfaces
	maxSecrets      = MaxPacket
	maxSecretBlocks = 1 << 14
	pcapHeader      = 24
	pcapRecord      = 16
	maxPacketCount  = math.MaxUint32
)

// ErrFormat is the error for bytes that are not a capture file.
var ErrFormat = errors.New("no known format of captures")

// Interface describes a capture interface.
type Interface struct {
	Name       string
	Link       packet.LinkType
	SnapLen    uint32 // maximum captured bytes of a packet; 0 = no limit
	resolution uint8  // if_tsresol
	offset     int64  // if_tsoffset, seconds
}

// Secrets are secrets of encrypted connections that a capture has, in a Decryption Secrets Block.
type Secrets struct {
	Kind uint32 // KeyLog, or another number of the registry of pcapng
	Data []byte
}

// KeyLog is the Kind of a TLS key log.
const KeyLog = 0x544c534b // "TLSK"

// Reader reads a capture file, or a text in which Wireshark exported packets, compressed or not. Its memory is bounded by
// MaxPacket (for texts: by the text of one packet, 64 MiB), the interfaces and comments of a section, and Secrets.
type Reader struct {
	in          *scan.Input
	form        string
	next        func(*Reader) error
	packed      string // as scan.Packed
	big         bool   // the file or section is big-endian
	nanos       bool   // pcap: fractions are nanoseconds
	patched     bool   // pcap: written by the patched tcpdump
	head        int    // pcap: bytes of the header of a packet; 0 = not yet known
	netmon      netmon
	packet      packet.Packet
	packets     uint32 // that were read
	ifaces      []Interface
	names       int // bytes of the names of ifaces
	notes       []string
	told        []string // as notes: those with data of CaptureTold
	made        bool     // pcapng: the packets of the section are made up
	secrets     []Secrets
	secretBytes int    // of secrets
	lost        uint32 // packets that could not be read, in blocks that could be skipped
	records     uint32 // that are not packets
	failed      error

	record func(body []byte) // is called with the blocks of recorded frames, and with nil at the start of a section; nil: they are skipped

	// For exported texts.
	export   *export
	exported exported
	shown    shown
}

// form is a format of capture files.
type form struct {
	id   string // Reader.Format
	is   func(head []byte) bool
	open func(*Reader) error // reads the header; nil: there is none
	next func(*Reader) error // reads the next packet
}

var forms = []form{
	{"pcap", isPcap, (*Reader).pcapHead, (*Reader).nextPcap},
	{"pcapng", func(head []byte) bool { return len(head) >= 4 && binary.BigEndian.Uint32(head) == blockSection }, nil, (*Reader).nextBlock},
	{"snoop", func(head []byte) bool { return bytes.HasPrefix(head, []byte(snoopMagic)) }, (*Reader).snoopHead, (*Reader).nextSnoop},
	{"netmon", isNetmon, (*Reader).netmonHead, (*Reader).nextNetmon},
}

// SniffHead is how many bytes of a file SniffCapture and scan.Packed need.
const SniffHead = 10

// SniffCapture detects the format of a file from its first SniffHead bytes: "pcap", "pcapng", "snoop", "netmon" or "".
func SniffCapture(head []byte) string {
	if i := slices.IndexFunc(forms, func(f form) bool { return f.is(head) }); i >= 0 {
		return forms[i].id
	}
	return ""
}

// SniffPacked is SniffCapture for a file that may be compressed; head should have some hundred bytes then.
func SniffPacked(head []byte) string {
	if scan.Packed(head) != "" {
		head, _ = scan.UnpackHead(head, SniffHead, false)
	}
	return SniffCapture(head)
}

// NewReader reads the header of a capture file. The error wraps ErrFormat if it is not one, else it is an error of r.
func NewReader(r io.Reader) (*Reader, error) {
	p := &Reader{in: scan.NewInput(r)}
	if packed := scan.Packed(p.in.Peek(SniffHead)); packed != "" {
		unpacked, err := scan.Unpack(packed, p.in)
		if err != nil {
			return nil, fmt.Errorf("%w: it is compressed (%s), but %w", ErrFormat, packed, err)
		}
		p = &Reader{in: scan.NewInput(io.LimitReader(unpacked, MaxUnpacked)), packed: packed}
	}
	head := p.in.Peek(SniffHead)
	i := slices.IndexFunc(forms, func(f form) bool { return f.is(head) })
	switch {
	case i >= 0:
		p.form, p.next = forms[i].id, forms[i].next
		if forms[i].open == nil {
			break
		}
		if err := forms[i].open(p); err != nil {
			return nil, err
		}
	case p.in.Failure() != nil && !scan.IsDamage(p.in.Failure()):
		return nil, p.in.Failure()
	case len(head) == 0 && p.in.Failure() != nil:
		return nil, fmt.Errorf("%w: nothing of it can be unpacked: %w", ErrFormat, p.in.Failure())
	case len(head) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrFormat)
	case p.startExport():
		p.next = (*Reader).nextExported
	default:
		return nil, fmt.Errorf("%w: it starts with % x", ErrFormat, head[:min(len(head), 4)])
	}
	return p, nil
}

// Format is a result of SniffCapture or SniffExport; if the file is compressed, "." and the format of scan.Packed follow.
func (r *Reader) Format() string {
	if r.packed != "" {
		return r.form + "." + r.packed
	}
	return r.form
}

// Exported reports whether the file is a text in which Wireshark or tshark wrote packets with their bytes.
func (r *Reader) Exported() bool { return r.export != nil }

// Interfaces returns the interfaces of the section that contains the last packet.
func (r *Reader) Interfaces() []Interface { return r.ifaces }

// Comments returns the comments of the sections and interfaces read so far.
func (r *Reader) Comments() []string { return r.notes }

// Secrets returns the secrets read so far: those before the last packet. Above a size of 16 MiB, or 16,384 blocks, the rest is left out.
func (r *Reader) Secrets() []Secrets { return r.secrets }

// Next returns the next packet, which is valid until the next call. The error is io.EOF at the end of a complete file, a *Torn where a file
// becomes unreadable, else an error of the underlying reader. Later calls return the same error.
func (r *Reader) Next() (*packet.Packet, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.packet.N == maxPacketCount {
		r.failed = r.torn("the file has too many packets to number")
	} else {
		r.failed = r.next(r)
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
	if r.packed != "" && r.in.Offset() >= MaxUnpacked {
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
