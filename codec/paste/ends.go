package paste

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The addresses of rows: columns of source and destination give the direction of a message. They are recognised by the names that tshark
// and Wireshark use (ip.src, udp.srcport, Source). The server is the end with the lower port for payloads of TCP, otherwise the one that
// first received a message.

// maxRowPairs is the maximum number of distinct pairs of ends.
const maxRowPairs = 4096

type rowEnds struct {
	columns [4]int                    // source, its port, destination, its port; -1 if there is none
	cells   [4]string                 // of the current row
	pairs   map[[2]netip.AddrPort]int // of client and server: index in conns
	conns   []transport.Conn
	missing bool // a row had no ends
}

// newRowEnds finds the columns of ends; nil if there are none.
func newRowEnds(names []string, stats []columnStat, used []int) *rowEnds {
	e := &rowEnds{pairs: map[[2]netip.AddrPort]int{}}
	for i, list := range [][]string{sourceNames, fromPorts, destNames, toPorts} {
		best, rank := -1, 0
		for c, n := range names {
			if c >= len(stats) || stats[c].cells == 0 || slices.Contains(used, c) {
				continue
			}
			if k := rankEnd(n, list); k >= 0 && (best < 0 || k < rank) {
				best, rank = c, k
			}
		}
		e.columns[i] = best
	}
	if e.columns[0] < 0 || e.columns[2] < 0 {
		return nil
	}
	return e
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

func (e *rowEnds) begin() {
	if e != nil {
		e.cells = [4]string{}
	}
}

// take stores a cell if it is of an end.
func (e *rowEnds) take(c cell) bool {
	if e == nil {
		return false
	}
	i := slices.Index(e.columns[:], c.column)
	if i >= 0 && len(c.text) < 64 {
		e.cells[i] = c.text
	}
	return i >= 0
}

// end returns the address in two cells.
func (e *rowEnds) end(at int) (netip.AddrPort, bool) {
	addr, err := netip.ParseAddr(strings.TrimSpace(e.cells[at]))
	if err != nil {
		end, err := netip.ParseAddrPort(strings.TrimSpace(e.cells[at]))
		return end, err == nil
	}
	port, _ := strconv.ParseUint(strings.TrimSpace(e.cells[at+1]), 10, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), true
}

// dir returns the direction of a row with the given column of bytes, and its connection.
func (e *rowEnds) dir(column string) (dir schema.Dir, conn int, ok bool) {
	if e == nil {
		return schema.Both, 0, false
	}
	from, okFrom := e.end(0)
	to, okTo := e.end(2)
	if !okFrom || !okTo || from == to {
		e.missing = true
		return schema.Both, 0, false
	}
	if conn, ok = e.pairs[[2]netip.AddrPort{from, to}]; ok {
		return schema.ToServer, conn, true
	}
	if conn, ok = e.pairs[[2]netip.AddrPort{to, from}]; ok {
		return schema.ToClient, conn, true
	}
	if len(e.pairs) >= maxRowPairs {
		e.missing = true
		return schema.Both, 0, false
	}
	dir, conn = schema.ToServer, len(e.conns)
	c := transport.Conn{ID: conn, Client: from, Server: to}
	switch tcp := ofColumn(column, "tcp"); {
	case tcp:
		c.Proto = transport.TCP
	case ofColumn(column, "udp"):
		c.Proto = transport.UDP
	}
	if c.Proto == transport.TCP && from.Port() < to.Port() {
		c.Client, c.Server, dir = to, from, schema.ToClient
	}
	e.pairs[[2]netip.AddrPort{c.Client, c.Server}] = conn
	e.conns = append(e.conns, c)
	return dir, conn, true
}

// ofColumn reports whether a column is the payload of a protocol in tshark's notation.
func ofColumn(name, proto string) bool {
	name = strings.ToLower(name)
	return name == proto+".payload" || strings.HasSuffix(name, "."+proto+".payload")
}

// tell adds the ends to the paste. Payloads of TCP and UDP are segments of connections; other rows with ends are messages.
func (e *rowEnds) tell(b *builder) {
	if e == nil || len(e.conns) == 0 {
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
