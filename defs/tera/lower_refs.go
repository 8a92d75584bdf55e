package tera

import (
	"cmp"
	"slices"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// place adds the pointer and the contents of a field of variable size.
func (l *lowerer) place(sc *scope, e *entry, f *schema.Field, prefix string) {
	l.contents = appendContents(l.contents, f)
	if !l.explicit {
		l.pointers = append(l.pointers, schema.Item{Kind: pointer, Field: f})
		if l.counted {
			sc.know(prefix + f.Name)
		}
		return
	}
	path := prefix + f.Name
	sc.know(path)
	if r := sc.refs[path]; r != nil && !r.used {
		r.used = true
		l.fixed[r.at].Field = f
		return
	}
	// Without a ref the pointer is at the position of the field, so that the rest of the layout is still plausible.
	if sc.late == nil {
		sc.late = make(map[string]int)
	}
	sc.late[path] = len(l.fixed)
	sc.lateOrder = append(sc.lateOrder, pathOf{path: path, entry: e})
	l.fixed = append(l.fixed, schema.Item{Kind: pointer, Field: f})
}

// know records the path of a field with a pointer.
func (sc *scope) know(path string) {
	if sc.paths == nil {
		sc.paths = make(map[string]bool)
	}
	sc.paths[path] = true
}

// ref lowers a ref line: the position of the pointer of its field.
func (l *lowerer) ref(sc *scope, e *entry, prefix string) {
	l.ignored(&e.typ)
	if !e.value.IsZero() {
		l.report(unusedDefault(e.value))
	}
	path := e.key
	r := &ref{span: e.name, at: len(l.fixed), wrong: e.odd, half: e.typ.name.Text() == "offset"}
	if prefix != "" {
		l.report(refInObject(e.name, prefix+e.key))
		path, r.wrong = prefix+e.key, true
	}
	if old := sc.refs[path]; old != nil {
		if !r.wrong {
			l.report(repeatedRef(e.name, old.span))
		}
		return
	}
	if sc.refs == nil {
		sc.refs = make(map[string]*ref)
	}
	sc.refs[path] = r
	l.fixed = append(l.fixed, schema.Item{Kind: pointer})
	if _, ok := sc.late[path]; ok {
		// The field precedes the ref. The ref still determines the position of the pointer.
		if !r.wrong {
			l.report(refAfterField(e.name))
		}
		l.movePointer(sc, path, r)
	}
}

// finishRefs reports refs and counts without a field, and fields without a ref. The obsolete lines count and offset without a field remain two bytes. A ref that resembles the name of a field without one is
// reported as a single error.
func (l *lowerer) finishRefs(sc *scope) {
	var lost []*ref
	for _, r := range sc.refs {
		if !r.used {
			lost = append(lost, r)
		}
	}
	slices.SortFunc(lost, func(a, b *ref) int { return cmp.Compare(a.at, b.at) })
	for _, r := range lost {
		meant := diag.Nearest(r.span.Text(), sc.latePaths())
		if r.half && !r.wrong && meant == "" {
			l.undescribed(r.at)
			l.report(undescribed(r.span))
			continue
		}
		if !r.wrong {
			l.report(refWithoutField(r.span, meant))
		}
		if meant != "" {
			l.movePointer(sc, meant, r)
		}
	}
	for _, field := range sc.lateOrder {
		if _, ok := sc.late[field.path]; ok {
			l.report(missingRef(field.entry.name, field.path))
		}
	}
	for _, c := range sc.counts {
		if r := sc.refs[c.path]; !sc.paths[c.path] && (r == nil || !r.used) {
			l.undescribed(c.at)
			l.report(undescribed(c.entry.name))
		}
	}
}

// undescribed makes a count or an offset line without a field the two bytes that it stands for, so that later fields have their places.
func (l *lowerer) undescribed(at int) {
	l.fixed[at] = schema.Item{Kind: schema.Pad, Bits: pointerBits}
}

// movePointer moves the pointer of a field without a ref to the position of a ref.
func (l *lowerer) movePointer(sc *scope, path string, r *ref) {
	at := sc.late[path]
	l.fixed[r.at].Field, l.fixed[at].Field = l.fixed[at].Field, nil
	r.used = true
	delete(sc.late, path)
}

// latePaths returns the paths of fields without a ref, as candidates for a ref without a field. Their number is limited.
func (sc *scope) latePaths() []string {
	const enough = 64
	var paths []string
	for i := range sc.lateOrder[:min(len(sc.lateOrder), enough)] {
		if path := sc.lateOrder[i].path; len(path) <= 100 {
			if _, ok := sc.late[path]; ok {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// weave is the interleaved arrays of one container. They form one group and must be consecutive.
type weave struct {
	at    int  // index of their item in contents, -1 before the first one
	last  bool // the field before was one of them
	first *entry
	apart bool // interleaved-apart was reported
}

// weave adds an array with the flag [interleaved] to the group; other fields end the group. The item of the field is already the last one
// in contents.
func (l *lowerer) weave(w *weave, e *entry, f *schema.Field) {
	list, ok := f.Type.(*schema.List)
	if !ok || !e.typ.isInterleaved() {
		w.last = false
		return
	}
	if list.Bare && list.Elem.Fields[0].Type == schema.Type(textType) {
		l.report(interleavedString(e.typ.span))
		w.last = false
		return
	}
	if w.at < 0 {
		w.at, w.last, w.first = len(l.contents)-1, true, e
		l.contents[w.at] = schema.Item{Kind: schema.Weave, Weave: []*schema.Field{f}}
		return
	}
	if !w.last {
		if !w.apart {
			l.report(interleavedApart(e.typ.span))
		}
		w.apart = true
		return
	}
	l.contents = l.contents[:len(l.contents)-1]
	l.contents[w.at].Weave = append(l.contents[w.at].Weave, f)
}

// endWeave ends a container. A single interleaved array becomes an ordinary one.
func (l *lowerer) endWeave(w *weave) {
	if w.at < 0 || len(l.contents[w.at].Weave) > 1 {
		return
	}
	if !w.apart {
		l.report(interleavedAlone(w.first.typ.span))
	}
	l.contents[w.at] = schema.Item{Kind: schema.Value, Field: l.contents[w.at].Weave[0]}
}
