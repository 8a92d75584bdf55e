package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"wirebench/server/store"
)

// ErrNotEmpty reports that a cluster has data.
var ErrNotEmpty = errors.New("the cluster has data already: give it a NATS account of its own, or remove its streams WIREBENCH_LOG, KV_wirebench-cluster and OBJ_wirebench-snapshots")

// Import makes a data folder, which no server uses, the beginning of a cluster that has nothing yet. The folder stays as it is. It returns the bytes of the copy.
func Import(ctx context.Context, o Options) (int64, error) {
	plan, err := store.Plan(o.Data.Path(), true)
	if err != nil {
		return 0, err
	}
	if _, err := os.Lstat(o.Data.Path(markFile)); err == nil {
		return 0, fmt.Errorf("folder %s is that of a node of a cluster: take the data from the cluster", o.Data.Path())
	}
	if len(plan.Libraries) > 0 {
		var all []string
		for _, x := range plan.Libraries {
			all = append(all, fmt.Sprintf("%s (%s)", x.Project, x.Folder))
		}
		return 0, fmt.Errorf("projects with definitions in folders of this machine cannot be in a cluster: %s: make a project of a copy of each, with definitions of its own, and delete these for good",
			strings.Join(all, ", "))
	}
	n, err := connect(ctx, o)
	if err != nil {
		return 0, err
	}
	defer n.conn.Close()
	empty := func() error {
		_, last, err := n.last(ctx)
		if err == nil && last > 0 {
			err = ErrNotEmpty
		}
		return err
	}
	_, rev, err := n.lastCopy(ctx)
	if err == nil && rev > 0 {
		err = ErrNotEmpty
	}
	if err = errors.Join(err, empty()); err != nil {
		return 0, err
	}
	c, err := n.putCopy(ctx, o.Data.Path(), 0)
	if err != nil {
		return 0, err
	}
	if err := n.setCopy(ctx, c, 0); err != nil {
		return 0, errors.Join(err, n.copies.Delete(ctx, c.Object))
	}
	if err := empty(); err != nil { // a node has begun meanwhile, without the copy
		return 0, errors.Join(err, n.state.Delete(ctx, copyKey), n.copies.Delete(ctx, c.Object))
	}
	return c.Bytes, nil
}

// Export fills an empty folder, which is claimed, with the data of a cluster as of now: it is a data folder of its own then. Nodes may run meanwhile.
func Export(ctx context.Context, o Options) error {
	n, err := Join(ctx, o)
	if err != nil {
		return err
	}
	defer n.Close()
	_, last, err := n.last(ctx)
	if err != nil {
		return err
	}
	if _, rev, err := n.lastCopy(ctx); err != nil || last == 0 && rev == 0 {
		return errors.Join(err, errors.New("the cluster has no data"))
	}
	if err := n.read(ctx, last, nil); err != nil {
		return err
	}
	if err := n.replica.save(); err != nil {
		return err
	}
	return os.Remove(o.Data.Path(markFile))
}
