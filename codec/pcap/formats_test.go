package pcap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/tooltest"
)

// asRecords writes packets with the 16 bytes of a pcap header each, filled up to a size.
func asRecords(packets []packet.Packet, magic uint32, order binary.ByteOrder, head int) []byte {
	out := make([]byte, pcapHeader)
	order.PutUint32(out, magic)
	order.PutUint16(out[4:], 2)
	order.PutUint16(out[6:], 4)
	order.PutUint32(out[16:], 1<<18)
	order.PutUint32(out[20:], uint32(packet.LinkEthernet))
	for _, p := range packets {
		record := make([]byte, head)
		order.PutUint32(record, uint32(p.At.Unix()))
		order.PutUint32(record[4:], uint32(p.At.Nanosecond()/1000))
		order.PutUint32(record[8:], uint32(len(p.Data)))
		order.PutUint32(record[12:], p.Orig)
		for i := pcapRecord; i < head; i++ {
			record[i] = byte(i * 37)
		}
		out = append(append(out, record...), p.Data...)
	}
	return out
}

func asSnoop(packets []packet.Packet) []byte {
	o := binary.BigEndian
	out := o.AppendUint32(o.AppendUint32([]byte(snoopMagic), 2), 4)
	for _, p := range packets {
		pad := -len(p.Data) & 3
		for _, n := range []int{int(p.Orig), len(p.Data), snoopRecord + len(p.Data) + pad, 0, int(p.At.Unix()), p.At.Nanosecond() / 1000} {
			out = o.AppendUint32(out, uint32(n))
		}
		out = append(append(out, p.Data...), make([]byte, pad)...)
	}
	return out
}

// asNetmon writes version 2 of a minor version, with a table of packets between the first and the second half of them.
func asNetmon(packets []packet.Packet, minor byte) []byte {
	o := binary.LittleEndian
	out := make([]byte, netmonStart)
	copy(out, netmonMagic2)
	out[4], out[5] = minor, 2
	o.PutUint16(out[6:], 1)
	for i, n := range []int{packettest.Day.Year(), int(packettest.Day.Month()), 0, packettest.Day.Day(), packettest.Day.Hour(), packettest.Day.Minute(), packettest.Day.Second(), 0} {
		o.PutUint16(out[8+2*i:], uint16(n))
	}
	for i, p := range packets {
		if i == len(packets)/2 {
			o.PutUint32(out[24:], uint32(len(out)))
			o.PutUint32(out[28:], 40)
			out = append(out, bytes.Repeat([]byte{0xee}, 40)...)
		}
		out = o.AppendUint64(out, uint64(p.At.Sub(packettest.Day)/time.Microsecond))
		out = o.AppendUint32(o.AppendUint32(out, p.Orig), uint32(len(p.Data)))
		out = append(out, p.Data...)
		out = append(out, []byte{1, 0, 9, 9, 9, 9, 8, 8, 8, 8, 8, 8, 8, 8, 7}[:[]int{0, 2, 6, 15}[minor]]...)
	}
	return out
}

// Each format has the packets of the capture that it was made of, and an index finds each of them again.
func TestOtherFormats(t *testing.T) {
	all, _ := readAll(t, sample(t, transport.TCP))
	for name, file := range map[string][]byte{
		"patched tcpdump": asRecords(all, pcapPatched, binary.LittleEndian, 24), "patched tcpdump, big-endian": asRecords(all, pcapPatched, binary.BigEndian, 24),
		"Red Hat 6.1": asRecords(all, pcapMicro, binary.LittleEndian, 24), "SuSE 6.3": asRecords(all, pcapPatched, binary.LittleEndian, 28),
		"Nokia": asRecords(all, pcapMicro, binary.BigEndian, 20), "snoop": asSnoop(all),
		"netmon 2.0": asNetmon(all, 0), "netmon 2.1": asNetmon(all, 1), "netmon 2.2": asNetmon(all, 2), "netmon 2.3": asNetmon(all, 3),
	} {
		check := func(file []byte) error {
			packets, err := readAll(t, file)
			if err != io.EOF || len(packets) != len(all) { //nolint:errorlint // itself
				return fmt.Errorf("%d packets, %w", len(packets), err)
			}
			for i, p := range packets {
				if want := all[i]; !bytes.Equal(p.Data, want.Data) || !p.At.Equal(want.At.Truncate(time.Microsecond)) || p.Orig != want.Orig || p.Link != want.Link ||
					!bytes.Equal(file[p.Pos:][:len(p.Data)], p.Data) {
					return fmt.Errorf("packet %d is %+v, want %+v", i+1, p, want)
				}
			}
			return nil
		}
		if err := check(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range file { // truncated, it gives the packets before that
			packets, _ := readAll(t, file[:n])
			for i := range packets {
				if len(packets) > 2 && !bytes.Equal(packets[i].Data, all[i].Data) {
					t.Fatalf("%s, cut at %d: packet %d differs", name, n, i+1)
				}
			}
		}
	}
}

// An index continues in the middle of a file with other headers than the usual ones.
func TestIndexOtherFormats(t *testing.T) {
	few, _ := readAll(t, sample(t, transport.UDP))
	var many []packet.Packet
	for i := range 3*markEvery + 5 {
		p := few[0]
		p.At = packettest.Day.Add(time.Duration(i) * time.Millisecond)
		many = append(many, p)
	}
	for name, file := range map[string][]byte{
		"Red Hat 6.1": asRecords(many, pcapMicro, binary.LittleEndian, 24), "snoop": asSnoop(many), "netmon": asNetmon(many, 3),
	} {
		var x Index
		for range 2 {
			for _, n := range []uint32{3*markEvery + 4, 2*markEvery + 1, 7} {
				found := false
				err := x.Packets(bytes.NewReader(file), []uint32{n}, func(p *packet.Packet) bool {
					found = p.N == n && p.At.Equal(many[n-1].At) && bytes.Equal(p.Data, many[n-1].Data)
					return true
				})
				if err != nil || !found {
					t.Errorf("%s: packet %d: %t, %v", name, n, found, err)
				}
			}
		}
	}
}

// Records that Wireshark numbers count; interfaces beyond the first thousands have packets as well.
func TestRecordsAndInterfaces(t *testing.T) {
	o := binary.LittleEndian
	file := sectionBlock(o)
	for range 5000 {
		file = append(file, block(o, blockInterface, words(o, 1, 0))...)
	}
	frame := make([]byte, 60)
	for _, kind := range []uint32{blockPacket, blockCustom, blockCustomLocal, blockJournal, blockSyscall, blockSyscall2, blockSyscall3, 5, 4, 10, 0x99, 0x80000001, blockPacket} {
		body := append(words(o, 4999, 0, 0, uint32(len(frame)), uint32(len(frame))), frame...)
		file = append(file, block(o, kind, body)...)
	}
	packets, err := readAll(t, file)
	if err != io.EOF || len(packets) != 2 || packets[0].N != 1 || packets[1].N != 8 || packets[1].Interface != 4999 { //nolint:errorlint // itself
		t.Fatalf("%d packets, %v: %+v", len(packets), err, packets)
	}
	sum, err := Read(bytes.NewReader(file), packet.Options{}, func(*transport.Frame) {})
	if err != nil || sum.NotPackets != 6 || !slices.Contains(sum.LeftOut(), "6 packets that are records of programs, not of a network") {
		t.Errorf("%+v, %v", sum, err)
	}
}

func words(o order, numbers ...uint32) (b []byte) {
	for _, n := range numbers {
		b = o.AppendUint32(b, n)
	}
	return b
}

// Files compressed by the usual programs are read like uncompressed ones; damage and a dictionary that is too large are errors.
func TestToolPacked(t *testing.T) {
	plain := sample(t, transport.TCP)
	want, _ := readAll(t, plain)
	for ending, command := range map[string][]string{
		"gz": {"gzip"}, "zst": {"zstd", "-q"}, "lz4": {"lz4", "-q", "-c"}, "xz": {"xz"}, "bz2": {"bzip2"},
	} {
		t.Run(ending, func(t *testing.T) {
			tooltest.Path(t, command[0])
			run := exec.Command(command[0], command[1:]...)
			run.Stdin = bytes.NewReader(plain)
			file, err := run.Output()
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(bytes.NewReader(file))
			if err != nil || r.Format() != "pcapng."+ending {
				t.Fatalf("%v", err)
			}
			packets, err := readAll(t, file)
			if err != io.EOF || len(packets) != len(want) || SniffPacked(file) != "pcapng" { //nolint:errorlint // itself
				t.Fatalf("%d packets, %v", len(packets), err)
			}
			if _, err := NewReader(bytes.NewReader(file[:20])); err != nil && !strings.Contains(err.Error(), "unpacked") && !strings.Contains(err.Error(), "compressed") {
				t.Errorf("the first bytes: %v", err)
			}
			for n := 0; n < len(file); n += 5 { // neither panics nor blames the reader
				if _, err := readAll(t, file[:n]); err != nil && n > 20 && !strings.Contains(err.Error(), "packet") && !strings.Contains(err.Error(), ErrFormat.Error()) {
					t.Fatalf("cut at %d: %v", n, err)
				}
				damaged := bytes.Clone(file)
				damaged[n] ^= 0x55
				_, _ = readAll(t, damaged)
			}
		})
	}
	if _, err := scan.Unpack("zst", bytes.NewReader([]byte("\x28\xb5\x2f\xfd\x00\xff"))); err == nil {
		if _, err := NewReader(bytes.NewReader([]byte("\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"))); err == nil {
			t.Error("a window of exabytes is accepted")
		}
	}
}

// editcap of Wireshark writes the same formats; where it is installed, its files give the same packets.
func TestToolFormatsOfEditcap(t *testing.T) {
	tooltest.Path(t, "editcap")
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.pcapng")
	all, _ := readAll(t, sample(t, transport.TCP))
	if err := os.WriteFile(plain, sample(t, transport.TCP), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"pcap", "nsecpcap", "modpcap", "nokiapcap", "rh6_1pcap", "suse6_3pcap", "snoop", "netmon1", "netmon2"} {
		out := filepath.Join(dir, format)
		if text, err := exec.Command("editcap", "-F", format, plain, out).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", format, err, text)
			continue
		}
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		packets, err := readAll(t, file)
		if err != io.EOF || len(packets) != len(all) { //nolint:errorlint // itself
			t.Errorf("%s: %d packets, %v", format, len(packets), err)
			continue
		}
		for i, p := range packets {
			if !bytes.Equal(p.Data, all[i].Data) || p.At.Sub(all[i].At).Abs() > 24*time.Hour { // netmon has local times
				t.Errorf("%s: packet %d is %+v", format, i+1, p)
			}
		}
	}
}
