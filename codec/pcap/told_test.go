package pcap

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Data stored in comments are read back unchanged, for any texts of users.
func TestToldComesBack(t *testing.T) {
	evil := []string{
		"", "plain", "two\nlines\r\nand more", `quo"ted \ "n":`, toldFrame, frameStart, frameStart + "1}", toldFrame + "{}", toldFrame + "{", strings.Repeat("ä", 2000),
		toldFrame + `{"n":1,"mark":true}` + "\nframe 2 " + toldFrame + `{"n":2}`, "\x00\x01<&>\u2028",
	}
	var lines []string
	var want []FrameTold
	for i, note := range evil {
		told := FrameTold{N: uint64(i + 1), Mark: i%2 == 0, Note: note}
		want = append(want, told)
		lines = append(lines, told.Line())
	}
	comment := "a comment of the file\n" + strings.Join(lines, "\n") + "\nand another"
	got, rest := FramesTold(&packet.Packet{Comment: comment})
	if !reflect.DeepEqual(got, want) || rest != "a comment of the file\nand another" {
		t.Errorf("%+v, %q", got, rest)
	}
	for _, start := range []func(io.Writer, string, ...string) (*Writer, error){NewWriter, NewExport} {
		toldComesBack(t, start, evil, want, lines)
	}
}

func toldComesBack(t *testing.T, start func(io.Writer, string, ...string) (*Writer, error), evil []string, want []FrameTold, lines []string) {
	var file bytes.Buffer
	told := CaptureTold{Name: evil[3], Text: strings.Repeat(strings.Join(evil, ","), 5), Frames: want[1:], Markers: []MarkerTold{{3, time.Unix(1, 5).UTC(), "then", evil[4]}}}
	w, err := start(&file, "test", told.Comments("words "+captureWords(evil))...)
	if err != nil {
		t.Fatal(err)
	}
	iface, _ := w.Interface(Interface{Link: packet.LinkEthernet})
	if err := w.Packet(&packet.Packet{Interface: iface, At: time.Unix(1, 0), Data: make([]byte, 60), Comment: strings.Repeat(lines[9]+"\n", 30)}); err != nil {
		t.Fatal(err)
	}
	back, ok, err := SectionsTold(bytes.NewReader(file.Bytes()))
	if err != nil || !ok || back.Name != told.Name || back.Text != told.Text || !reflect.DeepEqual(back.Markers, told.Markers) || len(back.Frames) < len(want)-2+30 {
		t.Errorf("%v %t: %q, %d of %d bytes, %d frames, %v", err, ok, back.Name, len(back.Text), len(told.Text), len(back.Frames), back.Markers)
	}
	w, _ = start(&file, "test")
	iface, _ = w.Interface(Interface{Link: packet.LinkEthernet})
	for _, line := range lines {
		if err := w.Packet(&packet.Packet{Interface: iface, Data: make([]byte, 60), Comment: "before\n" + line}); err != nil {
			t.Fatal(err)
		}
	}
	in, err := NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = in.Next()
	for i := range lines {
		p, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, rest := FramesTold(p); !reflect.DeepEqual(got, want[i:i+1]) || rest != "before" || w.hidden && len(p.Told) != 1 {
			t.Errorf("%+v, %q", got, rest)
		}
	}
	if _, ok, err := SectionsTold(strings.NewReader("no capture")); ok || err != nil {
		t.Error(ok, err)
	}
}

func captureWords(texts []string) string { return strings.Join(texts, capStart) }

// Frames with made-up packets are read as their comments describe them; invalid ones are problems, or dropped.
func TestMadeFrames(t *testing.T) {
	var file bytes.Buffer
	w, _ := NewWriter(&file, "test", CaptureTold{Made: true}.Comments("")...)
	iface, _ := w.Interface(Interface{Link: packet.LinkEthernet})
	to := NewSynthetic(w, iface, transport.Conn{Proto: transport.UDP})
	at := time.Unix(1_700_000_000, 1).UTC()
	code := uint32(7)
	put := func(dir schema.Dir, data string, told *FrameTold) {
		t.Helper()
		comment := ""
		if told != nil {
			told.N, told.Made = 1, true
			comment = told.Line()
		}
		if err := to.Data(dir, at, []byte(data), comment); err != nil {
			t.Fatal(err)
		}
	}
	put(schema.ToServer, "a handshake", nil)
	put(schema.ToClient, "one", &FrameTold{Len: 3, Code: &code, Group: "g", Via: []string{"v"}, Resumed: true, Flags: []string{"injected", "nonsense"}, Says: "hm", Proto: "tcp", Client: "10.0.0.1:1", Server: "[::1]:2", Session: 3, Offset: 9})
	put(schema.ToServer, "two is", &FrameTold{Len: 11, Kind: "control", Both: true, Untimed: true})
	put(schema.ToServer, " long", nil)
	put(schema.ToServer, "too much", nil)
	put(schema.ToServer, "", &FrameTold{Kind: "problem", Length: 5, Conn: 1, Proto: "udp"})
	put(schema.ToServer, "sho", &FrameTold{Len: 9, Conn: 1})
	put(schema.ToServer, "bad", &FrameTold{Len: -1})
	put(schema.ToServer, "bad", &FrameTold{Len: maxMadeFrame + 1})
	put(schema.ToServer, "last", &FrameTold{Len: 5, Kind: "what"})
	var got []string
	sum, err := Read(bytes.NewReader(file.Bytes()), packet.Options{New: func(transport.Conn) transport.Transport { t.Error("a transport was requested"); return nil }}, func(f *transport.Frame) {
		at := "-"
		if !f.At.IsZero() {
			at = "now"
		}
		got = append(got, fmt.Sprintf("%d %s#%d %s %s %s %q %v %t %d %q %d %d %t %q %v %v", f.N, f.Conn.Name(), f.Conn.Session, f.Kind, f.Dir, at, f.Bytes, f.Key, f.HasKey, len(f.From), f.Via, f.Offset, f.Length, f.Resumed, f.Note, f.Marks, f.Conn.Proto))
	})
	want := []string{
		`1 10.0.0.1:1-[::1]:2#3 message s2c now "one" {s2c g 7} true 1 ["v"] 9 0 true "hm" fake tcp`,
		`2 10.0.0.1:1-[::1]:2#3 control  - "two is long" {  0} false 2 [] 0 0 false ""  tcp`,
		`3 -#0 problem c2s now "" {c2s  0} false 0 [] 0 5 false ""  udp`,
		`4 -#0 problem c2s now "sho" {c2s  0} false 1 [] 0 0 false "the file lacks some of its bytes"  udp`,
		`5 10.0.0.1:1-[::1]:2#3 problem c2s now "last" {c2s  0} false 1 [] 0 0 false "the file lacks some of its bytes"  tcp`,
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") || sum.Frames != 5 || sum.Malformed != 2 || len(sum.Conns) != 2 {
		t.Errorf("%v %+v\n%s", err, sum, strings.Join(got, "\n"))
	}
	if sum, _ := Read(bytes.NewReader(file.Bytes()), packet.Options{Limit: 2, Conns: 1}, func(*transport.Frame) {}); sum.Frames != 2 || !sum.More {
		t.Errorf("%+v", sum)
	}
	if sum, _ := Read(bytes.NewReader(file.Bytes()), packet.Options{Conns: 1}, func(*transport.Frame) {}); sum.OverLimit == 0 {
		t.Errorf("%+v", sum)
	}
}

// For any comment, the reader does not panic and uses bounded memory.
func FuzzMadeFrames(f *testing.F) {
	f.Add(`x wirebench-frame: {"n":1,"made":true,"len":3,"proto":"udp"}`, []byte("abcdef"), true)
	f.Add(`x wirebench-frame: {"n":1,"made":true,"len":67108864,"session":-1,"kind":"problem","length":-9}`, []byte("a"), false)
	f.Fuzz(func(t *testing.T, comment string, data []byte, again bool) {
		var file bytes.Buffer
		w, _ := NewWriter(&file, "test", CaptureTold{Made: true}.Comments(comment)...)
		iface, _ := w.Interface(Interface{Link: packet.LinkEthernet})
		to := NewSynthetic(w, iface, transport.Conn{Proto: transport.UDP})
		for range 3 {
			if to.Data(schema.ToServer, time.Unix(1, 0), data, comment) != nil {
				return
			}
			if again {
				_ = to.Data(schema.ToClient, time.Unix(1, 0), data, "")
			}
		}
		frames, total := 0, 0
		sum, err := Read(bytes.NewReader(file.Bytes()), packet.Options{}, func(x *transport.Frame) {
			frames++
			total += len(x.Bytes)
			_ = x.Conn.Name()
		})
		if err != nil || int(sum.Frames) != frames || frames > 3 || total > 6*len(data) {
			t.Errorf("%v %+v: %d frames of %d bytes", err, sum, frames, total)
		}
		if _, _, err := SectionsTold(bytes.NewReader(file.Bytes())); err != nil {
			t.Error(err)
		}
	})
}
