package paste

import (
	"net/netip"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The addresses of rows: columns of source and destination give the direction of a message. The server is the end with the lower port for
// payloads of TCP, otherwise the one that first received a message.

// maxRowPairs is the maximum number of distinct pairs of ends.
const maxRowPairs = 4096

type rowEnds struct {
	pairs   map[[2]netip.AddrPort]int // of client and server: index in conns
	conns   []transport.Conn
	missing bool // a row had no ends
}

// rankEnd is rankName for columns of ends. Link-layer addresses do not match.
func rankEnd(name string, list []string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	for i, want := range list {
		if strings.Contains(want, ".") && strings.HasSuffix(name, "."+want) {
			return i
		}
	}
	if strings.HasSuffix(name, "eth.src") || strings.HasSuffix(name, "eth.dst") {
		return -1
	}
	return rankName(name, list)
}

// endOf returns the address in two cells.
func endOf(cells []string) (end netip.AddrPort, ok bool) {
	addr, err := netip.ParseAddr(cells[0])
	if err != nil {
		end, err = netip.ParseAddrPort(cells[0])
		return end, err == nil
	}
	port, _ := strconv.ParseUint(cells[1], 10, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), true
}

// dir returns the direction of a row with these cells and the given column of bytes, and its connection.
func (e *rowEnds) dir(cells [4]string, column string) (dir schema.Dir, conn int, ok bool) {
	from, okFrom := endOf(cells[:2])
	to, okTo := endOf(cells[2:])
	if conn, ok = e.pairs[[2]netip.AddrPort{from, to}]; ok {
		return schema.ToServer, conn, true
	}
	if conn, ok = e.pairs[[2]netip.AddrPort{to, from}]; ok {
		return schema.ToClient, conn, true
	}
	if !okFrom || !okTo || from == to || len(e.pairs) >= maxRowPairs {
		e.missing = true
		return schema.Both, 0, false
	}
	c := transport.Conn{ID: len(e.conns), Client: from, Server: to}
	dir = schema.ToServer
	switch column = strings.ToLower(column); {
	case ofColumn(column, "tcp"):
		if c.Proto = transport.TCP; from.Port() < to.Port() {
			c.Client, c.Server, dir = to, from, schema.ToClient
		}
	case ofColumn(column, "udp"):
		c.Proto = transport.UDP
	}
	if e.pairs == nil {
		e.pairs = map[[2]netip.AddrPort]int{}
	}
	e.pairs[[2]netip.AddrPort{c.Client, c.Server}] = c.ID
	e.conns = append(e.conns, c)
	return dir, c.ID, true
}

// ofColumn reports whether a column is the payload of a protocol in tshark's notation.
func ofColumn(name, proto string) bool {
	return name == proto+".payload" || strings.HasSuffix(name, "."+proto+".payload")
}

// tell adds the ends to the paste. Payloads of TCP and UDP are segments of connections; other rows with ends are messages.
func (e *rowEnds) tell(b *builder) {
	if len(e.conns) == 0 {
		return
	}
	b.why += ", directions from source and destination"
	b.stream = !e.missing && e.conns[0].Proto != 0
	if len(e.conns) == 1 {
		b.peers = []string{e.conns[0].Client.String(), e.conns[0].Server.String()}
		return
	}
	b.conns = e.conns
	b.note(0, "the rows are of %d connections", len(e.conns))
}
