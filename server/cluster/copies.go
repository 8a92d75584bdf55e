package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/store"
	"wirebench/server/supervise"
)

const (
	cutEvery   = 10        // renewals, between two looks whether the log is to be cut
	copyAfter  = 256 << 20 // bytes of the log, or twice those of the last copy if that is more
	fillTries  = 5
	fillPause  = time.Second
	copyPrefix = "copy-"
)

// copied is the content of the key of the last copy.
type copied struct {
	Object string `json:"object"`
	Seq    uint64 `json:"seq"` // of the log: the copy has the changes up to it, and may have some of those behind
	Bytes  int64  `json:"bytes"`
}

// lastCopy returns what is known of the last copy, and the revision of its key: 0 if there is none.
func (n *Node) lastCopy(ctx context.Context) (c copied, rev uint64, err error) {
	err = again(ctx, n.Log, "a copy of the folder", func(ctx context.Context) error {
		e, err := n.state.Get(ctx, copyKey)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil
		}
		if err == nil {
			rev = e.Revision()
			err = json.Unmarshal(e.Value(), &c)
		}
		return err
	})
	return c, rev, err
}

// cut puts a copy of the folder into the object store if the log has grown, and removes from the log what the copy has.
func (n *Node) cut(ctx context.Context, w *writer) error {
	info, err := n.stream.Info(ctx)
	if err != nil {
		return err
	}
	last, rev, err := n.lastCopy(ctx)
	if err != nil {
		return err
	}
	after := n.CopyAfter
	if after == 0 {
		after = max(copyAfter, 2*uint64(last.Bytes))
	}
	if info.State.Bytes < after {
		return nil
	}
	apart := w.apart.Load()
	next, err := n.putCopy(ctx, n.replica.dir, n.replica.at().Seq)
	if err != nil {
		return err
	}
	if w.apart.Load() != apart { // the copy may have a folder under two names
		_ = n.copies.Delete(ctx, next.Object)
		return nil
	}
	if err := n.setCopy(ctx, next, rev); err != nil {
		_ = n.copies.Delete(ctx, next.Object)
		return err
	}
	n.count.Copies.Add(1)
	if err := n.stream.Purge(ctx, jetstream.WithPurgeSequence(next.Seq+1)); err != nil {
		return err
	}
	n.Log.Info("the log of the cluster was cut", "bytes", info.State.Bytes, "copy", next.Bytes, "at", next.Seq)
	return n.dropCopies(ctx, next.Object, last.Object)
}

// putCopy puts a copy of a folder into the object store, which has all changes up to a message.
func (n *Node) putCopy(ctx context.Context, dir string, seq uint64) (copied, error) {
	out := copied{Object: fmt.Sprintf("%s%d-%d", copyPrefix, seq, time.Now().UnixNano()), Seq: seq}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, w := io.Pipe()
	defer r.Close()
	var group supervise.Group
	defer group.Wait()
	defer r.Close() // before the wait
	group.Go("cluster", func(err error) { w.CloseWithError(err) }, func() { w.CloseWithError(store.Copy(w, dir)) })
	info, err := n.copies.Put(ctx, jetstream.ObjectMeta{Name: out.Object, Opts: &jetstream.ObjectMetaOptions{ChunkSize: 256 << 10}}, r)
	if err != nil {
		return out, err
	}
	out.Bytes = int64(info.Size)
	return out, nil
}

// setCopy makes a copy the last one, in the place of that of a revision.
func (n *Node) setCopy(ctx context.Context, c copied, rev uint64) (err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if rev == 0 {
		_, err = n.state.Create(ctx, copyKey, text)
	} else {
		_, err = n.state.Update(ctx, copyKey, text, rev)
	}
	return err
}

// dropCopies removes all copies but two.
func (n *Node) dropCopies(ctx context.Context, keep ...string) error {
	all, err := n.copies.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.Name != keep[0] && x.Name != keep[1] {
			if err := n.copies.Delete(ctx, x.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill makes the folder the last copy, or empties it if the log has everything.
func (n *Node) fill(ctx context.Context) error {
	for try := 1; ; try++ {
		err := n.fillOnce(ctx)
		if err == nil || ctx.Err() != nil || try == fillTries {
			return err
		}
		n.Log.Warn("the folder cannot be filled from the cluster; trying again", "error", err) // the copy may have been replaced by a newer one
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fillPause):
		}
	}
}

func (n *Node) fillOnce(ctx context.Context) error {
	first, _, err := n.last(ctx)
	if err != nil {
		return err
	}
	c, rev, err := n.lastCopy(ctx)
	if err != nil {
		return err
	}
	if rev == 0 && first > 1 {
		return errors.New("the log in NATS has no beginning, and there is no copy of the folder")
	}
	if err := n.replica.clear(); err != nil {
		return err
	}
	if rev > 0 {
		o, err := n.copies.Get(ctx, c.Object)
		if err != nil {
			return fmt.Errorf("get %s: %w", c.Object, err)
		}
		err = store.Fill(o, n.replica.root)
		if err = errors.Join(err, o.Error(), o.Close()); err != nil {
			return fmt.Errorf("get %s: %w", c.Object, err)
		}
	}
	return n.replica.reset(mark{n.made, c.Seq})
}
