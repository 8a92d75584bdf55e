package codec_test

import (
	"encoding/json"
	"fmt"
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

// foundValue is a value as found by both methods of reading.
type foundValue struct {
	Raw uint64
	codec.Range
}

// inCalls returns the nodes that are inside groups nested in themselves.
func inCalls(r *codec.Record) []bool {
	in := make([]bool, len(r.Nodes))
	for i := 0; i < len(r.Nodes); i++ {
		if n := &r.Nodes[i]; r.Program.Ops[n.Op].Code == codec.OpCall {
			for ; i < int(n.After); i++ {
				in[i] = true
			}
			i--
		}
	}
	return in
}

// isAbsent reports whether the bits of a number mean that it has no value.
func isAbsent(r *codec.Record, l codec.Leaf) bool {
	it := r.Item(l)
	return it != nil && it.Num != nil && it.Num.Absent && l.Raw == 0
}

// checkSites checks that cursors find the same values of every field as the leaves.
func checkSites(t interface{ Fatalf(string, ...any) }, r *codec.Record) {
	want := map[uint16][]foundValue{}
	nested := inCalls(r)
	for _, l := range r.AppendLeaves(nil) {
		if l.Role == codec.RoleValue && l.Field != codec.NoField && !nested[l.Node] && !isAbsent(r, l) {
			want[l.Field] = append(want[l.Field], foundValue{l.Raw, l.Range()})
		}
	}
	var c codec.Cursor
	for f := range r.Program.Fields {
		at, ok := r.Program.Site(uint16(f))
		typ := r.Program.Fields[f].Schema.Type
		_, group := typ.(*schema.Group)
		if _, choice := typ.(*schema.Choice); ok == (group || choice) {
			t.Fatalf("field %d: a site is %v", f, ok)
		}
		if _, list := typ.(*schema.List); !ok || list {
			continue
		}
		var got []foundValue
		number := true
		for c.Start(r, at); c.Next(); {
			v := foundValue{c.Raw, c.Range}
			switch typ := typ.(type) {
			case *schema.Text:
				c.Bytes()
				c.AppendText(nil)
				if number = false; typ.Size == schema.Terminated && v.Len > 0 || c.Raw > 0 {
					v.Len = r.Nodes[c.Node].Len // leaves include the terminator
				}
			case *schema.Blob:
				number = false
				c.Bytes()
			}
			got = append(got, v)
		}
		leaves := want[uint16(f)]
		if !number { // leaves omit empty values, and have no number of units for fixed text
			continue
		}
		if !slices.Equal(got, leaves) {
			t.Fatalf("field %q: cursor %v, leaves %v\n%s", r.Program.Fields[f].Name, got, leaves, view.Transcript(r))
		}
		if raw, ok := at.Number(r); ok && (len(got) != 1 || raw != got[0].Raw) {
			t.Fatalf("field %q: number %d, cursor %v", r.Program.Fields[f].Name, raw, got)
		}
		if at.Single() && len(got) > 1 {
			t.Fatalf("field %q: %d values of one", r.Program.Fields[f].Name, len(got))
		}
	}
}

// TestSitesOfAnyDefinition compares cursors with leaves in valid, truncated and corrupted messages.
func TestSitesOfAnyDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d definition
		draw := d.fieldsAt(t, 0)
		s, _ := tera.Parse([]*source.File{source.New("C_ANY.1.def", d.text.String())}, schema.Options{})
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
		checkSites(t, &rec)
		p.Decode(&rec, data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		checkSites(t, &rec)
		for range 3 {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		p.Decode(&rec, data)
		checkSites(t, &rec)
	})
}

// TestSites shows values at every kind of site, in order.
func TestSites(t *testing.T) {
	nested := compile(t, "C_N.1.def", "array a\n- string s\n- array b\n- - int32 x\narray<int16> c\nbytes d\nobject o\n- vec3 v\n", schema.Options{})
	const deep = `{"a":[{"s":"qé","b":[{"x":1},{"x":-2}]},{"s":"","b":[]},{"b":[{"x":3}]}],"c":[5,6,7],"d":"0aff","o":{"v":{"x":1,"y":2,"z":3}}}`
	world := program(t, squad())
	const members = `{"header":{"rank":5,"title":"ab"},"members":[{"level":5,"name":"x","items":[1,2]},{"level":60,"name":"yz"}],"at":{"x":-1,"y":1},"flag":42}`
	for _, c := range []struct {
		p     *codec.Program
		value string
		path  string
		index []int32
		want  string
	}{
		{nested, deep, "a[].b[].x", nil, "[1 4294967294 3]"},
		{nested, deep, "a[].b[].x", []int32{0}, "[1 4294967294]"},
		{nested, deep, "a[].b[].x", []int32{-1, 0}, "[1 3]"},
		{nested, deep, "a[].b[].x", []int32{2, 0}, "[3]"},
		{nested, deep, "a[].b[].x", []int32{3, 0}, "[]"},
		{nested, deep, "a[].s", nil, `["q\u00e9" "" ""]`},
		{nested, deep, "a[].s", []int32{0}, `["q\u00e9"]`},
		{nested, deep, "a[].b", nil, "[2 0 1]"},
		{nested, deep, "c[]", nil, "[5 6 7]"},
		{nested, deep, "c[]", []int32{1}, "[6]"},
		{nested, deep, "c[]", []int32{9}, "[]"},
		{nested, deep, "c", nil, "[3]"},
		{nested, deep, "d", nil, "[0aff]"},
		{nested, deep, "o.v.y", nil, "[1073741824]"},
		{world, members, "members[].items[]", nil, "[1 2]"},
		{world, members, "members[].name", []int32{1}, `["yz"]`},
		{world, members, "members[].level", nil, "[5 60]"},
		{world, members, "flag", nil, "[42]"},
	} {
		var in, out, rec codec.Record
		if err := value.ParseJSON(&in, c.p, []byte(c.value)); err != nil {
			t.Fatal(err)
		}
		if err := c.p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		c.p.Decode(&rec, out.Data)
		checkSites(t, &rec)
		field := -1
		for f := range c.p.Fields {
			if string(c.p.AppendFieldPath(nil, uint16(f))) == c.path {
				field = f
			}
		}
		if field < 0 {
			t.Fatalf("no field %q", c.path)
		}
		at, ok := c.p.Site(uint16(field), c.index...)
		if !ok {
			t.Fatalf("%s has no place", c.path)
		}
		got := []string{}
		var cur codec.Cursor
		for cur.Start(&rec, at); cur.Next(); {
			switch c.p.Fields[field].Schema.Type.(type) {
			case *schema.Text:
				got = append(got, fmt.Sprintf("%+q", cur.AppendText(nil)))
			case *schema.Blob:
				got = append(got, fmt.Sprintf("%x", cur.Bytes()))
			default:
				got = append(got, fmt.Sprint(cur.Raw))
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s %v: got %v, want %s", c.path, c.index, got, c.want)
		}
	}
}

// TestSiteText compares text with its JSON, including lone surrogates.
func TestSiteText(t *testing.T) {
	p := compile(t, "C_T.1.def", "string s\n", schema.Options{})
	var in, out, rec codec.Record
	for _, c := range []struct{ value, want string }{
		{`{"s":"a\u00e9\u4e2d\ud83d\ude00z"}`, "aé中😀z"},
		{`{"s":"\ud83d"}`, "\xed\xa0\xbd"},
		{`{"s":"\ude00\ud83dx"}`, "\xed\xb8\x80\xed\xa0\xbdx"},
	} {
		if err := value.ParseJSON(&in, p, []byte(c.value)); err != nil || !json.Valid([]byte(c.value)) {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, out.Data)
		at, _ := p.Site(0)
		var cur codec.Cursor
		cur.Start(&rec, at)
		if !cur.Next() || string(cur.AppendText(nil)) != c.want || cur.Next() {
			t.Errorf("%s: %q", c.value, cur.AppendText(nil))
		}
	}
}

// TestSiteNoAllocations: reading values does not allocate.
func TestSiteNoAllocations(t *testing.T) {
	p := compile(t, "C_N.1.def", "int32 n\narray a\n- string s\n- array b\n- - int32 x\n", schema.Options{})
	var in, out, rec codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"n":4,"a":[{"s":"q","b":[{"x":1},{}]},{"b":[{}]}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	p.Decode(&rec, out.Data)
	var sites []*codec.Site
	for f := range p.Fields {
		if s, ok := p.Site(uint16(f)); ok {
			sites = append(sites, s)
		}
	}
	var c codec.Cursor
	if n := testing.AllocsPerRun(100, func() {
		for _, s := range sites {
			s.Number(&rec)
			for c.Start(&rec, s); c.Next(); {
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
