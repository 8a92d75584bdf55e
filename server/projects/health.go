package projects

import (
	"errors"
	"sync"
	"time"

	"wirebench/server/supervise"
)

// Anyone may ask for the health of a server: the disk is tried once in so many seconds at most, and a disk that hangs holds nobody for longer.
const (
	healthAge  = 5 * time.Second
	healthWait = 2 * time.Second
)

var errHangs = errors.New("the file system does not respond")

// health is the last result of trying the data folder.
type health struct {
	mu    sync.Mutex
	at    time.Time
	err   error
	tries chan struct{} // closed at the end of the try that is under way; nil: none is
}

// check returns the last result of try, or that of a new one if it is old.
func (h *health) check(try func() error) error {
	h.mu.Lock()
	if h.tries == nil && (h.at.IsZero() || time.Since(h.at) >= healthAge) {
		done := make(chan struct{})
		h.tries = done
		const part = "check of the data folder"
		supervise.Go(part, nil, func() { h.end(done, supervise.Do(part, try)) })
	}
	tries, err := h.tries, h.err
	h.mu.Unlock()
	if tries == nil {
		return err
	}
	wait := time.NewTimer(healthWait)
	defer wait.Stop()
	select {
	case <-tries:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err
	case <-wait.C:
		return errHangs
	}
}

// end keeps the result of a try.
func (h *health) end(try chan struct{}, err error) {
	h.mu.Lock()
	h.at, h.err, h.tries = time.Now(), err, nil
	h.mu.Unlock()
	close(try)
}
