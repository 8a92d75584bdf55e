package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

var logStart = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// wireKey reads the code of a message with length and code.
func wireKey(dir schema.Dir, m []byte) (schema.Key, bool) {
	if len(m) < 4 {
		return schema.Key{}, false
	}
	return schema.Key{Dir: dir, Code: uint32(le.Uint16(m[2:]))}, true
}

// logCase is a complete log, and its contents.
type logCase struct {
	name, form string
	data       []byte
	want       []string
}

func logCases() []logCase {
	ms := func(n int) time.Time { return logStart.Add(time.Duration(n) * time.Millisecond) }
	stamp := func(n int) uint64 { return uint64(logStart.Unix() + int64(n)) }
	kloct := []kloctPacket{
		{19900, 1, "C_CHECK_VERSION", false, packettest.WireMessage(19900, "hello"), stamp(0)},
		{20012, 2, "S_CHAT", true, packettest.WireMessage(20012, ""), stamp(1)},
		{0x26d2, 0, "*SU_NEEDS_REMAP_26D2", false, packettest.WireMessage(0x26d2, "\x01"), stamp(2)},
		{0x26d3, 0, "*CU_NEEDS_REMAP_26D3", false, packettest.WireMessage(0x26d3, "\x02"), stamp(3)},
		{7, 0, "TTB_X", false, packettest.WireMessage(8, ""), stamp(4)},
		{9, 0, "S_SHORT", true, "abc", stamp(5)},
	}
	kloctWant := []string{
		"12:00:00.000 c2s 0900bc4d68656c6c6f C_CHECK_VERSION code 19900",
		"12:00:01.000 s2c 04002c4e S_CHAT code 20012 (sent by the proxy)",
		"12:00:02.000 s2c 0500d22601 code 9938",
		"12:00:03.000 c2s 0500d32602 code 9939",
		"12:00:04.000  04000800 TTB_X code 8 (the log has code 7, the bytes have 8)",
		"problem 12:00:05.000 s2c 616263 (sent by the proxy; message 9 has 3 bytes, less than its 4-byte header)",
	}
	since := func(n, width int) string {
		return string(le.AppendUint64(nil, uint64(ms(n).Sub(time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)).Milliseconds())))[:width]
	}
	connection := connectionBlock(1, "TeraConnectionLog") + connectionBlock(6, "EU") + connectionBlock(2, "") + connectionBlock(3, since(5, 5)) +
		connectionBlock(4, packettest.WireMessage(1, "abc")[2:]) + connectionBlock(5, packettest.WireMessage(2, "")[2:]) + connectionBlock(9, "what is this") + connectionBlock(3, since(6, 8)) +
		connectionBlock(2, "") + connectionBlock(2, "") + connectionBlock(5, packettest.WireMessage(3, "z")[2:]) + connectionBlock(5, "x")
	old := connectionBlock(1, "TeraConnectionLog") + connectionBlock(4, packettest.WireMessage(1, strings.Repeat("a", 26))[2:]+"??") + connectionBlock(5, packettest.WireMessage(2, "b")[2:]+"??") + connectionBlock(5, "?")
	alkahest := []string{
		alkahestEntryOf(ms(0), 5, 0, 19900, "ab"),
		alkahestEntryOf(ms(1), -1, 1, 20012, ""),
		alkahestEntryOf(ms(2), 77, 1, 2, strings.Repeat("x", 65532)),
		alkahestEntryOf(ms(3), 5, 1, 3, strings.Repeat("y", 65531)),
	}
	alkahestWant := []string{
		"12:00:00.000 c2s 0600bc4d6162 code 19900",
		"12:00:00.001 s2c 04002c4e code 20012 conn 1",
		"problem 12:00:00.002 s2c " + strings.Repeat("78", 65532) + " conn 2 (the payload of message 2 has 65532 bytes, too many for a message with its header)",
		"12:00:00.003 s2c ffff0300" + strings.Repeat("79", 65531) + " code 3",
	}
	atlas := "2024-05-01T12:00:00.123Z | S->C | 20012 | UNKNOWN | RAW: 06002c4e0102\n" +
		"2024-05-01T12:00:00.124Z | [FAKE] C->S | 19900 | C_CHECK_VERSION | RAW: 0600bc4d0102\n" +
		`2024-05-01T12:00:00.125Z | S->C | 1 | S_LOGIN | {"a":" | "}` + "\n" +
		"2024-05-01T12:00:00.125Z | C->S | 1 | C_X | PARSED (Stringify Error: no)\n" +
		"rubbish\nand more\n" +
		"2024-05-01T12:00:00.126Z | [FAKE] S->C | 2 | S_ODD | RAW: 040\n" +
		"2024-05-01T12:00:00.127Z | S->C | 2 | S_ODD | RAW: 04zz\n" +
		"2024-05-01T12:00:00.128Z | C->S | 3 | UNKNOWN | RAW: 0102\n"
	shark := []sharkFrame{{ms(0), true, 1, "ab"}, {ms(1), false, 65535, ""}, {ms(2), false, 3, "c\x00d"}}
	sharkWant := []string{"12:00:00.000 c2s 6162 code 1", "12:00:00.001 s2c  code 65535", "12:00:00.002 s2c 630064 code 3"}
	ends := "\x0c10.0.0.1:101\x64\x00\x0d192.0.2.7:100\x65\x00"
	cases := []logCase{
		{"kloct", "kloct", kloctLog(false, kloct...), kloctWant},
		{"kloct, one vtable", "kloct", kloctLog(true, kloct...), kloctWant},
		{"kloct without anything", "kloct", kloctLog(false), nil},
		{"kloct, fields left away", "kloct", kloctLog(false, kloctPacket{data: packettest.WireMessage(0, "")}), []string{"-  04000000 code 0"}},
		{"kloct, late and long", "kloct", kloctLog(false, kloctPacket{data: packettest.WireMessage(0, ""), stamp: 1 << 63}, kloctPacket{code: 1, name: strings.Repeat("S_", 200), stamp: 9e17}), []string{"-  04000000 code 0", "problem -   (message 1 has 0 bytes, less than its 4-byte header)"}},
		{"connection log", "tera-connection-log", []byte(connection), []string{
			"12:00:00.005 c2s 0700010061" + "6263 code 1", "12:00:00.005 s2c 04000200 code 2", "12:00:00.006 s2c 050003007a code 3 conn 1",
			"problem 12:00:00.006 s2c 030078 conn 1 (a message of 3 bytes has no code)",
		}},
		{"old connection log", "tera-connection-log", []byte(old), []string{"- c2s 1e000100" + strings.Repeat("61", 26) + " code 1", "- s2c 0500020062 code 2", "problem - s2c 0200 (a message of 2 bytes has no code)"}},
		{"alkahest", "alkahest", alkahestLog(nil, alkahest...), alkahestWant},
		{"alkahest, deflate", "alkahest", alkahestLog(deflated, alkahest...), alkahestWant},
		{"alkahest without anything", "alkahest", alkahestLog(deflated), nil},
		{"atlas", "teraatlas", []byte(atlas), []string{
			"12:00:00.123 s2c 06002c4e0102 code 20012",
			"12:00:00.124 c2s 0600bc4d0102 C_CHECK_VERSION code 19900 (sent by the proxy)",
			`problem 12:00:00.125 s2c  (the log has only the values of "S_LOGIN", not its bytes)`,
			`problem 12:00:00.125 c2s  (the log has only the values of "C_X", not its bytes)`,
			"problem 12:00:00.125   (line 5 and 1 more are not rows of the log)",
			`problem 12:00:00.126 s2c  (sent by the proxy; the bytes of "S_ODD" are incomplete: encoding/hex: odd length hex string)`,
			`problem 12:00:00.127 s2c  (the bytes of "S_ODD" are incomplete: encoding/hex: invalid byte: U+007A 'z')`,
			"problem 12:00:00.128 c2s 0102 (the bytes of message 3 do not start with their length and code)",
		}},
		{"shark, one packet", "mapleshark", sharkFile(95, "\x64\x00", shark[0]), sharkWant[:1]},
	}
	for version, head := range map[uint16]string{
		95: "\x64\x00", 0x1fff: "\x64\x00", 0x2012: "\x08\x00\x5f\x00\x64\x00", 0x2014: ends + "\x08\x00\x5f\x00", 0x2015: ends + "\x08\x5f\x00",
		0x2020: ends + "\x08\x5f\x00", 0x2024: ends + "\x08\x5f\x00\x061:23.4", 0x2025: ends + "\x08\x5f\x00\x00", 0x2027: ends + "\x08\x5f\x00\xc8\x01" + strings.Repeat("p", 200),
		0x2030: ends + "\x00\x0c\x00\x00\x00",
	} {
		cases = append(cases, logCase{fmt.Sprintf("shark %#x", version), "mapleshark", sharkFile(version, head, shark...), sharkWant})
	}
	return append(cases, moreLogCases()...)
}

// readLogFile reads a file that must be a log.
func readLogFile(t *testing.T, data []byte, limit int) (got []string, sum packet.Summary) {
	t.Helper()
	n := uint32(0)
	sum, ok, err := Read(&bytes.Buffer{}, bytes.NewReader(data), packet.Options{Key: wireKey, Limit: limit}, transport.TCP, func(f *transport.Frame) {
		n++
		if f.N != n || f.Conn == nil || f.Conn.Proto != transport.TCP || len(f.From) != 1 || f.From[0].Len != uint32(len(f.Bytes)) || f.From[0].Packet == 0 ||
			data[0] != 0x1f && f.Offset >= 0 && f.Kind == transport.Message && !bytes.HasPrefix(data[f.Offset:], f.Bytes) {
			t.Errorf("frame %d is %+v of %+v", n, f, f.Conn)
		}
		got = append(got, logLine(f))
	})
	if err != nil || !ok || int(sum.Frames) != len(got) {
		t.Fatalf("%v, %v, %d frames of %d", err, ok, len(got), sum.Frames)
	}
	return got, sum
}

func TestReadLogs(t *testing.T) {
	for _, c := range logCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, packed := range []bool{false, true} {
				data, form := c.data, c.form
				if packed {
					data, form = packettest.Gzipped(data), form+".gz"
				}
				if id := Sniff(data[:min(len(data), Head)], len(data) < Head); id != c.form {
					t.Fatalf("taken for %q", id)
				}
				got, sum := readLogFile(t, data, 0)
				if !slices.Equal(got, c.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
				if sum.Torn != nil || sum.More || sum.Format != form {
					t.Errorf("%+v, torn %v", sum, sum.Torn)
				}
				if len(c.want) > 1 {
					got, sum = readLogFile(t, data, 1)
					if len(got) != 1 || !sum.More || sum.Torn != nil {
						t.Errorf("of one: %d frames, %+v", len(got), sum)
					}
				}
			}
		})
	}
}

// A truncated log yields the messages before the truncation and its position.
func TestTornLogs(t *testing.T) {
	for _, c := range logCases() {
		if strings.HasPrefix(c.form, "kloct") || c.form == "teraatlas" || len(c.want) == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			full := 0 // truncations between two records, which cannot be detected
			for n := 0; n < len(c.data); n += 1 + n/200 {
				if Sniff(c.data[:n], true) == "" {
					continue
				}
				got, sum := readLogFile(t, c.data[:n], 0)
				if len(got) > len(c.want) || !slices.Equal(got, c.want[:len(got)]) {
					t.Fatalf("cut at %d: got\n%s", n, strings.Join(got, "\n"))
				}
				if sum.Torn == nil {
					full++
				} else if others := c.form == "har" || c.form == "mitmproxy"; !others && sum.Torn.Packets != uint32(len(got)) || sum.Torn.Why == "" {
					t.Errorf("cut at %d: torn %+v after %d", n, sum.Torn, len(got))
				}
			}
			if full > 16 {
				t.Errorf("%d cuts are not told", full)
			}
		})
	}
}

// A truncated FlatBuffer loses its first messages.
func TestTornKloct(t *testing.T) {
	var packets []kloctPacket
	for i := range 50 {
		packets = append(packets, kloctPacket{uint16(i), 1, "S_X", false, packettest.WireMessage(uint16(i), "abc"), 0})
	}
	data := kloctLog(false, packets...)
	for _, n := range []int{len(data) - 1, len(data) * 3 / 4, len(data) / 2, 260} {
		got, sum := readLogFile(t, data[:n], 0)
		if sum.Torn == nil || sum.Torn.Pos != int64(n) || !strings.HasPrefix(got[0], "problem") || !strings.HasSuffix(got[len(got)-1], "code 49") && n > 400 {
			t.Errorf("cut at %d: %v, torn %v", n, got, sum.Torn)
		}
		lost := 0
		fmt.Sscanf(got[0][strings.IndexByte(got[0], '(')+1:], "%d", &lost)
		if lost+len(got)-1 != 50 {
			t.Errorf("cut at %d: %d lost, %d read", n, lost, len(got)-1)
		}
	}
	// The shared vtable is at the end.
	data = kloctLog(true, packets...)
	got, sum := readLogFile(t, data[:len(data)-1], 0)
	if len(got) != 1 || !strings.Contains(got[0], "50 packets are outside of the file") || sum.Torn == nil {
		t.Errorf("%v, torn %v", got, sum.Torn)
	}
	// Offsets that are missing in the file.
	got, sum = readLogFile(t, data[:24+40], 0)
	if len(got) != 1 || sum.Torn == nil || !strings.Contains(sum.Torn.Why, "50 packets") {
		t.Errorf("%v, torn %v", got, sum.Torn)
	}
}

// Overlapping packets would make a small file expensive.
func TestKloctDoesNotGrow(t *testing.T) {
	data := kloctLog(false, slices.Repeat([]kloctPacket{{code: 1, name: "S_X", data: packettest.WireMessage(1, "")}}, 2000)...)
	big := kloctLog(false, kloctPacket{code: 1, data: packettest.WireMessage(1, strings.Repeat("x", 60000))})
	at := len(data)
	data = append(data, big...)
	table := at + bytes.Index(big, []byte{16, 0, 0, 0, 24, 0, 0, 0})
	for i := range 2000 {
		le.PutUint32(data[24+4*i:], uint32(table-24-4*i))
	}
	total := 0
	sum, _, err := Read(&bytes.Buffer{}, bytes.NewReader(data), packet.Options{}, transport.TCP, func(f *transport.Frame) { total += len(f.Bytes) })
	if err != nil || sum.Torn == nil || !strings.Contains(sum.Torn.Why, "overlap") || total == 0 || total > len(data) {
		t.Errorf("%d bytes of %d, torn %v, %v", total, len(data), sum.Torn, err)
	}
}

func TestLogsThatAreWrong(t *testing.T) {
	first := alkahestEntryOf(logStart, 1, 0, 1, "")
	shark := sharkFile(0x2030, sharkSecondHead, sharkFrame{logStart, true, 1, "a"}, sharkFrame{logStart, true, 1, "a"})
	long := sharkFile(0x2030, sharkSecondHead, sharkFrame{logStart, true, 1, "a"}, sharkFrame{logStart, true, 1, "a"}, sharkFrame{logStart, true, 1, "a"})
	le.PutUint32(long[len(long)-8:], 1<<31)
	for _, c := range []struct {
		name string
		data []byte
		n    int // frames
		why  string
	}{
		{"size 1", []byte(string(connectionHead) + "\x04\x01\x00"), 0, "does not count its own"},
		{"direction", alkahestLog(nil, first, alkahestEntryOf(logStart, 1, 2, 1, "")), 1, "unknown direction, 2"},
		{"version", []byte("TPPL\x02\x00\x00\x00" + strings.Repeat("\x00", 20)), 0, "version 2"},
		{"servers", []byte("TPPL\x01\x00\x00\x00" + strings.Repeat("\xff", 20)), 0, "too many servers: 4294967295"},
		{"name of a server", []byte("TPPL\x01\x00\x00\x00" + "\x00\x00\x00\x00\x00\x01\x00\x00\x00" + strings.Repeat("\xff", 20)), 0, "name of a server has no end"},
		{"no deflate", alkahestLog(func([]byte) []byte { return []byte("\x07abcdef") }), 0, "corrupt"},
		{"cut in the packing", alkahestLog(func(b []byte) []byte { b = deflated(b); return b[:len(b)/2] }, slices.Repeat([]string{first}, 5000)...), -1, "unexpected EOF"},
		{"behind the packets", append(bytes.Clone(shark), strings.Repeat("\x00", 40)...), 2, "invalid packet header"},
		{"size of a packet", long, 2, "invalid packet header"},
	} {
		got, sum := readLogFile(t, c.data, 0)
		if c.n >= 0 && len(got) != c.n || sum.Torn == nil || !strings.Contains(sum.Torn.Why, c.why) {
			t.Errorf("%s: %d frames, torn %v", c.name, len(got), sum.Torn)
		}
	}
}

// A wrong byte anywhere affects its record, and nothing else.
func TestDamagedLogs(t *testing.T) {
	small := logCase{name: "small", data: alkahestLog(nil, alkahestEntryOf(logStart, 5, 0, 1, "ab"), alkahestEntryOf(logStart, 5, 1, 1, ""))}
	for _, c := range append(logCases(), small) {
		data := bytes.Clone(c.data)
		if len(data) > 10000 {
			continue // the same case with more data
		}
		for at := 0; at < len(data); at += 1 + at/300 {
			for _, wrong := range []byte{0, 0x7f, 0x80, 0xff, data[at] ^ 1} {
				data[at] = wrong
				total := 0
				_, _, err := Read(&bytes.Buffer{}, bytes.NewReader(data), packet.Options{Key: wireKey, Limit: 1000}, transport.TCP, func(f *transport.Frame) { total += len(f.Bytes) })
				if err != nil && !errors.Is(err, pcap.ErrFormat) || total > 2*len(data)+1<<18 {
					t.Fatalf("%s, byte %d is %#x: %d bytes, %v", c.name, at, wrong, total, err)
				}
			}
			data[at] = c.data[at]
		}
	}
}

// An error of the reader is not the end of the file.
func TestLogWithFailingReader(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, c := range logCases() {
		for _, n := range []int{0, 10, len(c.data) / 2, len(c.data)} {
			_, _, err := Read(&bytes.Buffer{}, io.MultiReader(bytes.NewReader(c.data[:n]), iotest.ErrReader(broken)), packet.Options{}, transport.TCP, func(*transport.Frame) {})
			if !errors.Is(err, broken) {
				t.Errorf("%s after %d bytes: %v", c.name, n, err)
			}
		}
	}
}

// Logs may arrive in pieces of any size.
func TestLogsInPieces(t *testing.T) {
	for _, c := range logCases() {
		var got []string
		sum, _, err := Read(&bytes.Buffer{}, iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(c.data))), packet.Options{Key: wireKey}, transport.TCP, func(f *transport.Frame) { got = append(got, logLine(f)) })
		if err != nil || sum.Torn != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, torn %v, got\n%s", c.name, err, sum.Torn, strings.Join(got, "\n"))
		}
	}
}

// Records larger than Head, and lines longer than the limit.
func TestLongLogs(t *testing.T) {
	const n = 20000
	row := "2024-05-01T12:00:00.123Z | S->C | 1 | S_X | RAW: 0700010061" + "6263\n"
	atlas := strings.Repeat(row, n/2) + row[:40] + " | S_LONG | RAW: " + strings.Repeat("00", 2<<20) + "\n" + strings.Repeat(row, n/2)
	frames := slices.Repeat([]sharkFrame{{logStart, true, 1, strings.Repeat("x", 50)}}, n)
	packets := slices.Repeat([]kloctPacket{{1, 1, "S_X", false, packettest.WireMessage(1, "abc"), 5}}, n)
	for _, c := range []struct {
		form string
		data []byte
		n    int
	}{
		{"kloct", kloctLog(true, packets...), n},
		{"mapleshark", sharkFile(0x2030, sharkSecondHead, frames...), n},
		{"teraatlas", []byte(atlas), n + 1},
		{"alkahest", alkahestLog(deflated, slices.Repeat([]string{alkahestEntryOf(logStart, 1, 0, 1, "abc")}, n)...), n},
		{"tera-connection-log", []byte(string(connectionHead) + strings.Repeat(connectionBlock(2, "")+connectionBlock(4, "ab"), n)), n},
	} {
		got, sum := readLogFile(t, c.data, 0)
		if len(got) != c.n || sum.Format != c.form || sum.Torn != nil || got[0] == "" {
			t.Errorf("%s: %d frames, %+v", c.form, len(got), sum)
		}
	}
}

// The addresses of a log are those of its connections.
func TestLogConnections(t *testing.T) {
	for _, c := range []struct {
		data []byte
		want string
	}{
		{alkahestLog(nil, alkahestEntryOf(logStart, 5, 0, 1, "")), "10.0.0.1:7801"},
		{alkahestLog(nil, alkahestEntryOf(logStart, -1, 0, 1, "")), "[2001:db8::1]:7801"},
	} {
		got := ""
		_, _, err := Read(&bytes.Buffer{}, bytes.NewReader(c.data), packet.Options{}, transport.TCP, func(f *transport.Frame) { got = f.Conn.Server.String() })
		if err != nil || got != c.want {
			t.Errorf("%s, want %s, %v", got, c.want, err)
		}
	}
}

func TestDirOfName(t *testing.T) {
	for name, want := range map[string]string{
		"S_X": "s2c", "C_X": "c2s", "*SU_NEEDS_REMAP_1": "s2c made", "*CU_NEEDS_REMAP_1": "c2s made", "*S_X": "s2c made", "": "", "*": "", "*S": " made", "*SU": " made",
		"S": "", "SX_": "", "X_S": "", "SU_X": "", "**": " made",
	} {
		dir, made := teraDirection(name)
		got := dir.String()
		if made {
			got += " made"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// For any input, each form reads without panic, and its output is in proportion to the input.
func fuzzLog(f *testing.F, form string) {
	for _, c := range logCases() {
		if c.form == form && len(c.data) < 4000 {
			f.Add(c.data)
		}
	}
	if form == "alkahest" {
		f.Add(alkahestLog(deflated, alkahestEntryOf(logStart, 1, 0, 1, "abc")))
		f.Add(alkahestLog(nil, alkahestEntryOf(logStart, 1, 1, 1, "abc"), "x"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Sniff(data, false)
		if Sniff(data, true) != form {
			return
		}
		const limit = 10000
		total, n := 0, uint32(0)
		sum, _, err := Read(&bytes.Buffer{}, bytes.NewReader(data), packet.Options{Key: wireKey, Limit: limit}, transport.TCP, func(x *transport.Frame) {
			n++
			if total += len(x.Bytes); x.N != n || x.Conn == nil || x.Kind == transport.Problem && x.Note == "" || len(x.Name) > transport.MaxName {
				t.Errorf("frame %+v", x)
			}
		})
		if err != nil || sum.Frames != n || n > limit || sum.Torn != nil && sum.Torn.Why == "" {
			t.Errorf("%+v, %v", sum, err)
		}
		if packed := form == "alkahest" || data[0] == 0x1f; !packed && total > 2*len(data)+64 {
			t.Errorf("%d bytes of %d", total, len(data))
		}
	})
}

func FuzzLogKloct(f *testing.F)      { fuzzLog(f, "kloct") }
func FuzzLogConnection(f *testing.F) { fuzzLog(f, "tera-connection-log") }
func FuzzLogAlkahest(f *testing.F)   { fuzzLog(f, "alkahest") }
func FuzzLogAtlas(f *testing.F)      { fuzzLog(f, "teraatlas") }
func FuzzLogShark(f *testing.F)      { fuzzLog(f, "mapleshark") }
