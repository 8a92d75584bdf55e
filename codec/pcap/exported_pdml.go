package pcap

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// Packets of tshark as PDML (doc/README.xml-output of Wireshark):
//
//	<packet><proto name="geninfo" …><field name="num" show="1" …/><field name="timestamp" value="1700000000.000005" …/></proto>
//	<proto name="eth" size="14" pos="0"><field name="eth.dst" size="6" pos="0" value="0102…"/>…</proto>…</packet>
//
// A field has its bytes as value, a field of some bits as unmaskedvalue. Fields of reassembled data have positions in those data; since
// they follow the fields of the packet itself, the first value of a byte counts. The last fragment of an IP packet has its bytes only in
// the list of fragments. Header bytes that no field shows (reserved ones, the ICV of AH) are 0.

func sniffPDML(head []byte) bool {
	b := scan.StartsLikeText(head)
	at := bytes.Index(b, []byte("<pdml"))
	return at >= 0 && at < 4096 && (at == 0 || b[0] == '<')
}

func nextPDML(r *Reader, to *exported) (bool, error) {
	if !seek(r.in, "<packet>", 0) {
		return false, nil
	}
	to.pos = r.in.Offset()
	const closing = "</packet>"
	want := 64 << 10
	for at := 0; ; want *= 2 {
		b := r.in.Peek(min(want, maxExportPacket))
		if i := bytes.Index(b[at:], []byte(closing)); i >= 0 {
			readPDML(b[:at+i], to)
			r.in.SkipSeen(at + i + len(closing))
			return true, nil
		}
		if len(b) >= maxExportPacket {
			return false, r.torn("a packet exceeds the size limit")
		}
		if len(b) < want {
			return false, r.torn("the file ends inside a packet")
		}
		at = len(b) - len(closing)
	}
}

// seek skips to text and reports whether it is there. With most > 0, it looks at that many bytes at most.
func seek(in *scan.Input, text string, most int) bool {
	for done := 0; ; {
		b := in.Peek(16 << 10)
		if i := bytes.Index(b, []byte(text)); i >= 0 {
			in.Skip(int64(i))
			return true
		}
		if len(b) < 16<<10 {
			in.Skip(int64(len(b)))
			return false
		}
		n := len(b) - len(text)
		in.Skip(int64(n))
		if done += n; most > 0 && done > most {
			return false
		}
	}
}

// readPDML assembles the bytes of a packet.
func readPDML(b []byte, to *exported) {
	var have []bool // which bytes are known
	general, most := false, min(len(b)/2, MaxPacket)
	headers, fragment, together := uint64(0), uint64(0), false // end of the headers, start of a fragment, and whether the fields that follow are of reassembled data
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			break
		}
		var tag pdmlTag
		b = tag.read(b[i+1:])
		switch {
		case tag.name == "proto":
			general = tag.of == "geninfo"
			switch {
			case together:
			case tag.of == "ip", tag.of == "ipv6.fraghdr":
				headers = number(tag.pos)
				fragment = headers + number(tag.size)
			case tag.of == "tcp", tag.of == "udp", strings.HasPrefix(tag.of, "ipv6"):
				headers = number(tag.pos)
			}
		case tag.name != "field":
		case general && tag.of == "num":
			to.number = number(tag.show)
		case general && tag.of == "len":
			to.orig = number(tag.show)
		case general && tag.of == "caplen":
			have = make([]bool, min(number(tag.show), uint64(most)))
			to.data = make([]byte, len(have))
		case general && tag.of == "timestamp":
			to.took(tag.value)
		case tag.of == "frame.encap_type":
			to.encapsulated(tag.show)
		case general, strings.HasSuffix(tag.of, ".reassembled.data"), tag.of == "tcp.segments":
		case tag.of == "ip.fragments", tag.of == "ipv6.fragments":
			together = true
		case tag.of == "ip.fragment", tag.of == "ipv6.fragment":
			if number(tag.show) == to.number && fragment > 0 {
				tag.pos = strconv.FormatUint(fragment, 10)
				tag.fill(to.data, have)
			}
		case together:
		default:
			tag.fill(to.data, have)
		}
	}
	for i, known := range have {
		if !known && uint64(i) >= headers {
			to.data = to.data[:i]
			break
		}
	}
}

// pdmlTag holds the name and the relevant attributes of a tag.
type pdmlTag struct {
	name, of, show, value, unmasked, pos, size string
}

// read parses the tag at b, after its "<", and returns the rest.
func (t *pdmlTag) read(b []byte) []byte {
	end := bytes.IndexAny(b, " />")
	if end < 0 {
		return nil
	}
	t.name = string(b[:min(end, 16)])
	b = b[end:]
	for {
		b = bytes.TrimLeft(b, " \t\r\n/")
		if len(b) == 0 || b[0] == '>' {
			return b
		}
		eq := bytes.IndexAny(b[:min(len(b), 64)], "=<>")
		if eq < 0 || b[eq] != '=' || eq+1 >= len(b) || b[eq+1] != '"' {
			return b // a closing tag, or not a tag
		}
		name := string(b[:eq])
		b = b[eq+2:]
		end := bytes.IndexByte(b, '"')
		if end < 0 {
			return nil
		}
		value := b[:end]
		b = b[end+1:]
		switch name {
		case "name":
			t.of = string(value)
		case "show":
			t.show = string(value[:min(len(value), 64)])
		case "value":
			t.value = string(value)
		case "unmaskedvalue":
			t.unmasked = string(value)
		case "pos":
			t.pos = string(value)
		case "size":
			t.size = string(value)
		}
	}
}

// fill copies the bytes of a field to their position, if that is in the packet.
func (t *pdmlTag) fill(data []byte, have []bool) {
	text := t.value
	if t.unmasked != "" {
		text = t.unmasked
	}
	pos, n := number(t.pos), number(t.size)
	if n == 0 || uint64(len(text)) != 2*n || t.pos == "" || pos+n > uint64(len(have)) {
		return
	}
	field, err := hex.DecodeString(text)
	if err != nil {
		return
	}
	for i, c := range field {
		if at := int(pos) + i; !have[at] {
			have[at], data[at] = true, c
		}
	}
}
