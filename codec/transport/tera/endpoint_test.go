package tera

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// talk connects a client and a server by two streams, split anywhere.
type talk struct {
	rng *rand.Rand
	end [2]*Endpoint
	got [2][]string
	to  [2][]byte // in transit
	at  time.Time
}

func newTalk(seed uint64, client, server EndpointOptions) *talk {
	k := &talk{rng: rand.New(rand.NewPCG(seed, 5)), at: time.Unix(1_700_000_000, 0)}
	for _, o := range []*EndpointOptions{&client, &server} {
		if o.Own != nil {
			o.Own = &Keys{Client1: randomKey(k.rng), Client2: randomKey(k.rng), Server1: randomKey(k.rng), Server2: randomKey(k.rng)}
		}
	}
	k.end[0], k.end[1] = NewEndpoint(client, schema.ToServer), NewEndpoint(server, schema.ToClient)
	for i := range k.end {
		k.end[i].Start(k.at, k.relay(i))
	}
	return k
}

func (k *talk) relay(i int) *transport.Relay {
	return &transport.Relay{
		Emit: func(f *transport.Frame) {
			if f.Kind == transport.Message {
				k.got[i] = append(k.got[i], string(f.Bytes))
			}
		},
		Out: func(s transport.Segment) { k.to[1-i] = append(k.to[1-i], s.Bytes...) },
	}
}

// run delivers everything in transit.
func (k *talk) run() {
	for len(k.to[0])+len(k.to[1]) > 0 {
		i := k.rng.IntN(2)
		n := min(len(k.to[i]), 1+k.rng.IntN(200))
		data := bytes.Clone(k.to[i][:n])
		k.to[i] = k.to[i][n:]
		if n > 0 {
			k.end[i].Feed(data, false, k.at, k.relay(i))
		}
	}
}

func saying(code uint16, body string) string {
	data := binary.LittleEndian.AppendUint16(nil, uint16(4+len(body)))
	return string(binary.LittleEndian.AppendUint16(data, code)) + body
}

func TestEndpoints(t *testing.T) {
	keys := new(Keys)
	iv := func(key schema.Key, m []byte) (uint32, bool) {
		if key.Code == 5555 && len(m) == 8 {
			return binary.LittleEndian.Uint32(m[4:]), true
		}
		return 0, false
	}
	for _, test := range []struct {
		name           string
		client, server EndpointOptions
	}{
		{"the server finds the constants", EndpointOptions{Own: keys}, EndpointOptions{Own: keys}},
		{"old constants", EndpointOptions{Own: keys, Options: Options{Constants: OldConstants}}, EndpointOptions{Own: keys}},
		{"both know them", EndpointOptions{Own: keys, Options: Options{Constants: OldConstants}}, EndpointOptions{Own: keys, Options: Options{Constants: OldConstants}}},
		{"plain", EndpointOptions{}, EndpointOptions{}},
	} {
		for seed := range uint64(10) {
			test.client.LongHeader = func(k schema.Key) bool { return k.Code == 700 }
			test.client.IntegrityIV, test.server.IntegrityIV = iv, iv
			k := newTalk(seed, test.client, test.server)
			var want [2][]string
			send := func(i int, m string) {
				t.Helper()
				if err := k.end[i].Send(transport.Outgoing{Bytes: []byte(m)}, k.at, k.relay(i)); err != nil {
					t.Fatalf("%s: end %d: %v", test.name, i, err)
				}
				want[1-i] = append(want[1-i], m)
			}
			k.run()
			send(0, saying(checkVersionCode, "version"))
			k.run()
			send(1, saying(5555, "\x01\x02\x03\x04"))
			k.run()
			for range 20 {
				send(k.rng.IntN(2), saying(uint16(100+k.rng.IntN(50)), string(make([]byte, k.rng.IntN(3000)))))
				if k.rng.IntN(3) == 0 {
					k.run()
				}
			}
			k.run()
			for n := range uint32(3) {
				sealed := []byte(saying(700, "????????body"))
				send(0, string(sealed))
				Seal(0x04030201, n+1, sealed)
				want[1][len(want[1])-1] = string(sealed)
			}
			k.run()
			for i := range want {
				if !slices.Equal(k.got[i], want[i]) {
					t.Fatalf("%s, seed %d: end %d got %d of %d", test.name, seed, i, len(k.got[i]), len(want[i]))
				}
			}
		}
	}
}

// No input causes a panic.
func FuzzEndpoint(f *testing.F) {
	f.Add(append([]byte{1, 0, 0, 0}, make([]byte, 300)...), true, true)
	f.Add(append(make([]byte, 256), 9, 9, 9, 9, 9), false, true)
	f.Add([]byte{8, 0, 0xBC, 0x4D, 1, 2, 3, 4, 3, 0}, false, false)
	f.Fuzz(func(t *testing.T, data []byte, client, keys bool) {
		o := EndpointOptions{}
		if keys {
			o.Own = new(Keys)
		}
		dir := schema.ToClient
		if client {
			dir = schema.ToServer
		}
		r := &transport.Relay{}
		e := NewEndpoint(o, dir)
		at := time.Unix(1_700_000_000, 0)
		e.Start(at, r)
		for len(data) > 0 {
			n := min(len(data), 1+int(data[0]))
			e.Feed(data[:n], n == len(data), at, r)
			data = data[n:]
			err := e.Send(transport.Outgoing{Bytes: []byte{4, 0, 1, 1}}, at, r)
			if ok, _, why := e.Ready(); ok != (err == nil) || !ok && why == "" {
				t.Fatalf("ready %v %q, and sending: %v", ok, why, err)
			}
		}
		e.Close(at, r)
	})
}
