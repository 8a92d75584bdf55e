package codec_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// checkGroupSites checks that a group begins with its first leaf and ends with its last one, and that no complete group is missing.
func checkGroupSites(t interface{ Fatalf(string, ...any) }, r *codec.Record, whole bool) {
	leaves := r.AppendLeaves(nil)
	for g := range r.Program.Fields {
		if _, group := r.Program.Fields[g].Schema.Type.(*schema.Group); !group {
			continue
		}
		at, ok := r.Program.GroupSite(uint16(g))
		together := true
		parts := 0
		for f := g + 1; f < r.Program.Fields[g].End; f++ {
			switch r.Program.Fields[f].Schema.Type.(type) {
			case *schema.Group:
				continue
			case *schema.Text, *schema.Blob, *schema.List:
				together = false
			}
			parts++
		}
		if ok && (!together || parts == 0) {
			t.Fatalf("group %q has a place", r.Program.Fields[g].Name)
		}
		if !ok {
			continue
		}
		total, found := 0, 0
		var c codec.Cursor
		for c.Start(r, at); c.Next(); found++ {
			first, last, inside := c.Range.End(), c.Range.Off, 0
			for _, l := range leaves {
				if x := l.Range(); l.Role == codec.RoleValue && int(l.Field) > g && int(l.Field) < r.Program.Fields[g].End && x.Off >= c.Range.Off && x.End() <= c.Range.End() {
					first, last, inside = min(first, x.Off), max(last, x.End()), inside+1
				}
			}
			if inside != parts || first != c.Range.Off || last != c.Range.End() || int(last) > 8*len(r.Data) {
				t.Fatalf("group %q at %v: %d of %d leaves, from %d to %d\n%s", r.Program.Fields[g].Name, c.Range, inside, parts, first, last, view.Transcript(r))
			}
		}
		for _, l := range leaves {
			if l.Role == codec.RoleValue && int(l.Field) > g && int(l.Field) < r.Program.Fields[g].End {
				total++
			}
		}
		if whole && total != found*parts {
			t.Fatalf("group %q: %d times %d leaves, and there are %d\n%s", r.Program.Fields[g].Name, found, parts, total, view.Transcript(r))
		}
	}
}

// TestGroupSitesOfAnyDefinition compares groups with their leaves in valid, truncated and corrupted messages.
func TestGroupSitesOfAnyDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d definition
		draw := d.fieldsAt(t, 0)
		s, _ := tera.Parse([]*source.File{source.New("C_ANY.1.def", d.text.String()+"vec3 own\nobject o\n- vec3 v\n- array<vec3> path\n")}, schema.Options{})
		p, err := codec.Compile(s.Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		var in, out, rec codec.Record
		if err := value.ParseJSON(&in, p, []byte(draw(t))); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		data := slices.Clone(out.Data)
		p.Decode(&rec, data)
		checkGroupSites(t, &rec, true)
		p.Decode(&rec, data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		checkGroupSites(t, &rec, false)
	})
}

// TestGroupSites shows the positions of groups, including bare elements and packed bits.
func TestGroupSites(t *testing.T) {
	for _, c := range []struct{ def, value, group string }{
		{"vec3 v\n", `{"v":{"x":1,"y":2,"z":3}}`, "v"},
		{"byte b\nobject o\n- vec3 v\n- customize c\n", `{"o":{"v":{"x":1,"y":2,"z":3}}}`, "o"},
		{"array a\n- vec3 v\n", `{"a":[{"v":{"x":1}},{"v":{"x":2}}]}`, "v"},
		{"array<vec3> a\n", `{"a":[{"x":1},{"x":2}]}`, ""},
	} {
		p := compile(t, "C_G.1.def", c.def, schema.Options{})
		var in, out, rec codec.Record
		if err := value.ParseJSON(&in, p, []byte(c.value)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, out.Data)
		checkGroupSites(t, &rec, true)
		found := false
		for f := range p.Fields {
			_, group := p.Fields[f].Schema.Type.(*schema.Group)
			_, list := p.Fields[f].Schema.Type.(*schema.List)
			_, ok := p.GroupSite(uint16(f))
			found = found || group && ok && p.Fields[f].Name == c.group
			if ok != (group || list) {
				t.Errorf("%q: field %q: %v", c.def, p.Fields[f].Name, ok)
			}
		}
		if !found {
			t.Errorf("%q: no group %q has a place", c.def, c.group)
		}
	}
}
