package packet

import (
	"net/netip"
	"slices"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// conn is a connection as it is being read.
type conn struct {
	transport.Conn
	key     flowKey
	tcp     *stream // nil for UDP
	named   bool    // Client and Server are known
	serverB bool    // with named: the second end of key is the server
	firstB  bool    // the second end was the first seen to send
	starter side    // end that opened the connection

	transport transport.Transport
	made      bool // New was called
	over      bool // the transport was flushed
	emit      func(*transport.Frame)

	early []event // before made

	last [3]place // of the last frame, by direction
	wait *wait    // for a decision; nil: it does not wait
	slow bool     // it waits for so long that frames of others are not held back for it

	next *conn // the session after this one, which owns the transport now

	packets uint32
	bytes   [2]int64 // payload bytes that the first and the second end sent
}

// newest returns the session that owns the transport now.
func (c *conn) newest() *conn {
	for c.next != nil {
		c = c.next
	}
	return c
}

// count counts a packet; by is 1, or -1 to undo it.
func (c *conn) count(d *datagram, by int) {
	from := 0
	if d.fromB {
		from = 1
	}
	c.packets += uint32(by)
	c.bytes[from] += int64(by * len(d.data))
}

type side uint8

const (
	unknownSide side = iota
	sideA
	sideB
)

// start infers from a SYN which end opened the connection.
func (c *conn) start(d *datagram) {
	if c.starter != unknownSide || !d.tcp || d.flags&FlagSYN == 0 {
		return
	}
	// The sender of a SYN opens the connection; a SYN with an ACK answers the other end.
	if answers := d.flags&FlagACK != 0; d.fromB != answers {
		c.starter = sideB
	} else {
		c.starter = sideA
	}
}

// name decides which end is the server: the one with a port of the list, else the one that did not open the connection. If the handshake
// was not captured, it is the end with the lower port, else the one that was first seen to receive.
func (c *conn) name(ports []uint16) {
	if c.named {
		return
	}
	c.named = true
	aListed, bListed := slices.Contains(ports, c.key.aPort), slices.Contains(ports, c.key.bPort)
	switch {
	case aListed != bListed:
		c.serverB = bListed
	case c.starter != unknownSide:
		c.serverB = c.starter == sideA
	case c.Proto == transport.TCP && c.key.aPort != c.key.bPort:
		c.serverB = c.key.bPort < c.key.aPort
	default:
		c.serverB = !c.firstB
	}
	a, b := netip.AddrPortFrom(c.key.a.netip(), c.key.aPort), netip.AddrPortFrom(c.key.b.netip(), c.key.bPort)
	if c.Client, c.Server = b, a; c.serverB {
		c.Client, c.Server = a, b
	}
}

// dir is the direction of data sent by an end. The connection must be named.
func (c *conn) dir(fromB bool) schema.Dir {
	if fromB == c.serverB {
		return schema.ToClient
	}
	return schema.ToServer
}
