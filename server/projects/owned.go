package projects

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"wirebench/server/store"
)

// owned is a library in a folder of another program, such as a checkout of a repository. Only definitions and code maps are written there:
// new samples are kept in the data folder, unless the folder has samples of its own.
type owned struct {
	*store.Dir
	samples *store.Dir
	sampled atomic.Bool // the folder has samples
}

func isSamples(name string) bool { return strings.HasSuffix(name, store.SamplesEnding) }

// List merges the files of both folders. Those of the library take precedence.
func (o *owned) List() (files []store.File, skipped []string, err error) {
	files, skipped, err = o.Dir.List()
	if err != nil {
		return nil, nil, err
	}
	o.sampled.Store(slices.ContainsFunc(files, func(f store.File) bool { return isSamples(f.Name) }))
	ours, _, err := o.samples.List()
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name] = true
	}
	for _, f := range ours {
		switch {
		case !isSamples(f.Name):
		case there[f.Name]:
			skipped = append(skipped, f.Name+": the folder of the library has other samples of this definition, which are used instead")
		default:
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b store.File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(skipped)
	return files, skipped, nil
}

// of returns the folder of a file.
func (o *owned) of(name string) *store.Dir {
	if !isSamples(name) {
		return o.Dir
	}
	if _, err := o.Dir.Read(name); err == nil {
		return o.Dir
	}
	if _, err := o.samples.Read(name); err != nil && o.sampled.Load() {
		return o.Dir
	}
	return o.samples
}

func (o *owned) Read(name string) (store.File, error) { return o.of(name).Read(name) }

func (o *owned) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	return o.of(name).Write(name, text, expect)
}

func (o *owned) Append(name string, line []byte) error { return o.of(name).Append(name, line) }

func (o *owned) Remove(name string, expect *store.Revision) error {
	return o.of(name).Remove(name, expect)
}

// Watch follows the folder of the library: the samples in the data folder change only here.
func (o *owned) Watch(ctx context.Context, changed func()) error { return o.Dir.Watch(ctx, changed) }
