package runtime

import (
	"math"
	"slices"
)

// The wire types of tags, the low bits of them.
const (
	wireVarint = iota
	wireFixed64
	wireBytes
	wireStart // of a group
	wireEnd
	wireFixed32
)

// tagged is lists whose elements are in any order, each with its tag.
type tagged struct {
	tags  []uint32 // of the lists
	other bool     // the last list has all other tags
	found []occurrence
	next  int // reading: the next one
	end   int
}

// occurrence is an element of a list, at a byte.
type occurrence struct{ list, at int }

var tagForm = number{bits: 64, form: leb}

// list returns the list of a tag, -1 if there is none.
func (t *tagged) list(tag uint64) int {
	from := 0
	if n := len(t.found); n > 0 {
		from = t.found[n-1].list // most elements are in the order of the lists
	}
	for i := range t.tags {
		if k := (from + i) % len(t.tags); uint64(t.tags[k]) == tag {
			return k
		}
	}
	if t.other {
		return len(t.tags)
	}
	return -1
}

func legalTag(tag uint64) bool {
	kind := tag & 7
	return tag>>3 > 0 && tag <= math.MaxUint32 && kind <= wireFixed32 && kind != wireEnd
}

// tags begins lists with tags. Reading finds all elements first; ends: a tag of wireEnd ends them, too.
func (x *coder) tags(tags []uint32, other, ends bool) tagged {
	t := tagged{tags: tags, other: other}
	for pos := x.pos; !x.writing && x.err == nil && pos < len(x.b); {
		tag, n := readVar(x.b[pos:], tagForm)
		if n > 0 && ends && tag&7 == wireEnd {
			t.end = pos
			break
		}
		if !x.spend(1, 1, "a tag") {
			break
		}
		switch {
		case n < 0 || n > 0 && !legalTag(tag):
			x.illegal("tag", "no field has it")
		case n == 0:
			x.over("tag")
		}
		k := t.list(tag)
		if x.err == nil && k < 0 {
			x.illegal("tag", "no field has it")
		}
		t.found = append(t.found, occurrence{k, pos})
		pos = x.skip(pos+max(n, 0), tag)
		t.end = pos
	}
	if len(t.found) == 0 {
		t.end = x.pos
	}
	slices.SortStableFunc(t.found, func(a, b occurrence) int { return a.list - b.list })
	return t
}

// skip returns the end of what follows a tag.
func (x *coder) skip(at int, tag uint64) int {
	var open []uint64 // the tags that end the groups around
	from := at
	for x.err == nil {
		size := uint64(0)
		switch tag & 7 {
		case wireVarint, wireBytes:
			v, n := readVar(x.b[min(at, len(x.b)):], tagForm)
			if at += n; n < 0 {
				x.illegal("a field", "the number is too long")
			} else if n == 0 {
				x.over("a field")
			} else if tag&7 == wireBytes {
				size = v
			}
		case wireFixed64:
			size = 8
		case wireFixed32:
			size = 4
		case wireStart:
			if open = append(open, tag+1); len(open) > maxDepth {
				x.illegal("a group", "is nested too deeply")
			}
		case wireEnd:
			if tag != open[len(open)-1] {
				x.illegal("a group", "has another end")
			}
			open = open[:len(open)-1]
		}
		if x.err == nil && size > uint64(len(x.b)-at) {
			x.over("a field")
		}
		if x.err != nil {
			break
		}
		at += int(size)
		if len(open) == 0 {
			if tag&7 == wireEnd {
				x.spend(0, at-from, "a group") // the fields inside are read again
			}
			return at
		}
		next, n := readVar(x.b[at:], tagForm)
		if n == 0 {
			x.over("a group")
		} else if n < 0 || next&7 != wireEnd && !legalTag(next) {
			x.illegal("tag", "no field has it")
		}
		tag, at = next, at+max(n, 0)
	}
	return at
}

// scattered begins element i of a list with a tag, and reports whether there is one.
func scattered[S ~[]T, T any](x *coder, p *S, t *tagged, list, i int) bool {
	switch {
	case x.err != nil:
		return false
	case x.writing:
		return i < len(*p)
	case t.next >= len(t.found) || t.found[t.next].list != list:
		return false
	}
	x.pos = t.found[t.next].at
	t.next++
	var zero T
	*p = append(*p, zero)
	return true
}

// unlisted checks that an element that was written has a tag of no other list.
func (x *coder) unlisted(t *tagged, from int, field string) {
	if !x.writing || x.err != nil {
		return
	}
	if tag, _ := readVar(x.b[from:], tagForm); !legalTag(tag) || t.list(tag) != len(t.tags) {
		x.illegal(field, "the tag is illegal, or that of another field")
	}
}

// tagsEnd ends lists with tags.
func (x *coder) tagsEnd(t *tagged) {
	if !x.writing && x.err == nil {
		x.pos = t.end
	}
}
