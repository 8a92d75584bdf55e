package tera

import (
	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// entry is a line other than a comment, with its position in the tree: the children of entry i are the entries after it with a higher
// level.
type entry struct {
	*line
	tree  *tree // of the definition, or of an included file
	at    int   // tree.lines[at]
	level int   // 0 = a field of the message
	gone  bool  // the field does not exist at this patch
}

// flatten collects the lines of a definition, with @include lines replaced by the included lines.
func (l *lowerer) flatten(t *tree) {
	l.entries, l.including = l.entries[:0], l.including[:0]
	l.expand(t)
}

// expand appends the lines of one file.
func (l *lowerer) expand(t *tree) {
	l.including = append(l.including, t)
	l.broken = l.broken || t.broken
	for i := range t.lines {
		ln := &t.lines[i]
		switch ln.kind {
		case blankLine, commentLine:
			continue
		case includeLine:
			l.include(ln)
			continue
		case refLine, countLine, fieldLine, badLine:
		}
		if len(l.entries) == text.MaxLines {
			l.report(text.TooManyLines(ln.span, text.MaxLines))
			break
		}
		gone := !ln.exists(l.o.patch)
		l.explicit = l.explicit || ln.kind == refLine && !gone
		l.counted = l.counted || ln.kind == countLine && !gone
		l.entries = append(l.entries, entry{line: ln, tree: t, at: i, gone: gone})
	}
	l.including = l.including[:len(l.including)-1]
}

// include expands an @include line. A file may not include itself, even indirectly, and the number of files is limited.
func (l *lowerer) include(ln *line) {
	from := l.including[len(l.including)-1].file
	l.includes++
	if l.includes > maxIncludes {
		if l.includes == maxIncludes+1 {
			l.report(tooManyIncludes(ln.span))
		}
		return
	}
	t := l.included(ln.name.Text(), from)
	if t == nil {
		l.report(missingInclude(ln.name, ""))
		return
	}
	for _, outer := range l.including {
		if outer.file == t.file {
			l.report(includeCycle(ln.name))
			return
		}
	}
	l.expand(t)
}

// nest sets the level of every entry and removes malformed and misplaced lines.
//
// The level rises by one at a time, regardless of the number of dashes, and the previous field becomes the container. All parsers of
// dialect T do so; the parser of dialect P refuses a jump. Source: tera-data-parser-js, lib/parsers/def.
func (l *lowerer) nest() {
	var last [maxDepth + 2]int // the latest entry at a level, counted from 1; 0 = none
	level, skip, kept := 0, maxDepth+1, 0
	for i := range l.entries {
		e := l.entries[i]
		if e.depth > skip {
			continue // inside a line that was reported
		}
		skip = maxDepth + 1
		if e.kind == badLine {
			if e.opens {
				skip = e.depth
			}
			continue
		}
		if e.depth > level {
			above := last[level]
			if d, ok := l.mayHold(above, &e); !ok {
				l.report(d)
				skip = level
				continue
			}
			if e.depth > level+1 {
				l.report(depthJump(e.span.Sub(0, dashes(e.span)), level+1))
			}
			level++
		} else {
			level = e.depth
		}
		e.level = level
		l.entries[kept] = e
		kept++
		last[level], last[level+1] = kept, 0
	}
	l.entries = l.entries[:kept]
}

// mayHold reports whether e may be inside the entry above it, a 1-based index. If not, it returns the diagnostic.
func (l *lowerer) mayHold(above int, e *entry) (diag.Diagnostic, bool) {
	dash := e.span.Sub(0, dashes(e.span))
	if above == 0 {
		return nestedFirst(dash), false
	}
	outer := &l.entries[above-1]
	if outer.kind != fieldLine {
		return nestedInValue(dash, outer.name, outer.typ.text()), false
	}
	switch lookupType(outer.typ.name.Text()) {
	case unknown, objectType:
		return diag.Diagnostic{}, true
	case arrayType:
		if outer.typ.elem == nil || lookupType(outer.typ.elem.name.Text()) == objectType {
			return diag.Diagnostic{}, true
		}
	}
	return nestedInValue(dash, outer.name, outer.typ.text()), false
}

// dashes returns the number of bytes of the dashes at the start of a line.
func dashes(line source.Span) int {
	text, n, i := line.Text(), 0, 0
	for i < len(text) && text[i] == '-' {
		i++
		n = i
		i += space.Skip(text[i:])
	}
	return n
}
