package page

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path"
	"strings"

	"wirebench/defs/emit"
)

// vectorsOnPage is how many messages of each kind the test has that is written beside code.
const vectorsOnPage = 3

// emitOpen writes the messages of the open definition as code, as its text is now.
func (p *work) emitOpen(target string) {
	t, ok := emit.Find(target)
	if !ok || p.use == nil {
		p.notice("There is no definition to write as code: open one first.")
		return
	}
	picked, left := p.use.Snap.PickMessages(p.use.Messages())
	if len(picked.Messages) == 0 {
		p.notice(fmt.Sprintf("Nothing is written: the definitions of %d messages have mistakes.", len(left)))
		return
	}
	name := strings.TrimSuffix(path.Base(p.use.File.Name), path.Ext(p.use.File.Name))
	if p.ws.Snapshot.Dialect.Versions && p.use.Message != nil {
		name = p.use.Message.Name
	}
	files, losses := t.Emit(picked, emit.Options{Name: strings.ToLower(name), Vectors: p.use.Snap.Vectors(picked, vectorsOnPage)})
	var out []Export
	for _, f := range files {
		out = append(out, Export{f.Name, "text/plain; charset=utf-8", f.Text})
	}
	p.export = &Exports{Title: t.Title, Files: out}
	for _, l := range losses {
		p.export.Losses = append(p.export.Losses, l.String())
	}
	for _, m := range left {
		p.export.Losses = append(p.export.Losses, p.use.Snap.NameOf(m)+": left out, its definition has mistakes")
	}
}

// zipped is several files as one.
func zipped(files []Export) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(f.Text)); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return buf.Bytes(), err
}
