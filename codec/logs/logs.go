package logs

import (
	"bytes"
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

// Head is the number of bytes that Sniff needs of a file at most. With fewer it detects less.
const Head = 64 << 10

// Bounds of logs.
const (
	maxLogWhole    = 128 << 20 // bytes of a log that is read into memory
	maxLogUnpacked = 1 << 30   // uncompressed bytes of a log, or of a part of it
)

// logForm is a form of log, with its functions.
type logForm struct {
	Info
	// sniff detects the form from the first bytes of a file; all means that head is the complete file.
	sniff func(head []byte, all bool) bool
	read  func(l *reading)
}

// Info describes a form of log.
type Info struct {
	ID    string // stable: Summary.Format
	Title string // for people
}

// logForms are in order of detection: the most distinctive signatures first.
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
	{Info{"hook-jsonl", "frames of a hook (JSON Lines)"}, sniffHook, readHook},
}

// Sniff returns the ID of the form of a log whose first bytes are in head, compressed or not; "" if it is not a log. all means that
// head is the complete file.
func Sniff(head []byte, all bool) string {
	if scan.Packed(head) != "" {
		head, all = scan.UnpackHead(head, Head, all)
	}
	i := slices.IndexFunc(logForms, func(f logForm) bool { return f.sniff(head, all) })
	if i < 0 {
		return ""
	}
	return logForms[i].ID
}

func formByID(id string) *logForm {
	i := slices.IndexFunc(logForms, func(f logForm) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &logForms[i]
}

// Read reads a log. head holds the bytes already read; ok is false if the file is not a log, and then head holds all bytes read so far.
func Read(head *bytes.Buffer, rest io.Reader, opts packet.Options, proto transport.Proto, emit func(*transport.Frame)) (sum packet.Summary, ok bool, err error) {
	all := false
	most := Head
	if scan.Packed(head.Bytes()) != "" {
		most = scan.PackedHead
	}
	if need := most - head.Len(); need > 0 {
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
	if packed := scan.Packed(l.in.Peek(pcap.SniffHead)); packed != "" {
		z, err := scan.Unpack(packed, l.in)
		if err != nil {
			return packet.Summary{}, false, nil // impossible: Sniff has read it
		}
		l.unpack(z)
		l.sum.Format += "." + packed
	}
	l.out = transport.Whole{Opts: transport.WholeOptions{Dir: opts.Dir, Key: opts.Key, Limit: opts.Limit}, Emit: emit}
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

// reading is the state of reading a log.
type reading struct {
	in    *scan.Input
	out   transport.Whole
	opts  packet.Options
	proto transport.Proto
	conns map[int64]*transport.Conn // by their id in the log
	more  bool                      // frames are wanted
	last  time.Time                 // of the previous frame
	bound bool                      // in ends after maxLogUnpacked bytes
	hook  bool                      // lines are those of a hook
	sum   packet.Summary
}

// unpack continues with r, which decompresses the rest of the input.
func (l *reading) unpack(r io.Reader) {
	l.in, l.bound = scan.NewInput(io.LimitReader(r, maxLogUnpacked)), true
}

// on sets the connection of the next frames; c describes it if it is new. Above MaxConns a new connection is merged with the current one.
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

// record counts a record of the log. Frame.From has its number, from 1.
func (l *reading) record() { l.sum.Packets++ }

// give emits a frame of the current record, and reports whether more are wanted. off is the offset of its first byte in the
// (uncompressed) file, Unknown if the file has its bytes in another form.
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

// pass emits a frame that a transport made of records.
func (l *reading) pass(f *transport.Frame) {
	if !l.more || l.sum.Frames == math.MaxUint32 {
		return
	}
	l.sum.Frames++
	l.last = f.At
	key := l.out.Opts.Key
	l.out.Opts.Key = nil // the transport has set it
	l.more = l.out.Give(*f)
	l.out.Opts.Key = key
}

// problem emits a Problem instead of a message. Without a time it has that of the previous frame.
func (l *reading) problem(dir schema.Dir, at time.Time, b []byte, off int64, note string, args ...any) bool {
	if at.IsZero() {
		at = l.last
	}
	return l.give(transport.Frame{Kind: transport.Problem, Dir: dir, At: at, Bytes: b, Note: fmt.Sprintf(note, args...)}, off)
}

// torn reports that the rest of the log is unreadable.
func (l *reading) torn(why string, args ...any) {
	l.tornAt(l.in.Offset(), fmt.Sprintf(why, args...))
}

func (l *reading) tornAt(pos int64, why string) {
	if err := l.in.Failure(); err != nil {
		why += " (" + err.Error() + ")"
	}
	l.sum.Torn = &packet.Torn{Pos: pos, Packets: l.sum.Packets, Why: why}
}

// ended reports whether the log has no more bytes. If decompression has failed or reached its limit, it calls torn.
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

// sentByProxy is the note of a message that the proxy made.
const sentByProxy = "sent by the proxy"

// addrPort returns the address of four or sixteen bytes with a port.
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
