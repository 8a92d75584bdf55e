package parquet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	pq "github.com/parquet-go/parquet-go"
)

// Source is a file that was written here.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Copy writes the rows of files with the same columns as one file, those of captures for which keep is true; nil keeps all. It returns the number of
// rows, and the captures that they are of.
func Copy(to io.Writer, keep func(capture string) bool, from ...Source) (rows int, captures []string, err error) {
	var w *pq.GenericWriter[any]
	grouped := 0 // rows in complete row groups
	kept := keeper{keep: keep, captures: map[string]bool{}}
	for i, one := range from {
		file, err := pq.OpenFile(one, one.Size(), pq.SkipBloomFilters(true))
		if err != nil {
			return rows, nil, err
		}
		if i == 0 {
			w = pq.NewGenericWriter[any](to, optionsOf(file)...)
		} else if a, b := w.Schema(), file.Schema(); !pq.SameNodes(a, b) {
			return rows, nil, fmt.Errorf("files of different columns: %v, %v", a, b)
		}
		for _, group := range file.RowGroups() {
			kept.Rows = group.Rows()
			n, err := pq.CopyRows(w, &kept)
			rows += int(n)
			if err = errors.Join(err, kept.Rows.Close()); err != nil {
				return rows, nil, err
			}
			if rows-grouped >= leastGroup {
				if err := w.Flush(); err != nil {
					return rows, nil, err
				}
				grouped = rows
			}
		}
	}
	if w == nil {
		return 0, nil, nil
	}
	return rows, slices.Sorted(maps.Keys(kept.captures)), w.Close()
}

// leastGroup is the number of rows from which on a row group is complete.
const leastGroup = 1 << 15

// optionsOf returns what a file was written with.
func optionsOf(file *pq.File) []pq.WriterOption {
	options := []pq.WriterOption{file.Schema(), pq.Compression(compression), pq.CreatedBy("wirebench", "", ""), pq.DictionaryMaxBytes(maxDictionary)}
	for _, pair := range file.Metadata().KeyValueMetadata {
		options = append(options, pq.KeyValueMetadata(pair.Key, pair.Value))
	}
	return options
}

// keeper reads the rows that are kept.
type keeper struct {
	pq.Rows
	keep     func(capture string) bool
	captures map[string]bool // of rows that were read: whether they are kept
	last     string
	lastKept bool
}

// ReadRows implements pq.RowReader.
func (k *keeper) ReadRows(rows []pq.Row) (n int, err error) {
	for n == 0 && err == nil {
		var read int
		read, err = k.Rows.ReadRows(rows)
		for i := range rows[:read] {
			if k.keeps(rows[i]) {
				rows[n], rows[i] = rows[i], rows[n]
				n++
			}
		}
	}
	return n, err
}

// keeps reports whether a row is kept: its first column is the capture.
func (k *keeper) keeps(row pq.Row) bool {
	if string(row[0].ByteArray()) == k.last && k.last != "" {
		return k.lastKept
	}
	k.last = string(row[0].ByteArray())
	if k.lastKept = k.keep == nil || k.keep(k.last); k.lastKept {
		k.captures[k.last] = true
	}
	return k.lastKept
}
