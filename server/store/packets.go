package store

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
)

// maxPlaces is how many captures the places of packets are remembered of.
const maxPlaces = 16

// packetPlaces is what is known of where the packets of a capture are.
type packetPlaces struct {
	mu    sync.Mutex // held while packets are looked for
	index pcap.Index
	size  int64
	at    time.Time // of the file, when the index was begun
	used  time.Time
}

// Packets emits the packets of a capture file with the numbers that are wanted, which rise, until emit returns false. A packet is valid until
// emit has returned. The errors are those of Open, pcap.ErrFormat, wrapped, for what is no capture file, and that of ctx.
func (c *Captures) Packets(ctx context.Context, id string, want []uint32, emit func(*packet.Packet) bool) error {
	file, err := c.Open(id)
	if err != nil {
		return err
	}
	defer file.Close()
	on, ok := file.(*os.File)
	if !ok {
		return &fs.PathError{Op: "read", Path: id, Err: errNotRegular}
	}
	info, err := on.Stat()
	if err != nil {
		return err
	}
	p := c.placesOf(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size != info.Size() || !p.at.Equal(info.ModTime()) {
		p.index, p.size, p.at = pcap.Index{}, info.Size(), info.ModTime() // somebody has put another file there
	}
	return p.index.Packets(&untilDone{on, ctx}, want, emit)
}

// placesOf is what is remembered of a capture. The one that was not asked for the longest gives way.
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

// untilDone is a file that cannot be read any more when a context has ended.
type untilDone struct {
	*os.File
	ctx context.Context
}

func (f *untilDone) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

var _ io.ReadSeeker = (*untilDone)(nil)
