package subspace_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

func TestRecognise(t *testing.T) {
	core := func(cipher *subspace.Cipher) (all []transport.Segment) {
		for i := range byte(20) {
			for dir, data := range map[schema.Dir][]byte{schema.ToClient: {0, 3, i, 1, 0, 0, 7, 1}, schema.ToServer: {0, 4, i, 1, 0, 0}} {
				if cipher != nil {
					cipher.Encrypt(data, data)
				}
				all = append(all, transport.Segment{Dir: dir, Bytes: data})
			}
		}
		return all
	}
	random := rand.New(rand.NewPCG(1, 2))
	var noise []transport.Segment
	for range 100 {
		data := make([]byte, 5+random.IntN(100))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		noise = append(noise, transport.Segment{Dir: schema.ToClient, Bytes: data})
	}
	init := transport.Segment{Dir: schema.ToServer, Bytes: []byte{0, 1, 1, 2, 3, 4, 1, 0}}
	answer := func(data ...byte) []transport.Segment {
		return []transport.Segment{init, {Dir: schema.ToClient, Bytes: data}}
	}
	for name, c := range map[string]struct {
		segments    []transport.Segment
		least, most int
	}{
		"nothing":              {nil, 0, 0},
		"init alone":           {[]transport.Segment{init}, 60, 60},
		"plain":                {answer(0, 2, 1, 2, 3, 4), 100, 100},
		"negation":             {answer(0, 2, 0xFF, 0xFD, 0xFC, 0xFB), 100, 100},
		"zero":                 {answer(0, 2, 0, 0, 0, 0), 100, 100},
		"Continuum":            {answer(0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 100, 100},
		"another key":          {answer(0, 2, 9, 9, 9, 9), 60, 60},
		"inside a session":     {core(nil), 50, 90},
		"inside an enciphered": {core(subspace.NewCipher(0x12345678, subspace.Signed)), 50, 90},
		"noise":                {noise, 0, 0},
		"a name server's":      {[]transport.Segment{{Dir: schema.ToServer, Bytes: []byte{0x1A, 0x2B, 1, 0, 0, 1, 0, 0, 0, 0}}}, 0, 0},
	} {
		if got := subspace.Recognise(c.segments); got < c.least || got > c.most {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestFigures(t *testing.T) {
	trans := subspace.New(subspace.Options{})
	at := time.Unix(1000, 0)
	feed := func(dir schema.Dir, data ...byte) {
		at = at.Add(10 * time.Millisecond)
		trans.Feed(transport.Segment{Dir: dir, At: at, Bytes: data}, func(*transport.Frame) {})
	}
	const c2s, s2c = schema.ToServer, schema.ToClient
	feed(c2s, 0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0)
	feed(s2c, 0, 2, 0xF6, 0xFF, 0xFF, 0xFF)
	feed(c2s, 0, 5, 100, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
	feed(s2c, 0, 6, 100, 0, 0, 0, 44, 1, 0, 0)
	feed(s2c, 0, 3, 2, 0, 0, 0, 7, 1)
	feed(s2c, 0, 3, 0, 0, 0, 0, 7, 1)
	feed(s2c, 0, 3, 0, 0, 0, 0, 7, 1)
	feed(s2c, 0, 3, 0, 0, 0, 0, 7, 2)
	// Since its first sync, the client has sent 3 (one is missing here: this and another one) and received 3 of 5.
	feed(c2s, 0, 5, 110, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0)
	trans.Flush(at, func(*transport.Frame) {})

	client, server := trans.Figures(c2s), trans.Figures(s2c)
	if client.Datagrams != 3 || client.Bytes != 36 || client.NotCaptured != 1 || client.NotReceived != 0 {
		t.Errorf("to the server: %+v", client)
	}
	if client.Answer != 10*time.Millisecond || client.Clock != 200 {
		t.Errorf("answer after %v, clock %d", client.Answer, client.Clock)
	}
	want := subspace.Figures{
		Datagrams: 6, Bytes: 6 + 10 + 4*8, First: time.Unix(1000, 20e6), Last: time.Unix(1000, 80e6),
		Messages: 2, Reliable: 2, Repeated: 2, Conflicts: 1, Early: 1, MostEarly: 1, Missing: 1, NotReceived: 2,
	}
	if server != want {
		t.Errorf("to the client:\n%+v, want\n%+v", server, want)
	}
}

// TestFiguresOfACapture: the relay between the two ends drops 12 %, after the capture point in this direction.
func TestFiguresOfACapture(t *testing.T) { corpora.Run(t, testFiguresOfACapture) }

func testFiguresOfACapture(t *testing.T, c *corpora.Corpus) {
	names, of := sessions(t, c, "plain-lossy-serverside")
	for _, session := range names {
		trans := subspace.New(subspace.Options{})
		for _, seg := range of[session] {
			trans.Feed(seg, func(*transport.Frame) {})
		}
		f := trans.Figures(schema.ToClient)
		if part := float64(f.NotReceived) / float64(f.Datagrams); part < 0.005 || part > 0.25 {
			t.Errorf("%s: %d of %d datagrams were lost", session, f.NotReceived, f.Datagrams)
		}
	}
}
