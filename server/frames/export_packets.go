package frames

import (
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Bounds of a pcapng export, which keep a malicious file from using much memory.
const (
	maxExportIfaces = 4096    // per section; then another section starts
	maxIfaceName    = 255     // bytes
	maxLostBytes    = 1 << 30 // per stream; larger gaps are not reproduced
	maxDatagram     = 60_000  // bytes of a frame per datagram
	maxWords        = 1000    // bytes of the note of the capture in the comment of a section
)

// Comments at the start of a section.
const (
	wholeWords = "all packets of the file, unchanged"
	madeWords  = "Each frame is one packet or more, with generated headers around its deciphered bytes. Handshakes and keys are omitted: a reader that knows this format uses the frames as they are."
)

// newPackets copies the packets of a capture file if all frames are selected: then nothing that a reader needs is missing. A selection, or
// a file that is not a packet capture, is written frame by frame: packets cut out of a stream are useless without the previous ones, which
// contain the keys, the cipher state and the starts of messages. For running traffic, packets of the newest frames may not be in the
// recording yet.
func newPackets(x *Export) (exporter, error) {
	if x.all() && !x.More && x.hider == nil {
		original, err := x.HasPackets()
		if err != nil {
			return nil, err
		}
		if original {
			return newOriginals(x)
		}
	}
	m := &madePackets{Export: x, conns: x.Log.ConnReader(), to: map[uint32]*pcap.Synthetic{}, numbers: []uint64{}}
	w, err := x.section(madeWords, true)
	if err != nil {
		return nil, err
	}
	m.w = w
	m.iface, err = w.Interface(pcap.Interface{Name: "made", Link: packet.LinkEthernet})
	return m, err
}

// HasPackets reports whether the capture is a file of packets as captured, not generated from frames.
func (x *Export) HasPackets() (bool, error) {
	if x.Capture.Framing != "" {
		return false, nil
	}
	file, err := x.File()
	if err != nil {
		return false, err
	}
	defer file.Close()
	in, err := pcap.NewReader(file)
	if errors.Is(err, pcap.ErrFormat) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, _ = in.Next() // an error recurs when the file is copied
	return !in.MadeSection(), nil
}

// section starts a section with the name and note of the capture.
func (x *Export) section(words string, made bool) (*pcap.Writer, error) {
	told := pcap.CaptureTold{Made: made, Name: x.Capture.Name, Text: x.Capture.Notes.Text}
	return x.writer(told.Comments(x.words(words))...)
}

func (x *Export) writer(comments ...string) (*pcap.Writer, error) {
	if x.Comments {
		return pcap.NewWriter(x.out, "Wirebench", comments...)
	}
	return pcap.NewExport(x.out, "Wirebench", comments...)
}

func (x *Export) words(more string) string {
	words := x.Capture.Name
	if x.Capture.Notes.Text != "" {
		words += ": " + CutText(x.Capture.Notes.Text, maxWords)
	}
	return words + " (" + more + ")"
}

// rest writes a section after all packets, with the notes that belong to none of them.
func (x *Export) rest(frames []pcap.FrameTold, markers []pcap.MarkerTold) error {
	for len(frames)+len(markers) > 0 { // sections of a size that all readers accept
		f, m := min(len(frames), 500), min(len(markers), 500)
		told := pcap.CaptureTold{Frames: frames[:f], Markers: markers[:m]}
		frames, markers = frames[f:], markers[m:]
		if _, err := x.writer(told.Comments("notes on the packets above")...); err != nil {
			return err
		}
	}
	return nil
}

// said returns the mark and note of a frame; ok is false if it has none.
func (x *Export) said(n int) (told pcap.FrameTold, ok bool) {
	told = pcap.FrameTold{N: uint64(n), Mark: x.notes.marked[uint64(n)], Note: x.notes.Frames[uint64(n)]}
	return told, told.Mark || told.Note != ""
}

// originals copies the packets that the selected frames came from. Times are in nanoseconds. Comments of the file are kept, except those of
// an earlier export; the notes of frames are added to them. So are the secrets of TLS connections in the file, without which the copy could
// not be read; keys that users gave are never exported. Selections, and exports in which values are hidden, are written by madePackets, which
// has no secrets.
type originals struct {
	*Export
	wanted   []uint64          // bit set of packet numbers
	comments map[uint32]string // notes by packet
	homeless []pcap.FrameTold
}

func newOriginals(x *Export) (exporter, error) {
	return &originals{Export: x, comments: map[uint32]string{}}, nil
}

func (x *originals) frame(n int, _ live.Entry, f *transport.Frame) error {
	told, said := x.said(n)
	for _, s := range f.From {
		if s.Packet == 0 {
			continue
		}
		word := int(s.Packet / 64)
		for word >= len(x.wanted) {
			x.wanted = append(x.wanted, 0)
		}
		x.wanted[word] |= 1 << (s.Packet % 64)
		if said {
			line := told.Line()
			if before := x.comments[s.Packet]; before != "" {
				line = before + "\n" + line
			}
			x.comments[s.Packet], said = line, false
		}
	}
	if said {
		x.homeless = append(x.homeless, told)
	}
	return nil
}

// end copies the packets. Of a truncated file it copies those before the end.
func (x *originals) end() error {
	file, err := x.File()
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := pcap.NewReader(file)
	if err != nil {
		return err
	}
	everything := x.all()
	words := wholeWords
	if !everything {
		words = "the packets of the selected frames"
	}
	if x.Capture.Keys != "" {
		words += "; the keys given for it are not included"
	}
	w, err := x.section(words, false)
	if err != nil {
		return err
	}
	ifaces, secrets := map[pcap.Interface]int{}, 0
	for {
		p, err := in.Next()
		for _, s := range in.Secrets()[secrets:] {
			if err := w.Secrets(s); err != nil {
				return err
			}
		}
		secrets = len(in.Secrets())
		var torn *packet.Torn
		if errors.Is(err, io.EOF) || errors.As(err, &torn) {
			return x.rest(x.homeless, x.markers(nil))
		}
		if err != nil {
			return err
		}
		if word := int(p.N / 64); !everything && (word >= len(x.wanted) || x.wanted[word]&(1<<(p.N%64)) == 0) {
			continue
		}
		iface := in.Interfaces()[p.Interface]
		iface.Name = CutText(iface.Name, maxIfaceName)
		index, ok := ifaces[iface]
		if !ok {
			if len(ifaces) == maxExportIfaces {
				clear(ifaces)
				if w, err = x.writer(); err != nil {
					return err
				}
			}
			if index, err = w.Interface(iface); err != nil {
				return err
			}
			ifaces[iface] = index
		}
		out := *p
		out.Interface = index
		_, out.Comment = pcap.FramesTold(&out)
		if said := x.comments[p.N]; said != "" {
			out.Comment = strings.TrimPrefix(out.Comment+"\n"+said, "\n")
		}
		if err := w.Packet(&out); err != nil {
			return err
		}
	}
}

// markers returns the markers of the capture. numbers are the frames of the export, ascending, to which markers are renumbered; nil keeps
// the numbers.
func (x *Export) markers(numbers []uint64) (out []pcap.MarkerTold) {
	for _, m := range x.Capture.Notes.Markers {
		n := m.N
		if numbers != nil {
			at, _ := slices.BinarySearch(numbers, n)
			n = uint64(at) + 1
		}
		out = append(out, pcap.MarkerTold{N: n, At: m.At, Text: m.Text, Value: m.Value})
	}
	return out
}

// madePackets writes frames in packets with generated headers. Unknown addresses are replaced by addresses reserved for documentation.
type madePackets struct {
	*Export
	conns *live.ConnReader
	w     *pcap.Writer
	iface int
	to    map[uint32]*pcap.Synthetic // by connection

	numbers []uint64 // of the frames, if there are markers
}

func (x *madePackets) frame(n int, e live.Entry, f *transport.Frame) error {
	if f.Kind == transport.Packet {
		return nil // its packet is not written either
	}
	at := f.At
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	told, _ := x.said(n)
	told.Made, told.Len, told.Untimed = true, len(f.Bytes), f.At.IsZero()
	told.Name, told.Group, told.Via, told.Says = f.Name, f.Key.Group, f.Via, f.Note
	told.Offset, told.Length, told.Resumed, told.Flags = f.Offset, f.Length, f.Resumed, e.Flags.Names()
	if f.Kind != transport.Message {
		told.Kind = f.Kind.String()
	}
	if f.HasKey {
		told.Code = &f.Key.Code
	}
	conn := x.conns.Of(e)
	made := madeConn(conn)
	told.Conn = e.Conn
	to := x.to[e.Conn]
	if to == nil {
		to = pcap.NewSynthetic(x.w, x.iface, made)
		x.to[e.Conn] = to
		told.Proto, told.Session = conn.Proto, conn.Session
		if made.Client.IsValid() {
			told.Client = made.Client.String()
		}
		if made.Server.IsValid() {
			told.Server = made.Server.String()
		}
		if err := to.Open(at); err != nil {
			return err
		}
	}
	dir := f.Dir
	if dir == schema.Both {
		told.Both, dir = true, schema.ToServer // a packet has one sender
	}
	if len(x.Capture.Notes.Markers) > 0 {
		x.numbers = append(x.numbers, uint64(n))
	}
	if f.Kind == transport.Problem && len(f.Bytes) == 0 && f.Length > 0 && f.Length < maxLostBytes {
		to.Lost(dir, uint32(f.Length)) // other programs see the gap
	}
	line, data := told.Line(), f.Bytes
	for made.Proto == transport.UDP && len(data) > maxDatagram {
		if err := to.Data(dir, at, data[:maxDatagram], line); err != nil {
			return err
		}
		data, line = data[maxDatagram:], "continuation of the previous packet"
	}
	return to.Data(dir, at, data, line)
}

func (x *madePackets) end() error {
	return x.rest(nil, x.markers(x.numbers))
}

// madeConn parses the name of a connection.
func madeConn(c *live.Conn) transport.Conn {
	out := transport.Conn{Proto: transport.UDP, Session: c.Session}
	if c.Proto == "tcp" {
		out.Proto = transport.TCP
	}
	client, server, _ := strings.Cut(c.Name, "-")
	out.Client, _ = netip.ParseAddrPort(client)
	out.Server, _ = netip.ParseAddrPort(server)
	return out
}
