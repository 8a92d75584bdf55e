package page

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path"
	"strings"

	"wirebench/defs/emit"
)

// vectorsOnPage is the number of messages of each kind in the test written beside code.
const vectorsOnPage = 3

// emitOpen writes the messages of the open definition as code, from its current text.
func (p *work) emitOpen(target string) {
	t, ok := emit.Find(target)
	if !ok || p.use == nil {
		p.notice("There is no definition to write as code: open one first.")
		return
	}
	picked, left := p.use.Snap.PickMessages(p.use.Messages())
	if len(picked.Messages) == 0 {
		p.notice(fmt.Sprintf("No code was written: the definitions of %d messages have mistakes.", len(left)))
		return
	}
	name := strings.TrimSuffix(path.Base(p.use.File.Name), path.Ext(p.use.File.Name))
	if p.ws.Snapshot.Dialect.Versions && p.use.Message != nil {
		name = p.use.Message.Name
	}
	files, losses := p.use.Snap.Emit(t, picked, strings.ToLower(name), vectorsOnPage)
	if err := p.use.Snap.Written(t, picked, left, losses); err != nil {
		p.notice("No code was written: " + err.Error() + ".")
		return
	}
	var out []Export
	for _, f := range files {
		out = append(out, Export{f.Name, "text/plain; charset=utf-8", f.Text})
	}
	p.export = &Exports{Title: t.Title, Files: out}
	for _, l := range losses {
		p.export.Losses = append(p.export.Losses, l.String())
	}
	for _, m := range left {
		p.export.Losses = append(p.export.Losses, p.use.Snap.NameOf(m)+": omitted, its definition has mistakes")
	}
}

// zipped packs several files into a zip file.
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
