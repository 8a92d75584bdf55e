package demo

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

const (
	vieVersion = 1
	turn       = 20 * time.Millisecond // between two looks at the clock
	syncEvery  = 5 * time.Second
)

// talker is one end of a session.
type talker struct {
	core  *core
	actor actor
	err   func() error
	next  time.Time // when the actor says something of its own
	every time.Duration
}

// newTalker makes an end that sends in a direction.
func (g *Game) newTalker(dir schema.Dir, now time.Time, key uint32, seed uint64, write func([]byte)) *talker {
	t := &talker{next: now.Add(g.interval()), every: g.interval()}
	s := g.speaker(dir, func(m []byte, reliable bool) error { return t.core.say(m, reliable) }, seed)
	s.finish = checksum
	t.err = func() error { return s.err }
	t.core = newCore(now, write, func(m []byte) error {
		_, err := s.hear(m, t.actor)
		return err
	})
	if key != 0 {
		t.core.cipher = subspace.NewCipher(key, subspace.Signed)
	}
	t.actor = g.words.actors[1-index(dir)](s)
	t.actor.begin()
	t.core.flush()
	return t
}

// checksum sets that of position packets: it makes the exclusive or of their fixed part zero.
func checksum(name string, m []byte) {
	at, n := 0, 0
	switch name {
	case "c2s_position":
		at, n = 10, 22
	case "s2c_weapon":
		at, n = 12, 21
	default:
		return
	}
	if len(m) < n {
		return
	}
	m[at] = 0
	x := byte(0)
	for _, b := range m[:n] {
		x ^= b
	}
	m[at] = x
}

// pass lets the actor speak when it is time.
func (t *talker) pass(now time.Time) error {
	if err := t.core.pass(now); err != nil {
		return err
	}
	for range 100 {
		if now.Before(t.next) {
			break
		}
		t.next = t.next.Add(t.every)
		t.actor.tick()
	}
	if now.After(t.next) { // the machine was asleep
		t.next = now
	}
	t.core.flush()
	return t.err()
}

// take reads a datagram.
func (t *talker) take(data []byte, now time.Time) error {
	err := t.core.take(data, now)
	t.core.flush()
	return errors.Join(err, t.err())
}

// datagram is one that came.
type datagram struct {
	from netip.AddrPort
	data []byte
}

// receive hands on what comes to a socket until it is closed. Errors of single datagrams, as when nobody listens at the other end, do not
// count: who says nothing for long is gone.
func receive(conn *net.UDPConn, in chan<- datagram, over <-chan struct{}) {
	buf := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-over:
				return
			case <-time.After(turn):
			}
			continue
		}
		select {
		case in <- datagram{from, append([]byte(nil), buf[:n]...)}:
		case <-over:
			return
		}
	}
}

// serveDatagrams takes on players, and answers pings on the port behind.
func serveDatagrams(g *Game, l *listener) {
	var playing atomic.Int32
	in, over := make(chan datagram, 64), make(chan struct{})
	var readers sync.WaitGroup
	defer func() { // in this order: the readers are told, their reads end, then they do
		close(over)
		l.close()
		readers.Wait()
	}()
	readers.Go(func() { receive(l.udp, in, over) })
	readers.Go(func() { answerPings(l.info, &playing) })
	clock := time.NewTicker(turn)
	defer clock.Stop()
	players := map[netip.AddrPort]*talker{}
	seed := uint64(0)
	for {
		playing.Store(int32(len(players)))
		select {
		case <-g.ctx.Done():
			for _, t := range players {
				t.core.bye()
			}
			return
		case d := <-in:
			t := players[d.from]
			if len(d.data) == 8 && d.data[0] == 0 && d.data[1] == coreInit {
				if t != nil && t.core.received > 0 || t == nil && len(players) >= maxPlayers {
					break // the address plays already, or there is no room
				}
				seed++
				players[d.from] = g.welcome(l.udp, d, seed)
				break
			}
			if t != nil && t.take(d.data, time.Now()) != nil {
				delete(players, d.from)
			}
		case now := <-clock.C:
			for from, t := range players {
				if t.pass(now) != nil {
					delete(players, from)
				}
			}
		}
	}
}

// welcome answers the first datagram of a player: with VIE encryption, if the client can do so.
func (g *Game) welcome(conn *net.UDPConn, d datagram, seed uint64) *talker {
	write := func(data []byte) { _, _ = conn.WriteToUDPAddrPort(data, d.from) } // what is lost is sent again
	key := binary.LittleEndian.Uint32(d.data[2:])
	answer := []byte{0, coreKey, 0, 0, 0, 0}
	if key>>31 == 1 && key != 1<<31 && binary.LittleEndian.Uint16(d.data[6:]) == vieVersion {
		key = -key
		binary.LittleEndian.PutUint32(answer[2:], key)
	} else {
		binary.LittleEndian.PutUint32(answer[2:], key)
		key = 0
	}
	write(answer)
	return g.newTalker(schema.ToClient, time.Now(), key, seed, write)
}

// answerPings tells how many play.
func answerPings(conn *net.UDPConn, playing *atomic.Int32) {
	buf := make([]byte, 64)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n != 4 {
			continue
		}
		var pong [8]byte
		binary.LittleEndian.PutUint32(pong[:], uint32(playing.Load()))
		copy(pong[4:], buf[:4])
		_, _ = conn.WriteToUDPAddrPort(pong[:], from)
	}
}

// playDatagrams plays. Before it ends it waits until the server has all, and for what that has still to say.
func playDatagrams(ctx context.Context, g *Game, addr string, seed uint64) error {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return err
	}
	conn, err := net.DialUDP("udp", nil, at)
	if err != nil {
		return err
	}
	in, over := make(chan datagram, 64), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { receive(conn, in, over) })
	defer func() {
		close(over)
		conn.Close()
		reader.Wait()
	}()
	write := func(data []byte) { _, _ = conn.Write(data) }
	key, err := greet(ctx, write, in)
	if err != nil {
		return err
	}
	t := g.newTalker(schema.ToServer, time.Now(), key, seed, write)
	info := pinger{at: at}
	defer info.close()
	clock := time.NewTicker(turn)
	defer clock.Stop()
	syncAt := time.Now().Add(syncEvery / 5)
	var leaving time.Time
	done := ctx.Done()
	for {
		select {
		case d := <-in:
			if err := t.take(d.data, time.Now()); err != nil {
				if errors.Is(err, errByed) {
					return ErrEnded
				}
				return err
			}
		case now := <-clock.C:
			if done == nil { // the last words
				quiet := t.core.quiet() && now.Sub(t.core.heard) > 150*time.Millisecond
				if quiet || now.Sub(leaving) > patience {
					t.core.bye()
					return nil
				}
				if err := t.core.pass(now); err != nil {
					return err
				}
				t.core.flush()
				break
			}
			if now.After(syncAt) {
				syncAt = now.Add(syncEvery)
				t.core.sync()
				info.ping(now)
			}
			if err := t.pass(now); err != nil {
				return err
			}
		case <-done:
			done, leaving = nil, time.Now()
			t.core.now = leaving
			t.actor.leave()
			t.core.flush()
		}
	}
}

// greet begins a session, and returns the key of the cipher; 0 is none.
func greet(ctx context.Context, write func([]byte), in <-chan datagram) (uint32, error) {
	start := time.Now()
	key := 1<<31 | uint32(start.UnixNano())&0x7FFFFFFF | 1 // real clients set the top bit
	hello := []byte{0, coreInit, 0, 0, 0, 0, vieVersion, 0}
	binary.LittleEndian.PutUint32(hello[2:], key)
	again := time.NewTicker(300 * time.Millisecond)
	defer again.Stop()
	write(hello)
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-again.C:
			if time.Since(start) > patience {
				return 0, errGone
			}
			write(hello)
		case d := <-in:
			if len(d.data) != 6 || d.data[0] != 0 || d.data[1] != coreKey {
				continue
			}
			switch got := binary.LittleEndian.Uint32(d.data[2:]); got {
			case key, 0:
				return 0, nil
			case -key:
				return got, nil
			}
			return 0, errors.New("the server wants a cipher that the demo has not")
		}
	}
}

// pinger asks the port behind the server's how many play. Whether an answer comes does not matter: a proxy may have that port not.
type pinger struct {
	at   *net.UDPAddr
	conn *net.UDPConn
}

func (p *pinger) ping(now time.Time) {
	if p.conn == nil && p.at.Port < 65535 {
		p.conn, _ = net.DialUDP("udp", nil, &net.UDPAddr{IP: p.at.IP, Port: p.at.Port + 1, Zone: p.at.Zone})
	}
	if p.conn != nil {
		_, _ = p.conn.Write(binary.LittleEndian.AppendUint32(nil, ticks(now)))
	}
}

func (p *pinger) close() {
	if p.conn != nil {
		p.conn.Close()
	}
}
