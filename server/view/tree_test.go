package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/codec/view"
)

// drawnTree is a tree as text, as web/src/message/model.ts makes it of what the page gets.
func drawnTree(m view.Result, types map[string]string) []string {
	x := TreeOf(&m, types, true)
	var out []string
	run, end, line, jumped, renamed := 0, 0, 0, 0, 0
	lines := make([]int, len(x.Parts))
	for i, p := range x.Parts {
		if !p.Unlined {
			line += p.Skip + 1
			lines[i] = line
		}
	}
	jumps, named := slices.Clone(x.Jumps), slices.Clone(x.Named)
	next := map[int]int{}
	for row, n := range x.Rows {
		p := x.Parts[n]
		name := p.Name
		switch {
		case p.Role == "gap":
			name = "unexplained"
		case name == "" && strings.HasSuffix(p.Path, "[]") && (p.Role == "" || p.Role == roleGroup):
			if len(named) > 0 && renamed+named[0].Rows == row {
				next[p.Depth], renamed = named[0].Index, row
				named = named[1:]
			}
			name = fmt.Sprintf("[%d]", next[p.Depth])
			next[p.Depth]++
		case name == "":
			name = lastName(p.Path)
		}
		text := strings.Repeat("  ", p.Depth) + name + "|" + p.Type
		if p.Role == roleGroup {
			next[p.Depth+1] = 0
		} else {
			if len(jumps) > 0 && jumped+jumps[0].Runs == run {
				end, jumped = end+jumps[0].Bits, run
				jumps = jumps[1:]
			}
			text += fmt.Sprintf("|%s|%d:%d", x.Texts[run], end, x.Bits[run])
			if lines[n] > 0 {
				text += fmt.Sprintf("|%d", lines[n])
			}
			text += strings.TrimRight("|"+p.Bad, "|")
			end += int(x.Bits[run])
			run++
		}
		out = append(out, strings.TrimRight(text, "|"))
	}
	return out
}

func TestTree(t *testing.T) {
	field := func(path, role string, off, bits uint32) view.FieldValue {
		return view.FieldValue{Path: path, Role: role, Type: "t", BitOffset: off, BitLength: bits, Text: "v", Line: 1, Field: codec.NoField}
	}
	m := view.Result{
		Fields: []view.FieldValue{
			field("length", "length", 0, 16), field("l", "count", 16, 16), field("o.s", "offset", 32, 16), field("l[0]", "here", 48, 16),
			field("l[0].push.x", "value", 64, 8), field("l[0].push.y", "value", 72, 8), field("l[0].n", "offset", 80, 16), field("l[1].push.x", "value", 96, 3),
			field("b[3]", "value", 104, 3),
			{Role: "gap", BitOffset: 107, BitLength: 5, Field: codec.NoField},
			field("b[4]", "value", 112, 8),
			{Role: "gap", BitOffset: 120, BitLength: 8, Field: codec.NoField},
			field("o.s", "value", 128, 16),
		},
		Problems: []view.ProblemInfo{{Severity: "warning", BitOffset: 64, BitLength: 8}, {Severity: "error", BitOffset: 64, BitLength: 8}},
	}
	want := []string{
		"length|t|v|0:16|1", "l|t|v|16:16|1", "o.s|t|v|32:16|1",
		"l|array", "  [0]", "    here|t|v|48:16|1", "    push|object", "      x|t|v|64:8|1|error", "      y|t|v|72:8|1",
		"    n|t|v|80:16|1", "  [1]", "    push|object", "      x|t|v|96:3|1",
		"b", "  [3]|t|v|104:3|1", "  unexplained|||107:5", "  [4]|t|v|112:8|1", "unexplained|||120:8", "o", "  s|t|v|128:16|1",
	}
	if diff := cmp.Diff(want, drawnTree(m, map[string]string{"l": "array", "l[].push": "object"})); diff != "" {
		t.Error(diff)
	}
}

// Definitions may have arbitrary names: odd names only make odd rows.
func TestTreeOfOddPaths(t *testing.T) {
	for _, path := range []string{"", ".", "[", "]", "a[", "a]", "[0", "[0]", "a[0", "a[0]]", "a..b", "a[0][1]", "[0].a", "a[99999999999999999999]"} {
		for _, role := range []string{"value", "count", path} {
			drawnTree(view.Result{Fields: []view.FieldValue{{Path: path, Role: role, BitLength: 8}, {Path: "x." + path, Role: role, BitOffset: 8, BitLength: 8}}}, nil)
		}
	}
}
