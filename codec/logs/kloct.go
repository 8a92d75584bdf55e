package logs

import (
	"encoding/binary"
	"fmt"
	"io"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
)

// The log of Kloct's packet-logger is one FlatBuffer:
//
//	table Packet    { code:ushort; name:string; version:ushort; fake:bool; data:[ubyte]; timestamp:ulong; }
//	table PacketLog { buffer:[Packet]; }
//
// All numbers are little-endian. A table starts with the offset back to its vtable, which has the position of each field in the table, 0
// for an absent one. Strings, vectors and tables in fields are forward offsets. data is the message with its header. A FlatBuffer is
// written from its end to its start: a truncated file loses the first messages, not the last, and often the vtable that all share; then
// none can be read.
//
// timestamp is in seconds since 1970. fake marks what mods have sent, changed messages included. All messages are of one connection.
//
// Source: the project Kloct/packet-logger, files packetLog.fbs, logSave.js and index.js.

// Fields of Packet.
const (
	kloctCode = iota
	kloctName
	kloctVersion
	kloctFake
	kloctData
	kloctTimestamp
)

const (
	maxKloctCount  = 1 << 25 // packets; more do not fit into maxLogWhole
	maxKloctFields = 16      // fields of a packet in a later version
	kloctLeast     = 8       // bytes of a packet besides its message: its offset and that of its vtable
)

// flatTable is a table of a FlatBuffer: its position and that of its vtable, both inside the buffer.
type flatTable struct {
	at, vtable, fields int // fields in the vtable
}

// flatTableAt reads the table at a position of b.
func flatTableAt(b []byte, at uint64) (t flatTable, ok bool) {
	if at+4 > uint64(len(b)) {
		return t, false
	}
	vtable := int64(at) - int64(int32(binary.LittleEndian.Uint32(b[at:])))
	if vtable < 0 || vtable+4 > int64(len(b)) {
		return t, false
	}
	size := int64(binary.LittleEndian.Uint16(b[vtable:]))
	if size < 4 || size%2 != 0 || vtable+size > int64(len(b)) {
		return t, false
	}
	return flatTable{int(at), int(vtable), int(size-4) / 2}, true
}

// field returns the position of a field of size bytes; there is false if it is absent. ok is false if it is outside of b.
func (t flatTable) field(b []byte, n, size int) (at int, there, ok bool) {
	if n >= t.fields {
		return 0, false, true
	}
	off := int(binary.LittleEndian.Uint16(b[t.vtable+4+2*n:]))
	if off == 0 {
		return 0, false, true
	}
	at = t.at + off
	return at, true, off >= 4 && at+size <= len(b)
}

// number returns the value of a field of 1, 2 or 8 bytes, 0 if it is absent.
func (t flatTable) number(b []byte, n, size int) (v uint64, ok bool) {
	at, there, ok := t.field(b, n, size)
	if !there || !ok {
		return 0, ok
	}
	switch size {
	case 1:
		return uint64(b[at]), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b[at:])), true
	}
	return binary.LittleEndian.Uint64(b[at:]), true
}

// run returns the value of a string or a vector of bytes, and its position; it is empty if it is absent.
func (t flatTable) run(b []byte, n int) (v []byte, at int, ok bool) {
	at, there, ok := t.field(b, n, 4)
	if !there || !ok {
		return nil, 0, ok
	}
	start := uint64(at) + uint64(binary.LittleEndian.Uint32(b[at:]))
	if start+4 > uint64(len(b)) {
		return nil, 0, false
	}
	size := uint64(binary.LittleEndian.Uint32(b[start:]))
	if start += 4; start+size > uint64(len(b)) {
		return nil, 0, false
	}
	return b[start : start+size : start+size], int(start), true
}

// kloctVector finds the packets of a log: the position of the first of count offsets.
func kloctVector(b []byte) (at uint64, count int, ok bool) {
	if len(b) < 20 {
		return 0, 0, false
	}
	root := uint64(binary.LittleEndian.Uint32(b))
	t, ok := flatTableAt(b, root)
	if !ok || root < 8 || t.fields < 1 || t.fields > 8 || t.vtable < 4 {
		return 0, 0, false
	}
	size := binary.LittleEndian.Uint16(b[t.vtable+2:]) // of the table
	off := binary.LittleEndian.Uint16(b[t.vtable+4:])
	field, there, ok := t.field(b, 0, 4)
	if !there || !ok || size < 8 || size > 64 || off > size-4 {
		return 0, 0, false
	}
	at = uint64(field) + uint64(binary.LittleEndian.Uint32(b[field:]))
	if at <= uint64(field) || at+4 > uint64(len(b)) {
		return 0, 0, false
	}
	n := binary.LittleEndian.Uint32(b[at:])
	return at + 4, int(n), n <= maxKloctCount
}

// sniffKloct detects the log by its structure, as it has no signature: the offsets of the root and the first packets must be consistent.
func sniffKloct(head []byte, all bool) bool {
	at, count, ok := kloctVector(head)
	if !ok {
		return false
	}
	if count == 0 {
		return all && len(head) < 64
	}
	end := at + 4*uint64(count)
	fit := false // or is beyond head
	for i := range uint64(min(count, 16)) {
		el := at + 4*i
		if el+4 > uint64(len(head)) {
			break
		}
		packet := el + uint64(binary.LittleEndian.Uint32(head[el:]))
		if packet < end {
			return false // the data of a vector must follow it
		}
		if packet+4 > uint64(len(head)) {
			fit = true
			continue
		}
		t, ok := flatTableAt(head, packet)
		if !ok {
			back := int64(int32(binary.LittleEndian.Uint32(head[packet:])))
			if int64(packet)-back+4+2*maxKloctFields <= int64(len(head)) {
				return false
			}
			fit = true // the vtable, or its end, is beyond head
			continue
		}
		if t.fields > maxKloctFields {
			return false
		}
		_, there, ok := t.field(head, kloctData, 4)
		fit = fit || there && ok
	}
	return fit
}

// readKloct reads the form "kloct".
func readKloct(l *reading) {
	b, _ := io.ReadAll(io.LimitReader(l.in, maxLogWhole+1)) // the error is also stored in l.in
	cutShort := len(b) > maxLogWhole
	if cutShort {
		b = b[:maxLogWhole]
	}
	at, count, ok := kloctVector(b)
	if !ok {
		l.tornAt(0, "the table of packets is invalid")
		return
	}
	k := kloctReading{l: l, b: b, left: len(b)}
	if held := (uint64(len(b)) - at) / 4; uint64(count) > held {
		k.beyond, count = count-int(held), int(held)
	}
	for i := range count {
		el := at + 4*uint64(i)
		if !k.packet(el + uint64(binary.LittleEndian.Uint32(b[el:]))) {
			return
		}
	}
	if !k.flush() {
		return
	}
	switch {
	case cutShort:
		l.tornAt(int64(len(b)), fmt.Sprintf("only the first %d MiB of the file are read", maxLogWhole>>20))
	case l.in.Failure() != nil:
		l.tornAt(int64(len(b)), "the file is damaged")
	case k.lost+k.beyond > 0:
		l.tornAt(int64(len(b)), fmt.Sprintf("%d packets are completely or partly beyond the end of the file", k.lost+k.beyond))
	}
}

type kloctReading struct {
	l      *reading
	b      []byte
	left   int // bytes that packets can still take: those of a valid log do not overlap
	run    int // consecutive packets that could not be read
	lost   int // total
	beyond int // packets whose offsets are missing
}

// packet reads the packet at a position, and reports whether more are wanted.
func (k *kloctReading) packet(at uint64) bool {
	t, ok := flatTableAt(k.b, at)
	var data, name []byte
	var code, fake, stamp uint64
	off := 0
	if ok {
		data, off, ok = t.run(k.b, kloctData)
	}
	if ok {
		code, ok = t.number(k.b, kloctCode, 2)
	}
	if !ok {
		k.run++
		k.lost++
		return true
	}
	if !k.flush() {
		return false
	}
	k.l.record()
	if k.left -= len(data) + kloctLeast; k.left < 0 {
		k.l.tornAt(int64(off), "packets overlap: the file is not a valid log")
		return false
	}
	// These fields are optional.
	name, _, _ = t.run(k.b, kloctName)
	fake, _ = t.number(k.b, kloctFake, 1)
	stamp, _ = t.number(k.b, kloctTimestamp, 8)
	f := transport.Frame{At: scan.UnixMilli(1000 * int64(min(stamp, scan.LastSecond+1))), Bytes: data}
	if len(name) <= transport.MaxName {
		var made bool
		f.Name = string(name)
		if f.Dir, made = teraDirection(f.Name); made {
			f.Name = ""
		}
	}
	if fake != 0 {
		f.Note, k.l.out.Marks = sentByProxy, transport.Fake
	}
	if len(data) < 4 {
		return k.l.problem(f.Dir, f.At, data, int64(off), "%s", transport.Join(f.Note, fmt.Sprintf("message %d has %d bytes, less than its 4-byte header", code, len(data))))
	}
	if is := binary.LittleEndian.Uint16(data[2:]); uint64(is) != code {
		f.Note = transport.Join(f.Note, fmt.Sprintf("the log has code %d, the bytes have %d", code, is))
	}
	return k.l.give(f, int64(off))
}

// flush reports the pending packets that could not be read.
func (k *kloctReading) flush() bool {
	if k.run == 0 {
		return true
	}
	n := k.run
	k.run = 0
	k.l.record()
	return k.l.problem(0, scan.UnixMilli(0), nil, transport.Unknown, "%d packets are outside of the file", n)
}
