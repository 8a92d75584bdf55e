package pcap

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"wirebench/codec/packet"
)

// maxOption is the maximum length in bytes of an option's text, padded.
const maxOption = math.MaxUint16 &^ 3

// Writer writes a pcapng file, little-endian, with times in nanoseconds. Every block is one Write, so that a crash costs at most the
// current block. To append to a file, start another section with another Writer.
type Writer struct {
	w     io.Writer
	buf   []byte // the current block; reused
	links []Interface

	hidden bool // data of FrameTold and CaptureTold is in options that other programs do not show
}

// NewWriter starts a section. app is the name of the writing program; comments apply to the section.
func NewWriter(w io.Writer, app string, comments ...string) (*Writer, error) {
	return (&Writer{w: w}).start(app, comments)
}

// NewExport is like NewWriter, for comments with data of CaptureTold and FrameTold, of which other programs show only the text for people.
func NewExport(w io.Writer, app string, comments ...string) (*Writer, error) {
	return (&Writer{w: w, hidden: true}).start(app, comments)
}

func (p *Writer) start(app string, comments []string) (*Writer, error) {
	p.begin(blockSection)
	p.u32(sectionMagic)
	p.buf = binary.LittleEndian.AppendUint16(p.buf, 1) // version 1.0
	p.buf = binary.LittleEndian.AppendUint16(p.buf, 0)
	p.buf = binary.LittleEndian.AppendUint64(p.buf, math.MaxUint64) // unknown section length
	const optionApp = 4                                             // shb_userappl
	options := p.text(optionApp, app)
	for _, c := range comments {
		options = p.comment(c) || options
	}
	return p, p.end(options)
}

// Interface writes the description of an interface, with its Name, Link and SnapLen, and returns its index.
func (w *Writer) Interface(in Interface) (int, error) {
	w.begin(blockInterface)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(in.Link))
	w.buf = binary.LittleEndian.AppendUint16(w.buf, 0)
	w.u32(in.SnapLen)
	w.text(optionIfName, in.Name)
	w.option(optionResol, []byte{9})
	w.links = append(w.links, in)
	return len(w.links) - 1, w.end(true)
}

// Secrets writes secrets of encrypted connections. They apply to the packets after them.
func (w *Writer) Secrets(s Secrets) error {
	if len(s.Data) > MaxPacket/2 {
		return fmt.Errorf("write secrets: %d bytes are more than %d", len(s.Data), MaxPacket/2)
	}
	w.begin(blockSecrets)
	w.u32(s.Kind)
	w.u32(uint32(len(s.Data)))
	w.buf = append(w.buf, s.Data...)
	w.pad()
	return w.end(false)
}

// lastStamp is the last second after 1970 that fits into 64 bits of nanoseconds.
const lastStamp = math.MaxUint64 / 1_000_000_000

// Packet writes a packet: Interface, At, Data, Orig (0 means the length of Data), Comment (split if it is long) and Flow. A time before
// 1970 or after 2554 is written as 1970.
func (w *Writer) Packet(p *packet.Packet) error {
	if p.Interface < 0 || p.Interface >= len(w.links) {
		return fmt.Errorf("write packet: interface %d is undefined", p.Interface)
	}
	if len(p.Data) > MaxPacket/2 {
		return fmt.Errorf("write packet: %d bytes are more than %d", len(p.Data), MaxPacket/2)
	}
	stamp := uint64(0)
	if sec := p.At.Unix(); sec > 0 && sec < lastStamp {
		stamp = uint64(sec)*1e9 + uint64(p.At.Nanosecond())
	}
	w.begin(blockPacket)
	w.u32(uint32(p.Interface))
	w.u32(uint32(stamp >> 32))
	w.u32(uint32(stamp))
	w.u32(uint32(len(p.Data)))
	w.u32(max(p.Orig, uint32(len(p.Data))))
	w.buf = append(w.buf, p.Data...)
	w.pad()
	options := w.comments(p.Comment)
	if p.Flow != packet.NoFlow {
		options = true
		w.option(optionFlags, []byte{byte(p.Flow), 0, 0, 0})
	}
	return w.end(options)
}

func (w *Writer) u32(v uint32) { w.buf = binary.LittleEndian.AppendUint32(w.buf, v) }

func (w *Writer) pad() {
	for len(w.buf)%4 != 0 {
		w.buf = append(w.buf, 0)
	}
}

// begin starts a block; end sets its length.
func (w *Writer) begin(kind uint32) {
	w.buf = w.buf[:0]
	w.u32(kind)
	w.u32(0)
}

func (w *Writer) end(options bool) error {
	if options {
		w.u32(optionEnd)
	}
	size := uint32(len(w.buf) + 4)
	binary.LittleEndian.PutUint32(w.buf[4:], size)
	w.u32(size)
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// text writes an option and reports whether it did: an empty text is omitted. A text that is too long is truncated.
func (w *Writer) text(code uint16, s string) bool {
	if s == "" {
		return false
	}
	s = s[:min(len(s), maxOption)]
	w.head(code, len(s))
	w.buf = append(w.buf, s...)
	w.pad()
	return true
}

// comments writes a text as comments, which a reader joins by line breaks. One that is too long is split at a line break if it has any.
func (w *Writer) comments(text string) (written bool) {
	for len(text) > maxOption {
		at := strings.LastIndexByte(text[:maxOption], '\n')
		if at < 0 {
			break
		}
		written = w.comment(text[:at]) || written
		text = text[at+1:]
	}
	return w.comment(text) || written
}

// comment writes a comment, and the data in it as other options.
func (w *Writer) comment(text string) (written bool) {
	if !w.hidden {
		return w.text(optionComment, text)
	}
	words, data := splitTold(text)
	written = w.text(optionComment, words)
	for _, d := range data {
		written = w.text(optionTold, d) || written
	}
	return written
}

func (w *Writer) option(code uint16, value []byte) {
	w.head(code, len(value))
	w.buf = append(w.buf, value...)
	w.pad()
}

func (w *Writer) head(code uint16, size int) {
	w.buf = binary.LittleEndian.AppendUint16(w.buf, code)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(size))
}
