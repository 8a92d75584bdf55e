package capture

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
)

// exportedPackets returns a few packets of two connections, as Wireshark would show them.
func exportedPackets(t testing.TB) []packet.Packet {
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1700000000, 123456000).UTC()
	for i, proto := range []transport.Proto{transport.UDP, transport.TCP} {
		s := pcap.NewSynthetic(w, 0, transport.Conn{Proto: proto, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
		if err := errors.Join(s.Open(at), s.Data(1, at.Add(time.Second), []byte("hello, this is more than one line"), ""),
			s.Data(2, at.Add(2*time.Second), bytes.Repeat([]byte{'a', 0, byte(i)}, 9), "")); err != nil {
			t.Fatal(err)
		}
	}
	_, packets, err := packetsOf(t, file.Bytes())
	if err != nil || len(packets) != 7 {
		t.Fatal(err, len(packets))
	}
	return packets
}

func epochText(at time.Time) string { return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()) }

// asDump returns a hex dump in the style of Wireshark.
func asDump(b []byte) string {
	var s strings.Builder
	for off := 0; off < len(b); off += 16 {
		line := b[off:min(off+16, len(b))]
		text := bytes.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, line)
		fmt.Fprintf(&s, "%04x  %-47s  %s\n", off, strings.TrimSpace(fmt.Sprintf("% x", line)), text)
	}
	return s.String()
}

// asExports writes packets in every form, in the style of Wireshark.
func asExports(packets []packet.Packet) map[string]string {
	var json, raw, ek, pdml, shown, list strings.Builder
	json.WriteString("[\n")
	raw.WriteString("[\n")
	pdml.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- <packet> -->\n<pdml version=\"0\" creator=\"wireshark/4.0.17\">\n")
	for i, p := range packets {
		comma := ","
		if i == len(packets)-1 {
			comma = ""
		}
		size, bytes := len(p.Data), hex.EncodeToString(p.Data)
		fmt.Fprintf(&json, "  {\n    \"_index\": \"x\",\n    \"_source\": {\n      \"layers\": {\n        \"frame_raw\": [\n          \"%s\",\n          0,\n          %d,\n          0,\n          1\n        ],\n"+
			"        \"frame\": {\"frame.encap_type\": \"1\", \"frame.time_epoch\": \"%s\", \"frame.number\": \"%d\", \"frame.len\": \"%d\"},\n        \"data\": {\"data.text\": \"}{\\\"\\\\\"}\n      }\n    }\n  }%s\n",
			bytes, size, epochText(p.At), p.N, p.Orig, comma)
		fmt.Fprintf(&raw, `{"_source":{"layers":{"frame_raw":["%s",0,%d,0,1],"frame":{"frame.number_raw":["",0,0,0,7]},"eth_raw":["%s",0,14,0,1]}}}%s`, bytes, size, bytes[:28], comma)
		fmt.Fprintf(&ek, "{\"index\":{\"_index\":\"x\"}}\n{\"timestamp\":\"%d\",\"layers\":{\"frame_raw\":\"%s\",\"frame\":{\"frame_frame_time_epoch\":\"%s\",\"frame_frame_number\":\"%d\",\"frame_frame_len\":\"%d\",\"frame_frame_encap_type\":\"1\"}}}\n",
			p.At.UnixMilli(), bytes, epochText(p.At), p.N, p.Orig)
		fmt.Fprintf(&pdml, "<packet>\n  <proto name=\"geninfo\" pos=\"0\" showname=\"General information\" size=\"%d\">\n    <field name=\"num\" pos=\"0\" show=\"%d\" value=\"1\"/>\n    <field name=\"len\" pos=\"0\" show=\"%d\"/>\n"+
			"    <field name=\"caplen\" pos=\"0\" show=\"%d\" value=\"2e\"/>\n    <field name=\"timestamp\" pos=\"0\" show=\"&quot;a&gt;\" value=\"%s\" size=\"46\"/>\n  </proto>\n"+
			"  <proto name=\"eth\" pos=\"0\" size=\"14\">\n    <field name=\"eth.dst\" size=\"6\" pos=\"0\" show=\"x\" value=\"%s\"/>\n    <field name=\"eth.rest\" size=\"8\" pos=\"6\" value=\"%s\"/>\n  </proto>\n"+
			"  <proto name=\"ip\" pos=\"14\" size=\"20\">\n    <field name=\"ip.version\" size=\"1\" pos=\"14\" value=\"4\" unmaskedvalue=\"%s\"/>\n    <field name=\"\" size=\"%d\" pos=\"15\" value=\"%s\"/>\n  </proto>\n"+
			"  <proto name=\"fake\"><field name=\"again\" size=\"3\" pos=\"0\" value=\"ffffff\"/><field name=\"short\" size=\"9\" pos=\"0\" value=\"ff\"/></proto>\n</packet>\n\n",
			size, p.N, p.Orig, size, epochText(p.At), bytes[:12], bytes[12:28], bytes[28:30], size-15, bytes[30:])
		fmt.Fprintf(&shown, "Frame %d: %d bytes on wire (%d bits), %d bytes captured (%d bits)\n    Encapsulation type: Ethernet (1)\n    Arrival Time: Nov 14, 2023 22:13:20.123456000 UTC\n    Epoch Time: %s seconds\n"+
			"    Frame Number: %d\nData (5 bytes)\n\nFrame (%d bytes):\n%s\nReassembled TCP (16 bytes):\n%s\n", p.N, p.Orig, p.Orig*8, size, size*8, epochText(p.At), p.N, size, asDump(p.Data), asDump(make([]byte, 16)))
		fmt.Fprintf(&list, "%5d %s    127.0.0.1 → 127.0.0.1    UDP %d 4000 → 7801 Len=4\n\n%s\n", p.N, epochText(p.At), size, asDump(p.Data))
	}
	json.WriteString("]\n")
	raw.WriteString("]\n")
	pdml.WriteString("</pdml>\n")
	return map[string]string{
		"tshark-json": json.String(), "tshark-json raw": raw.String(), "tshark-ek": ek.String(), "pdml": pdml.String(),
		"wireshark-text": shown.String(), "wireshark-text list": "No.     Time           Source\r\n" + strings.ReplaceAll(list.String(), "\n", "\r\n"),
	}
}

func samePackets(t *testing.T, what string, got, want []packet.Packet, times bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d packets, %d expected", what, len(got), len(want))
		return
	}
	for i, p := range got {
		w := want[i]
		if p.N != w.N || p.Link != w.Link || !bytes.Equal(p.Data, w.Data) || p.Orig != w.Orig || times && !p.At.Equal(w.At) || !times && !p.At.IsZero() {
			t.Errorf("%s: packet %d is %+v, expected %+v", what, i, p, w)
			return
		}
	}
}

func TestExportedPackets(t *testing.T) {
	all := exportedPackets(t)
	some := slices.DeleteFunc(slices.Clone(all), func(p packet.Packet) bool { return p.N == 1 || p.N == 4 }) // a filter keeps the numbers
	for _, want := range [][]packet.Packet{all, some} {
		for name, text := range asExports(want) {
			id, _, _ := strings.Cut(name, " ")
			wide := "\xff\xfe"
			for _, r := range text {
				wide += string([]byte{byte(r), byte(r >> 8)})
			}
			for _, form := range []struct{ kind, text string }{{"", text}, {" with a mark", "\ufeff" + text}, {" UTF-16", wide}, {" packed", string(packettest.Gzipped([]byte(text)))}} {
				if got := pcap.SniffExport([]byte(form.text)); got != id && form.kind != " packed" {
					t.Errorf("%s: taken for %q", name+form.kind, got)
					continue
				}
				format, got, err := packetsOf(t, []byte(form.text))
				if err != nil || strings.TrimSuffix(format, ".gz") != id {
					t.Errorf("%s: %s, %v", name+form.kind, format, err)
				}
				want := slices.Clone(want)
				if name == "tshark-json raw" {
					for i := range want {
						want[i].N, want[i].At = uint32(i+1), time.Time{}
					}
				}
				samePackets(t, name+form.kind, got, want, name != "tshark-json raw")
			}
		}
	}
}

// A truncated text yields the packets before the truncation only.
func TestExportedPacketsThatBreakOff(t *testing.T) {
	want := exportedPackets(t)
	for name, text := range asExports(want) {
		for n := 0; n < len(text); n += 1 + n/100 {
			r, err := pcap.NewReader(iotest.HalfReader(strings.NewReader(text[:n])))
			if err != nil {
				if !errors.Is(err, pcap.ErrFormat) {
					t.Fatal(err)
				}
				continue
			}
			for i := 0; ; i++ {
				p, err := r.Next()
				if err != nil {
					var torn *packet.Torn
					if !errors.Is(err, io.EOF) && (!errors.As(err, &torn) || torn.Packets != uint32(i) || torn.Why == "") {
						t.Errorf("%s cut at %d: %v", name, n, err)
					}
					break
				}
				// A dump or a list has no end mark: its last packet may be partial.
				last := name == "wireshark-text list" && bytes.HasPrefix(want[i].Data, p.Data)
				if !bytes.Equal(p.Data, want[i].Data) && !last {
					t.Fatalf("%s cut at %d: packet %d is %x", name, n, i, p.Data)
				}
			}
		}
	}
}

// The link type is that of the text, or else inferred from the packet.
func TestExportedLinkTypes(t *testing.T) {
	ip := exportedPackets(t)[0].Data[14:]
	for encap, link := range map[string]struct {
		head string
		link packet.LinkType
	}{
		"7": {"", packet.LinkRaw}, "15": {"\x02\x00\x00\x00", packet.LinkNull}, "25": {strings.Repeat("\x00", 14) + "\x08\x00", packet.LinkSLL}, "129": {"", packet.LinkIPv4},
		"174": {"\x00\x00\x00\x02", packet.LinkLoop}, "210": {"\x08\x00" + strings.Repeat("\x00", 18), packet.LinkSLL2}, "20": {"", packet.LinkUnknown},
	} {
		b := append([]byte(link.head), ip...)
		text := fmt.Sprintf(`{"timestamp":"1700000000123","layers":{"frame_raw":"%x","frame":{"frame_frame_encap_type":"%s"}}}`, b, encap)
		_, got, err := packetsOf(t, []byte(text))
		if err != nil || len(got) != 1 || got[0].Link != link.link || !got[0].At.Equal(time.UnixMilli(1700000000123)) {
			t.Errorf("%s: %+v, %v", encap, got, err)
		}
		// Without the number, the link type is inferred from the packet.
		list := "1 0.5 10.0.0.2 → 10.0.0.1 UDP 40\n\n" + asDump(b) + "\n"
		if encap != "20" && encap != "129" && encap != "174" {
			if _, got, err := packetsOf(t, []byte(list)); err != nil || len(got) != 1 || got[0].Link != link.link || !got[0].At.Equal(time.UnixMilli(500)) {
				t.Errorf("%s: %+v, %v", encap, got, err)
			}
		}
	}
}

// Texts without the bytes of packets are not exports.
func TestNoExport(t *testing.T) {
	for _, text := range []string{
		"", "{}", "[]", "[{", `[{"_source":{"layers":{"frame":{}}}}]`, `{"timestamp":1,"layers":{}}`, "<pdm", "<?xml version='1.0'?><psml>", "Frame 1: 46 bytes on wire (368 bits), 46 bytes captured\n",
		"Frame 1: 46 bytes on wire\n    Encapsulation type: Ethernet (1)\n", "0000  01 02 03 04\n", "1 0.5 a b c\n\n0000  01 02 03 04\n", "Frame x: 1\n0000  01\n", "Frame 1\n0000  01\n",
	} {
		if id := pcap.SniffExport([]byte(text)); id != "" {
			t.Errorf("%q is detected as %s", text, id)
		}
	}
}

// Packet numbers are accepted as far as they cost nothing.
func TestExportedNumbers(t *testing.T) {
	var text strings.Builder
	for _, n := range []string{"7", "7", "3", "4000000000", "16777216", "-1"} {
		fmt.Fprintf(&text, `{"timestamp":"1","layers":{"frame_raw":"00","frame":{"frame_frame_number":"%s"}}}`+"\n", n)
	}
	_, got, err := packetsOf(t, []byte(text.String()))
	var numbers []uint32
	for _, p := range got {
		numbers = append(numbers, p.N)
	}
	if want := []uint32{7, 8, 9, 10, 16777216, 16777217}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("%d, %v", numbers, err)
	}
}

// Packets of a text are found by number like those of a file.
func TestIndexOfExportedPackets(t *testing.T) {
	want := exportedPackets(t)
	for name, text := range asExports(want) {
		var x pcap.Index
		for range 2 {
			var got []string
			err := x.Packets(strings.NewReader(text), []uint32{2, 5, 99}, func(p *packet.Packet) bool {
				_, size, ok := p.Payload()
				got = append(got, fmt.Sprint(p.N, len(p.Data), size, ok))
				return true
			})
			_, size, ok := want[1].Payload()
			if err != nil || len(got) != 2 || got[0] != fmt.Sprint(2, len(want[1].Data), size, ok) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}

// As a paste, exported packets are the payloads of their connections.
func TestPastedPackets(t *testing.T) {
	for name, text := range asExports(exportedPackets(t)) {
		p, err := paste.Recognise(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, m := range p.Messages {
			got = append(got, fmt.Sprintf("%s %d %.5s", m.Dir, m.Number, m.Bytes))
		}
		want := []string{"c2s 1 hello", "s2c 2 a\x00\x00a\x00", "c2s 6 hello", "s2c 7 a\x00\x01a\x00"}
		if p.Form != "packets" || !slices.Equal(got, want) || !p.Stream || !p.Conversation() || len(p.Conns) != 2 || p.Conns[1].Client.String() != "10.0.0.2:4000" || p.Messages[3].Conn != 1 || !strings.Contains(p.Why, "2 connections") {
			t.Errorf("%s: %q, %+v", name, got, p.Why)
		}
	}
}

// A dump, an array or a column of complete packets is read as a capture, whatever program wrote it; messages are not.
func TestPacketsInOtherForms(t *testing.T) {
	packets := exportedPackets(t)
	arp := append(append(bytes.Repeat([]byte{0xff}, 12), 8, 6), make([]byte, 28)...)
	packets = slices.Insert(packets, 1, packet.Packet{Data: arp})
	var dump, array, csv, stamped strings.Builder
	csv.WriteString("time,hex\n")
	for i, p := range packets {
		dump.WriteString(asDump(p.Data) + "\n")
		fmt.Fprintf(&array, "/* Frame (%d bytes) */\nstatic const unsigned char pkt%d[%d] = {\n", len(p.Data), i+1, len(p.Data))
		for _, c := range p.Data {
			fmt.Fprintf(&array, "0x%02x, ", c)
		}
		array.WriteString("};\n\n")
		fmt.Fprintf(&csv, "1700000000.%d,%x\n", i, p.Data)
		fmt.Fprintf(&stamped, "O 10:00:00.%d\n%s\n", i, asDump(p.Data))
	}
	for form, text := range map[string]string{"wireshark-dump": dump.String(), "c-array": array.String(), "csv": csv.String(), "text2pcap": stamped.String()} {
		var got []string
		sum, paste, err := ReadAny(strings.NewReader(text), Options{Options: packet.Options{New: func(transport.Conn) transport.Transport { return &packettest.Sink{} }}, Proto: transport.TCP}, func(f *transport.Frame) { got = append(got, fmt.Sprintf("%s %s %.5s", f.Conn.Proto, f.Dir, f.Bytes)) })
		want := []string{"udp c2s hello", "udp s2c a\x00\x00a\x00", "tcp c2s hello", "tcp s2c a\x00\x01a\x00"}
		if err != nil || paste == nil || paste.Form != form || !paste.Packets || !paste.Conversation() || !slices.Equal(got, want) || sum.NotIP != 1 || len(sum.Conns) != 2 {
			t.Errorf("%s: %q %+v %v", form, got, sum, err)
			continue
		}
		if !strings.Contains(paste.Why, "complete packets of Ethernet") {
			t.Errorf("%s: %s", form, paste.Why)
		}
	}
	for name, text := range map[string]string{
		"payloads": "68656c6c6f\n\n68656c6c6f", "a wrong checksum": strings.Replace(hex.EncodeToString(packets[0].Data), "4500", "4501", 1),
		"one that is none": hex.EncodeToString(packets[0].Data) + "\n\n0102030405060708090a0b0c0d0e0f10", "no IP": hex.EncodeToString(arp),
	} {
		if p, err := paste.Recognise(text); err != nil || p.Packets {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}

// Text in UTF-16 is read like the same text in UTF-8, with the same positions.
func TestPastedUTF16(t *testing.T) {
	for _, text := range []string{"00000000: 4142  AB\n", "0a1b\r\n\r\n2c", "name,hex\n\U0001f600é,0102\n"} {
		want, err := paste.Recognise(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []string{"\xff\xfe", "\xfe\xff"} {
			wide := order
			for _, r := range text {
				units := []rune{r}
				if r > 0xffff {
					units = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
				}
				for _, u := range units {
					pair := []byte{byte(u), byte(u >> 8)}
					if order == "\xfe\xff" {
						slices.Reverse(pair)
					}
					wide += string(pair)
				}
			}
			got, err := paste.Recognise(wide)
			if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("%q: %+v %v", text, got, err)
			}
			sniffed, e := io.ReadAll(iotest.OneByteReader(scan.NewUTF16(scan.NewInput(strings.NewReader(wide)), scan.UTF16Order([]byte(wide)))))
			if string(sniffed) != text || e != nil {
				t.Errorf("%q: %q", text, sniffed)
			}
		}
	}
	if got := scan.AppendUTF8(nil, []byte("\x00\xd8a\x00\x00\xdcb"), scan.UTF16Order([]byte("\xff\xfe"))); string(got) != "\ufffda\ufffd\ufffd" {
		t.Errorf("%q", got)
	}
}

// For any capture in text, reading ends, and the size of the frames is in proportion to the text.
func FuzzExported(f *testing.F) {
	for _, text := range asExports(exportedPackets(f)[:2]) {
		f.Add([]byte(text))
	}
	f.Add([]byte("<pdml><packet><proto name=\"geninfo\"><field name=\"caplen\" show=\"99999999\"/></proto><field pos=\"5\" size=\"1\" value=\"00\"/></packet>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id := pcap.SniffExport(data)
		r, err := pcap.NewReader(bytes.NewReader(data))
		if err != nil {
			if id != "" {
				t.Errorf("%s is not read: %v", id, err)
			}
			return
		}
		total := 0
		last := uint32(0)
		for {
			p, err := r.Next()
			if err != nil {
				var torn *packet.Torn
				if !errors.Is(err, io.EOF) && !errors.As(err, &torn) {
					t.Errorf("%v", err)
				}
				break
			}
			if total += len(p.Data); p.N <= last || id != "" && (p.Interface >= len(r.Interfaces()) || r.Interfaces()[p.Interface].Link != p.Link || len(p.Data) == 0) {
				t.Errorf("%+v after %d", p, last)
			}
			last = p.N
		}
		if id != "" && total > len(data) {
			t.Errorf("%d bytes of %d", total, len(data))
		}
	})
}
