package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// randomFraming returns the text of a framing.
func randomFraming(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	switch r.IntN(6) {
	case 0:
		return "whole"
	case 1:
		return fmt.Sprintf("fixed:%d", 1+r.IntN(40))
	case 2:
		return "delimited:" + pick("00", "0d0a", "0a", "ffffff", "abab") + pick("", "+keep")
	}
	return "prefixed:" + pick("1", "2le", "2be", "3le", "3be", "4le", "4be", "5be", "8le", "varint", "varintbe", "zigzag") +
		pick("", "", "@1", "@7") + pick("", "+self", "+all") + pick("", "+keep")
}

// wire returns a message as it is in a file, and its bytes there that are shown.
func wire(t *testing.T, r *rand.Rand, f *Framing) (all []byte, from, to int) {
	body := make([]byte, r.IntN(60))
	if r.IntN(8) == 0 {
		body = make([]byte, 100+r.IntN(400))
	}
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	switch f.Kind {
	case envelope.Fixed:
		body = append(body, make([]byte, f.Size)...)[:f.Size]
		return body, 0, f.Size
	case envelope.Delimiter:
		for i := range body {
			body[i] = 'a' + body[i]%26
		}
		all = append(body, f.Delimiter...)
		if f.Keep {
			return all, 0, len(all)
		}
		return all, 0, len(body)
	}
	before := bytes.Repeat([]byte{0xee}, f.At)
	number := func(v int) []byte {
		switch n := f.Number; n.Kind {
		case envelope.VarInt:
			return binary.AppendUvarint(nil, uint64(v))
		case envelope.ZigZag:
			return binary.AppendVarint(nil, int64(v))
		case envelope.BigVarInt:
			if v > 0x7f {
				return []byte{byte(v>>7) | 0x80, byte(v & 0x7f)}
			}
			return []byte{byte(v)}
		default:
			b := binary.BigEndian.AppendUint64(nil, uint64(v))[8-n.Size:]
			if n.Order == schema.Little {
				slices.Reverse(b)
			}
			return b
		}
	}
	if f.Number.Size == 1 {
		body = body[:min(len(body), 200)]
	}
	for size := 1; ; size++ { // of the length, which may count itself
		v := len(body)
		if f.Counts != envelope.Rest {
			v += size
		}
		if f.Counts == envelope.All {
			v += f.At
		}
		n := number(v)
		if len(n) != size {
			continue
		}
		all = append(append(before, n...), body...)
		if f.Keep {
			return all, 0, len(all)
		}
		return all, f.At + size, len(all)
	}
}

// Whatever the framing, and wherever the stream is cut, its messages are those that were written, each at its place, in a file and in a
// connection.
func TestFramingsOfStreams(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := randomFraming(r)
		f := framing(t, text)
		var data []byte
		var want []string
		give := func(at int, message []byte) {
			if f.Kind != envelope.Delimiter || len(message) > 0 {
				want = append(want, fmt.Sprintf("%d %x", at, message))
			}
		}
		if f.Kind == envelope.Datagram {
			data = make([]byte, 1+r.IntN(3000))
			give(0, data)
		} else {
			for range r.IntN(40) {
				all, from, to := wire(t, r, f)
				give(len(data)+from, all[from:to])
				data = append(data, all...)
			}
			if f.Kind == envelope.Delimiter { // as the last line of a text
				give(len(data), []byte("end"))
				data = append(data, "end"...)
			}
		}
		var got []string
		show := func(x *transport.Frame) {
			if !bytes.Equal(x.Bytes, data[x.Offset:][:len(x.Bytes)]) || x.Kind != transport.Message || x.Note != "" {
				t.Fatalf("%d: %s: %v at %d is %x (%s)", seed, text, x.Kind, x.Offset, x.Bytes, x.Note)
			}
			got = append(got, fmt.Sprintf("%d %x", x.Offset, x.Bytes))
		}
		file := func(x *transport.Frame) {
			if show(x); x.Dir != schema.Both {
				t.Fatalf("%d: %s: nobody said that messages go %v", seed, text, x.Dir)
			}
		}
		if err := ReadRaw(scan.NewInput(&pieces{r, data}), Options{Framing: f}, file); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d: %s, file: %v\ngot  %q\nwant %q", seed, text, err, got, want)
		}
		got = nil
		c := newFramed(*f, transport.TCP, maxFramed, nil, new(int))
		packets := [][]byte{nil}
		for at := 0; at < len(data); {
			n := min(1+r.IntN(1+r.IntN(200)), len(data)-at)
			c.Feed(transport.Segment{Dir: schema.ToClient, Packet: uint32(len(packets)), Bytes: data[at : at+n], Start: at == 0}, func(x *transport.Frame) { sources(t, packets, x); show(x) })
			packets, at = append(packets, data[at:at+n]), at+n
		}
		c.Flush(time.Time{}, show)
		if !slices.Equal(got, want) || *c.held != 0 {
			t.Fatalf("%d: %s, connection: %d bytes held\ngot  %q\nwant %q", seed, text, *c.held, got, want)
		}
	}
}

// sources fails unless the sources of a frame are its bytes. The packet that completes it is not in the list yet.
func sources(t *testing.T, packets [][]byte, x *transport.Frame) {
	n := 0
	for i, s := range x.From {
		if n += int(s.Len); int(s.Packet) < len(packets) && !bytes.Contains(x.Bytes, packets[s.Packet][s.Off:][:s.Len]) || s.Len == 0 && i > 0 {
			t.Fatalf("source %+v of %x", s, x.Bytes)
		}
	}
	if n != len(x.Bytes) || len(x.From) == 0 {
		t.Fatalf("the sources %+v of %d bytes", x.From, len(x.Bytes))
	}
}

// pieces reads data in pieces of random sizes.
type pieces struct {
	r    *rand.Rand
	data []byte
}

func (p *pieces) Read(to []byte) (int, error) {
	n, err := bytes.NewReader(p.data).Read(to[:min(len(to), 1+p.r.IntN(100))])
	p.data = p.data[n:]
	return n, err
}

// Whatever the bytes, each of them is in one frame, or is a delimiter or the head of the message behind it.
func FuzzReadRaw(f *testing.F) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 10+r.IntN(2000))
		for i := range data {
			data[i] = byte(r.Uint32N(1 + r.Uint32N(255)))
		}
		f.Add(randomFraming(r), data)
	}
	f.Add("delimited:0d0a", []byte("\r\n\r\nab\r\n\r"))
	f.Add("prefixed:varint+self", []byte("\x02\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"))
	f.Add("prefixed:1+self", []byte("\x00PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n\x02a"))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		framing, err := ParseFraming(text)
		if err != nil || framing.Own || len(data) > 64<<10 {
			return
		}
		at := int64(0)
		if err := ReadRaw(scan.NewInput(bytes.NewReader(data)), Options{Framing: &framing}, func(x *transport.Frame) {
			from, to := x.Offset, x.Offset+int64(len(x.Bytes))
			if from < at || to > int64(len(data)) || !bytes.Equal(data[from:to], x.Bytes) {
				t.Fatalf("a frame at %d of %d bytes, after %d", from, len(x.Bytes), at)
			}
			between := data[at:from]
			switch {
			case framing.Kind == envelope.Delimiter && strings.ReplaceAll(string(between), string(framing.Delimiter), "") == "":
			case framing.Kind == envelope.Length && x.Kind == transport.Message && len(between) >= framing.At && len(between) == framing.At+numberSize(framing.Number, between[framing.At:]):
			case len(between) > 0:
				t.Fatalf("%x at %d is in no frame", between, at)
			}
			at = to
		}); err != nil {
			t.Fatal(err)
		}
		if rest := data[at:]; len(rest) > 0 && (framing.Kind != envelope.Delimiter || framing.Keep || !bytes.Equal(bytes.ReplaceAll(rest, framing.Delimiter, nil), nil)) {
			t.Fatalf("%x at the end is in no frame", rest)
		}
	})
}

// A message whose rest is missing does not hide those behind the gap.
func TestFramingsAfterAGap(t *testing.T) {
	for _, c := range []struct{ framing, before, after, want string }{
		{"delimited:0a", "one\ntw", "rest\nthree\n", "one | tw: the start of a message, 2 bytes: the rest is missing in the capture | 3 bytes missing | rest\n: the end of a message, 5 bytes | three resumed"},
		{"whole", "one", "two", "one | 3 bytes missing | two resumed"},
		{"prefixed:1", "\x03one\x09ab", "f012\x03two", "one | \x09ab: the start of a message, 3 bytes: the rest is missing in the capture | 3 bytes missing | f012: the end of a message, 4 bytes | two resumed"},
	} {
		var got []string
		x := newFramed(*framing(t, c.framing), transport.TCP, maxFramed, nil, new(int))
		emit := func(f *transport.Frame) {
			s := string(f.Bytes)
			switch {
			case f.Length > 0:
				s = fmt.Sprintf("%d bytes missing", f.Length)
			case f.Kind == transport.Problem:
				s += ": " + f.Note
			case f.Resumed:
				s += " resumed"
			}
			got = append(got, s)
		}
		x.Feed(transport.Segment{Packet: 1, Bytes: []byte(c.before), Start: true}, emit)
		x.Feed(transport.Segment{Packet: 2, Lost: 3}, emit)
		x.Feed(transport.Segment{Packet: 2, Bytes: []byte(c.after), End: true}, emit)
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s: %q, want %q", c.framing, strings.Join(got, " | "), c.want)
		}
	}
}

// The messages of a framing have keys as logs have, in files and in datagrams.
func TestFramingKeys(t *testing.T) {
	key := func(dir schema.Dir, message []byte) (schema.Key, bool) {
		return schema.Key{Dir: dir, Group: "g", Code: uint32(message[0])}, true
	}
	for _, file := range [][]byte{[]byte("\x02ab"), talk(t, transport.TCP, "\x02ab"), talk(t, transport.UDP, "\x02ab")} {
		var got []string
		_, _, err := ReadAny(bytes.NewReader(file), Options{Framing: framing(t, "prefixed:1+s2c"), Options: packet.Options{Key: key}}, func(f *transport.Frame) {
			got = append(got, fmt.Sprintf("%s %v %v %d", f.Bytes, f.Dir, f.Key.Dir, f.Key.Code))
		})
		if want := []string{"ab s2c s2c 97"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v", got, err)
		}
	}
}
