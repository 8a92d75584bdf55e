package paste

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/scan"
)

// show formats messages for comparison: hex, preceded by their other properties.
func show(p *Paste) string {
	var out []string
	for _, m := range p.Messages {
		var parts []string
		for _, s := range []string{m.Dir.String(), m.Time.String(), m.Name, m.Marks.String()} {
			if s != "" {
				parts = append(parts, s)
			}
		}
		if m.Version != 0 {
			parts = append(parts, fmt.Sprintf("v%d", m.Version))
		}
		if m.Number != 0 {
			parts = append(parts, fmt.Sprintf("#%d", m.Number))
		}
		out = append(out, strings.Join(append(parts, hex.EncodeToString(m.Bytes)), " "))
	}
	return strings.Join(out, "; ")
}

type pasteCase struct {
	name, text, form, want string
	notes                  int
}

func checkPastes(t *testing.T, cases []pasteCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := Recognise(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(p); p.Form != c.form || got != c.want {
				t.Errorf("read as %s: %s\nwant    %s: %s", p.Form, got, c.form, c.want)
			}
			if len(p.Notes) != c.notes {
				t.Errorf("notes %v, want %d", p.Notes, c.notes)
			}
			if p.Title == "" || p.Why == "" {
				t.Errorf("title %q, why %q", p.Title, p.Why)
			}
			again, err := RecogniseAs(c.text, p.Form)
			if err != nil || show(again) != c.want {
				t.Errorf("as %s: %v, %v", p.Form, again, err)
			}
		})
	}
}

func TestRecogniseHex(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"one byte", "7f", "hex", "7f", 0},
		{"both cases", "0aBc", "hex", "0abc", 0},
		{"hyphens", "01-a2-B3", "hex", "01a2b3", 0},
		{"semicolons and underscores", "01;a2_b3", "hex", "01a2b3", 0},
		{"no-break spaces", "01\u00a0a2", "hex", "01a2", 0},
		{"percent escapes", "%01%a2", "hex", "01a2", 0},
		{"xxd -i of a pipe", "  0x01, 0xa2,\n  0xb3\n", "hex", "01a2b3", 0},
		{"assembler", "01h, 0ah", "hex", "010a", 0},
		{"single digits after 0x", "0x1, 0xa2, 0xf", "hex", "01a20f", 0},
		{"backslash x on lines", "\\x01\\xa2\n\\xb3", "hex", "01a2b3", 0},
		{"wrapped lines", "0102\n0304\n05", "hex", "0102030405", 0},
		{"wrapped inside a byte", "010\n203", "hex", "010203", 1},
		{"indented, with spaces at line ends", "  01 02 \n  03 04 \n", "hex", "01020304", 0},
		{"blank lines part messages", "01 02\n03\n \n\n04\n", "hex", "010203; 04", 0},
		{"words keep their order", "0102 0304", "hex", "01020304", 1},
		{"lines of different lengths", "0102\n030405\n06\n", "hex", "010203040506", 1},
		{"zeros that look like offsets", "00000000 00000000\n00000000 00000000", "hex", strings.Repeat("00", 16), 1},
		{"zeros, four digits", "0000 0000\n0000 0000", "hex", strings.Repeat("00", 8), 1},
	})
}

func TestRecogniseBase64(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"padded", "AQL/gA==", "base64", "0102ff80", 0},
		{"without padding", "AQL/gA", "base64", "0102ff80", 0},
		{"for URLs", "AQL_gA", "base64url", "0102ff80", 0},
		{"data URL", "data:application/octet-stream;base64,AQL/gA==", "base64", "0102ff80", 0},
		{"padding parts messages", "AQL/gA==\nBQY=\n", "base64", "0102ff80; 0506", 0},
		{"blank line parts messages", "AQL/\n\n/gAB", "base64", "0102ff; fe0001", 0},
		{"spare bits", "AQL/gB==", "base64", "0102ff80", 1},
	})
	for text, why := range map[string]string{"abcd": "also reads as base64; hex wins", "01 02": "separators"} {
		p, err := Recognise(text)
		if err != nil || p.Form != "hex" || !strings.Contains(strings.ReplaceAll(p.Why, ", hex", "; hex"), why) {
			t.Errorf("%s: %v %v", text, p, err)
		}
	}
}

func TestRecogniseDumps(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"xxd", "00000000: 4142 4300 ff20 7a  ABC.. z\n", "xxd", "41424300ff207a", 0},
		{"xxd -c 4", "00000000: 4142 4300  ABC.\n00000004: ff20 7a    . z\n", "xxd", "41424300ff207a", 0},
		{"xxd -g 1, hex-looking text", "00000000: 61 62 20 63 64  ab cd\n", "xxd", "6162206364", 0},
		{"xxd -e", "00000000: 64636261 68676665  abcdefgh\n00000008: ff7a             z.\n", "xxd-e", "61626364656667687aff", 0},
		{"xxd -e, short group alone", "00000000:   84cb1e                             ...\n", "xxd-e", "1ecb84", 0},
		{"hexdump -o", "0000000  041101  000103                                                \n0000003\n", "od", "414243", 0},
		{"xxd -b", "00000000: 01100001 00000001  a.\n", "xxd-b", "6101", 0},
		{"xxd -d", "00000000: 4142 4344 4546 4748 494a 4b4c  ABCDEFGHIJKL\n00000012: 4d  M\n", "xxd", "4142434445464748494a4b4c4d", 0},
		{"text cut off by an editor", "00000000: 4120 2020  A\n00000004: 42  B\n", "xxd", "4120202042", 0},
		{"two dumps", "00000000: 4142  AB\n00000000: 43  C\n", "xxd", "4142; 43", 0},
		{"changed hex", "00000000: 4142 4344  ABCX\n", "xxd", "41424344", 1},
		{"lines around a dump", "$ xxd -c 2 f\nthe file:\n00000000: 4142  AB\n00000002: 43    C\n", "xxd", "414243", 0},

		{"bars and stars in the text", "00000000  7c 2a 7c 0a 31 32 20 33  34 20 7c 7c 2a 2a 20 7c  ||*|.12 34 ||** ||\n00000010  61                                                |a|\n00000011\n", "hexdump-C", "7c2a7c0a3132203334207c7c2a2a207c61", 0},
		{"repeats", "00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n*\n00000030\n", "hexdump-C", strings.Repeat("61", 48), 0},
		{"repeats with a rest", "00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n*\n00000020  62                                                |b|\n00000021\n", "hexdump-C", strings.Repeat("61", 32) + "62", 0},
		{"repeat without end", "00000000: 4142  AB\n*\n", "xxd", "4142", 1},
		{"hexdump", "0000000 4241 0043                              \n0000003\n", "hexdump", "414243", 0},
		{"hexdump, two", "0000000 4241\n0000002\n0000000 0043\n0000001\n", "hexdump", "4142; 43", 0},
		{"hexdump without final offset", "0000000 4241 0043\n", "hexdump", "41424300", 1},
		{"hexdump -x", "0000000    4241    4443\n0000004\n", "hexdump", "41424344", 0},
		{"hexdump -d", "0000000   16961   00067\n0000003\n", "hexdump-d", "414243", 0},
		{"hexdump -b", "0000000 101 102 377\n0000003\n", "hexdump-b", "4142ff", 0},
		{"od", "0000000 041101 000103\n0000003\n", "od", "414243", 0},
		{"BSD's od -x", "0000000    4241    4443    4645    4847    4a49    4c4b    4e4d    504f\n0000020    0051\n0000021\n", "od-tx2", "4142434445464748494a4b4c4d4e4f5051", 0},
		{"a digit of an octal offset is lost", "0000000 041101 041101 041101 041101 041101 041101 041101 041101\n000020 000103\n0000021\n", "od", strings.Repeat("4142", 8) + "43", 0},
		{"gdb without the last line", "0x0 <buf>:\t0x41\t0x42\n0x2 <buf+2>:", "gdb", "4142", 0},
		{"od -tx4", "0000000 44434241 00000045\n0000005\n", "od-tx4", "4142434445", 0},
		{"od -tx8", "0000000 4847464544434241\n0000010\n", "od-tx8", "4142434445464748", 0},
		{"od -td1", "0000000   65  -48    0\n0000003\n", "od-tu1", "41d000", 0},
		{"od -Ad", "0000000 41 42 43 44 45 46 47 48 49 4a\n0000010 4b\n0000011\n", "od-tx1", "4142434445464748494a4b", 0},
		{"od, octal offsets", "0000000 41 42 43 44 45 46 47 48\n0000010 49\n0000011\n", "od-tx1", "414243444546474849", 0},
		{"od -Ax", "000000 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50\n000010 51\n", "od-tx1", "4142434445464748494a4b4c4d4e4f5051", 0},
		{"od -An with text", " 41 42  >AB<\n 3e 3c  >><<\n", "od-tx1", "41423e3c", 0},
		{"od repeats in octal", "0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n0000040 01\n0000041\n", "od-tx1", strings.Repeat("00", 32) + "01", 0},
		{"hexdump repeats, padded", "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000020 0001                                   \n0000021\n", "hexdump", strings.Repeat("00", 32) + "01", 0},
		{"words that repeat, base open", "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040 0001\n0000041\n", "od-tx2", strings.Repeat("00", 32) + "01", 1},
		{"Wireshark", "0000   41 42 20 43 44   AB CD\n", "wireshark-dump", "4142204344", 0},
		{"Wireshark, text like hex", "0000   61 62 20 63 64 20 65 66 20 30 31 20 32 33 20 34   ab cd ef 01 23 4\n0010   61 62   ab\n", "wireshark-dump", "616220636420656620303120323320346162", 0},
		{"Wireshark, two packets", "0000   41 42\n\n0000   43\n", "wireshark-dump", "4142; 43", 0},
		{"tshark -x", "0000  41 42 43 44 45 46 47 48 49 4a   ABCDEFGHIJ\n", "wireshark-dump", "4142434445464748494a", 0},
		{"eight bytes a line, text like hex", "0000  61 62 20 63 64 20 65 66  ab cd ef\n0008  61 62 20 63 64 20 65 66  ab cd ef\n", "wireshark-dump", "61622063642065666162206364206566", 0},
		{"indentation lost at the start", "00000000  41 42   AB\n    00000002  43   C\n", "wireshark-dump", "414243", 0},
		{"text2pcap", "I 2019-05-14T19:04:57Z\n0000 41 42\n0002 43\nO 10:15:14.25\n0000 44\n", "text2pcap", "s2c 2019-05-14T19:04:57Z 414243; c2s 10:15:14.250 44", 0},
		{"text2pcap, on the line", "O 0000 41 42\nI 0000 43\n", "text2pcap", "c2s 4142; s2c 43", 0},
	})
}

func TestRecogniseDebuggers(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"WinDbg db", "0:000> db 7ff6`10 L12\n00007ff6`00000010  41 42 43 44 45 46 47 48-49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP\n00007ff6`00000020  51 52  QR\n", "windbg", "4142434445464748494a4b4c4d4e4f505152", 0},
		{"WinDbg dd", "00400000  44434241 48474645\n00400008  4c4b4a49\n", "windbg", "4142434445464748494a4b4c", 0},
		{"WinDbg dq", "00000000`00400000  48474645`44434241\n", "windbg", "4142434445464748", 0},
		{"WinDbg, twice", "00000000`00400000  48474645`44434241\n\n00000000`00400000  48474645`44434241\n", "windbg", "4142434445464748; 4142434445464748", 0},
		{"WinDbg, two places", "00000000`00400000  48474645`44434241 00000000`00000001\n00000000`00400010  00000000`00000002 00000000`00000003\n00000000`00500000  00000000`00000001\n", "windbg", "4142434445464748010000000000000002000000000000000300000000000000; 0100000000000000", 1},
		{"gdb x/xb", "(gdb) x/3xb p\n0x7ffe10 <buf>:\t0x41\t0x42\n0x7ffe12 <buf+2>:\t0x43\n", "gdb", "414243", 0},
		{"gdb without address", "<+0>:\t0x41\t0x42\n<+2>:\t0x43\n", "gdb", "414243", 0},
		{"gdb x/xw", "0x7ffe10:\t0x44434241\t0x48474645\n", "gdb", "4142434445464748", 0},
		{"gdb x/db", "0x7ffe10:\t65\t-48\n", "gdb", "41d0", 0},
		{"lldb", "0x100003f50: 41 42 43  ABC\n", "gdb", "414243", 0},
	})
}

func TestRecogniseCode(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"C", "uint8_t a[3] = { 0x1, 2, 'c', /* x */ 0b11 }; // end\n", "c-array", "a 01026303", 0},
		{"C, octal", "char a[] = {0101, 7};", "c-array", "a 4107", 0},
		{"C, two arrays", "char a[] = {1}, b[] = {2, 3,};", "c-array", "a 01; b 0203", 0},
		{"C, empty", "char a[] = {};", "c-array", "a ", 0},
		{"xxd -i, wrong length", "unsigned char f[] = {\n  0x41, 0x42\n};\nunsigned int f_len = 3;\n", "c-array", "f 4142", 1},
		{"Go", "x := []byte{0x41, 66}", "go-array", "x 4142", 0},
		{"Go array", "var x = [2]byte{0x41, 66}", "go-array", "x 4142", 0},
		{"Rust", "let x: [u8; 2] = [0x41u8, 66];", "rust-array", "x 4142", 0},
		{"Rust vec", "vec![0x41_u8, 66]", "rust-array", "4142", 0},
		{"Java", "byte[] x = new byte[] { (byte)0xd0, -48, 'A' };", "java-array", "x d0d041", 0},
		{"C#", "var x = new byte[] { 208, 0x41 };", "csharp-array", "x d041", 0},
		{"JavaScript", "const x = new Uint8Array([208, 65])", "js-array", "x d041", 0},
		{"Python", "x = bytes([208, 65])  # end", "python-array", "x d041", 0},
		{"Swift", "let x: [UInt8] = [208, 65]", "swift-array", "x d041", 0},
		{"Pascal", "const x: array[0..1] of Byte = ($D0, 65);", "pascal-array", "x d041", 0},
		{"Kotlin", "byteArrayOf(1, 2)", "pascal-array", "0102", 0},
		{"one byte in Go", "x := []byte{0x41}", "go-array", "x 41", 0},
		{"one byte in C", "char x[1] = {65};", "c-array", "x 41", 0},
		{"one byte in JSON", "[65]", "number-array", "41", 0},
		{"list of lists", "[[1, 2], [3]]", "number-array", "0102; 03", 0},
		{"Go's fmt", "[95 0 208]", "number-array", "5f00d0", 0},
		{"Rust's hex debug", "[5f, 00, 10]", "number-array", "5f0010", 0},
		{"decimal without zeros", "[10, 20]", "number-array", "0a14", 0},
		{"escaped", `"\x41\102\n\"" "z"`, "c-string", "41420a227a", 0},
		{"two strings", "\"\\x41\"; \"\\x42\"", "escaped-string", "41; 42", 0},
		{"continued lines", "\"\\x41\" \\\n\"\\x42\"", "escaped-string", "4142", 0},
		{"unicode escape", `"\u00e9\x00"`, "escaped-string", "c3a900", 0},
		{"Python bytes", `x = b'a\x00\'\q' b"z"`, "python-bytes", "x 6100275c717a", 0},
		{"Python raw bytes", `rb'\x00'`, "python-bytes", "5c783030", 0},
		{"Python three quotes", "b'''a\n\\x01'''", "python-bytes", "610a01", 0},
		{"fromhex", "bytes.fromhex('41 42' '43')", "quoted-hex", "414243", 0},
		{"Go's hex", `hex.DecodeString("4142")`, "quoted-hex", "4142", 0},
		{"Node's hex", `Buffer.from("4142", "hex")`, "quoted-hex", "4142", 0},
		{"Node's base64", `Buffer.from("QUI", 'base64')`, "quoted-base64", "4142", 0},
		{"quoted hex", `"4142"`, "quoted-hex", "4142", 0},
		{"quoted base64", `"AQL/gA=="`, "quoted-base64", "0102ff80", 0},
	})
}

func TestRecogniseFollow(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"hex dump", "00000000  41 42                                              AB\n    00000000  43                                                 C\n00000002  44                                                 D\n", "follow-hex", "c2s 4142; s2c 43; c2s 44", 0},
		{"old spacing, text like hex", "00000000  61 62 20 63 64 20 65 66  30 31 20 32 33 20 34 35 ab cd ef 01 23 45\n\t00000000  43                                               C\n", "follow-hex", "c2s 61622063642065663031203233203435; s2c 43", 0},
		{"one direction", "00000000  41 42 43 44 45 46 47 48  49 4a                     ABCDEFGH IJ\n", "follow-hex", "c2s 4142434445464748494a", 0},
		{"a full line runs on", "00000000  41 41 41 41 41 41 41 41  41 41 41 41 41 41 41 41   AAAAAAAA AAAAAAAA\n00000010  42                                                 B\n    00000000  43                                                 C\n", "follow-hex", "c2s " + strings.Repeat("41", 16) + "42; s2c 43", 0},
		{"C arrays", "char peer0_0[] = { /* Packet 3 */\n0x41, 0x42 };\nchar peer1_0[] = { /* Packet 4 */\n0x43 };\n", "follow-c-arrays", "c2s #3 4142; s2c #4 43", 0},
		{"YAML", "peers:\n  - peer: 0\n    host: ::1\n    port: 1\n  - peer: 1\n    host: ::1\n    port: 2\npackets:\n  - packet: 7\n    peer: 1\n    index: 0\n    timestamp: 1700000000.250000001\n    data: !!binary |\n      QUJD\n      RA==\n", "follow-yaml", "s2c 2023-11-14T22:13:20.250000001Z #7 41424344", 0},
		{"old YAML", "# Packet 3\npeer0_0: !!binary |\n  QUI=\n# Packet 5\npeer1_0: !!binary |\n  QUJD\n", "follow-yaml", "c2s #3 4142; s2c #5 414243", 0},
		{"raw without header", "4142\n\t43\n44\n", "follow-raw", "c2s 4142; s2c 43; c2s 44", 0},
	})
	p, err := Recognise("peers:\n  - peer: 0\n    host: ::1\n    port: 1\n  - peer: 1\n    host: a\n    port: 2\npackets:\n  - packet: 1\n    peer: 0\n    data: !!binary QQ==\n")
	if err != nil || !slices.Equal(p.Peers, []string{"[::1]:1", "a:2"}) || !p.Stream {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestRecogniseProxyLog(t *testing.T) {
	checkPastes(t, []pasteCase{{
		"all marks", `{"rest":"of a record"}
------------------------------
[23:59:59.999] -> C_PING.1
04000102
{"json":"[00:00:00.000] -> C_PONG.1"}
------------------------------
[00:00:00.001] <* S_PONG.2 (bad def)
05000304 ff
------------------------------
[00:00:00.002] X> 1541
04000506
------------------------------
[00:00:00.003] <- S_LOST.1
0400zz
------------------------------
[00:00:00.004] <X S_LAST
04000708`, "tera-log",
		"c2s 23:59:59.999 C_PING v1 04000102; s2c 00:00:00.001+1d S_PONG fake, bad def v2 05000304ff; " +
			"c2s 00:00:00.002+1d silenced 04000506; s2c 00:00:00.004+1d S_LAST silenced 04000708", 2,
	}})
}

func TestRecogniseTables(t *testing.T) {
	checkPastes(t, []pasteCase{
		{"JSON Lines", `{"hex":"4142","dir":"c2s","time":"2026-11-20T10:00:00.5Z","message":"chat"}` + "\n" + `{"dir":"s2c","hex":""}`, "json-rows", "c2s 2026-11-20T10:00:00.5Z chat 4142; s2c ", 0},
		{"what paste prints", `{"form":"xxd","messages":[{"hex":"2600","dir":"c2s"},{"hex":"01"}]}`, "json-rows", "c2s 2600; 01", 0},
		{"array with lists of numbers", `[{"payload":[65,-1],"outbound":true},{"payload":[],"outbound":false}]`, "json-rows", "c2s 41ff; s2c ", 0},
		{"nested, escaped", `{"frame":{"data":"QUJD\u002b/8="},"ts":1700000000123}`, "json-rows", "2023-11-14T22:13:20.123Z 414243fbff", 0},
		{"row without bytes", `{"hex":"41"}` + "\n" + `{"note":1}`, "json-rows", "41", 1},
		{"cut off", `{"hex":"41"}` + "\n" + `{"hex":"4`, "json-rows", "41", 1},
		{"CSV", "time,dir,payload\n10:00:00.5,C->S,4142\n10:00:01,S->C,\"43\"\n", "csv", "c2s 10:00:00.500 4142; s2c 10:00:01.000 43", 0},
		{"CSV without header", "c2s;414243\ns2c;00\n", "csv", "c2s 414243; s2c 00", 0},
		{"CSV of numbers and hex", "1,5f00\n2,0a1b\n", "csv", "5f00; 0a1b", 0},
		{"tabs and base64", "n\tdata\n1\tQUJD/w==\n2\tQQ==\n", "csv", "#1 414243ff; #2 41", 0},
	})
}

func TestOverrides(t *testing.T) {
	for _, c := range []struct{ form, text, want string }{
		{"hex-lines", "0102\n03\n\n04", "0102; 03; 04"},
		{"hex-words", " 0102 0304\n 05\n\n0a0b0c0d\n", "0201040305; 0d0c0b0a"},
		{"base64", "abcd", "69b71d"},
		{"hex", "abcd", "abcd"},
		{"csv", "1,5f00\n2,0a1b", "5f00; 0a1b"},
		{"od-tx2", "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040\n", strings.Repeat("00", 32)},
		{"hexdump", "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040\n", strings.Repeat("00", 64)},
		{"xxd-e", "00000000: 0102 0304", "02010403"},
		{"escaped-string", `"abc"`, "616263"},
	} {
		p, err := RecogniseAs(c.text, c.form)
		if err != nil || show(p) != c.want || p.Form != c.form || p.Why != "read as chosen" {
			t.Errorf("%q as %s: %v, %v", c.text, c.form, p, err)
		}
	}
	if _, err := RecogniseAs("00", "nonsense"); err == nil || err.Error() != `unknown form "nonsense"` {
		t.Error(err)
	}
}

func TestErrorsHavePlaces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "the text is empty"},
		{" \r\n\t", "the text is empty"},
		{"\ufeff", "the text is empty"},
		{"abc", "line 1, column 3: 3 hex digits: one is missing or one too many, a byte has two (read as hex)"},
		{"0102\n034", "line 2, column 3: 7 hex digits: one is missing or one too many, a byte has two (read as hex)"},
		{"01 02\r\n03 4", "line 2, column 4: a single hex digit: one is missing or one too many, a byte has two (read as hex)"},
		{"95, 0, 101", "line 1, column 5: a single hex digit in a list (decimal numbers need brackets): one is missing or one too many, a byte has two (read as hex)"},
		{"0102030405é", `line 1, column 11: found "é", expected hex digits (read as hex)`},
		{"\ufeff0102030405é", `line 1, column 11: found "é", expected hex digits (read as hex)`},
		{"00000000: 4142 4344  ABCD\n00000004: 414g  AA\n", `line 2, column 11: found "414g", expected pairs of hex digits (read as xxd)`},
		{"00000000: 4142 4344  ABCD\n00000008: 4142  AB\n", "line 2, column 1: the offset is 0008, but the lines before lead to 0004 (read as xxd)"},
		{"00000000  41 42                                             |AB|\n00000003\n", "line 2, column 1: the final offset is 0003, but the lines before lead to 0002 (read as hexdump-C)"},
		{"00000000  41 42  |AB|\n00000002  43 4", `line 2, column 14: found "4", expected two hex digits (read as hexdump-C)`},
		{"{1, 2, 300}", `line 1, column 8: "300" is not a byte: a number from -128 to 255 was expected`},
		{"{0x01, 0x02, 3, 4, 4x99}", `line 1, column 20: "4x99" is not a byte: a number from -128 to 255 was expected`},
		{"{0x01u8, 0x02u4}", `line 1, column 10: "0x02u4" is not a byte: a number from -128 to 255 was expected`},
		{"{(byte)0x01, (byte)0x123}", `line 1, column 14: "(byte)0x123" is not a byte: a number from -128 to 255 was expected`},
		{"{1, 2,\n3", `line 2, column 2: the text ends where the end of the list that starts with "{" was expected`},
		{`hex.DecodeString("414")`, "line 1, column 21: 3 hex digits: one is missing or one too many, a byte has two (read as quoted-hex)"},
		{`"\x41\xzz"`, `line 1, column 8: found "zz", expected two hex digits after \x (read as escaped-string)`},
		{`"\x41\400"`, "line 1, column 6: the octal escape is 256, which is not a byte (read as escaped-string)"},
		{"{\"hex\":\"41\"}\n{\"hex\":\"414\"}", "line 2, column 11: 3 hex digits: one is missing or one too many, a byte has two (read as json-rows)"},
		{"peer0_0: !!binary |\n  QUI*\n", `line 2, column 6: found "*", expected base64 (read as follow-yaml)`},
		{"Follow: tcp,raw\n4142\n\t434\n", "line 3, column 4: 3 hex digits on this line: one is missing or one too many, a byte has two (read as follow-raw)"},
		{"00000000  41  A\n    00000000  42  B\n00000001  43  C\n00000005  43  C\n", "line 4, column 1: the offset is 00000005, but the lines of this direction lead to 00000002 (read as follow-hex)"},
		{`{"data":[1,-]}`, `line 1, column 12: "-" is not a byte: a number from -128 to 255 was expected (read as json-rows)`},
		{`{"data":[1,300]}`, `line 1, column 12: "300" is not a byte: a number from -128 to 255 was expected (read as json-rows)`},
		{"see [1] and (2)", "unrecognised form of bytes"},
		{" 41 42 43 44\n*\n 45\n", "line 2, column 1: \"*\" stands for repeated lines, but without offsets their number is unknown (read as hex)"},
		{"hello there", "line 1, column 1: unrecognised form of bytes; known are hex, base64"},
	} {
		_, err := Recognise(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q\n gives %v\n  want %s", c.text, err, c.want)
		}
	}
}

func TestBoundsOfPastedText(t *testing.T) {
	if _, err := Recognise(strings.Repeat("0", MaxText+1)); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Error(err)
	}
	star := "00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n*\nfffffff0\n"
	if _, err := Recognise(star); err == nil || !strings.Contains(err.Error(), "line 3, column 1: the text has more than 64 MiB of bytes") {
		t.Error(err)
	}
	wide := "0000000000000000: 61 61  aa\n*\nfffffffffffffffe: 61 61  aa\n"
	if _, err := Recognise(wide); err == nil {
		t.Error("a repeat over the whole address space was read")
	}
	many := strings.Repeat("00\n\n", MaxMessages+1)
	if _, err := Recognise(many); err == nil || !strings.Contains(err.Error(), "more than 1000000 messages") {
		t.Error(err)
	}
	deep := strings.Repeat("[", 1<<16)
	if _, err := Recognise(deep); err == nil {
		t.Error("nested brackets were read")
	}
}

func TestFormsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Forms() {
		if f.ID == "" || f.Title == "" || f.Group == "" || seen[f.ID] {
			t.Errorf("form %+v", f)
		}
		seen[f.ID] = true
	}
	for _, u := range units {
		for _, n := range []notation{address, colon, plain, none} {
			for _, base := range []int{8, 10, 16} {
				for _, form := range (&shape{offsets: n, base: base, unit: u}).forms() {
					if !seen[form] {
						t.Errorf("unit of unknown form %s", form)
					}
				}
			}
		}
	}
}

func TestStamps(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20T10:00:00.123456Z":   "2026-11-20T10:00:00.123456Z",
		"2026-11-20 10:00:00+02:00":     "2026-11-20T08:00:00Z",
		"2026-11-20 10:00:00.5":         "2026-11-20T10:00:00.5Z",
		"23:59:60":                      "00:00:00.000+1d",
		"12:00:00,250":                  "12:00:00.250",
		"12:00:00.000000001":            "12:00:00.000000001",
		"1700000000":                    "2023-11-14T22:13:20Z",
		"1700000000.000499964":          "2023-11-14T22:13:20.000499964Z",
		"1700000000123":                 "2023-11-14T22:13:20.123Z",
		"1700000000123456":              "2023-11-14T22:13:20.123456Z",
		"1700000000123456789":           "2023-11-14T22:13:20.123456789Z",
		"0.035394":                      "0.035394s",
		"12:61:00":                      "",
		"yesterday":                     "",
		"-1":                            "",
		"Nov 14, 2023 22:13:20.500 UTC": "2023-11-14T22:13:20.5Z",
	} {
		if got, _ := scan.ParseStamp(text); got.String() != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
