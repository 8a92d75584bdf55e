package cstruct_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/cstruct"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// leaf is a value in a struct: its place in JSON, and the expression of C.
type leaf struct {
	path []any
	c    string
	kind byte // i: signed, u: unsigned, f: float, b: a byte as bool, x: bytes
	n    string
}

// structs makes random structs, each with the values in it.
type structs struct {
	rng   *rand.Rand
	text  strings.Builder
	names []string
	of    map[string][]leaf
	id    int
}

func (g *structs) chance(n int) bool { return g.rng.IntN(n) == 0 }

func (g *structs) pick(of ...string) string { return of[g.rng.IntN(len(of))] }

func (g *structs) name() string {
	g.id++
	return "f" + strconv.Itoa(g.id)
}

var scalars = map[string]byte{
	"char": 'i', "signed char": 'i', "uint8_t": 'u', "short": 'i', "unsigned short": 'u', "int": 'i', "unsigned": 'u', "long": 'i', "unsigned long": 'u',
	"long long": 'i', "uint64_t": 'u', "float": 'f', "double": 'f', "bool": 'b', "uint16_t": 'u', "int32_t": 'i', "size_t": 'u', "enum E1": 'u', "enum E2": 'i', "enum E3": 'u', "wide_t": 'u', "narrow_t": 'u',
}

var scalarNames = strings.Split("char,signed char,uint8_t,short,unsigned short,int,unsigned,long,unsigned long,long long,uint64_t,float,double,bool,uint16_t,int32_t,size_t,enum E1,enum E2,enum E3,wide_t,narrow_t", ",")

var bitTypes = map[string]int{"char": 8, "unsigned char": 8, "short": 16, "uint16_t": 16, "int": 32, "unsigned": 32, "long long": 64, "uint64_t": 64, "signed char": 8, "bool": 1, "enum E1": 2}

var bitNames = strings.Split("char,unsigned char,short,uint16_t,int,unsigned,long long,uint64_t,signed char,bool,enum E1", ",")

func (g *structs) attribute(field bool) string {
	switch {
	case g.chance(12):
		return " __attribute__((packed))"
	case g.chance(12):
		return " __attribute__((aligned(" + g.pick("2", "4", "8", "16") + ")))"
	case field && g.chance(24):
		return " __attribute__((packed, aligned(2)))"
	}
	return ""
}

// members writes the members of a struct or a union, and returns the values in it.
func (g *structs) members(depth, n int, union bool) (out []leaf) {
	shown := 0
	if union {
		shown = g.rng.IntN(n)
	}
	for i := range n {
		f := g.name()
		comment := ""
		if union && i == shown {
			comment = " // @show"
		}
		var leaves []leaf
		attr := g.attribute(true)
		switch k := g.rng.IntN(12); {
		case k < 4 && !union || k < 2:
			typ := bitNames[g.rng.IntN(len(bitNames))]
			if g.chance(8) && !union {
				fmt.Fprintf(&g.text, "  %s : %d;\n", typ, g.rng.IntN(bitTypes[typ]+1))
				continue
			}
			kind := byte('i')
			switch typ {
			case "unsigned char", "uint16_t", "unsigned", "uint64_t", "bool", "enum E1":
				kind = 'u'
			}
			width := 1 + g.rng.IntN(bitTypes[typ])
			fmt.Fprintf(&g.text, "  %s %s : %d%s;%s\n", typ, f, width, attr, comment)
			if typ == "bool" {
				kind = 't'
			}
			leaves = append(leaves, leaf{[]any{f}, "." + f, kind, ""})
		case k == 5 && depth < 3:
			word, one := "struct", g.chance(2)
			if g.chance(2) {
				word = "union"
			}
			fmt.Fprintf(&g.text, "  %s %s {\n", word, g.attribute(false))
			inner := g.members(depth+1, 1+g.rng.IntN(4), word == "union")
			if one {
				g.text.WriteString("  };" + comment + "\n")
				leaves = inner
			} else {
				fmt.Fprintf(&g.text, "  } %s;%s\n", f, comment)
				leaves = under(inner, f)
			}
		case k == 6 && len(g.names) > 0:
			of := g.names[g.rng.IntN(len(g.names))]
			if len(g.of[of]) > 40 {
				of = g.names[0]
			}
			fmt.Fprintf(&g.text, "  struct %s %s%s;%s\n", of, f, attr, comment)
			leaves = under(g.of[of], f)
		case k == 7 && len(g.names) > 0:
			of := g.names[g.rng.IntN(len(g.names))]
			if len(g.of[of]) > 20 {
				of = g.names[0]
			}
			fmt.Fprintf(&g.text, "  struct %s %s[2];%s\n", of, f, comment)
			for j := range 2 {
				for _, l := range g.of[of] {
					leaves = append(leaves, leaf{append([]any{f, j}, l.path...), fmt.Sprintf(".%s[%d]%s", f, j, l.c), l.kind, l.n})
				}
			}
		case k == 8:
			fmt.Fprintf(&g.text, "  uint8_t %s[%d]%s;%s\n", f, 2+g.rng.IntN(6), attr, comment)
			leaves = append(leaves, leaf{[]any{f}, "." + f, 'x', ""})
		case k == 9:
			typ := scalarNames[g.rng.IntN(len(scalarNames))]
			if scalars[typ] == 'b' || typ == "char" || typ == "uint8_t" || typ == "wide_t" {
				typ = "short"
			}
			a, b := 1+g.rng.IntN(3), 1+g.rng.IntN(3)
			fmt.Fprintf(&g.text, "  %s %s[%d][%d]%s;%s\n", typ, f, a, b, attr, comment)
			for x := range a {
				for y := range b {
					leaves = append(leaves, leaf{[]any{f, x, y}, fmt.Sprintf(".%s[%d][%d]", f, x, y), scalars[typ], ""})
				}
			}
		default:
			typ := scalarNames[g.rng.IntN(len(scalarNames))]
			fmt.Fprintf(&g.text, "  %s %s%s;%s\n", typ, f, attr, comment)
			leaves = append(leaves, leaf{[]any{f}, "." + f, scalars[typ], ""})
		}
		if !union || i == shown {
			out = append(out, leaves...)
		}
	}
	return out
}

func under(of []leaf, f string) (out []leaf) {
	for _, l := range of {
		out = append(out, leaf{append([]any{f}, l.path...), "." + f + l.c, l.kind, l.n})
	}
	return out
}

// make writes a header of n structs.
func (g *structs) make(n int) string {
	g.text.WriteString("#include <stdint.h>\n#include <stdbool.h>\n#include <stddef.h>\nenum E1 { A1, B1 = 2, C1 };\nenum E2 { A2 = -5, B2 };\nenum __attribute__((packed)) E3 { A3 = 200 };\n" +
		"typedef unsigned wide_t __attribute__((aligned(16)));\ntypedef uint64_t narrow_t __attribute__((aligned(2)));\n")
	for i := range n {
		name := "S" + strconv.Itoa(i)
		pack := g.chance(3)
		if pack {
			fmt.Fprintf(&g.text, "#pragma pack(push, %s)\n", g.pick("1", "1", "2", "4", "8"))
		}
		fmt.Fprintf(&g.text, "struct%s %s {\n", g.attribute(false), name)
		leaves := g.members(0, 1+g.rng.IntN(9), false)
		fmt.Fprintf(&g.text, "}%s;\n", g.attribute(false))
		if pack {
			g.text.WriteString("#pragma pack(pop)\n")
		}
		if len(leaves) > 400 {
			leaves = leaves[:400]
		}
		g.names, g.of[name] = append(g.names, name), leaves
	}
	return g.text.String()
}

// program returns a program that prints for each struct its bytes, which are random, and the values in them.
func (g *structs) program(header string) string {
	var b strings.Builder
	b.WriteString("#include <stdio.h>\n#include <string.h>\n" + header + "static unsigned long long seed = 1;\n" +
		"static void fill(void *p, size_t n) { unsigned char *c = p; while (n--) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; *c++ = seed >> 56; } }\n" +
		"static void show(void *p, size_t n) { unsigned char *c = p; while (n--) printf(\"%02x\", *c++); printf(\"\\n\"); }\nint main(void) {\n")
	for _, name := range g.names {
		fmt.Fprintf(&b, "{ static struct %s s; fill(&s, sizeof s); printf(\"%s \"); show(&s, sizeof s);\n", name, name)
		for _, l := range g.of[name] {
			switch l.kind {
			case 'i':
				fmt.Fprintf(&b, "printf(\"%%lld\\n\", (long long)s%s);\n", l.c)
			case 'u', 't':
				fmt.Fprintf(&b, "printf(\"%%llu\\n\", (unsigned long long)s%s);\n", l.c)
			case 'f':
				fmt.Fprintf(&b, "printf(\"%%.17g\\n\", (double)s%s);\n", l.c)
			case 'b':
				fmt.Fprintf(&b, "printf(\"%%d\\n\", ((unsigned char *)&s)[offsetof(struct %s, %s)] != 0);\n", name, l.c[1:])
			case 'x':
				fmt.Fprintf(&b, "show(s%s, sizeof s%s);\n", l.c, l.c)
			}
		}
		b.WriteString("}\n")
	}
	return b.String() + "return 0; }\n"
}

// at returns the value at a path of JSON.
func at(v any, path []any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[key]
		case int:
			a, _ := v.([]any)
			if key >= len(a) {
				return nil
			}
			v = a[key]
		}
	}
	return v
}

// TestToolLayout compares the values that random structs have in random bytes with those that a C compiler finds there: bit fields, packing,
// alignments, unions, enums, arrays and structs in each other.
func TestToolLayout(t *testing.T) {
	cc := tooltest.Path(t, "cc")
	for seed := range uint64(2) {
		for _, order := range []string{"little", "big"} {
			t.Run(strconv.FormatUint(seed, 10)+" "+order, func(t *testing.T) {
				g := &structs{rng: rand.New(rand.NewPCG(seed, 1)), of: map[string][]leaf{}}
				compare(t, cc, order, g.make(100), g)
			})
		}
	}
}

func compare(t *testing.T, cc, order, header string, g *structs) {
	t.Helper()
	s, diags := cstruct.Parse([]*source.File{source.New("random.h", header)}, schema.Options{Values: map[string]string{"endian": order}})
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "random.c"), filepath.Join(dir, "random")
	if err := os.WriteFile(file, []byte(g.program("#pragma scalar_storage_order "+order+"-endian\n"+header)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), cc, "-w", "-O0", "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	byName := map[string]*schema.Message{}
	for _, m := range s.Messages {
		byName[m.Name] = m
	}
	values := 0
	for _, name := range g.names {
		head, text, _ := strings.Cut(lines[0], " ")
		lines = lines[1:]
		data, err := hex.DecodeString(text)
		if err != nil || head != name || byName[name] == nil {
			t.Fatalf("%s: %q %v", name, head, err)
		}
		p, err := codec.Compile(byName[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var rec codec.Record
		p.Decode(&rec, data)
		if rec.Status() != codec.OK || rec.Used != len(data) {
			from := strings.Index(header, " "+name+" {")
			t.Fatalf("%s: %d of %d bytes, %v\n%s\n%s", name, rec.Used, len(data), rec.Problems, byName[name], header[from-60:from+600])
		}
		shown := value.AppendJSON(nil, &rec)
		var v any
		if err := json.Unmarshal(shown, &v); err != nil {
			t.Fatal(err)
		}
		for _, l := range g.of[name] {
			want := lines[0]
			lines = lines[1:]
			values++
			if got := at(v, l.path); !sameValue(got, want, l.kind) {
				t.Errorf("%s %v is %v, not %s (%c)\n%s\n%s", name, l.path, got, want, l.kind, byName[name], header[strings.Index(header, " "+name+" {"):][:300])
				return
			}
		}
		var in, out, again codec.Record
		if err := value.ParseJSON(&in, p, shown); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := p.Encode(&out, &in); err != nil || len(out.Data) != len(data) {
			t.Fatalf("%s: %d bytes, %v", name, len(out.Data), err)
		}
		p.Decode(&again, out.Data)
		if back := value.AppendJSON(nil, &again); string(back) != string(shown) {
			t.Fatalf("%s: encoded and decoded\n%s\nis\n%s", name, shown, back)
		}
	}
	t.Logf("%d structs, %d values", len(g.names), values)
}

// sameValue reports whether a value in JSON is that of a line of the program.
func sameValue(got any, want string, kind byte) bool {
	switch kind {
	case 't', 'b':
		b, ok := got.(bool)
		return ok && b == (want == "1")
	case 'f':
		w, _ := strconv.ParseFloat(want, 64)
		switch g := got.(type) {
		case float64:
			return g == w || float32(g) == float32(w)
		case string:
			return strings.Contains(want, "nan") && strings.HasPrefix(g, "NaN") || math.IsInf(w, 0) && strings.HasSuffix(g, "Infinity")
		}
		return false
	}
	switch g := got.(type) {
	case float64:
		return strconv.FormatFloat(g, 'f', -1, 64) == want
	case string:
		return g == want
	}
	return false
}
