package proxy

import (
	"bytes"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Data put in comes out once, complete and in order, however slowly it is taken, and the queue is bounded.
func TestIntake(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Millisecond} {
		in := newIntake()
		var all sync.WaitGroup
		next, got, most := 0, 0, 0
		all.Go(func() {
			in.each(func(d datagram) {
				got++
				n := int(d.from.Port())
				if n < next || len(d.data) > 0 && d.data[0] != byte(n) || !bytes.Equal(d.data, bytes.Repeat([]byte{byte(n)}, len(d.data))) {
					t.Errorf("number %d comes after %d, or with other bytes", n, next)
				}
				next = n + 1
				time.Sleep(slow)
			})
		})
		taken := 0
		for i := range 2000 {
			if in.put(netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(i)), time.Time{}, bytes.Repeat([]byte{byte(i)}, i*37%maxDatagram)) {
				taken++
			}
			in.mu.Lock()
			most = max(most, in.bytes)
			in.mu.Unlock()
		}
		in.close()
		all.Wait()
		if got != taken || most > maxIntake || slow > 0 && taken == 2000 {
			t.Errorf("%d come of %d that were taken, %d bytes waited", got, taken, most)
		}
		if in.bytes != 0 {
			t.Errorf("%d bytes remain", in.bytes)
		}
	}
}
