package workspace

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestBetterSettings: a setting is proposed if it explains messages that are not explained without it, and takes no message away; UTF-8 if
// all texts are valid, and not only ASCII.
func TestBetterSettings(t *testing.T) {
	tera := map[string]string{"C_OLD.1.def": "int32 a\nskillid s\n", "C_ANY.1.def": "int32 a\n", "p.map": "C_OLD 1\nC_ANY 2\n"}
	muta := map[string]string{"g.def": "group: g\n\npacket: say\n   __group = g\n   text = char {200}\n"}
	headed := map[string]string{"g.h": "struct say { uint16_t n; char text[8]; };\n", "p.map": "say 1\n", "p.envelope": "frame length u8\ncode u8\nfield x u8 at 1\n"}
	behind := func(text string) string { return "\x01\x07\x05\x00" + text + strings.Repeat("\x00", 8-len(text)) }
	say := func(text string) string { return fmt.Sprintf("\x01%c%s", len(text), text) }
	short, long, any := "\x0c\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00", "\x10\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00", "\x08\x00\x02\x00\x01\x00\x00\x00"
	for _, c := range []struct {
		name, dialect string
		files, values map[string]string
		frames        []string
		want          string
	}{
		{"an older game", "tera", tera, nil, []string{short, any, short}, "patch 73 with patch 73 all bytes are explained; now 2 messages are not"},
		{"it is set", "tera", tera, map[string]string{"patch": "73"}, []string{short, any, short}, ""},
		{"the present one", "tera", tera, nil, []string{long, any}, ""},
		{"others of the present one", "tera", tera, nil, []string{short, short, short, long}, ""},
		{"UTF-8", "muta", muta, nil, []string{say("Ääkkönen"), say("a")}, "encoding utf-8 all texts are valid UTF-8, and 1 of them has characters of several bytes"},
		{"ASCII only", "muta", muta, nil, []string{say("abc")}, ""},
		{"Latin-1", "muta", muta, nil, []string{say("Ääkkönen"), say("\xe4")}, ""},
		{"an encoding is set", "muta", muta, map[string]string{"encoding": "windows-1251"}, []string{say("Ääkkönen")}, ""},
		{"UTF-8 behind a header", "c", headed, nil, []string{behind("Ääk"), behind("a")}, "encoding utf-8 all texts are valid UTF-8, and 1 of them has characters of several bytes"},
	} {
		lib := &Library{}
		for name, text := range c.files {
			switch f := source.New(name, text); path.Ext(name) {
			case ".map":
				lib.Maps = append(lib.Maps, f)
			case ".envelope":
				lib.Envelopes = append(lib.Envelopes, f)
			default:
				lib.Files = append(lib.Files, f)
			}
		}
		snap, err := Build(lib, Settings{Dialect: c.dialect, Options: schema.Options{Values: c.values}})
		if err != nil {
			t.Fatal(err)
		}
		trial, read := NewTrial(snap), NewReading(snap)
		for i, b := range c.frames {
			x := &transport.Frame{N: uint32(i + 1), Kind: transport.Message, Dir: schema.ToServer, HasKey: true, Bytes: []byte(b)}
			switch x.Key = (schema.Key{Group: "g", Code: 1}); c.dialect {
			case "tera":
				x.Key = schema.Key{Dir: schema.ToServer, Code: uint32(b[2])}
			case "c":
				x.Key, x.Via = schema.Key{Dir: schema.ToServer, Code: 1}, []string{transport.MarkHeader}
			}
			read.Take(x)
			trial.Take(read)
		}
		got := ""
		for _, b := range trial.Better(context.Background()) {
			got += strings.TrimSpace(b.Option + " " + b.Value + " " + b.Why)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
