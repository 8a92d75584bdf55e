package paste

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/packettest"
	"wirebench/defs/schema"
)

// column returns a text column: printable bytes as they are, others as dots.
func column(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '.'
		}
		return r
	}, string(latin1(b)))
}

func latin1(b []byte) []rune {
	out := make([]rune, len(b))
	for i, c := range b {
		out[i] = rune(c)
	}
	return out
}

// dumpSpec renders a dump in the style of one tool.
type dumpSpec struct {
	offset string // format
	width  int    // bytes per line
	unit   int    // bytes per unit
	little bool
	number string // format of a unit
	sep    string
	first  string // between offset and units
	mid    string // separator after eight bytes, instead of sep
	open   string // of the text column; "-" for none
	close  string
	gapped bool // the text column has a gap after eight
	pad    bool // short lines are padded to the text column or to the end
	repeat bool // equal lines are "*"
	final  bool // the last line is the length
}

func (s dumpSpec) render(b []byte) string {
	var out strings.Builder
	full := len(s.units(make([]byte, s.width)))
	last, starred := "", false
	for at := 0; at < len(b); at += s.width {
		part := b[at:min(at+s.width, len(b))]
		if s.repeat && len(part) == s.width && at+s.width < len(b) && string(part) == last {
			if !starred {
				out.WriteString("*\n")
			}
			starred = true
			continue
		}
		last, starred = string(part), false
		units := s.units(part)
		if s.pad {
			units += strings.Repeat(" ", full-len(units))
		}
		text := ""
		if s.open != "-" {
			text = column(part)
			if s.gapped && len(text) > 8 {
				text = text[:8] + " " + text[8:]
			}
			text = s.open + text + s.close
		}
		fmt.Fprintf(&out, s.offset+"%s%s%s\n", at, s.first, units, text)
	}
	if s.final {
		fmt.Fprintf(&out, strings.TrimSuffix(s.offset, ":")+"\n", len(b))
	}
	return out.String()
}

func (s dumpSpec) units(b []byte) string {
	var out strings.Builder
	for i := 0; i < len(b); i += s.unit {
		switch {
		case i == 8 && s.mid != "":
			out.WriteString(s.mid)
		case i > 0:
			out.WriteString(s.sep)
		}
		v, n := uint64(0), min(s.unit, len(b)-i)
		for k := range n {
			if s.little {
				v |= uint64(b[i+k]) << (8 * k)
			} else {
				v = v<<8 | uint64(b[i+k])
			}
		}
		text := fmt.Sprintf(s.number, v)
		if !s.little && n < s.unit { // a short group in memory order
			text = text[len(text)-2*n:]
		}
		out.WriteString(text)
	}
	return out.String()
}

var dumpSpecs = map[string]dumpSpec{
	"xxd":                    {offset: "%08x:", width: 16, unit: 2, number: "%04x", sep: " ", first: " ", open: "  ", pad: true},
	"xxd -u -c 8":            {offset: "%08x:", width: 8, unit: 2, number: "%04X", sep: " ", first: " ", open: "  ", pad: true},
	"xxd -g 1":               {offset: "%08x:", width: 16, unit: 1, number: "%02x", sep: " ", first: " ", open: "  ", pad: true},
	"xxd -g 0":               {offset: "%08x:", width: 16, unit: 1, number: "%02x", first: " ", open: "  ", pad: true},
	"xxd -b":                 {offset: "%08x:", width: 6, unit: 1, number: "%08b", sep: " ", first: " ", open: "  ", pad: true},
	"xxd -d":                 {offset: "%08d:", width: 16, unit: 2, number: "%04x", sep: " ", first: " ", open: "  ", pad: true},
	"hexdump -C":             {offset: "%08x", width: 16, unit: 1, number: "%02x", sep: " ", first: "  ", mid: "  ", open: "  |", close: "|", pad: true, repeat: true, final: true},
	"hexdump":                {offset: "%07x", width: 16, unit: 2, little: true, number: "%04x", sep: " ", first: " ", open: "-", pad: true, repeat: true, final: true},
	"hexdump -x":             {offset: "%07x", width: 16, unit: 2, little: true, number: "%04x", sep: "    ", first: "    ", open: "-", pad: true, final: true},
	"hexdump -d":             {offset: "%07x", width: 16, unit: 2, little: true, number: "%05d", sep: "   ", first: "   ", open: "-", pad: true, final: true},
	"hexdump -b":             {offset: "%07x", width: 16, unit: 1, number: "%03o", sep: " ", first: " ", open: "-", pad: true, final: true},
	"od":                     {offset: "%07o", width: 16, unit: 2, little: true, number: "%06o", sep: " ", first: " ", open: "-", final: true},
	"od -b":                  {offset: "%07o", width: 16, unit: 1, number: "%03o", sep: " ", first: " ", open: "-", final: true},
	"od -tx1":                {offset: "%07o", width: 16, unit: 1, number: "%02x", sep: " ", first: " ", open: "-", final: true},
	"od -Ax -tx1":            {offset: "%06x", width: 16, unit: 1, number: "%02x", sep: " ", first: " ", open: "-", repeat: true, final: true},
	"od -Ad -tx1 -w20":       {offset: "%07d", width: 20, unit: 1, number: "%02x", sep: " ", first: " ", open: "-", final: true},
	"od -tx1z":               {offset: "%07o", width: 16, unit: 1, number: "%02x", sep: " ", first: " ", open: "  >", close: "<", pad: true, final: true},
	"od -tx2":                {offset: "%07o", width: 16, unit: 2, little: true, number: "%04x", sep: " ", first: " ", open: "-", final: true},
	"od -Ax -tx4":            {offset: "%06x", width: 16, unit: 4, little: true, number: "%08x", sep: " ", first: " ", open: "-", repeat: true, final: true},
	"od -tx8z":               {offset: "%07o", width: 16, unit: 8, little: true, number: "%016x", sep: " ", first: " ", open: "  >", close: "<", pad: true, final: true},
	"od -tu1":                {offset: "%07o", width: 16, unit: 1, number: "%4d", first: "", open: "-", final: true},
	"Wireshark":              {offset: "%04x", width: 16, unit: 1, number: "%02x", sep: " ", first: "   ", open: "   ", pad: true},
	"Wireshark without text": {offset: "%04x", width: 16, unit: 1, number: "%02x", sep: " ", first: "   ", open: "-"},
	"tshark -x":              {offset: "%04x", width: 16, unit: 1, number: "%02x", sep: " ", first: "  ", mid: "  ", open: "   ", gapped: true, pad: true},
	"Follow":                 {offset: "%08X", width: 16, unit: 1, number: "%02x", sep: " ", first: "  ", mid: "  ", open: "   ", gapped: true, pad: true},
	"Follow, old":            {offset: "%08X", width: 16, unit: 1, number: "%02x", sep: " ", first: "  ", mid: "  ", open: " ", gapped: true, pad: true},
	"WinDbg db":              {offset: "00007ff6`%08x", width: 16, unit: 1, number: "%02x", sep: " ", first: "  ", mid: "-", open: "  ", pad: true},
	"gdb":                    {offset: "0x%x:", width: 8, unit: 1, number: "0x%02x", sep: "\t", first: "\t", open: "-"},
	"gdb with names":         {offset: "0x%x <buf>:", width: 8, unit: 1, number: "0x%02x", sep: "\t", first: "\t", open: "-"},
	"lldb":                   {offset: "0x%08x:", width: 16, unit: 1, number: "%02x", sep: " ", first: " ", open: "  ", pad: true},
}

// list renders comma-separated numbers.
func list(b []byte, format string) string {
	var out []string
	for _, c := range b {
		out = append(out, fmt.Sprintf(format, c))
	}
	return strings.Join(out, ", ")
}

func escaped(b []byte, format string) string {
	var out strings.Builder
	for _, c := range b {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

func python(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		switch {
		case c == '\'' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c >= 0x20 && c < 0x7f:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "\\x%02x", c)
		}
	}
	return "b'" + out.String() + "'"
}

func wrap(s string, n int) string {
	var out strings.Builder
	for len(s) > n {
		out.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return out.String() + s
}

func signed(b []byte) string {
	var out []string
	for _, c := range b {
		out = append(out, fmt.Sprint(int8(c)))
	}
	return strings.Join(out, ", ")
}

// renderers write bytes in all forms without offsets.
var renderers = map[string]func(b []byte) string{
	"hex":           hex.EncodeToString,
	"hex, wrapped":  func(b []byte) string { return wrap(hex.EncodeToString(b), 60) },
	"hex, odd wrap": func(b []byte) string { return wrap(hex.EncodeToString(b), 7) },
	"hex, spaced":   func(b []byte) string { return fmt.Sprintf("% X", b) },
	"hex, 0x":       func(b []byte) string { return list(b, "%#x") },
	"hex, \\x":      func(b []byte) string { return escaped(b, "\\x%02x") },
	"C": func(b []byte) string {
		return "static const char x[] = {\n" + strings.ReplaceAll(list(b, "0x%02x"), "8, ", "8,\n") + "\n};"
	},
	"Go":               func(b []byte) string { return fmt.Sprintf("var x = %#v\n", b) },
	"Go's fmt":         func(b []byte) string { return fmt.Sprint(b) },
	"Java":             func(b []byte) string { return "byte[] x = {" + signed(b) + "};" },
	"JSON":             func(b []byte) string { return "[" + list(b, "%d") + "]" },
	"JavaScript":       func(b []byte) string { return "new Uint8Array([" + list(b, "%d") + "])" },
	"Pascal":           func(b []byte) string { return "const x: array[0..9] of Byte = (" + list(b, "$%02X") + ");" },
	"C string":         func(b []byte) string { return `"` + escaped(b, `\%03o`) + `"` },
	"escaped string":   func(b []byte) string { return `"` + wrapEscapes(b) + `"` },
	"Python":           python,
	"fromhex":          func(b []byte) string { return `bytes.fromhex("` + fmt.Sprintf("% x", b) + `")` },
	"base64, quoted":   func(b []byte) string { return `atob("` + base64.StdEncoding.EncodeToString(b) + `")` },
	"our JSON":         func(b []byte) string { return fmt.Sprintf(`{"hex":"%x"}`, b) },
	"JSON with base64": func(b []byte) string { return fmt.Sprintf(`{"base64":"%s"}`, base64.URLEncoding.EncodeToString(b)) },
	"CSV":              func(b []byte) string { return fmt.Sprintf("n,payload\n1,%x\n", b) },
	"proxy log":        func(b []byte) string { return fmt.Sprintf("[10:00:00.000] -> C_X.1\n%x\n-----\n", b) },
	"YAML":             func(b []byte) string { return "peer0_0: !!binary |\n  " + base64.StdEncoding.EncodeToString(b) + "\n" },
	"raw": func(b []byte) string {
		return fmt.Sprintf("Follow: tcp,raw\nFilter: x\nNode 0: a:1\nNode 1: b:2\n%x\n====================\n", b)
	},
}

func wrapEscapes(b []byte) string {
	var out strings.Builder
	for i, c := range b {
		if i > 0 && i%16 == 0 {
			out.WriteString("\" \\\n\"")
		}
		fmt.Fprintf(&out, "\\x%02x", c)
	}
	return out.String()
}

func TestRenderedBytesComeBack(t *testing.T) {
	check := func(name, text string, want []byte) {
		t.Helper()
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimRight(text, "\n")} {
			p, err := Recognise(text)
			if err != nil {
				t.Errorf("%s of %d bytes: %v\n%s", name, len(want), err, text)
				return
			}
			var got []byte
			for _, m := range p.Messages {
				got = append(got, m.Bytes...)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s of %d bytes read as %s: %s\n%s\n got %x\nwant %x", name, len(want), p.Form, p.Why, text, got, want)
				return
			}
			for _, n := range p.Notes {
				if strings.Contains(n.Message, "text column") {
					t.Errorf("%s of %d bytes: %s\n%s", name, len(want), n.Message, text)
				}
			}
			if again, err := RecogniseAs(text, p.Form); err != nil || !slicesEqual(p, again) {
				t.Errorf("%s as %s: %v\n%s", name, p.Form, err, text)
			}
		}
	}
	for _, b := range packettest.Samples() {
		for name, spec := range dumpSpecs {
			if name == "od -tu1" && len(b) == 1 && b[0] >= 100 {
				continue // three digits on a single line: od -b writes the same for another byte
			}
			check(name, spec.render(b), b)
		}
		for name, render := range renderers {
			check(name, render(b), b)
		}
		// Base64 of zeros and of short texts can be hex, and hex wins.
		if s := base64.StdEncoding.EncodeToString(b); hexRun(s, 0) < len(s) && len(b)%3 != 0 {
			check("base64", s, b)
			check("base64, wrapped", wrap(s, 76), b)
		}
	}
}

func slicesEqual(a, b *Paste) bool {
	if len(a.Messages) != len(b.Messages) {
		return false
	}
	for i := range a.Messages {
		if !bytes.Equal(a.Messages[i].Bytes, b.Messages[i].Bytes) {
			return false
		}
	}
	return true
}

// TestSeveralMessagesComeBack joins dumps of several messages, each of which starts at offset 0.
func TestSeveralMessagesComeBack(t *testing.T) {
	for name, spec := range dumpSpecs {
		if strings.HasPrefix(name, "Follow") || spec.unit > 1 && !spec.final && spec.little {
			continue
		}
		var text strings.Builder
		want := packettest.Samples()[40:60]
		for _, b := range want {
			text.WriteString(spec.render(b))
		}
		p, err := Recognise(text.String())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(p.Messages) != len(want) {
			t.Errorf("%s: %d messages, want %d", name, len(p.Messages), len(want))
			continue
		}
		for i, m := range p.Messages {
			if !bytes.Equal(m.Bytes, want[i]) {
				t.Errorf("%s, message %d:\n got %x\nwant %x", name, i, m.Bytes, want[i])
			}
		}
	}
}

// TestFollowDumpsComeBack renders conversations as Follow hex dumps and compares the stream of each direction.
func TestFollowDumpsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"Follow", "Follow, old"} {
		for range 50 {
			var text strings.Builder
			var streams, got [3][]byte
			for n := range 12 {
				dir := schema.ToServer + schema.Dir(n%2)
				part := packettest.Samples()[r.IntN(80)]
				at := len(streams[dir])
				streams[dir] = append(streams[dir], part...)
				indent := []string{"", "", "    "}[dir]
				for _, l := range strings.Split(strings.TrimSuffix(dumpSpecs[name].render(part), "\n"), "\n") {
					fmt.Fprintf(&text, "%s%08X%s\n", indent, at, l[8:])
					at += 16
				}
			}
			p, err := Recognise(text.String())
			if err != nil || p.Form != "follow-hex" {
				t.Fatalf("%v %v\n%s", p, err, text.String())
			}
			for _, m := range p.Messages {
				got[m.Dir] = append(got[m.Dir], m.Bytes...)
			}
			for dir := range got {
				if !bytes.Equal(got[dir], streams[dir]) {
					t.Fatalf("direction %d\n got %x\nwant %x\n%s", dir, got[dir], streams[dir], text.String())
				}
			}
		}
	}
}

// TestEvidenceThatComesLate reads dumps whose first lines, more than maxUnsure, show less than the rest.
func TestEvidenceThatComesLate(t *testing.T) {
	var chars, labelled strings.Builder
	var high, hex []byte
	for i := range 4000 {
		high = append(high, byte(128+i%128))
	}
	high = append(high, "letters."...)
	for at := 0; at < len(high); at += 16 {
		fmt.Fprintf(&chars, "%07o", at)
		for _, c := range high[at:min(at+16, len(high))] {
			if c < 128 {
				fmt.Fprintf(&chars, "%4c", c)
			} else {
				fmt.Fprintf(&chars, " %03o", c)
			}
		}
		chars.WriteString("\n")
	}
	fmt.Fprintf(&chars, "%07o\n", len(high))
	for i := range 300 {
		fmt.Fprintf(&labelled, "packet %d\nof 4 bytes\n0000  %02x 01 02 03\n", i, i%256)
		hex = append(hex, byte(i), 1, 2, 3)
	}
	labelled.WriteString("packet\n0000  01 02\n0002  03 04\n0004  05 06\n")
	hex = append(hex, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		text, form string
		want       []byte
	}{
		{chars.String(), formODc, high},
		{labelled.String(), formWiresharkDump, hex},
		{dumpSpecs["xxd"].render(high), formXXD, high},
		{dumpSpecs["hexdump -C"].render(high), formHexdumpC, high},
		{dumpSpecs["WinDbg db"].render(high), formWinDbg, high},
		{strings.ReplaceAll(dumpSpecs["WinDbg db"].render(high), "00007ff6`", ""), formWinDbg, high},
	} {
		p, err := Recognise(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.form, err)
			continue
		}
		var got []byte
		for _, m := range p.Messages {
			got = append(got, m.Bytes...)
		}
		if p.Form != c.form || !bytes.Equal(got, c.want) {
			t.Errorf("read as %s, want %s: %s", p.Form, c.form, p.Why)
		}
	}
}
