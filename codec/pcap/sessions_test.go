package pcap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// play reads a capture with Tapes as transports.
func play(t testing.TB, file []byte, ports ...uint16) ([]*packettest.Tape, packet.Summary) {
	t.Helper()
	var tapes []*packettest.Tape
	n := uint32(0)
	sum, err := Read(bytes.NewReader(file), packet.Options{Ports: ports, New: func(c transport.Conn) transport.Transport {
		tapes = append(tapes, &packettest.Tape{Conn: c})
		return tapes[len(tapes)-1]
	}}, func(f *transport.Frame) {
		if n++; f.N != n || f.Conn == nil {
			t.Errorf("frame %d has the number %d", n, f.N)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tapes {
		if p.Flushes != 1 {
			t.Errorf("%s was flushed %d times", p.Conn.Name(), p.Flushes)
		}
	}
	if sum.Frames != n {
		t.Errorf("the summary counts %d frames, there were %d", sum.Frames, n)
	}
	return tapes, sum
}

// script makes a capture of one TCP connection. Each line has the sender (c or s), flags (S, F, R, A), sequence number, acknowledgement
// number or -, and the data: "c - 100 - hello".
func script(t testing.TB, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	s := NewSynthetic(w, 0, packettest.Conversation(transport.TCP))
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var who, flags, ack, data string
		var seq uint32
		if _, err := fmt.Sscan(line, &who, &flags, &seq, &ack, &data); err != nil && data != "" || who == "" {
			t.Fatalf("line %q: %v", line, err)
		}
		dir, bits := schema.ToServer, uint8(0)
		if who == "s" {
			dir = schema.ToClient
		}
		for _, f := range flags {
			bits |= map[rune]uint8{'S': packet.FlagSYN, 'F': packet.FlagFIN, 'R': packet.FlagRST}[f]
		}
		s.seq[dir] = seq
		if ack != "-" {
			bits |= packet.FlagACK
			if _, err := fmt.Sscan(ack, &s.seq[3-dir]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.write(dir, packettest.Day.Add(time.Duration(i)*time.Second), bits, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// TestReadSessions: a client that reuses its port opens another session, even if the first one had few packets.
func TestReadSessions(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	at := packettest.Day
	for session := range 3 {
		c := packettest.Conversation(transport.TCP)
		c.Session = session
		s := NewSynthetic(w, 0, c)
		for _, err := range []error{s.Open(at), s.Data(schema.ToServer, at, []byte{byte(session), 1}, ""), s.Data(schema.ToClient, at, []byte{byte(session), 2}, "")} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	sum, err := Read(&file, packet.Options{New: packettest.NewSink}, func(f *transport.Frame) {
		if len(f.Bytes) > 0 {
			got = append(got, fmt.Sprintf("%d:%x", f.Conn.Session, f.Bytes))
		}
	})
	want := []string{"0:0001", "0:0002", "1:0101", "1:0102", "2:0201", "2:0202"}
	if err != nil || len(sum.Conns) != 3 || !slices.Equal(got, want) {
		t.Errorf("%v in %d connections, want %v (%v)", got, len(sum.Conns), want, err)
	}
}

func TestStream(t *testing.T) {
	const hello = `
c S 100 -
s S 500 101
c . 101 501
`
	// pad adds the packets after which a loss is given up.
	pad := func(line string) string { return strings.Repeat(line+"\n", 32) }
	for _, c := range []struct{ name, script, want string }{
		{"in order", hello + `
c . 101 501 ab
s . 501 103 xyz
c . 103 504 cd
`, `
4: c2s "ab" start
5: s2c "xyz" start
6: c2s "cd"`},
		{"a segment again, and again with more", hello + `
c . 101 501 ab
c . 101 501 ab
c . 101 501 abcd
c . 102 501 bcd
`, `
4: c2s "ab" start
6: c2s "cd"`},
		{"the first of two that overlap wins", hello + `
c . 103 501 CDE
c . 101 501 abcdefg
`, `
5: c2s "ab" start
4: c2s "CDE"
5: c2s "fg"`},
		{"one that covers several", hello + `
c . 103 501 CC
c . 106 501 EE
c . 109 501 GG
c . 112 501 I
c . 101 501 abcdefghijkl
`, `
8: c2s "ab" start
4: c2s "CC"
8: c2s "e"
5: c2s "EE"
8: c2s "h"
6: c2s "GG"
8: c2s "kl"`},
		{"out of order", hello + `
c . 105 501 ef
c . 103 501 cd
c . 107 501 gh
c . 101 501 ab
`, `
7: c2s "ab" start
5: c2s "cd"
4: c2s "ef"
6: c2s "gh"`},
		{"a keep-alive with a wrong byte", hello + `
c . 101 501 ab
c . 102 501 X
s . 501 103
c . 103 501 cd
`, `
4: c2s "ab" start
7: c2s "cd"`},
		{"lost, and acknowledged", hello + `
c . 101 501 ab
c . 106 501 fg
s . 501 108
` + pad("s . 501 108"), `
4: c2s "ab" start
5: c2s lost 3
5: c2s "fg"`},
		{"lost at the start", hello + `
c . 103 501 cd
s . 501 105
` + pad("s . 501 105"), `
4: c2s lost 2 start
4: c2s "cd"`},
		{"acknowledged before it is seen", hello + `
c . 101 501 ab
s . 501 107
s . 501 107
c . 105 501 ef
c . 103 501 cd
`, `
4: c2s "ab" start
8: c2s "cd"
7: c2s "ef"`},
		{"lost at the end of the file", hello + `
c . 101 501 ab
c . 105 501 ef
`, `
4: c2s "ab" start
5: c2s lost 2
5: c2s "ef"`},
		{"lost at the end of the stream", hello + `
c . 101 501 ab
c F 105 501
`, `
4: c2s "ab" start
0: c2s lost 2
0: c2s "" end`},
		{"ends", hello + `
c F 101 501 ab
s . 501 104 xy
s F 503 104
`, `
4: c2s "ab" start end
5: s2c "xy" start
6: s2c "" end`},
		{"an end before what it ends", hello + `
c F 103 501 cd
c . 101 501 ab
c F 103 501 cd
`, `
5: c2s "ab" start
4: c2s "cd"
5: c2s "" end`},
		{"an end among what is lost", hello + `
c F 104 501
c . 110 501 xx
s . 501 115
` + pad("s . 501 115"), `
5: c2s lost 9 start
5: c2s "xx"
0: c2s "" end`},
		{"an end that was not captured", hello + `
c . 101 501 ab
s . 501 104
` + pad("s . 501 104"), `
4: c2s "ab" start`},
		{"reset", hello + `
c . 101 501 ab
s R 501 103
c . 103 501 cd
`, `
4: c2s "ab" start
6: c2s "cd"
0: c2s "" end
0: s2c "" start end`},
		{"the numbers wrap", `
c S 4294967293 -
s S 500 4294967294
c . 4294967294 501 ab
c . 2 501 ef
c . 0 501 cd
`, `
3: c2s "ab" start
5: c2s "cd"
4: c2s "ef"`},
		{"data with the SYN", `
c S 100 - ab
s S 500 103
c . 103 501 cd
`, `
1: c2s "ab" start
3: c2s "cd"`},
		{"the SYN was not captured, its answer was", `
s S 500 101
c . 101 501 ab
`, `
2: c2s "ab" start`},
		{"the answer was not captured", `
c S 100 -
c . 101 501
s . 501 101 xy
`, `
3: s2c "xy" start`},
		{"from the middle", `
c . 103 501 cd
c . 101 501 ab
c . 105 501 ef
`, `
2: c2s "ab"
1: c2s "cd"
3: c2s "ef"`},
		{"data before the SYN", `
c . 103 501 cd
c . 101 501 ab
s S 500 101
c S 100 -
s . 501 101 xy
`, `
2: c2s "ab" start
1: c2s "cd"
5: s2c "xy" start`},
		{"a stray", hello + `
c . 101 501 ab
c . 2000000000 501 zz
c . 103 501 cd
`, `
4: c2s "ab" start
6: c2s "cd"`},
		{"a stream that continues far away", hello + `
c . 101 501 ab
c . 2000000000 501 cd
c . 2000000002 501 ef
c . 2000000004 501 gh
c . 2000000006 501 ij
`, `
4: c2s "ab" start
5: c2s lost -1
5: c2s "cd"
6: c2s "ef"
7: c2s "gh"
8: c2s "ij"`},
		{"an invalid acknowledgement", hello + `
c . 101 501 ab
s . 501 2000000000
c . 103 501 cd
` + pad("s . 501 2000000000"), `
4: c2s "ab" start
6: c2s "cd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tapes, _ := play(t, script(t, compact(c.script)))
			if len(tapes) != 1 {
				t.Fatalf("%d connections", len(tapes))
			}
			if name := tapes[0].Conn.Name(); name != "10.0.0.1:40001-10.0.0.2:5000" {
				t.Errorf("the connection is %s", name)
			}
			if got := strings.Join(tapes[0].Log, "\n"); got != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// compact removes empty lines.
func compact(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestSessions(t *testing.T) {
	tapes, sum := play(t, script(t, compact(`
c S 100 -
s S 500 101
c . 101 501 one
c S 100 -
c F 104 501
s F 501 105
c S 9000 -
s S 7000 9001
c . 9001 7001 two
c S 5 -
c . 6 1 three
`)))
	var got []string
	for _, p := range tapes {
		got = append(got, strings.Join(p.Log, ", "))
		if p.Conn.Session != p.Conn.ID || p.Conn.Name() != "10.0.0.1:40001-10.0.0.2:5000" {
			t.Errorf("connection %v", p.Conn)
		}
	}
	want := `3: c2s "one" start, 5: c2s "" end, 6: s2c "" start end | 9: c2s "two" start | 11: c2s "three" start`
	if strings.Join(got, " | ") != want || len(sum.Conns) != 3 {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " | "), want)
	}
}

// TestSessionsAlike: scripts give all connections the same sequence numbers. A SYN after a FIN or a reset opens another session; a
// retransmission does not.
func TestSessionsAlike(t *testing.T) {
	const (
		open = "c S 100 -\ns S 500 101\nc . 101 501\n"
		talk = "c . 101 501 ab\ns . 501 103 xy\n"
		both = `c2s "ab" start, s2c "xy" start`
		shut = `, c2s "" end, s2c "" end`
	)
	for _, c := range []struct{ name, script, want string }{
		{"after both ends", open + talk + "c F 103 503\ns F 503 104\nc . 104 504\n" + open + talk, both + shut + " | " + both},
		{"after one end", open + talk + "c F 103 503\n" + open + talk, both + `, c2s "" end | ` + both},
		{"after ends before which bytes are missing", open + talk + "c F 109 503\ns F 503 104\n" + open + talk, both + `, s2c "" end, c2s lost 6, c2s "" end | ` + both},
		{"after a reset", open + talk + "s R 503 103\n" + open + talk, both + shut + " | " + both},
		{"after a reset and later packets", open + talk + "s R 503 103\n" + strings.Repeat("c . 103 503\n", 32) + open + talk, both + shut + " | " + both},
		{"three", open + talk + "c R 103 -\n" + open + talk + "c R 103 -\n" + open + talk, both + shut + " | " + both + shut + " | " + both},
		{"asked twice", "c S 100 -\n" + open + "c S 100 -\n" + talk + "c S 100 -\ns S 500 101\n", both},
		{"retried after a refusal", "c S 100 -\ns R 0 101\n" + open + talk, both},
		{"no start was captured the second time", open + talk + "c F 103 503\ns F 503 104\nc . 2000000000 1000000000 cd\ns . 1000000000 2000000002 uv\n", both + shut + ` | c2s "cd", s2c "uv"`},
		{"retransmissions after the end", open + talk + "c F 103 503\ns F 503 104\nc . 101 501 ab\nc . 104 504 zz\n", both + shut},
		{"only the answer was captured the second time", open + talk + "c F 103 503\ns F 503 104\ns S 500 101\n" + talk, both + shut + " | " + both},
	} {
		tapes, sum := play(t, script(t, c.script))
		var got []string
		for i, p := range tapes {
			if p.Conn.Session != i {
				t.Errorf("%s: session %d of %d", c.name, p.Conn.Session, i)
			}
			var log []string
			for _, line := range p.Log {
				_, line, _ = strings.Cut(line, ": ")
				log = append(log, line)
			}
			got = append(got, strings.Join(log, ", "))
		}
		if strings.Join(got, " | ") != c.want || len(sum.Conns) != len(tapes) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, " | "), c.want)
		}
	}
}
