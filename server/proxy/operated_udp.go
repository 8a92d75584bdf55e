package proxy

import (
	"bytes"
	"sync"
	"time"

	"wirebench/defs/schema"
)

// datagram gives a datagram to the connection. An empty one is passed without the rewriter.
func (o *operated) datagram(dir schema.Dir, at time.Time, data []byte) {
	if a := (arrival{dir: dir, at: at, bytes: data}); !o.sendDirect(a) {
		a.bytes = bytes.Clone(data)
		o.give(a)
	}
}

// datagrams carries those of a UDP connection.
type datagrams struct {
	s    *Session
	peer *peer
}

func (x *datagrams) deliver(dir schema.Dir, data []byte, _ bool) {
	if dir == schema.ToServer {
		x.s.toServer(x.peer.up, data)
		return
	}
	x.s.toClient(x.peer.back, data)
}

func (x *datagrams) admits(dir schema.Dir, n int) bool {
	if dir == schema.ToServer || x.peer.may(n) {
		return true
	}
	x.s.withhold()
	return false
}

func (x *datagrams) pending(schema.Dir) int { return 0 }
func (x *datagrams) took(schema.Dir)        {}
func (x *datagrams) resume(*operated)       {}

// operateUDP relays a connection through its rewriter until it has ended.
func (s *Session) operateUDP(x *peer) {
	defer s.proxy.left(x.up, -1)
	o := x.op
	defer x.up.Close()
	var reader sync.WaitGroup
	reader.Go(func() {
		s.answers(x, func(d datagram) {
			x.conn.count(schema.ToClient, len(d.data), d.at)
			o.datagram(schema.ToClient, d.at, d.data)
		})
		x.conn.abort("upstream") // the socket failed, unless we closed it
	})
	o.run(nil, nil)
	s.tellDrops(s.drops.leave(x.up))
	_ = x.up.Close()
	reader.Wait()
}
