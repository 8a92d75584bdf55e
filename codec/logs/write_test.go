package logs

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Writers of the logs of other programs, for tests.

var le = binary.LittleEndian

// kloctPacket is a packet of a Kloct log. Zero fields are omitted, as by the FlatBuffers library.
type kloctPacket struct {
	code, version uint16
	name          string
	fake          bool
	data          string
	stamp         uint64
}

// kloctLog writes a log like the library: backwards, so that the first packet is last. With shared, all packets have one vtable at the end
// of the file; else each is preceded by its own.
func kloctLog(shared bool, packets ...kloctPacket) []byte {
	// The root's vtable (6 bytes at 4), the root (at 12), the vector (at 20).
	b := []byte{12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0}
	b = le.AppendUint32(b, uint32(len(packets)))
	vector := len(b)
	b = append(b, make([]byte, 4*len(packets))...)
	var late []int // tables whose vtable follows later
	vtable := []byte{16, 0, 28, 0, 24, 0, 4, 0, 26, 0, 8, 0, 12, 0, 16, 0}
	for i := len(packets) - 1; i >= 0; i-- {
		p := packets[i]
		own := bytes.Clone(vtable)
		if !shared {
			for field, zero := range []bool{p.code == 0, p.name == "", p.version == 0, !p.fake, p.data == "", p.stamp == 0} {
				if zero {
					own[4+2*field] = 0
				}
			}
			b = append(b, own...)
		} else {
			late = append(late, len(b))
		}
		at := len(b)
		le.PutUint32(b[vector+4*i:], uint32(at-vector-4*i))
		b = le.AppendUint32(b, uint32(len(own))) // offset back
		b = le.AppendUint32(b, 28-4)             // name: after the table
		fake := uint32(0)
		if p.fake {
			fake = 1
		}
		b = le.AppendUint32(b, fake)
		b = le.AppendUint32(b, uint32(28-12+4+len(p.name)+1)) // data: after the name
		b = le.AppendUint64(b, p.stamp)
		b = le.AppendUint16(b, p.code)
		b = le.AppendUint16(b, p.version)
		b = le.AppendUint32(b, uint32(len(p.name)))
		b = append(append(b, p.name...), 0)
		b = le.AppendUint32(b, uint32(len(p.data)))
		b = append(b, p.data...)
	}
	for _, at := range late {
		le.PutUint32(b[at:], uint32(at-len(b)))
	}
	if len(late) > 0 {
		b = append(b, vtable...)
	}
	return b
}

// connectionBlock is a block of a TeraConnectionLog.
func connectionBlock(kind byte, payload string) string {
	return string(kind) + string(le.AppendUint16(nil, uint16(2+len(payload)))) + payload
}

// alkahestLog writes a .pkt; pack compresses the entries, nil for none.
func alkahestLog(pack func([]byte) []byte, entries ...string) []byte {
	b := append([]byte("TPPL"), 1, 0, 0, 0, 7, 9, 9, 0, 0, 2, 0, 0, 0)
	b = append(b, "\x05\x00\x00\x00V\x00e\x00l\x00i\x00k\x00a\x00\x00\x00\x00\x0a\x00\x00\x01\x79\x1e\x7f\x00\x00\x01\x10\x27"...)
	b = append(b, "\xff\xff\xff\xff\x00\x00\x01\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x01\x79\x1e"+strings.Repeat("\x00", 18)...)
	body := []byte(strings.Join(entries, ""))
	if pack == nil {
		return append(append(b, 0), body...)
	}
	return append(append(b, 6), pack(body)...)
}

func alkahestEntryOf(at time.Time, server int32, dir byte, code uint16, payload string) string {
	b := le.AppendUint64(nil, uint64(at.UnixMilli()))
	b = append(le.AppendUint32(b, uint32(server)), dir)
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(len(payload)))
	return string(b) + payload
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, 9)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// sharkFrame is a packet of an .msb.
type sharkFrame struct {
	at       time.Time
	outbound bool
	opcode   uint16
	data     string
}

// sharkSecondHead is a header of MapleShark2.
const sharkSecondHead = "\x03???\x64\x00\x03???\x65\x00\x00\x0c\x00\x00\x00"

// sharkFile writes an .msb of a version; head is the header between version and packets.
func sharkFile(version uint16, head string, frames ...sharkFrame) []byte {
	b := append(le.AppendUint16(nil, version), head...)
	for _, f := range frames {
		b = le.AppendUint64(b, uint64(f.at.Unix()*1e7+621355968000000000)+uint64(f.at.Nanosecond()/100))
		size := uint16(len(f.data))
		if version < 0x2020 && f.outbound {
			size |= 0x8000
		}
		if b = le.AppendUint16(b, size); version >= 0x2027 {
			b = append(b, 0, 0)
		}
		if b = le.AppendUint16(b, f.opcode); version >= 0x2020 {
			flag := byte(0)
			if f.outbound {
				flag = 1
			}
			b = append(b, flag)
		}
		b = append(b, f.data...)
		if version >= 0x2025 && version < 0x2030 {
			b = append(b, "IV1.IV2."...)
		}
	}
	return b
}

// logLine formats the properties of a frame that tests compare.
func logLine(f *transport.Frame) string {
	at := "-"
	if !f.At.IsZero() {
		at = f.At.Format("15:04:05.000")
	}
	s := fmt.Sprintf("%s %s %x", at, f.Dir, f.Bytes)
	if f.Name != "" {
		s += " " + f.Name
	}
	if f.HasKey {
		s += fmt.Sprintf(" code %d", f.Key.Code)
	}
	if f.Conn.ID > 0 {
		s += fmt.Sprintf(" conn %d", f.Conn.ID)
	}
	if f.Kind != 0 {
		s = f.Kind.String() + " " + s
	}
	if f.Note != "" {
		s += " (" + f.Note + ")"
	}
	return s
}
