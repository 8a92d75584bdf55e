package capture

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// A text makes the framing of an envelope, which can be written in one, and is kept in its canonical form.
func TestParseFraming(t *testing.T) {
	for text, want := range map[string]string{ // canonical text, envelope
		"whole":                    "whole; datagram",
		" Whole + C2S":             "whole+c2s; datagram",
		"fixed:40":                 "fixed:40; fixed 40",
		" Fixed : 40 + S2C ":       "fixed:40+s2c; fixed 40",
		"prefixed:1":               "prefixed:1; length u8",
		"prefixed:1be":             "prefixed:1; length u8",
		"prefixed:2le+self":        "prefixed:2le+self; length u16 le including itself",
		"prefixed:2be+keep":        "prefixed:2be+keep; length u16 be keep",
		"prefixed:3be":             "prefixed:3be; length u24 be",
		"prefixed:4le+keep+self":   "prefixed:4le+self+keep; length u32 le including itself keep",
		"prefixed:4BE":             "prefixed:4be; length u32 be",
		"prefixed:8le+all":         "prefixed:8le+all; length u64 le including all",
		"prefixed:varint":          "prefixed:varint; length varint",
		"prefixed:VarIntBE@1+keep": "prefixed:varintbe@1+keep; length varint be at 1 keep",
		"prefixed:zigzag+self+c2s": "prefixed:zigzag+self+c2s; length zigzag including itself",
		"prefixed:2le @ 4":         "prefixed:2le@4; length u16 le at 4",
		"prefixed:4be@2+all+keep":  "prefixed:4be@2+all+keep; length u32 be including all at 2 keep",
		"delimited:0d0A":           "delimited:0d0a; delimiter 0d 0a or end",
		"delimited:0d 0a+keep+c2s": "delimited:0d0a+keep+c2s; delimiter 0d 0a or end keep",
		"envelope":                 "envelope; ",
		" Envelope +s2c":           "envelope+s2c; ",
	} {
		f, err := ParseFraming(text)
		said := f.String() + "; "
		if !f.Own {
			said += f.Framing.String()
		}
		if err != nil || said != want {
			t.Errorf("%q: %s %v, want %s", text, said, err, want)
		}
		if e, wrong := envelope.Parse(source.New("x", "carrier udp\nframe "+f.Framing.String()+"\ncode none x")); len(wrong) > 0 || !reflect.DeepEqual(e.States[0].Frame[1], f.Framing) {
			t.Errorf("%q in an envelope: %+v %v", text, e.States[0].Frame[1], wrong)
		}
		if again, err := ParseFraming(f.String()); err != nil || !reflect.DeepEqual(again, f) {
			t.Errorf("%q as text is %q: %+v %v", text, f, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                                      `"" is not a framing`,
		"lines":                                 `"lines" is not a framing`,
		"whole:1":                               "takes no arguments",
		"whole+self":                            "+self does not apply to framing whole",
		"fixed":                                 "as in fixed:40",
		"fixed:0":                               "1 to 16777216 bytes",
		"fixed:99999999":                        "1 to 16777216 bytes",
		"fixed:-1":                              "1 to 16777216 bytes",
		"fixed:4+keep":                          "+keep does not apply to framing fixed",
		"prefixed":                              `not ""`,
		"prefixed:9le":                          "1, 2le, 2be, 4le or 4be",
		"prefixed:2lebe":                        "1, 2le, 2be, 4le or 4be",
		"prefixed:le":                           "1, 2le, 2be, 4le or 4be",
		"prefixed:22le":                         "1, 2le, 2be, 4le or 4be",
		"prefixed:varintle":                     "varint, varintbe or zigzag",
		"prefixed:3":                            "prefixed:3le or prefixed:3be",
		"envelope:2":                            "takes no arguments",
		"envelope+keep":                         "+keep does not apply to framing envelope",
		"prefixed:2":                            "prefixed:2le or prefixed:2be",
		"prefixed:2le+own":                      "unknown option +own",
		"prefixed:2le+self+self":                "duplicate +self",
		"prefixed:2le+c2s+s2c":                  "have one direction",
		"prefixed:2le@":                         "0 to 4096 bytes may precede a length",
		"prefixed:2le@5000":                     "0 to 4096 bytes may precede a length",
		"prefixed:2le+self+all":                 "or those before it as well",
		"whole+all":                             "+all does not apply to framing whole",
		"delimited:":                            "1 to 64 bytes in hex",
		"delimited:0":                           "1 to 64 bytes in hex",
		"delimited:" + strings.Repeat("00", 65): "1 to 64 bytes in hex",
		strings.Repeat("x", 201):                "at most 200 characters",
	} {
		if f, err := ParseFraming(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v %v", text, f, err)
		}
	}
}

func FuzzParseFraming(f *testing.F) {
	f.Add("prefixed:2le+self+keep+c2s")
	f.Add("delimited:0d0a+keep")
	f.Add("prefixed:4be@2+all")
	f.Fuzz(func(t *testing.T, text string) {
		framing, err := ParseFraming(text)
		if err != nil {
			return
		}
		if again, err := ParseFraming(framing.String()); err != nil || !reflect.DeepEqual(again, framing) {
			t.Errorf("%q is %q: %+v %v", text, framing, again, err)
		}
	})
}

// Bytes may precede a length, which may count them.
func TestCutPrefixedBehind(t *testing.T) {
	for _, c := range []struct{ framing, data, want string }{
		{"prefixed:1@2", "aa bb 02 01 02 cc dd 00", "0102 -"},
		{"prefixed:1@2+keep", "aa bb 02 01 02 cc dd 00", "aabb020102 ccdd00"},
		{"prefixed:1@2+self+keep", "aa bb 03 01 02", "aabb030102"},
		{"prefixed:1@2+all+keep", "aa bb 05 01 02 aa bb 03", "aabb050102 aabb03"},
		{"prefixed:1@2+all+keep", "aa bb 02", "!the length 2 is too small; 3 bytes not read; no message was found in them"},
		{"prefixed:1@2+self", "aa bb 00", "!the length 0 is too small; 3 bytes not read; no message was found in them"},
		{"prefixed:2be@1", "aa 00", "!the stream ends inside a message, after 2 of its bytes"},
		{"prefixed:2be@1", "aa 00 02 01", "!the stream ends inside a message, after 4 of its 5 bytes"},
	} {
		f, err := ParseFraming(c.framing)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := scan.HexLine(c.data)
		var got []string
		if err := ReadRaw(scan.NewInput(bytes.NewReader(data)), Options{Framing: &f}, func(x *transport.Frame) {
			switch {
			case x.Note != "":
				got = append(got, "!"+x.Note)
			case len(x.Bytes) == 0:
				got = append(got, "-")
			default:
				got = append(got, fmt.Sprintf("%x", x.Bytes))
			}
		}); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s of %s: %v %v, want %s", c.framing, c.data, got, err, c.want)
		}
	}
}

// With a framing a file is raw, even if it looks like a capture or a text.
func TestReadAnyRaw(t *testing.T) {
	framing, err := ParseFraming("prefixed:2le+self+keep+c2s")
	if err != nil {
		t.Fatal(err)
	}
	read := func(data string, o Options) (got []string, sum packet.Summary) {
		t.Helper()
		o.Framing, o.Proto = &framing, transport.TCP
		sum, paste, err := ReadAny(strings.NewReader(data), o, func(f *transport.Frame) {
			got = append(got, fmt.Sprintf("%d %v %v %q %v %v %d", f.N, f.Kind, f.Dir, f.Bytes, f.HasKey, f.Conn.Proto, f.Key.Code))
		})
		if err != nil || paste != nil || int(sum.Frames) != len(got) || sum.Format != "raw" {
			t.Fatalf("%q: %+v %v %v", data, sum, paste, err)
		}
		return got, sum
	}
	key := func(_ schema.Dir, message []byte) (schema.Key, bool) {
		return schema.Key{Code: uint32(message[2])}, message[2] < 'c'
	}
	got, _ := read("\x04\x00ab\x03\x00c\xff\xff", Options{Options: packet.Options{Key: key}})
	want := []string{`1 message c2s "\x04\x00ab" true tcp 97`, `2 message c2s "\x03\x00c" false tcp 99`, `3 problem c2s "\xff\xff" false tcp 0`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if got, sum := read("\x0a\x00\x0d\x0a\x0d\x0a0123", Options{Options: packet.Options{Limit: 1}}); len(got) != 1 || !sum.More {
		t.Errorf("what looks like a pcapng: %q", got)
	}
}
