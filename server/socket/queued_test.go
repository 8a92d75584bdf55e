package socket

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
)

// What waits in all channels of one person has a bound, below the sum of what each may have; what is received makes room.
func TestQueuesOfOnePerson(t *testing.T) {
	const size = 1 << 20
	message := make(json.RawMessage, size)
	queued := &atomic.Int64{}
	var all []*Channel
	closed := 0
	for range 100 {
		c := &Channel{limit: 8 << 20, in: make(chan json.RawMessage, maxWaiting), queued: queued, end: func(err error) {
			if !errors.Is(err, errTooMany) {
				t.Error(err)
			}
			closed++
		}}
		c.take(message)
		all = append(all, c)
	}
	if want := 100 - maxQueued/size; closed != want {
		t.Errorf("%d of 100 channels are closed, not %d", closed, want)
	}
	for _, c := range all[:maxQueued/size] {
		if _, err := c.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := queued.Load(); left != int64(closed)*size {
		t.Errorf("%d bytes wait, with %d channels to be closed", left, closed)
	}
}
