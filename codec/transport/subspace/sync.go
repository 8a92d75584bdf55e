package subspace

import (
	"encoding/binary"
	"fmt"

	"wirebench/defs/schema"
)

// syncs holds the counts in the last sync request of one end, which are those of the whole session.
type syncs struct {
	counted  bool
	sent     uint32 // its count of datagrams sent
	received uint32
	out      int64 // datagrams captured before it, in its direction
	in       int64 // in the other direction
}

// sync reads a time request, which contains its sender's counts of datagrams sent and received.
func (t *Transport) sync(w *way, data []byte, off uint32) {
	note := sized(len(data) == syncSize || len(data) == oldSyncSize && w.dir == schema.ToClient) // the short form is of old servers
	if len(data) == syncSize {
		now := syncs{
			counted: true, sent: binary.LittleEndian.Uint32(data[sentAt:]), received: binary.LittleEndian.Uint32(data[receivedAt:]),
			out: w.count, in: t.other(w).count,
		}
		if s := w.sync; s.counted {
			sent, received := int64(int32(now.sent-s.sent)), int64(int32(now.received-s.received))
			if out, in := now.out-s.out, now.in-s.in; sent != out || received != in {
				note = fmt.Sprintf("since the last one its sender counts %d datagrams sent and %d received; the capture has %d and %d",
					sent, received, out, in)
			}
		}
		w.sync = now
	}
	t.control(w, data, off, note)
}
