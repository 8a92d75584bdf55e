package paste

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// spelling writes bytes as a language does.
type spelling struct {
	name   string
	render func(b []byte) string
}

func joinBytes(b []byte, sep string, each func(c byte) string) string {
	var out []string
	for _, c := range b {
		out = append(out, each(c))
	}
	return strings.Join(out, sep)
}

func format(f string) func(c byte) string {
	return func(c byte) string { return fmt.Sprintf(f, c) }
}

// castAbove writes a conversion for bytes that are negative in languages with signed bytes.
func castAbove(plain, cast string) func(c byte) string {
	return func(c byte) string {
		if c > 127 {
			return fmt.Sprintf(cast, c)
		}
		return fmt.Sprintf(plain, c)
	}
}

func mixed(c byte) string {
	switch {
	case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z':
		return fmt.Sprintf("'%c'", c)
	case c%3 == 0:
		return fmt.Sprint(c)
	}
	return fmt.Sprintf("0x%X", c)
}

func around(before, after, sep string, each func(c byte) string) func(b []byte) string {
	return func(b []byte) string { return before + joinBytes(b, sep, each) + after }
}

func quoted(before, after string, each func(c byte) string) func(b []byte) string {
	return around(before, after, "", each)
}

// plainOr writes letters as they are, other bytes with a format.
func plainOr(f string) func(c byte) string {
	return func(c byte) string {
		if c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z' || c == ' ' {
			return string(rune(c))
		}
		return fmt.Sprintf(f, c)
	}
}

var spellings = []spelling{
	{"C", around("const uint8_t p[] = {", "};", ", ", format("0x%02x"))},
	{"C, mixed", around("char p[] = { ", " };", ",", mixed)},
	{"C, brace on a line of its own", around("static const unsigned char p[] =\n{\n\t", "\n};", ",\n\t", format("0x%02Xu"))},
	{"C, binary", around("uint8_t p[] = {", "};", ", ", format("0b%08b"))},
	{"C, decimal", around("unsigned char p[] = {", "};", ", ", format("%d"))},
	{"C, comments", around("uint8_t p[] = { /* 0x00, 1 */ ", " };", ", // 7\n", format("0x%02x"))},
	{"C, casts", around("char p[] = {", "};", ", ", format("(char)0x%02x"))},
	{"C++, casts", around("std::vector<unsigned char> p{", "};", ", ", format("static_cast<unsigned char>(0x%02x)"))},
	{"C++, std::byte", around("std::array p{", "};", ", ", format("std::byte{0x%02x}"))},
	{"C string", quoted(`const char *p = "`, `";`, format("\\x%02x"))},
	{"C string in octal", quoted(`const char *p = "`, `";`, format("\\%03o"))},
	{"C strings joined", func(b []byte) string {
		return "const char p[] =\n  \"" + quoted("", "", format("\\x%02x"))(b[:len(b)/2]) + "\"\n  \"" + quoted("", "", format("\\x%02x"))(b[len(b)/2:]) + "\";"
	}},
	{"Java", around("byte[] p = new byte[] {", "};", ", ", castAbove("0x%02X", "(byte) 0x%02X"))},
	{"Java, negative", around("byte[] p = {", "};", ", ", func(c byte) string { return fmt.Sprint(int8(c)) })},
	{"Kotlin", around("val p = byteArrayOf(", ")", ", ", castAbove("0x%02X", "0x%02X.toByte()"))},
	{"Kotlin, unsigned", around("val p = ubyteArrayOf(", ")", ", ", format("0x%02Xu"))},
	{"Scala", around("val p = Array[Byte](", ")", ", ", castAbove("%d", "0x%02X.toByte"))},
	{"C#", around("var p = new byte[] { ", " };", ", ", format("0x%02X"))},
	{"Go", around("p := []byte{", "}", ", ", format("0x%02x"))},
	{"Go string", quoted(`p := "`, `"`, plainOr(`\x%02x`))},
	{"Go, conversions", around("p := []byte{", "}", ", ", format("byte(%d)"))},
	{"Rust", around("let p: [u8; 99] = [", "];", ", ", format("0x%02xu8"))},
	{"Rust, as", around("let p = vec![", "];", ", ", format("0x%02x as u8"))},
	{"Rust string", quoted(`let p = b"`, `";`, plainOr(`\x%02x`))},
	{"Rust, characters", around("let p = [", "];", ", ", mixedRust)},
	{"Python", quoted("p = b'", "'", plainOr(`\x%02x`))},
	{"Python, list", around("p = bytes([", "])", ", ", format("%d"))},
	{"Python, hex", around("p = bytes.fromhex('", "')", " ", format("%02x"))},
	{"Python, sum", func(b []byte) string {
		return "p = " + quoted("b'", "'", plainOr(`\x%02x`))(b[:1]) + " + bytes([" + joinBytes(b[1:], ", ", format("%d")) + "])"
	}},
	{"JavaScript", around("const p = new Uint8Array([", "]);", ", ", format("0x%02x"))},
	{"JavaScript, Buffer", func(b []byte) string { return `const p = Buffer.from("` + hex.EncodeToString(b) + `", "hex");` }},
	{"JavaScript, base64", func(b []byte) string {
		return `const p = Buffer.from("` + base64.StdEncoding.EncodeToString(b) + `", "base64");`
	}},
	{"JavaScript string", quoted("const p = '", "';", format(`\x%02x`))},
	{"Node.js", around("<Buffer ", ">", " ", format("%02x"))},
	{"Erlang", around("P = <<", ">>.", ",", format("16#%02X"))},
	{"Erlang, decimal", around("P = <<", ">>.", ",", format("%d"))},
	{"Erlang, sizes", around("P = <<", ">>.", ", ", format("16#%02X:8"))},
	{"Elixir", around("p = <<", ">>", ", ", format("0x%02X"))},
	{"Lua", quoted(`local p = "`, `"`, format(`\%03d`))},
	{"Perl", quoted(`my $p = "`, `";`, format(`\x{%02x}`))},
	{"Perl, pack", around(`my $p = pack('C*', `, ");", ", ", format("0x%02x"))},
	{"PHP", quoted(`$p = "`, `";`, plainOr(`\x%02x`))},
	{"Ruby", around("p = [", "].pack('C*')", ", ", format("0x%02x"))},
	{"Swift", around("let p: [UInt8] = [", "]", ", ", format("0x%02x"))},
	{"Swift, casts", around("let p = [", "]", ", ", format("UInt8(%d)"))},
	{"Pascal", around("const p: array[0..9] of Byte = (", ");", ", ", format("$%02X"))},
	{"Ada", around("P : Bytes := (", ");", ", ", format("16#%02X#"))},
	{"F#", around("let p = [|", "|]", "; ", format("0x%02xuy"))},
	{"Nim", around("let p = @[", "]", ", ", format("0x%02x'u8"))},
	{"Visual Basic", around("Dim p() As Byte = {", "}", ", ", format("&H%02X"))},
	{"PowerShell", around("$bytes = [byte[]](", ")", ",", format("0x%02x"))},
	{"Verilog", around("localparam p = {", "};", ", ", format("8'h%02x"))},
	{"D", around("ubyte[] p = [", "];", ", ", format("0x%02x"))},
	{"Zig", around("const p = [_]u8{ ", " };", ", ", format("0x%02x"))},
	{"R", around("p <- as.raw(c(", "))", ", ", format("0x%02x"))},
	{"Lisp", around("(defvar p #(", "))", " ", format("#x%02x"))},
	{"assembler, db", around("p: db ", "", ", ", format("0%02Xh"))},
	{"assembler, .byte", func(b []byte) string {
		return "p:\n\t.byte " + joinBytes(b[:1], ", ", format("0x%02x")) + "\n\t.byte " + joinBytes(b[1:], ", ", format("0x%02x")) + " ; the rest\n"
	}},
	{"6502", around("p: .byte ", "", ",", format("$%02x"))},
	{"68000", around("p: dc.b ", "", ",", format("$%02X"))},
	{"BASIC", around("10 DATA ", "", ",", format("&H%02X"))},
	{"loose, Rust", around("", "", ", ", format("0x%02xu8"))},
	{"loose, Pascal", around("", "", ", ", format("$%02X"))},
	{"loose, BASIC", around("", "", " ", format("&H%02X"))},
	{"loose, comments", around("", "", ", // x\n", format("0x%02x"))},
	{"Go's fmt", around("[", "]", " ", format("%d"))},
	{"SQL", func(b []byte) string { return "INSERT INTO p VALUES (X'" + hex.EncodeToString(b) + "');" }},
}

func mixedRust(c byte) string {
	if c >= 'A' && c <= 'Z' {
		return fmt.Sprintf("b'%c'", c)
	}
	return fmt.Sprintf("%#x", c)
}

// Bytes in the spellings of many languages come back exactly, one value or several, with what else is in the text named.
func TestLiteralsOfLanguages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	random := func() []byte {
		b := make([]byte, 6+r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for _, x := range spellings {
		t.Run(x.name, func(t *testing.T) {
			for range 40 {
				b, c := random(), random()
				expect(t, x.render(b), 0, b)
				expect(t, x.render(b)+"\n\n"+x.render(c)+"\n", 0, b, c)
				expect(t, "return here\n\n"+x.render(b)+"\n\nassert(size == 24)\n", 2, b)
			}
		})
	}
}

// expect reads a text and compares its messages, and the number of its notes on what was not read.
func expect(t *testing.T, text string, left int, want ...[]byte) {
	t.Helper()
	p, err := Recognise(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got []string
	for _, m := range p.Messages {
		got = append(got, hex.EncodeToString(m.Bytes))
	}
	var all []string
	for _, w := range want {
		all = append(all, hex.EncodeToString(w))
	}
	n := 0
	for _, x := range p.Notes {
		if strings.Contains(x.Message, "not read") {
			n++
		}
	}
	if !slices.Equal(got, all) || n != left {
		t.Fatalf("read as %s: %s\n got %v\nwant %v\nnotes %v, want %d\n%s", p.Form, p.Why, got, all, p.Notes, left, text)
	}
	again, err := RecogniseAs(text, p.Form)
	if err != nil || !slicesEqual(p, again) {
		t.Fatalf("as %s: %v\n%s", p.Form, err, text)
	}
}

// Words of several bytes are said to be little-endian, or big-endian.
func TestWordsOfAssemblers(t *testing.T) {
	for text, want := range map[string]string{
		"p: dw 2600h, 1234h\n":       "00263412",
		"p: .word 0x2600\n .byte 1":  "002601",
		"p: dc.w $2600,$1234":        "26001234",
		"p dd 12345678h":             "78563412",
		"msg db \"ab\", 0\n db 0ffh": "616200ff",
	} {
		p, err := Recognise(text)
		if err != nil || show(p) != "p "+want && show(p) != "msg "+want {
			t.Errorf("%q: %v %+v", text, err, p)
			continue
		}
		if strings.Contains(text, "w ") && (len(p.Notes) != 1 || !strings.Contains(p.Notes[0].Message, "endian")) {
			t.Errorf("%q: %v", text, p.Notes)
		}
	}
	if p, err := Recognise("db 26 00 11"); err != nil || p.Form != "hex" {
		t.Errorf("hex that starts with db: %v %+v", err, p)
	}
}

// Strings are messages of their own unless the language joins them; words in quotes are not bytes, and are named.
func TestStringsAreNotDropped(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
		left int
	}{
		{`["1600f9bc0a00", "1600f9bc0b00"]`, "1600f9bc0a00; 1600f9bc0b00", 0},
		{"x = ['1600f9bc0a00',\n     '1600f9bc0b00']", "x 1600f9bc0a00; 1600f9bc0b00", 0},
		{"\"1600f9bc0a00\"\n\"1600f9bc0b00\"\n", "1600f9bc0a00; 1600f9bc0b00", 0},
		{`p = "1600f9bc0a00" + "1600f9bc0b00"`, "p 1600f9bc0a001600f9bc0b00", 0},
		{`log("sent"); p = "\x16\x00\xf9"`, "p 1600f9", 1},
		{`a = b"\x16"` + "\n" + `b = [1, 2, 3]`, "a 16; b 010203", 0},
		{`a = b"\x16" * 4`, "a 16", 1},
		{`{300, 1}; {1, 2, 3}`, "010203", 0}, // it has a note of its own
	} {
		p, err := Recognise(c.text)
		if err != nil || show(p) != c.want {
			t.Errorf("%s: %v %+v, want %s", c.text, err, p, c.want)
			continue
		}
		n := 0
		for _, x := range p.Notes {
			if strings.Contains(x.Message, "not read") {
				n++
			}
		}
		if n != c.left {
			t.Errorf("%s: %v, want %d", c.text, p.Notes, c.left)
		}
	}
}
