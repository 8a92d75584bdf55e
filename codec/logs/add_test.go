package logs

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// TestAddLog adds a form as the package documentation describes: "SAY" and records of a direction, a length and a message.
func TestAddLog(t *testing.T) {
	before := logForms
	defer func() { logForms = before }()
	logForms = append(slices.Clone(logForms), logForm{Info{"say", "What say writes"}, sniffSay, readSay})

	var got []string
	read := func(data string) packet.Summary {
		got = nil
		sum, ok, err := Read(&bytes.Buffer{}, strings.NewReader(data), packet.Options{}, transport.TCP, func(f *transport.Frame) {
			got = append(got, f.ID.String()+" "+f.Dir.String()+" "+string(f.Bytes))
		})
		if !ok || err != nil || sum.Format != "say" || Title("say") == "" {
			t.Fatalf("%v %v %+v", ok, err, sum)
		}
		return sum
	}
	if sum := read("SAY\x01\x02hi\x02\x01!"); sum.Torn != nil || !slices.Equal(got, []string{"1:0:0 c2s hi", "2:0:0 s2c !"}) {
		t.Errorf("%q, %+v", got, sum)
	}
	if sum := read("SAY\x01\x02hi\x02\x09!"); sum.Torn == nil || sum.Torn.Pos != 7 || len(got) != 1 {
		t.Errorf("%q, %+v", got, sum)
	}
}

func sniffSay(head []byte, _ bool) bool { return bytes.HasPrefix(head, []byte("SAY")) }

func readSay(l *reading) {
	l.in.Skip(3)
	for !l.ended() {
		head := l.in.Peek(2)
		if len(head) < 2 {
			l.torn("a record needs 2 bytes, and 1 is left")
			return
		}
		dir, size := schema.Dir(head[0]), int(head[1])
		b := l.in.Peek(2 + size)
		if len(b) < 2+size {
			l.torn("a record has %d bytes, and %d are left", size, len(b)-2)
			return
		}
		l.record()
		if !l.give(transport.Frame{Dir: dir, Bytes: b[2:]}, l.in.Offset()+2) {
			return
		}
		l.in.Skip(int64(2 + size))
	}
}
