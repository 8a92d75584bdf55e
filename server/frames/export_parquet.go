package frames

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"wirebench/codec/parquet"
	"wirebench/codec/transport"
	"wirebench/server/lake"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// parquetFiles writes an archive of Parquet files, which are complete only when all frames are known: they are in a temporary folder until then.
// Frames without a definition are in none of them: the last file of the archive, export.json, says how many.
type parquetFiles struct {
	*Export
	conns *live.ConnReader
	read  *workspace.Reading
	dir   string
	lake  *lake.Writer
	none  int // frames without a definition
}

func newParquet(x *Export) (exporter, error) {
	dir, err := os.MkdirTemp("", "wirebench-export-*")
	if err != nil {
		return nil, err
	}
	to, err := lake.New(dir, x.Snapshot.Schema().Messages)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &parquetFiles{Export: x, conns: x.Log.ConnReader(), read: workspace.NewReading(x.Snapshot), dir: dir, lake: to}, nil
}

func (x *parquetFiles) frame(n int, e live.Entry, f *transport.Frame) error {
	x.read.Take(f)
	p, message := x.read.Program()
	if p == nil {
		x.none++
		return nil
	}
	row := parquet.RowOf(f)
	row.Capture, row.Conn, row.N = x.Capture.Name, x.conns.Of(e).Name, uint64(n)
	return x.lake.Add(p, message, row)
}

func (x *parquetFiles) end() error {
	files, err := x.lake.Close()
	if err != nil {
		return err
	}
	archive := zip.NewWriter(x.out)
	for _, f := range files {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		to, err := archive.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Store}) // they are compressed
		if err != nil {
			return err
		}
		if err := copyFile(to, filepath.Join(x.dir, f.Path)); err != nil {
			return err
		}
	}
	to, err := archive.Create("export.json")
	if err != nil {
		return err
	}
	said := struct {
		Undefined int         `json:"undefined"` // frames that are in no file
		Files     []lake.File `json:"files"`
	}{x.none, files}
	if err := json.NewEncoder(to).Encode(said); err != nil {
		return err
	}
	return archive.Close()
}

func copyFile(to io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}

// Close removes what is left, also of an export that failed.
func (x *parquetFiles) Close() error {
	x.lake.Abandon()
	return os.RemoveAll(x.dir)
}
