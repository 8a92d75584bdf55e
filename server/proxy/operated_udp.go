package proxy

import (
	"bytes"
	"time"

	"wirebench/defs/schema"
	"wirebench/server/supervise"
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
	o := x.op
	var reader supervise.Group
	defer reader.Wait()
	defer x.up.Close() // the reader ends
	reader.Go("connection", func(err error) { s.faulted(x.conn, err) }, func() {
		s.answers(x, func(d datagram) {
			x.conn.count(schema.ToClient, len(d.data), d.at)
			o.datagram(schema.ToClient, d.at, d.data)
		})
		x.conn.abort("upstream") // the socket failed, unless we closed it
	})
	o.run(nil, nil)
	s.tellDrops(s.drops.leave(x.up))
}
