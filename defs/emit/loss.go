package emit

import (
	"fmt"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Loss is a kind of feature of the definitions that a target cannot express.
type Loss struct {
	Reason string   // the missing feature and its replacement, in lower case, without a final period
	Count  int      // number of places; 0 = it is about the definitions as a whole
	Places []string // the first of them: "C_EXAMPLE.2: members[].name", or "C_EXAMPLE.2" for a whole message

	omitted []omission // all messages that are omitted
}

// maxPlaces limits the places of a loss that are named.
const maxPlaces = 3

// String returns the loss on one line.
func (l Loss) String() string {
	switch {
	case l.Count == 0:
		return l.Reason
	case l.Count == 1:
		return l.Places[0] + ": " + l.Reason
	}
	more := ""
	if l.Count > len(l.Places) {
		more = ", …"
	}
	return fmt.Sprintf("%s (%d places: %s%s)", l.Reason, l.Count, strings.Join(l.Places, ", "), more)
}

// losses are the losses of a target, one for each place.
type losses []loss

// loss is a loss at one place.
type loss struct {
	m     *schema.Message // nil = all messages
	field string          // path of the field without indexes; "" = the whole message
	kind  string          // format of the reason: losses of one kind are reported together
	args  string          // the reason's own part
	text  string          // the reason
}

func (l *losses) lose(m *schema.Message, field, format string, args ...any) {
	one := loss{m: m, field: field, kind: format, text: fmt.Sprintf(format, args...)}
	var own []string
	for _, a := range args {
		own = append(own, fmt.Sprint(a))
	}
	one.args = strings.Join(own, ", ")
	*l = append(*l, one)
}

// encodings reports the texts of a message whose encoding the target has no table of: they have a character for each byte, see byteWise.
func (l *losses) encodings(laid *wire.Message) {
	for i := range laid.Fields {
		switch t, _ := laid.Fields[i].Schema.Type.(*schema.Text); {
		case t == nil:
		case t.Charset.Table():
			l.lose(laid.Schema, laid.Label(i), "text in %s is not converted: each byte is a character", t.Charset)
		}
	}
}

// byteWise returns the encoding in which targets without a table of an encoding read and write its bytes.
func byteWise(set schema.Charset) schema.Charset {
	if set.Table() {
		return schema.Latin1
	}
	return set
}

// kinds returns one Loss for each kind, in the order of their first places. If the reasons of a kind differ, their own parts are with the
// places.
func (l losses) kinds() []Loss {
	var out []Loss
	index := map[string]int{}
	differ := map[string]bool{}
	first := map[string]string{}
	seen := map[string]bool{}
	for _, x := range l {
		if text, ok := first[x.kind]; !ok {
			first[x.kind] = x.text
		} else if text != x.text {
			differ[x.kind] = true
		}
	}
	for _, x := range l {
		i, known := index[x.kind]
		if !known {
			i = len(out)
			index[x.kind] = i
			out = append(out, Loss{Reason: first[x.kind]})
			if differ[x.kind] {
				out[i].Reason = general(x.kind)
			}
		}
		where := x.place()
		if differ[x.kind] {
			where = strings.TrimSpace(where + " (" + x.args + ")")
		}
		if where == "" || seen[x.kind+"\n"+where] {
			continue
		}
		seen[x.kind+"\n"+where] = true
		out[i].addOmission(&x)
		out[i].Count++
		if len(out[i].Places) < maxPlaces {
			out[i].Places = append(out[i].Places, where)
		}
	}
	return out
}

// place returns the message and the field of a loss.
func (x *loss) place() string {
	switch {
	case x.m == nil:
		return x.field
	case x.field == "":
		return messageName(x.m)
	}
	return messageName(x.m) + ": " + x.field
}

// general returns a format with an ellipsis in place of each value.
func general(format string) string {
	return strings.TrimPrefix(strings.NewReplacer("%q", "…", "%s", "…", "%d", "…").Replace(format), "…; ")
}
