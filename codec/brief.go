package codec

import (
	"bytes"
	"strconv"
)

// AppendBrief appends the values of the message in few words, in the order of the wire, until they take about most bytes: "gold 12,
// name "Lann", members ×3". Bookkeeping and what lists hold is left out.
func (r *Record) AppendBrief(dst []byte, most int) []byte {
	start := len(dst)
	w := walker{r: r}
	var path []byte
	lists := r.topLists()
	for _, l := range r.AppendLeaves(nil) {
		for len(lists) > 0 && lists[0].Node <= l.Node {
			dst = r.briefList(dst, start, lists[0])
			lists = lists[1:]
		}
		if len(dst)-start >= most {
			break
		}
		if l.Role != RoleValue || l.Field == noIndex {
			continue
		}
		if path = w.path(path[:0], l); bytes.IndexByte(path, '[') >= 0 {
			continue
		}
		f := FieldValue{Role: l.Role.String(), Field: l.Field, Value: r.AppendLeafValue(nil, l)}
		dst = append(briefly(dst, start, string(path)), ' ')
		dst = append(dst, r.humanValue(f)...)
	}
	for _, l := range lists {
		if len(dst)-start < most {
			dst = r.briefList(dst, start, l)
		}
	}
	return dst
}

// listAt is a list that is in no other.
type listAt struct {
	Node  uint32
	Field uint16
	N     uint64 // elements
}

func (r *Record) topLists() (out []listAt) {
	for i := 0; i < len(r.Nodes); {
		n := &r.Nodes[i]
		if n.Kind != NodeList {
			i++
			continue
		}
		out = append(out, listAt{uint32(i), r.Program.ops[n.Op].field, n.Raw})
		i = max(int(n.After), i+1)
	}
	return out
}

func (r *Record) briefList(dst []byte, start int, l listAt) []byte {
	if l.Field == noIndex {
		return dst
	}
	dst = append(briefly(dst, start, string(r.Program.AppendFieldPath(nil, l.Field))), " ×"...)
	return strconv.AppendUint(dst, l.N, 10)
}

func briefly(dst []byte, start int, path string) []byte {
	if len(dst) > start {
		dst = append(dst, ", "...)
	}
	return append(dst, path...)
}
