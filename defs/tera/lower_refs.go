package tera

import (
	"cmp"
	"slices"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// place gives a field of variable length its pointer and its contents.
func (l *lowerer) place(sc *scope, e *entry, f *schema.Field, prefix string) {
	l.contents = append(l.contents, schema.Item{Kind: schema.Value, Field: f})
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
	// Without a ref the pointer stands where the field does, so that the rest of the layout still makes sense.
	if sc.late == nil {
		sc.late = make(map[string]int)
	}
	sc.late[path] = len(l.fixed)
	sc.lateOrder = append(sc.lateOrder, pathOf{path: path, entry: e})
	l.fixed = append(l.fixed, schema.Item{Kind: pointer, Field: f})
}

// know remembers the path of a field that has a pointer.
func (sc *scope) know(path string) {
	if sc.paths == nil {
		sc.paths = make(map[string]bool)
	}
	sc.paths[path] = true
}

// ref lowers a ref line: the pointer of its field stands here.
func (l *lowerer) ref(sc *scope, e *entry, prefix string) {
	l.ignored(&e.typ)
	if !e.value.IsZero() {
		l.report(unusedDefault(e.value))
	}
	path := e.key
	r := &ref{span: e.name, at: len(l.fixed), wrong: e.odd}
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
		// The field came first. Its pointer is meant to stand here all the same.
		if !r.wrong {
			l.report(refAfterField(e.name))
		}
		l.movePointer(sc, path, r)
	}
}

// finishRefs reports the refs and counts without a field and the fields without a ref. Where a ref looks like the name of a
// field without one, that is one mistake.
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
		if !sc.paths[c.path] {
			l.report(unusedCount(c.entry.name))
		}
	}
}

// movePointer puts the pointer of a field that came without a ref to the place of a ref.
func (l *lowerer) movePointer(sc *scope, path string, r *ref) {
	at := sc.late[path]
	l.fixed[r.at].Field, l.fixed[at].Field = l.fixed[at].Field, nil
	r.used = true
	delete(sc.late, path)
}

// latePaths are fields without a ref, which a ref without a field may mean. There is no use in looking at very many.
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

// weave is the interleaved arrays of one container. All of them form one group, so they have to stand together.
type weave struct {
	at    int  // place of their item in contents, -1 before the first one
	last  bool // the field before was one of them
	first *entry
	apart bool // interleaved-apart was said
}

// weave puts an array with the flag [interleaved] to the others of its group; other fields end the group. The field has its
// item in contents already, at the end.
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

// endWeave ends a container. An array that is interleaved with nothing is an ordinary one.
func (l *lowerer) endWeave(w *weave) {
	if w.at < 0 || len(l.contents[w.at].Weave) > 1 {
		return
	}
	if !w.apart {
		l.report(interleavedAlone(w.first.typ.span))
	}
	l.contents[w.at] = schema.Item{Kind: schema.Value, Field: l.contents[w.at].Weave[0]}
}
