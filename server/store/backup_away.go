package store

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// awayCaptures are captures of a data folder whose bytes are only in the place of captures: a backup has their descriptions, and a server with that place
// reads them.
type awayCaptures struct {
	of map[awayOf]*awayCount
}

type awayOf struct{ project, place string }

type awayCount struct {
	captures int
	bytes    int64
}

// see looks at a file of a backup.
func (a *awayCaptures) see(at, name string, e fs.DirEntry) error {
	id, ok := strings.CutSuffix(e.Name(), remoteEnding)
	if !ok || e.IsDir() {
		return nil
	}
	if _, err := os.Lstat(strings.TrimSuffix(at, remoteEnding) + captureEnding); err == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	defer root.Close()
	r, err := readRemote(root, id)
	key := awayOf{path.Dir(path.Dir(name)), "a place that " + name + " does not say, as it is damaged"}
	if err == nil && r != nil {
		if r.Removed || !r.Whole {
			return nil
		}
		key.place = r.Place
	}
	if a.of == nil {
		a.of = map[awayOf]*awayCount{}
	}
	n := a.of[key]
	if n == nil {
		n = &awayCount{}
		a.of[key] = n
	}
	n.captures++
	if r != nil {
		n.bytes += r.Size
	}
	return nil
}

// left says what is not in the backup.
func (a *awayCaptures) left() (out []string) {
	for key, n := range a.of {
		were := fmt.Sprintf("the bytes of %d captures", n.captures)
		if n.captures == 1 {
			were = "the bytes of 1 capture"
		}
		out = append(out, fmt.Sprintf("%s of project %s, %s, which are only in %s", were, key.project, sizeText(n.bytes), key.place))
	}
	slices.Sort(out)
	return out
}
