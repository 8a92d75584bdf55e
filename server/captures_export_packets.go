package server

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Bounds of an export as pcapng, where a file could ask for more memory.
const (
	maxExportIfaces = 4096    // in a section; then another one starts
	maxIfaceName    = 255     // bytes
	maxLostBytes    = 1 << 30 // of a stream; more is not shown as a gap
)

// newPackets writes the packets of a capture file, and of anything else packets that are made for its frames.
func newPackets(x *captureExport) (exporter, error) {
	if x.of.Framing == "" {
		file, err := x.ws.Captures.Open(x.of.ID)
		if err != nil {
			return nil, err
		}
		_, err = capture.NewReader(file)
		file.Close()
		if err == nil {
			return &originals{captureExport: x, comments: map[uint32]string{}}, nil
		}
		if !errors.Is(err, capture.ErrFormat) {
			return nil, err
		}
	}
	m := &madePackets{captureExport: x, conns: conns{log: x.open.log}, to: map[uint32]*capture.Synthetic{}}
	w, err := x.section("the packets are made for the messages of a file without packets")
	if err != nil {
		return nil, err
	}
	m.w = w
	m.iface, err = w.Interface(capture.Interface{Name: "made", Link: capture.LinkEthernet})
	return m, err
}

// section starts one that says what people say of the capture.
func (x *captureExport) section(more ...string) (*capture.Writer, error) {
	comments := []string{x.of.Name}
	if x.of.Notes.Text != "" {
		comments = append(comments, x.of.Notes.Text)
	}
	return capture.NewWriter(x.out, "Wirebench", append(comments, more...)...)
}

// comment is what people say of a frame, "" if they say nothing.
func (x *captureExport) comment(n int) string {
	text := x.of.Notes.Frames[uint64(n)]
	switch marked := x.marked[uint64(n)]; {
	case text != "" && marked:
		return fmt.Sprintf("frame %d, marked: %s", n, text)
	case text != "":
		return fmt.Sprintf("frame %d: %s", n, text)
	case marked:
		return fmt.Sprintf("frame %d, marked", n)
	}
	return ""
}

// originals writes packets of the file that the chosen frames came from, as they were. The time is in nanoseconds; a comment of the
// file stays, and those of frames come behind it.
type originals struct {
	*captureExport
	wanted   []uint64          // a bit for each packet
	comments map[uint32]string // of packets
}

func (x *originals) frame(n int, _ live.Entry, f *transport.Frame) error {
	said := x.comment(n)
	for i, s := range f.From {
		if s.Packet == 0 {
			continue
		}
		word := int(s.Packet / 64)
		for word >= len(x.wanted) {
			x.wanted = append(x.wanted, 0)
		}
		x.wanted[word] |= 1 << (s.Packet % 64)
		if i == 0 && said != "" {
			if before := x.comments[s.Packet]; before != "" {
				said = before + "\n" + said
			}
			x.comments[s.Packet] = said
		}
	}
	return nil
}

// end copies the packets. A file that breaks off gives those before the break.
func (x *originals) end() error {
	file, err := x.ws.Captures.Open(x.of.ID)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := capture.NewReader(&counted{file, new(atomic.Int64), x.ctx})
	if err != nil {
		return err
	}
	w, err := x.section()
	if err != nil {
		return err
	}
	everything := x.all()
	ifaces := map[capture.Interface]int{}
	for {
		p, err := in.Next()
		var torn *capture.Torn
		if errors.Is(err, io.EOF) || errors.As(err, &torn) {
			return nil
		}
		if err != nil {
			return err
		}
		if word := int(p.N / 64); !everything && (word >= len(x.wanted) || x.wanted[word]&(1<<(p.N%64)) == 0) {
			continue
		}
		iface := in.Interfaces()[p.Interface]
		iface.Name = cutText(iface.Name, maxIfaceName)
		index, ok := ifaces[iface]
		if !ok {
			if len(ifaces) == maxExportIfaces {
				clear(ifaces)
				if w, err = x.section(); err != nil {
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
		if said := x.comments[p.N]; said != "" {
			out.Comment = strings.TrimPrefix(out.Comment+"\n"+said, "\n")
		}
		if err := w.Packet(&out); err != nil {
			return err
		}
	}
}

// madePackets writes frames as what they would have travelled in, with headers that are made up. Addresses that are not known are
// of a network for documentation.
type madePackets struct {
	*captureExport
	conns conns
	w     *capture.Writer
	iface int
	to    map[uint32]*capture.Synthetic // by connection
}

func (x *madePackets) frame(n int, e live.Entry, f *transport.Frame) error {
	at := f.At
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	to := x.to[e.Conn]
	if to == nil {
		to = capture.NewSynthetic(x.w, x.iface, madeConn(x.conns.of(e)))
		x.to[e.Conn] = to
		if err := to.Open(at); err != nil {
			return err
		}
	}
	said, dir := x.comment(n), f.Dir
	if dir == schema.Both {
		dir = schema.ToServer // a packet has an end that sends it
	}
	if f.Kind == transport.Problem && len(f.Bytes) == 0 {
		if f.Length > 0 && f.Length < maxLostBytes {
			to.Lost(dir, uint32(f.Length))
		}
		return nil
	}
	err := to.Data(dir, at, f.Bytes, said)
	if errors.Is(err, capture.ErrTooLong) {
		if said != "" {
			said += "\n"
		}
		return to.Data(dir, at, nil, fmt.Sprintf("%sframe %d is left out: its %d bytes are more than a datagram has", said, n, len(f.Bytes)))
	}
	return err
}

func (x *madePackets) end() error { return nil }

// madeConn is the connection that its name tells.
func madeConn(c live.Conn) capture.Conn {
	out := capture.Conn{Proto: capture.UDP, Session: c.Session}
	if c.Proto == "tcp" {
		out.Proto = capture.TCP
	}
	client, server, _ := strings.Cut(c.Name, "-")
	out.Client, _ = netip.ParseAddrPort(client)
	out.Server, _ = netip.ParseAddrPort(server)
	return out
}
