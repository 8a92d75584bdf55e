package view

import (
	"bytes"
	"strconv"

	"wirebench/codec"
	"wirebench/codec/value"
)

// AppendBrief appends a summary of the values of the message, in wire order, until it has about most bytes: "gold 12, name "Lann", members
// ×3". Bookkeeping and the contents of lists are omitted.
func AppendBrief(dst []byte, r *codec.Record, most int) []byte {
	start := len(dst)
	w := r.Paths()
	var path []byte
	lists := topLists(r)
	for _, l := range r.AppendLeaves(nil) {
		for len(lists) > 0 && lists[0].Node <= l.Node {
			dst = briefList(dst, r.Program, start, lists[0])
			lists = lists[1:]
		}
		if len(dst)-start >= most {
			break
		}
		if l.Role != codec.RoleValue || l.Field == codec.NoField {
			continue
		}
		if path = w.Append(path[:0], l); bytes.IndexByte(path, '[') >= 0 {
			continue
		}
		f := FieldValue{Role: l.Role.String(), Field: l.Field, Value: value.AppendLeaf(nil, r, l)}
		if string(f.Value) == "null" {
			continue // absent
		}
		dst = append(briefly(dst, start, string(path)), ' ')
		dst = append(dst, humanValue(r.Program, f)...)
	}
	for _, l := range lists {
		if len(dst)-start < most {
			dst = briefList(dst, r.Program, start, l)
		}
	}
	return dst
}

// listAt is an outermost list.
type listAt struct {
	Node  uint32
	Field uint16
	N     uint64 // number of elements
}

func topLists(r *codec.Record) (out []listAt) {
	for i := 0; i < len(r.Nodes); {
		n := &r.Nodes[i]
		if n.Kind != codec.NodeList {
			i++
			continue
		}
		out = append(out, listAt{uint32(i), r.Program.Ops[n.Op].Field, n.Raw})
		i = max(int(n.After), i+1)
	}
	return out
}

func briefList(dst []byte, p *codec.Program, start int, l listAt) []byte {
	if l.Field == codec.NoField {
		return dst
	}
	dst = append(briefly(dst, start, string(p.AppendFieldPath(nil, l.Field))), " ×"...)
	return strconv.AppendUint(dst, l.N, 10)
}

func briefly(dst []byte, start int, path string) []byte {
	if len(dst) > start {
		dst = append(dst, ", "...)
	}
	return append(dst, path...)
}
