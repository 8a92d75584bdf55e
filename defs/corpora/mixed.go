package corpora

import (
	"fmt"
	"math/rand/v2"
)

// mixed makes a capture to compare filters with other programs: connections of TCP and UDP, IPv4 and IPv6, with one message of TERA in each
// packet. Some packets, and a connection that is first of all, have no message.
func (m *maker) mixed() {
	rng := rand.New(rand.NewPCG(9, 29))
	r := newRecording(false, 1700000400_000000)
	at := func(a, b byte, port int, six bool) address { return address{[4]byte{10, a, 0, b}, port, six} }
	r.connect(rng, at(8, 9, 41000, false), at(16, 9, 80, false))
	r.now += 300_000
	var streams []*tcp
	for i, six := range []bool{false, true, false} {
		streams = append(streams, r.connect(rng, at(8, byte(1+i), 41001+i, six), at(16, 1, 7801+i%2, six)))
	}
	chat := wellKnown[len(wellKnown)-1]
	invite, login := wellKnown[8], wellKnown[3]
	said := []string{"guild war", "Guild", "nothing", "hello guild", "été", "a"}
	m.add("mixed/protocol.map", []byte(fmt.Sprintf("S_CHAT %d\nC_PARTY_INVITE %d\nS_LOGIN %d\n", chat.code, invite.code, login.code)))
	for _, d := range []defined{{"S_CHAT.4", chat.code, chat.fs}, {"C_PARTY_INVITE.1", invite.code, invite.fs}, {"S_LOGIN.2", login.code, login.fs}} {
		m.add("mixed/definitions/"+d.name+".def", []byte(d.text()))
	}
	for i := range 120 {
		text := said[rng.IntN(len(said))]
		dir, data := 1, frame(chat.code, chat.fs, row{"channel": rng.IntN(5), "gameId": fmt.Sprint(rng.IntN(9)), "gm": rng.IntN(2) == 0, "name": "Aldor", "message": text})
		switch rng.IntN(3) {
		case 0:
			dir, data = 0, frame(invite.code, invite.fs, row{"name": text, "data": fmt.Sprintf("%x", "guild "+text)})
		case 1:
			data = frame(login.code, login.fs, row{"gameId": "7", "level": rng.IntN(61) - 1, "name": text})
		}
		r.now += int64(rng.IntN(40_000))
		if i%4 == 3 { // datagrams
			six := rng.IntN(2) == 0
			ends := [2]address{at(8, byte(1+rng.IntN(2)), 42001, six), at(16, 1, 7801, six)}
			r.datagram(ends[dir], ends[1-dir], data)
			continue
		}
		t := streams[rng.IntN(len(streams))]
		t.send(dir, data)
		t.push(dir, len(data))
	}
	m.add("mixed/packets.pcapng", r.file.Bytes())
}
