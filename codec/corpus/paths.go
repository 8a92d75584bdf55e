package corpus

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// target is a field selected by a path, with the selected elements of the lists around it: -1 is all.
type target struct {
	field uint16
	index []int32
}

// find resolves a path below the name of a message: members.name, members[].name, members[*].name, members[2].name. Several fields may
// match: those of a group, and those of alternatives. The value of an alternative without a name has the path of its choice. A list of plain values stands for its elements.
func find(p *codec.Program, path string) (found []target, isGroup bool) {
	path, deep := strings.CutPrefix(path, ".")
	name, all := splitPath(path)
	if name == "" {
		return nil, false
	}
	var own []byte
	for i := range p.Fields {
		own = p.AppendFieldPath(own[:0], uint16(i))
		ownName, fixed := splitPath(string(own))
		around, ok := "", ownName == name
		if !ok && deep {
			around, ok = strings.CutSuffix(ownName, "."+name)
		}
		if !ok {
			continue
		}
		index := all
		if index != nil && around != "" { // the lists around the first name: all elements
			index = append(slices.Repeat([]int32{-1}, bracketsUpTo(string(own), strings.Count(around, ".")+1)), index...)
		}
		index, ok = listIndexes(index, fixed)
		if !ok {
			continue
		}
		f := &p.Fields[i]
		switch t := f.Schema.Type.(type) {
		case *schema.Group:
			if f.InList && f.Name == "" { // an element that is a group is represented by its list
				continue
			}
			found, isGroup = named(p, i, index, found, isGroup)
			continue
		case *schema.Choice:
			found, isGroup = named(p, i, index, found, isGroup)
			continue
		case *schema.List:
			if bareElement(p, i, t) {
				continue // its element follows, under the same name
			}
		}
		found = append(found, target{uint16(i), index})
	}
	return found, isGroup
}

// named adds the fields inside a group or a choice. The values of a choice that have no name have its path, and are found by themselves.
func named(p *codec.Program, of int, index []int32, found []target, isGroup bool) ([]target, bool) {
	for i := of + 1; i < p.Fields[of].End; i = p.Fields[i].End {
		if p.Fields[i].Name == "" {
			found, isGroup = named(p, i, index, found, isGroup)
			continue
		}
		for k := i; k < p.Fields[i].End; k++ {
			if _, ok := p.Site(uint16(k), index...); ok {
				found, isGroup = append(found, target{uint16(k), index}), true
			}
		}
	}
	return found, isGroup
}

// listIndexes removes the indexes of groups that are shown as arrays from those of a path; fixed are those in the path of the field, -1 for
// lists. ok is false if they differ.
func listIndexes(index, fixed []int32) (lists []int32, ok bool) {
	if fixed == nil {
		return index, true
	}
	for k, n := range fixed {
		at := int32(-1)
		if k < len(index) {
			at = index[k]
		}
		switch {
		case n < 0:
			lists = append(lists, at)
		case at >= 0 && at != n:
			return nil, false
		}
	}
	return lists, true
}

// bareElement reports whether the elements of a list are values without a name of their own.
func bareElement(p *codec.Program, list int, t *schema.List) bool {
	if !t.Bare || list+1 >= p.Fields[list].End {
		return false
	}
	_, group := p.Fields[list+1].Schema.Type.(*schema.Group)
	return !group
}

// bracketsUpTo returns the number of brackets of the first names of a path.
func bracketsUpTo(path string, names int) int {
	end := 0
	for range names {
		dot := strings.IndexByte(path[end:], '.')
		if dot < 0 {
			end = len(path)
			break
		}
		end += dot + 1
	}
	return strings.Count(path[:end], "[")
}

// FieldsOf returns the fields of a path, as NewCells finds them.
func FieldsOf(p *codec.Program, path string) (fields []uint16) {
	found, _ := find(p, path)
	for _, t := range found {
		fields = append(fields, t.field)
	}
	return fields
}

// splitPath removes the brackets from a path.
func splitPath(path string) (name string, index []int32) {
	var b strings.Builder
	any := false
	for {
		before, rest, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			break
		}
		in, after, ok := strings.Cut(rest, "]")
		if !ok || len(index) >= 64 {
			return "", nil
		}
		switch in {
		case "", "*":
			index = append(index, -1)
		default:
			n, err := strconv.ParseInt(in, 10, 32)
			if err != nil || n < 0 {
				return "", nil
			}
			index, any = append(index, int32(n)), true
		}
		path = after
	}
	if !any {
		index = nil
	}
	return b.String(), index
}
