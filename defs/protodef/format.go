package protodef

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// maxLine is the length up to which a value is written on one line, in bytes.
const maxLine = 120

// Format returns a file in canonical form: two spaces for each level, and values on one line if they fit. Comments are preserved: a file that
// has any is returned with its lines as they are, without trailing white space. It is idempotent.
func Format(f *source.File) (string, diag.List) {
	t := parseTree(f)
	if t.entries != nil || t.root == nil || len(t.diags) > 0 || t.comments {
		return tidy(f.Text), t.diags
	}
	w := formatter{}
	w.value(t.root, 0, 0)
	w.b.WriteByte('\n')
	return w.b.String(), nil
}

// tidy removes trailing white space.
func tidy(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	lines := strings.Split(source.UnixLines(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

type formatter struct{ b strings.Builder }

// flat appends a value on one line. ok is false if it would be longer than room.
func flat(b []byte, n *node, room int) (out []byte, ok bool) {
	switch n.kind {
	case arrayNode, objectNode:
		open, end := byte('['), byte(']')
		if n.kind == objectNode {
			open, end = '{', '}'
		}
		b = append(b, open)
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ", "...)
			}
			if n.kind == objectNode {
				b = append(append(b, n.keys[i].span.Text()...), ": "...)
			}
			if b, ok = flat(b, v, room); !ok || len(b) > room {
				return b, false
			}
		}
		return append(b, end), len(b) < room
	}
	b = append(b, n.span.Text()...)
	return b, len(b) <= room
}

// value writes a value; column is the place on the line where it starts.
func (w *formatter) value(n *node, depth, column int) {
	if line, ok := flat(nil, n, maxLine-column); ok {
		w.b.Write(line)
		return
	}
	if n.kind != arrayNode && n.kind != objectNode {
		w.b.WriteString(n.span.Text())
		return
	}
	open, end := "[", "]"
	if n.kind == objectNode {
		open, end = "{", "}"
	}
	w.b.WriteString(open)
	inner := strings.Repeat("  ", depth+1)
	// The name of a type stays on the line of its bracket: ["container", [
	if n.kind == arrayNode && len(n.items) == 2 && n.items[0].kind == stringNode && (n.items[1].kind == arrayNode || n.items[1].kind == objectNode) {
		name := n.items[0].span.Text()
		w.b.WriteString(name + ", ")
		w.value(n.items[1], depth, column+len(name)+3)
		w.b.WriteString(end)
		return
	}
	for i, v := range n.items {
		w.b.WriteByte('\n')
		w.b.WriteString(inner)
		at := len(inner)
		if n.kind == objectNode {
			k := n.keys[i].span.Text()
			w.b.WriteString(k + ": ")
			at += len(k) + 2
		}
		w.value(v, depth+1, at+1) // with its comma
		if i < len(n.items)-1 {
			w.b.WriteByte(',')
		}
	}
	w.b.WriteByte('\n')
	w.b.WriteString(inner[2:])
	w.b.WriteString(end)
}
