package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"wirebench/codec/parquet"
	"wirebench/codec/transport"
	"wirebench/server/lake"
	"wirebench/server/workspace"
)

// export writes the frames that have definitions to Parquet files in a folder.
func (f *frameLister) export(cmd *cobra.Command, snap *workspace.Snapshot, paths []string, dir string) (err error) {
	if dir == "" {
		return errors.New("--parquet: needs the name of a folder")
	}
	if f.lake, err = lake.New(dir, snap.Schema().Messages); err != nil {
		return err
	}
	if err := f.run(cmd, snap, paths); err != nil {
		f.lake.Abandon()
		return err
	}
	files, err := f.lake.Close()
	if err != nil {
		return err
	}
	rows := 0
	for _, file := range files {
		rows += file.Rows
		for _, r := range file.Renamed {
			note(cmd, "note: %s: field %s is column %s", file.Path, r.Path, r.Column)
		}
	}
	note(cmd, "%s: %d rows in %d files", dir, rows, len(files))
	if f.unlaked > 0 {
		note(cmd, "note: %d frames have no definition, and are in no file", f.unlaked)
	}
	return nil
}

// addRow adds a frame to the files.
func (f *frameLister) addRow(x *transport.Frame, in workspace.Listed) {
	if f.failed != nil {
		return
	}
	p, message := f.reading.Program()
	if p == nil {
		f.unlaked++
		return
	}
	row := parquet.RowOf(x)
	row.Capture, row.Conn = cmp.Or(f.file, "-"), in.Conn
	f.failed = f.lake.Add(p, message, row)
}
