package store

import (
	"context"
	"io"
	"sync"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
)

// maxPlaces is the number of captures whose packet positions are cached.
const maxPlaces = 16

// packetPlaces is the index of the packets of a capture, as far as it has been read.
type packetPlaces struct {
	mu    sync.Mutex // held during a search
	index pcap.Index
	size  int64
	at    time.Time // modification time of the file when the index was begun
	used  time.Time
}

// Packets emits the packets of a capture file with the numbers in want, which must ascend, until emit returns false. A packet is valid only
// during the call of emit. The errors are those of Open, a wrapped pcap.ErrFormat for a file that is not a capture file, and that of ctx.
func (c *Captures) Packets(ctx context.Context, id string, want []uint32, emit func(*packet.Packet) bool) error {
	file, err := c.Open(id)
	if err != nil {
		return err
	}
	defer file.Close()
	size, written, err := file.State()
	if err != nil {
		return err
	}
	p := c.placesOf(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size != size || !p.at.Equal(written) {
		p.index, p.size, p.at = pcap.Index{}, size, written // the file has been replaced
	}
	return p.index.Packets(&untilDone{file, ctx}, want, emit)
}

// placesOf returns the index of a capture. The least recently used one is evicted.
func (c *Captures) placesOf(id string) *packetPlaces {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.places[id]
	if p == nil {
		oldest := ""
		for other, x := range c.places {
			if oldest == "" || x.used.Before(c.places[oldest].used) {
				oldest = other
			}
		}
		if len(c.places) >= maxPlaces {
			delete(c.places, oldest)
		}
		p = &packetPlaces{}
		c.places[id] = p
	}
	p.used = time.Now()
	return p
}

func (c *Captures) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.places, id)
}

// untilDone is a file whose reads fail once a context is done.
type untilDone struct {
	io.ReadSeeker
	ctx context.Context
}

func (f *untilDone) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.ReadSeeker.Read(p)
}
