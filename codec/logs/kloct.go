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
// All numbers are little-endian. A table starts with the distance back to its vtable, which has for each field its place in the table,
// 0 where it is left away. Strings, vectors and tables in fields are distances forward. data is the message with its header. A
// FlatBuffer is written from its end to its start: of a file that breaks off the first messages are lost, not the last, and with them,
// often, the vtable that all share; then none can be read.
//
// What is not told and decided here: timestamp is milliseconds since 1970, all messages are of one connection.

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
	maxKloctCount  = 1 << 25 // packets; so many take up more than maxLogWhole
	maxKloctFields = 16      // that a packet can have in a later version
	kloctLeast     = 8       // bytes that a packet takes beside its message: the distance to it and that to its vtable
)

// flatTable is a table of a FlatBuffer: its place and that of its vtable, both inside the buffer.
type flatTable struct {
	at, vtable, fields int // fields that the vtable knows
}

// flatTableAt looks at the table at a place of b.
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

// field is the place of a field of so many bytes; there is false if it is left away. ok is false if it is outside of b.
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

// number is the value of a field of 1, 2 or 8 bytes, 0 if it is left away.
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

// run is the value of a field that is a string or a vector of bytes, and its place; empty if it is left away.
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

// kloctVector finds the packets of a log: the place of the first of count distances.
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

// sniffKloct tells the log by its structure, as it has no mark: the distances that the root and the first packets are made of must fit.
func sniffKloct(head []byte, all bool) bool {
	at, count, ok := kloctVector(head)
	if !ok {
		return false
	}
	if count == 0 {
		return all && len(head) < 64
	}
	end := at + 4*uint64(count)
	fit := false // or lies behind the head
	for i := range uint64(min(count, 16)) {
		el := at + 4*i
		if el+4 > uint64(len(head)) {
			break
		}
		packet := el + uint64(binary.LittleEndian.Uint32(head[el:]))
		if packet < end {
			return false // what a vector refers to stands behind it
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
			fit = true // the vtable is behind the head, at least its end
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

// readKloct is the reader of the form "kloct".
func readKloct(l *reading) {
	b, _ := io.ReadAll(io.LimitReader(l.in, maxLogWhole+1)) // the error is that of l.in, which remembers it
	cutShort := len(b) > maxLogWhole
	if cutShort {
		b = b[:maxLogWhole]
	}
	at, count, ok := kloctVector(b)
	if !ok {
		l.tornAt(0, "the table of the packets cannot be read")
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
		l.tornAt(int64(len(b)), fmt.Sprintf("the file is larger than %d MiB, more is not read", maxLogWhole>>20))
	case l.in.Failure() != nil:
		l.tornAt(int64(len(b)), "the file is damaged")
	case k.lost+k.beyond > 0:
		l.tornAt(int64(len(b)), fmt.Sprintf("%d packets lie behind the end of the file, in whole or in part", k.lost+k.beyond))
	}
}

type kloctReading struct {
	l      *reading
	b      []byte
	left   int // bytes that packets can still have: honest ones do not share theirs
	run    int // packets that could not be read, one after another
	lost   int // in all
	beyond int // whose distances are lost already
}

// packet reads the packet at a place, and reports whether more are wanted.
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
		k.l.tornAt(int64(off), "packets share their bytes: this is no log")
		return false
	}
	// Of these a message can do without.
	name, _, _ = t.run(k.b, kloctName)
	fake, _ = t.number(k.b, kloctFake, 1)
	stamp, _ = t.number(k.b, kloctTimestamp, 8)
	f := transport.Frame{At: scan.UnixMilli(int64(stamp)), Bytes: data}
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
		return k.l.problem(f.Dir, f.At, data, int64(off), "%s", transport.Join(f.Note, fmt.Sprintf("the log has %d bytes of message %d; its header alone takes 4", len(data), code)))
	}
	if is := binary.LittleEndian.Uint16(data[2:]); uint64(is) != code {
		f.Note = transport.Join(f.Note, fmt.Sprintf("the log has code %d, the bytes have %d", code, is))
	}
	return k.l.give(f, int64(off))
}

// flush tells of the packets that could not be read since the last that could.
func (k *kloctReading) flush() bool {
	if k.run == 0 {
		return true
	}
	n := k.run
	k.run = 0
	k.l.record()
	return k.l.problem(0, scan.UnixMilli(0), nil, transport.Unknown, "%d packets cannot be read: they lie outside of the file", n)
}
