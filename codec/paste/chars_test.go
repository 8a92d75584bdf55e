package paste

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"wirebench/codec/packettest"
	"wirebench/defs/tooltest"
)

func TestPastedChars(t *testing.T) {
	for _, c := range []struct{ text, want, why string }{
		{"0000000   a  \\0 001 377  \\n       \\\n0000007\n", "a\x00\x01\xff\n \\", ""},
		{"0000000   a   b\n0000002\n", "ab", "octal"},
		{"0000000  \\0 001 002 003 004 005 006  \\a  \\b  \\t  \\n  \\v  \\f  \\r 016 017\n*\n0000040   h   i\n0000042\n", strings.Repeat("\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f", 2) + "hi", "octal"},
		{"0000000  \\0 001 002 003 004 005 006  \\a  \\b  \\t  \\n  \\v  \\f  \\r 016 017\n0000010   h   i                                                        \n0000012\n", "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0fhi", "hex"},
		{"0000000  \\0 001 002 003 004 005 006  \\a  \\b  \\t  \\n  \\v  \\f  \\r 016 017\n0000016   h   i\n", "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0fhi", "decimal"},
	} {
		p, err := Recognise(c.text)
		if err != nil || p.Form != "od-c" || len(p.Messages) != 1 || string(p.Messages[0].Bytes) != c.want || !strings.HasPrefix(p.Why, c.why) {
			t.Errorf("%q: %+v %v, want %q", c.text, p, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"od -c f:\n0000000   a   b\n0000002\n": "6162", "0000000   a   b\n0000002\n0000000   c\n0000001\n": "6162; 63",
	} {
		if p, err := Recognise(text); err != nil || p.Form != "od-c" || show(p) != want {
			t.Errorf("%q: %+v %v, want %s", text, p, err, want)
		}
	}
	for text, place := range map[string]string{
		"0000000   a 400\n": "line 1", "0000000   a  \\x   b\n": "line 1", "0000000   a   b\n0000040   c\n": "line 2", "0000000   a   b\n*\n0000003\n": "line 3",
	} {
		if _, err := RecogniseAs(text, "od-c"); err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := RecogniseAs("0000000   a   b\n*\n7777777776\n", "od-c"); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Error(err)
	}
}

// Output of od and hexdump is read back as the original bytes.
func TestToolPastedCharsOfPrograms(t *testing.T) {
	for _, args := range [][]string{{"od", "-c"}, {"od", "-v", "-c"}, {"od", "-Ax", "-c"}, {"od", "-Ad", "-c"}, {"hexdump", "-c"}, {"hexdump", "-v", "-c"}} {
		tooltest.Path(t, args[0])
		for _, b := range packettest.Samples() {
			if len(b) == 0 || len(b) > 5000 {
				continue
			}
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stdin, cmd.Env = bytes.NewReader(b), []string{"LC_ALL=C"}
			text, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			p, err := RecogniseAs(string(text), "od-c")
			if err == nil && len(p.Notes) > 0 && strings.Contains(string(text), "*\n") {
				continue // the base of the offsets is ambiguous, which a note reports
			}
			if err != nil || !bytes.Equal(p.Messages[0].Bytes, b) {
				t.Fatalf("%s of %q: %v\n%s", args, b, err, text)
			}
			if q, err := Recognise(string(text)); err == nil && q.Form == "od-c" && !bytes.Equal(q.Messages[0].Bytes, b) {
				t.Fatalf("%s of %q: %+v %v\n%s", args, b, q, err, text)
			}
		}
	}
}

func TestPastedNode(t *testing.T) {
	for text, want := range map[string]string{
		"<Buffer 0a 0B>": "[0a0b]", "x <Buffer 01>\n<Buffer >, Uint8Array(2) [\n  1, 255\n]\n": "[01  01ff]", "{ data: <Buffer de ad be ef> }": "[deadbeef]", "Uint8Array(1) [ 7 ]": "[07]",
	} {
		p, err := Recognise(text)
		if err != nil || p.Form != "node-buffer" {
			t.Errorf("%q: %+v %v", text, p, err)
			continue
		}
		var got []string
		for _, m := range p.Messages {
			got = append(got, fmt.Sprintf("%x", m.Bytes))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, why := range map[string]string{
		"<Buffer 0a ... 94 more bytes>": "output is truncated", "Uint8Array(200) [ 1, 2,\n ... 100 more items ]": "output is truncated", "<Buffer 0a 0": "two hex digits", "Uint8Array(1) [ 256 ]": "0 to 255", "<Buffer 0a0b>": "two hex digits",
	} {
		if _, err := Recognise(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPastedGdbPrint(t *testing.T) {
	for text, want := range map[string]string{
		"$1 = {0x0 <repeats 12 times>, 0x3, 0xff}":                                     "[000000000000000000000000" + "03ff]",
		"(gdb) p buf\n$2 = \"\\000\\003A\\\"\\n\", '\\000' <repeats 3 times>, \"z\"\n": "[",
		"$3 = {1 <repeats 2 times>}\n$4 = '\\377' <repeats 2 times>\n":                 "[0101 ffff]",
		"$5 = {{1, -1},\n  {7 <repeats 10 times>}}":                                    "[01ff07070707070707070707]",
	} {
		p, err := RecogniseAs(text, "gdb-print")
		if want == "[" {
			want = "[000341220a0000007a]"
		} else if q, e := Recognise(text); e != nil || q.Form != "gdb-print" {
			t.Errorf("%q: %+v %v", text, q, e)
		}
		var got []string
		if err == nil {
			for _, m := range p.Messages {
				got = append(got, fmt.Sprintf("%x", m.Bytes))
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %s %v, want %s", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"$1 = \"ab\"...": "output of gdb is truncated", "$1 = {1, 2...}": "output of gdb is truncated", "$1 = {256, 1 <repeats 9 times>}": "a byte", "$1 = {1 <repeats x times>}": "how often",
		"$1 = {1 <repeats 99999999999 times>}": "MiB", "$1 = '\\400' <repeats 9 times>": "not a byte",
	} {
		if _, err := Recognise(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
