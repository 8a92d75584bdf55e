package frames

import (
	"net/netip"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Ways to tell the ends of connections apart, in ConnsQuery.
const (
	endsByPort    = "port"    // by address and port
	endsByAddress = "address" // by address
)

// maxEndRows is the maximum number of ends that are distinguished.
const maxEndRows = 5000

// EndRow is an end of connections. Times are microseconds since 1970.
type EndRow struct {
	Name     string `json:"name" doc:"address:port, or an address"`
	Conns    int    `json:"conns" doc:"connections that it is an end of"`
	Sent     int    `json:"sent" doc:"frames that it sent"`
	Got      int    `json:"got" doc:"frames that it received"`
	SentSize int64  `json:"sent_bytes"`
	GotSize  int64  `json:"got_bytes"`
	First    int    `json:"first" doc:"number of its first frame in the list, from 1"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
}

// ends sums up the ends of the connections of frames.
type ends struct {
	by   string
	rows []*EndRow
	of   map[string]*EndRow
	pair map[connKey][2]*EndRow // client and server; nil for an end that is not distinguished
	more map[string]bool
}

// connKey is a connection of a log: its index is used again by a later one.
type connKey struct {
	conn uint32
	name string
}

func newEnds(by string) *ends {
	return &ends{by, []*EndRow{}, map[string]*EndRow{}, map[connKey][2]*EndRow{}, map[string]bool{}}
}

// add counts a frame of the list for both ends of its connection.
func (s *ends) add(i int, e live.Entry, c *live.Conn) {
	key := connKey{e.Conn, c.Name}
	pair, known := s.pair[key]
	if !known {
		client, server, _ := strings.Cut(c.Name, "-")
		pair = [2]*EndRow{s.row(client, i, e), s.row(server, i, e)}
		s.pair[key] = pair
		for side, row := range pair {
			if row != nil && (side == 0 || row != pair[0]) {
				row.Conns++
			}
		}
	}
	for side, row := range pair {
		if row == nil {
			continue
		}
		row.From, row.To = min(row.From, e.At/1000), max(row.To, e.At/1000)
		switch {
		case e.Kind == transport.Problem:
		case (e.Dir == schema.ToServer) == (side == 0):
			row.Sent++
			row.SentSize += int64(e.Len)
		default:
			row.Got++
			row.GotSize += int64(e.Len)
		}
	}
}

// row returns the row of an end, nil if there are too many, or if a connection has none: those of logs have other names.
func (s *ends) row(end string, i int, e live.Entry) *EndRow {
	at, err := netip.ParseAddrPort(end)
	switch {
	case err != nil:
		return nil
	case s.by == endsByAddress:
		end = at.Addr().String()
	}
	row := s.of[end]
	switch {
	case row != nil:
	case len(s.rows) == maxEndRows:
		s.more[end] = true
	default:
		row = &EndRow{Name: end, First: i + 1, From: e.At / 1000, To: e.At / 1000}
		s.of[end], s.rows = row, append(s.rows, row)
	}
	return row
}
