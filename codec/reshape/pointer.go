package reshape

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/defs/edit"
)

// pointerAt returns the pointer that a range has bytes of; a range in the contents of a string or of bytes has their pointer.
func (e *Editor) pointerAt(at codec.Range) (s *slot, ok bool) {
	if _, tagged := e.elementAt(at); tagged || !e.contains(at) {
		return nil, false
	}
	field := uint16(codec.NoField)
	for i := range e.slots {
		switch t := &e.slots[i]; {
		case t.off >= at.End() || t.end() <= at.Off || t.book:
		case t.role == codec.RoleOffset || t.role == codec.RoleCount:
			return t, true
		case t.contents && t.off <= at.Off && at.End() <= t.end():
			field = t.field
		}
	}
	for i := range e.slots {
		if t := &e.slots[i]; field != codec.NoField && t.field == field && !t.book && t.off < at.Off && (t.role == codec.RoleOffset || t.role == codec.RoleCount) {
			s, ok = t, true // of several elements the last one before the contents
		}
	}
	return s, ok
}

// has reports whether a range has bytes of a slot.
func (s *slot) has(at codec.Range) bool { return s.off < at.End() && at.Off < s.end() }

// retypes returns the types that a field with a pointer may have instead: of contents elsewhere, with the neighboring bytes where their
// pointer is larger, or of plain numbers.
func (e *Editor) retypes(at codec.Range) (out []Choice) {
	s, ok := e.pointerAt(at)
	if !ok {
		return nil
	}
	whole := codec.Range{Off: s.off, Len: s.len}
	if !s.has(at) {
		at = whole
	}
	ranges := []codec.Range{at}
	for _, r := range []codec.Range{whole, {Off: s.off, Len: 32}, {Off: s.off - min(s.off, 16), Len: 32}, {Off: s.off, Len: 16}, {Off: s.off + 16, Len: 16}} {
		if s.has(r) && s.len >= 16 && e.contains(r) && !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	loose, _ := e.loosened(s)
	for i, r := range ranges {
		for _, t := range e.dialect.Edits.Types(e.was.File, e.run(r)) {
			if i > 0 && t.Kind != edit.Pointer {
				continue
			}
			done, err := e.retyped(s, loose, r, t, "")
			if err != nil || t.More && done.left >= e.rec.Unexplained() {
				continue
			}
			c := Choice{Type: t.Name(), Group: t.Group, Value: done.value, At: fmt.Sprintf("%d:%d", r.Off, r.Len)}
			if !slices.ContainsFunc(out, func(o Choice) bool { return o.Type == c.Type }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// retype changes the type of a field with a pointer.
func (e *Editor) retype(s *slot, at codec.Range, typ, name string) (accepted, error) {
	all := e.dialect.Edits.Types(e.was.File, e.run(at))
	i := slices.IndexFunc(all, func(t edit.Type) bool { return t.Name() == typ })
	if i < 0 {
		return accepted{}, fmt.Errorf("%s is not a type of %s", typ, bytesText(at.Len))
	}
	loose, err := e.loosened(s)
	done, failed := e.retyped(s, loose, at, all[i], name)
	if failed != nil && err != nil {
		failed = err
	}
	return done, failed
}

// retyped writes another type of a field with a pointer, in its line, or where the pointer is a plain number.
func (e *Editor) retyped(s *slot, loose *Editor, at codec.Range, t edit.Type, name string) (accepted, error) {
	info := &e.rec.Program.Fields[s.field]
	own := at.Off == s.off && at.Len == s.len
	if own && info.Type == t.Text {
		return accepted{}, fmt.Errorf("it is %s already", t.Text)
	}
	if own && t.Kind == edit.Pointer && e.dialect.Edits.Retype != nil && (name == "" || name == info.Name) {
		if text, ok := e.dialect.Edits.Retype(e.was.File, info.Span, t.Text); ok {
			if done, err := e.judge(text, at, at, t, s); err == nil {
				return done, nil
			}
		}
	}
	if loose == nil {
		return accepted{}, fmt.Errorf("%s cannot be written here", t.Text)
	}
	plans, err := loose.plans(at)
	if err != nil {
		return accepted{}, err
	}
	if name == "" && plans[0].like.IsZero() {
		name = info.Name
		if len(plans[0].place.Replaced) == 1 { // a part of the pointer; the rest keeps the name
			name = loose.FreeName()
		}
	}
	done, _, err := loose.first(plans, at, t, name)
	return done, err
}

// loosened returns an editor of the text in which a pointer is a plain number, and everything else is where it was.
func (e *Editor) loosened(s *slot) (*Editor, error) {
	if e.dialect.Edits.Loosen == nil {
		return nil, e.refusal(s)
	}
	info := &e.rec.Program.Fields[s.field]
	text, ok := e.dialect.Edits.Loosen(e.was.File, info.Span)
	if !ok {
		return nil, e.refusal(s)
	}
	_, now, err := e.compiled(text, false)
	if err != nil {
		return nil, err
	}
	loose, err := New(e.dialect, now, now.Messages[e.index], e.data, e.session, e.compile)
	if err != nil {
		return nil, err
	}
	if err := e.keepsBut(loose.rec, s); err != nil {
		return nil, err
	}
	loose.work = e.work
	return loose, nil
}

// keepsBut reports whether a record has all leaves of the original one, except the leaves of a field with a pointer.
func (e *Editor) keepsBut(rec *codec.Record, s *slot) error {
	path := string(e.rec.Program.AppendFieldPath(nil, s.field))
	now := map[leafKey]bool{}
	for _, k := range keysOf(rec) {
		now[k] = true
	}
	for _, k := range keysOf(e.rec) {
		own := k.path == path || strings.HasPrefix(k.path, path+".") || strings.HasPrefix(k.path, path+"[") || k.path == ""
		if !own && !now[k] {
			return errMoves
		}
	}
	if rec.Status() != codec.OK && e.rec.Status() == codec.OK {
		return errors.New("the message could not be read")
	}
	return nil
}
