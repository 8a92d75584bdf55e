package logs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Head is how many bytes of a file Sniff needs at most. With fewer it declines more.
const Head = 64 << 10

// Bounds of logs.
const (
	maxLogWhole    = 128 << 20 // bytes of a log that is in memory as long as it is read
	maxLogUnpacked = 1 << 30   // bytes of a log, or of a part of it, that came packed
)

// logForm is a form in which a program for players of a game writes whole messages.
type logForm struct {
	Info
	// sniff tells the form by the first bytes of a file. With all they are the whole of it.
	sniff func(head []byte, all bool) bool
	read  func(l *reading)
}

// Info describes a form of log.
type Info struct {
	ID    string // stable: Summary.Format
	Title string // for people
}

// logForms in the order in which they look at a file: what has the clearest marks first.
var logForms = []logForm{
	{Info{"alkahest", "Alkahest packet log (.pkt)"}, sniffAlkahest, readAlkahest},
	{Info{"tera-connection-log", "TeraConnectionLog (Shinra, CasualMeter, DamageMeter)"}, sniffConnectionLog, readConnectionLog},
	{Info{"wow-pkt", "World of Warcraft packets (.pkt)"}, sniffWow, readWow},
	{Info{"wirebench-jsonl", "frames as Wirebench writes them (JSON Lines)"}, sniffOwn, readOwn},
	{Info{"wirebench-table", "frames as Wirebench exports them (CSV, TSV)"}, sniffOwnTable, readOwnTable},
	{Info{"mitmproxy", "mitmproxy flows (TCP, UDP, websockets)"}, sniffMitmproxy, readMitmproxy},
	{Info{"har", "HAR of a browser, with websocket messages"}, sniffHAR, readHAR},
	{Info{"teraatlas", "TeraAtlas packet log (text)"}, sniffAtlas, readAtlas},
	{Info{"kloct", "Kloct packet-logger (.bin)"}, sniffKloct, readKloct},
	{Info{"mapleshark", "MapleShark (.msb)"}, sniffShark, readShark},
}

// Forms lists the forms of log that Read understands.
func Forms() []Info {
	infos := make([]Info, len(logForms))
	for i := range logForms {
		infos[i] = logForms[i].Info
	}
	return infos
}

// Sniff returns the ID of the form of log whose first bytes head holds, packed with gzip or not; "" if there is none. all says that head is the
// whole file.
func Sniff(head []byte, all bool) string {
	if pcap.SniffCapture(head) == "gzip" {
		head, all = UnpackHead(head, all)
	}
	i := slices.IndexFunc(logForms, func(f logForm) bool { return f.sniff(head, all) })
	if i < 0 {
		return ""
	}
	return logForms[i].ID
}

// UnpackHead returns the start of a file packed with gzip, and whether it is all of it. Damage is left to the reader of the file.
func UnpackHead(head []byte, all bool) ([]byte, bool) {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil, false
	}
	inner := make([]byte, Head)
	n, err := io.ReadFull(z, inner)
	return inner[:n], all && errors.Is(err, io.ErrUnexpectedEOF) && n < Head
}

func formByID(id string) *logForm {
	i := slices.IndexFunc(logForms, func(f logForm) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &logForms[i]
}

// Read reads a log. head holds the bytes that were read already; ok is false if the file is not a log, and then head holds all that was read.
func Read(head *bytes.Buffer, rest io.Reader, opts packet.Options, proto transport.Proto, emit func(*transport.Frame)) (sum packet.Summary, ok bool, err error) {
	all := false
	if need := Head - head.Len(); need > 0 {
		n, err := io.CopyN(head, rest, int64(need))
		if err != nil && !errors.Is(err, io.EOF) {
			return packet.Summary{}, true, err
		}
		all = n < int64(need)
	}
	id := Sniff(head.Bytes(), all)
	if id == "" {
		return packet.Summary{}, false, nil
	}
	l := &reading{in: scan.NewInput(io.MultiReader(head, rest)), opts: opts, proto: proto, conns: map[int64]*transport.Conn{}, more: true, sum: packet.Summary{Format: id}}
	if pcap.SniffCapture(l.in.Peek(2)) == "gzip" {
		z, err := gzip.NewReader(l.in)
		if err != nil {
			return packet.Summary{}, false, nil // Sniff has read it: this cannot be
		}
		l.unpack(z)
		l.sum.Format += ".gz"
	}
	l.out = transport.Whole{Opts: transport.WholeOptions{Key: opts.Key, Limit: opts.Limit}, Emit: emit}
	l.on(0, transport.Conn{})
	formByID(id).read(l)
	l.sum.More = opts.Limit > 0 && int64(l.sum.Frames) >= int64(opts.Limit)
	if l.sum.More {
		l.sum.Torn = nil
	}
	if e := l.in.Failure(); e != nil && !scan.IsDamage(e) {
		return l.sum, true, e
	}
	return l.sum, true, nil
}

// reading is a log as it is being read.
type reading struct {
	in    *scan.Input
	out   transport.Whole
	opts  packet.Options
	proto transport.Proto
	conns map[int64]*transport.Conn // by what the log calls them
	more  bool                      // frames are wanted
	last  time.Time                 // of the frame before
	bound bool                      // in ends after maxLogUnpacked bytes
	sum   packet.Summary
}

// unpack goes on with what r makes of the bytes that follow.
func (l *reading) unpack(r io.Reader) {
	l.in, l.bound = scan.NewInput(io.LimitReader(r, maxLogUnpacked)), true
}

// on says which connection the frames that follow are of; c is what is known of it if it is new. Above MaxConns new ones are taken for
// the one before.
func (l *reading) on(id int64, c transport.Conn) {
	known := l.conns[id]
	if known == nil {
		if len(l.conns) >= packet.MaxConns {
			l.sum.Merged = true
			return
		}
		known = &c
		known.ID, known.Proto = len(l.conns), l.proto
		l.conns[id] = known
	}
	l.out.Conn = known
}

// record counts what the log has as one: Frame.From tells its number, from 1.
func (l *reading) record() { l.sum.Packets++ }

// give emits what the record of the moment holds, and reports whether more is wanted. off is the place of its first byte in the
// (unpacked) file, Unknown if its bytes do not stand there as they are.
func (l *reading) give(f transport.Frame, off int64) bool {
	if !l.more || l.sum.Frames == math.MaxUint32 {
		return false
	}
	l.out.From[0] = transport.Source{Packet: l.sum.Packets, Len: uint32(len(f.Bytes))}
	f.From, f.Offset = l.out.From[:], off
	l.sum.Frames++
	l.last = f.At
	l.more = l.out.Give(f)
	return l.more
}

// pass emits what a transport made of records.
func (l *reading) pass(f *transport.Frame) {
	if !l.more || l.sum.Frames == math.MaxUint32 {
		return
	}
	l.sum.Frames++
	l.last = f.At
	key := l.out.Opts.Key
	l.out.Opts.Key = nil // the transport knows
	l.more = l.out.Give(*f)
	l.out.Opts.Key = key
}

// problem emits what stands in the place of a message. Without a time it has that of the frame before.
func (l *reading) problem(dir schema.Dir, at time.Time, b []byte, off int64, note string, args ...any) bool {
	if at.IsZero() {
		at = l.last
	}
	return l.give(transport.Frame{Kind: transport.Problem, Dir: dir, At: at, Bytes: b, Note: fmt.Sprintf(note, args...)}, off)
}

// torn says that the log cannot be read on from here.
func (l *reading) torn(why string, args ...any) {
	l.tornAt(l.in.Offset(), fmt.Sprintf(why, args...))
}

func (l *reading) tornAt(pos int64, why string) {
	if err := l.in.Failure(); err != nil {
		why += " (" + err.Error() + ")"
	}
	l.sum.Torn = &packet.Torn{Pos: pos, Packets: l.sum.Packets, Why: why}
}

// ended reports whether the log has no more bytes, and says where it was broken off by its packing.
func (l *reading) ended() bool {
	if len(l.in.Peek(1)) > 0 {
		return false
	}
	if l.in.Failure() != nil {
		l.torn("the file is damaged")
	} else if l.bound && l.in.Offset() >= maxLogUnpacked {
		l.torn("the log unpacks to more than %d MiB", maxLogUnpacked>>20)
	}
	return true
}

// sentByProxy is the note of a message that no end has made.
const sentByProxy = "sent by the proxy"

// addrPort is an address of four or sixteen bytes with a port.
func addrPort(addr []byte, port uint16) netip.AddrPort {
	a, ok := netip.AddrFromSlice(addr)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Unmap(), port)
}

// Title returns the title of a form of log, "" for other ids.
func Title(id string) string {
	if f := formByID(id); f != nil {
		return f.Title
	}
	return ""
}
