package capture

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/transport"
)

func TestStream(t *testing.T) {
	const hello = `
c S 100 -
s S 500 101
c . 101 501
`
	// pad brings the packets that a loss is waited for.
	pad := func(line string) string { return strings.Repeat(line+"\n", lossPackets) }
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
		{"a stream that goes on far away", hello + `
c . 101 501 ab
c . 2000000000 501 cd
c . 2000000002 501 ef
c . 2000000004 501 gh
c . 2000000006 501 ij
`, `
4: c2s "ab" start
7: c2s lost -1
7: c2s "gh"
8: c2s "ij"`},
		{"an acknowledgement that cannot be right", hello + `
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
			if name := tapes[0].conn.Name(); name != "10.0.0.1:40001-10.0.0.2:5000" {
				t.Errorf("the connection is %s", name)
			}
			if got := strings.Join(tapes[0].log, "\n"); got != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// compact leaves empty lines out.
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
		got = append(got, strings.Join(p.log, ", "))
		if p.conn.Session != p.conn.ID || p.conn.Name() != "10.0.0.1:40001-10.0.0.2:5000" {
			t.Errorf("connection %v", p.conn)
		}
	}
	want := `3: c2s "one" start, 5: c2s "" end, 6: s2c "" start end | 9: c2s "two" start | 11: c2s "three" start`
	if strings.Join(got, " | ") != want || len(sum.Conns) != 3 {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " | "), want)
	}
}

// TestSessionsAlike: scripts number all connections alike. A SYN after an end or a reset is another session; one that comes again is not.
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
		{"after a reset and what came behind it", open + talk + "s R 503 103\n" + strings.Repeat("c . 103 503\n", resetPackets) + open + talk, both + shut + " | " + both},
		{"three", open + talk + "c R 103 -\n" + open + talk + "c R 103 -\n" + open + talk, both + shut + " | " + both + shut + " | " + both},
		{"asked twice", "c S 100 -\n" + open + "c S 100 -\n" + talk + "c S 100 -\ns S 500 101\n", both},
		{"asked again after a refusal", "c S 100 -\ns R 0 101\n" + open + talk, both},
		{"no start was captured the second time", open + talk + "c F 103 503\ns F 503 104\nc . 2000000000 1000000000 cd\ns . 1000000000 2000000002 uv\n", both + shut + ` | c2s "cd", s2c "uv"`},
		{"what was sent before comes again behind the end", open + talk + "c F 103 503\ns F 503 104\nc . 101 501 ab\nc . 104 504 zz\n", both + shut},
		{"only the answer was captured the second time", open + talk + "c F 103 503\ns F 503 104\ns S 500 101\n" + talk, both + shut + " | " + both},
	} {
		tapes, sum := play(t, script(t, c.script))
		var got []string
		for i, p := range tapes {
			if p.conn.Session != i {
				t.Errorf("%s: session %d of %d", c.name, p.conn.Session, i)
			}
			var log []string
			for _, line := range p.log {
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

// segments is a TCP stream to the server that a test cuts, shuffles and drops at will.
type segments struct {
	data  []byte
	grams []datagram
}

func cutStream(r *rand.Rand, size int) segments {
	s := segments{data: make([]byte, size)}
	for i := range s.data {
		s.data[i] = byte(1 + r.IntN(255))
	}
	base := r.Uint32()
	s.grams = append(s.grams, datagram{tcp: true, flags: flagSYN, seq: base})
	for at := 0; at < size; {
		n := min(1+r.IntN(40), size-at)
		from := max(0, at-r.IntN(30)*r.IntN(2))
		s.grams = append(s.grams, datagram{tcp: true, flags: flagACK, seq: base + 1 + uint32(from), data: s.data[from : at+n], size: at + n - from})
		at += n
	}
	return s
}

// TestStreamProperty: whatever order the packets have, and however often they come, what was captured is delivered once, in order, and what
// was not is lost, byte by byte.
func TestStreamProperty(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := cutStream(r, 1+r.IntN(3000))
		grams := append([]datagram(nil), s.grams...)
		for range r.IntN(10) {
			grams = append(grams, grams[r.IntN(len(grams))])
		}
		have := make([]bool, len(s.data))
		kept := grams[:0]
		for i, g := range grams {
			if i > 0 && r.IntN(8) == 0 {
				continue
			}
			kept = append(kept, g)
			for j := range g.data {
				have[int(g.seq-s.grams[0].seq-1)+j] = true
			}
		}
		r.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		// What the end of the data are nobody can tell who has not seen it.
		end := len(have)
		for end > 0 && !have[end-1] {
			end--
		}
		var got, lost []byte
		first, late := true, kept[0].flags&flagSYN == 0
		st := stream{pool: &pool{limit: 1 << 20}, out: func(fromB bool, seg transport.Segment) {
			if fromB || seg.Start != first && !late {
				t.Fatalf("seed %d: start %t in a wrong place", seed, seg.Start)
			}
			first = false
			got = append(got, seg.Bytes...)
			lost = append(lost, bytes.Repeat([]byte{1}, len(seg.Bytes))...)
			if seg.Lost > 0 {
				got = append(got, make([]byte, seg.Lost)...)
				lost = append(lost, make([]byte, seg.Lost)...)
			}
		}}
		st.b.fromB = true
		if late { // how much of the start is known then is another matter
			st.a.begin(s.grams[0].seq)
		}
		for i := range kept {
			st.feed(&kept[i], uint32(i+1), day)
		}
		st.flush(day)
		if len(got) != end {
			t.Fatalf("seed %d: %d bytes, want %d", seed, len(got), end)
		}
		for i := range got {
			if (lost[i] == 1) != have[i] || have[i] && got[i] != s.data[i] {
				t.Fatalf("seed %d: byte %d is %d (there %t), want %d (there %t)", seed, i, got[i], lost[i] == 1, s.data[i], have[i])
			}
		}
		if st.pool.bytes != 0 {
			t.Fatalf("seed %d: %d bytes are still held", seed, st.pool.bytes)
		}
	}
}

// TestStreamBounds holds a stream whose first byte never comes.
func TestStreamBounds(t *testing.T) {
	lost, got := int64(0), 0
	st := stream{pool: &pool{limit: 1 << 20}, out: func(_ bool, seg transport.Segment) {
		lost += max(seg.Lost, 0)
		got += len(seg.Bytes)
	}}
	data := make([]byte, 1400)
	d := datagram{tcp: true, flags: flagSYN, seq: 1}
	st.feed(&d, 1, day)
	for i := range 5000 {
		d := datagram{tcp: true, flags: flagACK, seq: 3 + uint32(i)*1401, data: data, size: 1400} // one byte is missing before each
		st.feed(&d, uint32(i+2), day)
		if len(st.a.held) > maxHeldSegments || st.pool.bytes > st.pool.limit+1<<16 {
			t.Fatalf("after %d segments %d are held, %d bytes", i+1, len(st.a.held), st.pool.bytes)
		}
	}
	st.flush(day)
	if lost != 5000 || got != 5000*1400 {
		t.Errorf("%d bytes are lost and %d delivered", lost, got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x00\x00\x00\x10\x01\x01\x00\x05\x01\x10\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		delivered, fed := 0, 0
		st := stream{pool: &pool{limit: 1 << 16}, out: func(_ bool, seg transport.Segment) {
			if seg.Lost != 0 && len(seg.Bytes) > 0 || seg.Lost < transport.Unknown {
				t.Fatalf("a segment of %d bytes has lost %d", len(seg.Bytes), seg.Lost)
			}
			delivered += len(seg.Bytes)
		}}
		st.b.fromB = true
		n := uint32(0)
		for ; len(script) >= 8; script = script[8:] {
			n++
			d := datagram{tcp: true, fromB: script[0]&1 != 0, flags: script[1] & 31}
			d.seq = uint32(script[2])<<24 | uint32(script[3])
			d.ack = uint32(script[4])<<24 | uint32(script[5])
			d.data = make([]byte, script[6]&63)
			d.size = len(d.data) + int(script[7]&3)
			fed += len(d.data)
			if !st.isNew(&d) {
				st.feed(&d, n, day)
			}
		}
		st.flush(day)
		st.flush(day)
		if delivered > fed || st.pool.bytes != 0 || len(st.a.held)+len(st.b.held) != 0 {
			t.Fatalf("%d bytes of %d are delivered, %d held", delivered, fed, st.pool.bytes)
		}
	})
}
