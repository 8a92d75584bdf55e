package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"wirebench/server/objects"
	"wirebench/server/store"
)

// openLake opens the lake of --lake; nil if there is none.
func openLake(ctx context.Context, place string, every time.Duration, data *store.Data, log *slog.Logger) (to objects.Store, err error) {
	if place == "" {
		return nil, nil
	}
	if every < time.Second || every > 24*time.Hour {
		return nil, fmt.Errorf("--lake-every %v: must be 1s to 24h", every)
	}
	if to, err = openObjects(ctx, place, data.Path(store.StageFolder), log); err != nil {
		return nil, fmt.Errorf("--lake: %w", err)
	}
	return to, nil
}

// openObjects opens a folder, or a bucket with a folder of this machine for files on their way there. A service that does not answer now is no error: what
// needs it says so, and tries again.
func openObjects(ctx context.Context, place, stage string, log *slog.Logger) (objects.Store, error) {
	if !strings.HasPrefix(place, "s3:") {
		return objects.OpenFolder(place)
	}
	b, err := objects.OpenBucket(place, stage)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	if err = b.Reach(ctx); errors.Is(err, objects.ErrUnreached) {
		log.Warn("the service of a bucket does not answer; going on without it", "bucket", b, "error", err)
		err = nil
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// reachTime is the time in which the service of a bucket is to answer at the start.
const reachTime = 3 * time.Second

// leastCache is the least of --captures-cache: a few blocks of open captures.
const leastCache = 64 << 20

// openCaptures opens the place of --captures, in which the projects of a data folder keep their captures; nil if there is none.
func openCaptures(ctx context.Context, place string, cache int64, data *store.Data, log *slog.Logger) (closed func(), err error) {
	if place == "" {
		return func() {}, nil
	}
	if cache < leastCache {
		return nil, fmt.Errorf("--captures-cache %d: must be at least %d", cache, leastCache)
	}
	in, err := openObjects(ctx, place, data.Path(store.PlaceFolder, "stage"), log)
	if err != nil {
		return nil, fmt.Errorf("--captures: %w", err)
	}
	p, err := store.OpenPlace(in, data.Path(store.PlaceFolder, "blocks"), cache, log)
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("--captures: %w", err)
	}
	data.KeepIn(p)
	return func() {
		p.Close()
		if err := in.Close(); err != nil {
			log.Warn("the place of captures was not closed", "place", p, "error", err)
		}
	}, nil
}
