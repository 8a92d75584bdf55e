package captures

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"wirebench/codec/packet"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// A capture whose bytes are in the place of captures has indexes beside it, each with its frames by a reading. Where there is one, opening the capture
// reads its directory, and frames are read when they are needed.

// RetryBroken is the time after which a capture whose place could not be read is opened again.
const RetryBroken = 5 * time.Second

// about is what an index says of a capture beside its frames.
type about struct {
	Capture  int64          `json:"capture"` // bytes of its file
	Summary  packet.Summary `json:"summary"`
	Packets  int64          `json:"packets"`
	Problems int64          `json:"problems"`
	Ciphered []string       `json:"ciphered,omitempty"` // connections
}

// indexReading returns a hash of everything that the index of a capture depends on. It is stable across restarts.
func indexReading(snap *workspace.Snapshot, x store.Capture) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", live.IndexVersion, snap.Dialect.Name, Numbering(snap, x)))
	return hex.EncodeToString(sum[:16])
}

// Filled sets a function that is called with each capture whose file was read to its end, and the hash of that reading. It is set before captures are
// opened.
func (c *Set) Filled(f func(ws *workspace.Workspace, x store.Capture, reading string, o *Capture)) {
	c.filled = f
}

// adopt makes an empty log that of an index of a capture. It returns false if there is no index that can be used: then the file is to be read.
func (c *Set) adopt(ws *workspace.Workspace, o *Capture, snap *workspace.Snapshot, x store.Capture) bool {
	if !x.Away || o.tail != nil {
		return false
	}
	index, ok := ws.Captures.IndexOf(x.ID, indexReading(snap, x))
	if !ok {
		return false
	}
	from := ws.Captures.OpenIndex(index)
	drop := func(err error) { // it stays if it can be read another time
		if errors.Is(err, store.ErrAway) && !store.Lost(err) {
			return
		}
		if err := ws.Captures.DropIndex(x.ID, index.Object); err != nil {
			ws.Log.Error("an index that cannot be used stays", "index", index.Object, "error", err)
		}
	}
	d, say, err := directoryOf(from, x)
	if err != nil {
		ws.Log.Warn("an index of a capture cannot be used: the capture is read instead", "file", ws.Captures.Path(x.ID), "index", index.Object, "error", err)
		drop(err)
		return false
	}
	o.sum = say.Summary
	o.packets.Store(say.Packets)
	o.problems.Store(say.Problems)
	for _, name := range say.Ciphered {
		o.ciphered.Store(name, true)
	}
	o.log.Adopt(d, c.blocks, func(off int64, n int, sum [16]byte) ([]byte, error) {
		block, err := from.Read(off, n, sum)
		if err != nil {
			drop(err)
		}
		return block, err
	})
	o.read.Store(x.Size)
	return true
}

// directoryOf reads the directory of an index of a capture.
func directoryOf(from *store.IndexFile, x store.Capture) (d *live.Directory, say about, err error) {
	text, err := from.Directory()
	if err == nil {
		d, err = live.ParseDirectory(text)
	}
	if err == nil {
		err = json.Unmarshal(d.About, &say)
	}
	if err == nil && say.Capture != x.Size {
		err = fmt.Errorf("it is of a capture of %d bytes", say.Capture)
	}
	return d, say, err
}

// WriteIndex writes the index of a capture that was read to its end, and returns where its directory begins and the sum of that.
func (o *Capture) WriteIndex(w io.Writer) (head int64, sum store.Sum, err error) {
	if !o.complete() || o.Err() != nil {
		return 0, sum, errors.New("the capture has not been read to its end")
	}
	size, _ := o.Progress()
	say := about{Capture: size, Summary: o.sum, Packets: o.packets.Load(), Problems: o.problems.Load()}
	say.Summary.Conns = nil // the log has them
	o.ciphered.Range(func(name, _ any) bool {
		say.Ciphered = append(say.Ciphered, name.(string))
		return true
	})
	text, err := json.Marshal(say)
	if err != nil {
		return 0, sum, err
	}
	head, directory, err := o.log.WriteIndex(w, text, func(block []byte) [16]byte { return store.SumOf(block) })
	return head, store.SumOf(directory), err
}

// Broken reports whether frames are missing since the place of captures could not be read. From the first time on that it is seen, Get waits RetryBroken, and
// then reads the capture again.
func (o *Capture) Broken() bool {
	if !errors.Is(o.Err(), store.ErrAway) {
		return false
	}
	o.broke.CompareAndSwap(0, time.Now().UnixNano())
	return true
}

// broken reports whether the place of captures could not be read for the capture, some time ago. The caller holds the lock of the set.
func (o *Capture) broken(now time.Time) bool {
	return o.Broken() && now.Sub(time.Unix(0, o.broke.Load())) >= RetryBroken
}
