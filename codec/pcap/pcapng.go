package pcap

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// The supported blocks of pcapng (draft-ietf-opsawg-pcapng, section 4). A block is: type, total length, body padded to 4 bytes, total
// length again. All others, including name resolution and statistics, are skipped.
const (
	blockSection   = 0x0a0d0d0a // reads the same in both byte orders
	blockInterface = 1
	blockOldPacket = 2
	blockSimple    = 3
	blockPacket    = 6
	blockSecrets   = 0xa

	// Records that Wireshark numbers as packets, though they are none: journal entries of systemd, system calls of sysdig, and custom blocks.
	blockJournal     = 9
	blockSyscall     = 0x204
	blockSyscall2    = 0x216
	blockSyscall3    = 0x221
	blockCustom      = 0x00000bad
	blockCustomLocal = 0x40000bad // not to be copied

	sectionMagic = 0x1a2b3c4d

	optionEnd     = 0
	optionComment = 1
	optionTold    = 0xd746 // data of FrameTold and CaptureTold; a code for local use, which other programs skip
	optionFlags   = 2      // of packets
	optionIfName  = 2      // of interfaces, as those below
	optionResol   = 9      // of time stamps
	optionOffset  = 14     // of time stamps, seconds

	blockFrame = 12 // bytes of a block besides its body
)

// nextBlock reads blocks up to the next packet.
func (r *Reader) nextBlock() error {
	for {
		head := r.in.Peek(blockFrame)
		switch {
		case len(head) == 0:
			return r.end()
		case len(head) < blockFrame:
			return r.torn("the file ends inside the header of a block: %d of %d bytes are present", len(head), blockFrame)
		}
		kind := r.u32(head)
		if kind == blockSection {
			r.big = head[8] == sectionMagic>>24
			if r.u32(head[8:]) != sectionMagic {
				return r.torn("the section has an invalid byte-order magic: % x", head[8:12])
			}
		}
		size := r.u32(head[4:])
		if size < blockFrame || size%4 != 0 {
			return r.torn("a block size of %d bytes is invalid", size)
		}
		var take func(*Reader, []byte) (bool, string)
		switch kind {
		case blockSection:
			take = (*Reader).takeSection
		case blockInterface:
			take = (*Reader).takeInterface
		case blockPacket:
			take = (*Reader).takePacket
		case blockSimple:
			take = (*Reader).takeSimple
		case blockOldPacket:
			take = (*Reader).takeOldPacket
		case blockRecorded:
			if r.record != nil {
				take = (*Reader).takeRecord
				break
			}
			fallthrough
		case blockJournal, blockSyscall, blockSyscall2, blockSyscall3, blockCustom, blockCustomLocal:
			if r.packet.N == maxPacketCount-1 {
				return r.torn("the file has too many packets to number")
			}
			r.packet.N++
			r.records++
			fallthrough
		default:
			if kind == blockSecrets && size <= maxSecrets {
				take = (*Reader).takeSecrets
				break
			}
			start := r.in.Offset()
			if done := r.in.Skip(int64(size)); done < int64(size) {
				return r.tornAt(start, "the file ends inside a block: %d of %d bytes are present", done, size)
			}
			continue
		}
		if size > MaxPacket {
			return r.torn("a block size of %d bytes is invalid", size)
		}
		block := r.in.Peek(int(size))
		if len(block) < int(size) {
			return r.torn("the file ends inside a block: %d of %d bytes are present", len(block), size)
		}
		if end := r.u32(block[size-4:]); end != size {
			return r.torn("the two lengths of a block differ: %d and %d bytes", size, end)
		}
		packet, wrong := take(r, block[8:size-4])
		if wrong != "" {
			return r.torn("%s", wrong)
		}
		r.in.SkipSeen(int(size))
		if packet {
			return nil
		}
	}
}

// takeRecord passes a block of recorded frames to the consumer.
func (r *Reader) takeRecord(body []byte) (bool, string) {
	r.record(body)
	return false, ""
}

// takeSecrets reads a Decryption Secrets Block: the kind of the secrets, their length, and the secrets.
func (r *Reader) takeSecrets(body []byte) (bool, string) {
	if len(body) < 8 || uint64(r.u32(body[4:])) > uint64(len(body)-8) {
		return false, "" // no packet depends on its form
	}
	data := body[8 : 8+r.u32(body[4:])]
	if r.secretBytes+len(data) <= maxSecrets && len(r.secrets) < maxSecretBlocks {
		r.secrets = append(r.secrets, Secrets{r.u32(body), slices.Clone(data)})
		r.secretBytes += len(data)
	}
	return false, ""
}

func (r *Reader) takeSection(body []byte) (bool, string) {
	if len(body) < 16 {
		return false, "the header of a section is too short"
	}
	if major := r.u16(body[4:]); major != 1 {
		return false, "the section has an unknown version"
	}
	r.ifaces, r.names = r.ifaces[:0], 0
	if r.record != nil {
		r.record(nil)
	}
	r.section(body[16:])
	r.fileNotes(body[16:])
	return false, ""
}

func (r *Reader) takeInterface(body []byte) (bool, string) {
	if len(body) < 8 { // packets name interfaces by number, so an invalid one counts too
		body = []byte{byte(packet.LinkUnknown), 0, 0, 0, 0, 0, 0, 0}
		if r.big {
			body[0], body[1] = 0, byte(packet.LinkUnknown)
		}
	}
	if len(r.ifaces) == maxInterfaces {
		return false, "" // its packets are lost
	}
	in := Interface{Link: packet.LinkType(r.u16(body)), SnapLen: r.u32(body[4:]), resolution: 6}
	for o := (options{r: r, rest: body[8:]}); o.next(); {
		switch {
		case o.code == optionIfName && in.Name == "" && r.names+len(o.value) <= maxNames:
			in.Name = text(o.value)
			r.names += len(in.Name)
		case o.code == optionResol && len(o.value) == 1:
			in.resolution = o.value[0]
		case o.code == optionOffset && len(o.value) == 8:
			in.offset = int64(r.u64(o.value))
		}
	}
	r.ifaces = append(r.ifaces, in)
	r.fileNotes(body[8:])
	return false, ""
}

// takePacket reads an Enhanced Packet Block.
func (r *Reader) takePacket(body []byte) (bool, string) {
	if len(body) < 20 {
		return r.lose()
	}
	return r.takeStamped(body, int(r.u32(body)))
}

// takeOldPacket reads a Packet Block, the predecessor of the Enhanced Packet Block. The interface and the drop count have 2 bytes each.
func (r *Reader) takeOldPacket(body []byte) (bool, string) {
	if len(body) < 20 {
		return r.lose()
	}
	return r.takeStamped(body, int(r.u16(body)))
}

func (r *Reader) takeStamped(body []byte, index int) (bool, string) {
	size := r.u32(body[12:])
	if uint64(size) > uint64(len(body)-20) {
		return r.lose()
	}
	return r.take(index, uint64(r.u32(body[4:]))<<32|uint64(r.u32(body[8:])), body, 20, size, r.u32(body[16:]))
}

// takeSimple reads a Simple Packet Block: no time, no options, and its size follows from the snapshot length of the interface.
func (r *Reader) takeSimple(body []byte) (bool, string) {
	if len(body) < 4 {
		return r.lose()
	}
	orig := r.u32(body)
	size := min(orig, uint32(len(body)-4))
	if len(r.ifaces) > 0 && r.ifaces[0].SnapLen > 0 {
		size = min(size, r.ifaces[0].SnapLen)
	}
	is, wrong := r.take(0, 0, body, 4, size, orig)
	if is {
		r.packet.At = time.Time{}
	}
	return is, wrong
}

// lose skips an invalid packet: the length of its block is known, so the next ones can be read. It still counts as a packet.
func (r *Reader) lose() (bool, string) {
	if r.packet.N == maxPacketCount-1 {
		return false, "the file has too many packets to number"
	}
	r.packet.N++
	r.lost++
	return false, ""
}

// take sets the packet. The caller has checked size.
func (r *Reader) take(index int, stamp uint64, body []byte, at int, size, orig uint32) (bool, string) {
	if index >= len(r.ifaces) { // the link type is unknown
		return r.lose()
	}
	in := &r.ifaces[index]
	end := at + int(size)
	p, n := &r.packet, r.packet.N+1
	*p = packet.Packet{} // and set in place, as a literal would be copied
	p.N, p.At, p.Interface, p.Link = n, in.time(stamp), index, in.Link
	p.Data, p.Orig, p.Pos = body[at:end:end], orig, r.in.Offset()+8+int64(at)
	comments := 0
	for o := (options{r: r, rest: body[min((end+3)&^3, len(body)):]}); o.next(); {
		switch {
		case o.code == optionComment && comments < maxComments:
			if comments++; comments > 1 {
				r.packet.Comment += "\n"
			}
			r.packet.Comment += text(o.value)
		case o.code == optionTold && len(r.packet.Told) < maxTold:
			r.packet.Told = append(r.packet.Told, text(o.value))
		case o.code == optionFlags && len(o.value) == 4:
			r.packet.Flow = packet.Flow(r.u32(o.value) & 3)
		}
	}
	if r.packet.Flow > packet.Outbound {
		r.packet.Flow = packet.NoFlow
	}
	return true, ""
}

// fileNotes stores the comments among options.
func (r *Reader) fileNotes(rest []byte) {
	before := len(r.notes)
	told := false
	for o := (options{r: r, rest: rest}); o.next(); {
		switch {
		case o.code == optionComment && len(r.notes) < maxFileNotes:
			r.notes = append(r.notes, text(o.value))
		case o.code == optionTold && len(r.told) < maxFileNotes:
			r.told, told = append(r.told, text(o.value)), true
		}
	}
	if !told { // then it may be in the comments
		r.told = append(r.told, r.notes[before:]...)
	}
}

// text returns the value of a text option without trailing NULs, which some writers add.
func text(value []byte) string {
	for len(value) > 0 && value[len(value)-1] == 0 {
		value = value[:len(value)-1]
	}
	return strings.ToValidUTF8(string(value), "\ufffd")
}

// options iterates over the options of a block. It stops at the first invalid one, which does not invalidate the packet.
type options struct {
	r     *Reader
	rest  []byte
	code  uint16
	value []byte
}

func (o *options) next() bool {
	if len(o.rest) < 4 {
		return false
	}
	size := int(o.r.u16(o.rest[2:]))
	if o.code = o.r.u16(o.rest); o.code == optionEnd || size > len(o.rest)-4 {
		return false
	}
	o.value = o.rest[4 : 4+size]
	o.rest = o.rest[min(4+(size+3)&^3, len(o.rest)):]
	return true
}

// time converts a time stamp of the interface; the zero time if it is out of range. if_tsresol is a resolution of 10^-n s, or 2^-n s if its
// highest bit is set.
func (in *Interface) time(stamp uint64) time.Time {
	n := uint(in.resolution &^ 0x80)
	var sec, nanos uint64
	switch {
	case in.resolution&0x80 == 0 && n <= 9:
		unit := powerOf10(n)
		sec, nanos = stamp/unit, stamp%unit*powerOf10(9-n)
	case in.resolution&0x80 == 0:
		if n > 9+19 {
			break
		}
		nanos = stamp / powerOf10(n-9)
		sec, nanos = nanos/1e9, nanos%1e9
	case n < 64:
		sec = stamp >> n
		high, low := bits.Mul64(stamp&(1<<n-1), 1e9)
		nanos = high<<(64-n) | low>>n
	default:
		high, _ := bits.Mul64(stamp, 1e9)
		nanos = high >> (n - 64)
	}
	if sec > scan.LastSecond || in.offset > scan.LastSecond || in.offset < -scan.LastSecond {
		return time.Time{}
	}
	if at := int64(sec) + in.offset; at >= 0 && at <= scan.LastSecond {
		return time.Unix(at, int64(nanos)).UTC()
	}
	return time.Time{}
}

// powerOf10 returns 10^n for n in 0..19.
func powerOf10(n uint) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
