package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// definitions are used by the fuzz targets to read messages: each exercises other parts of the engine.
var definitions = []string{
	"int32 a\nfloat b\ndouble c\nuint64 d\nint64 e\nbool f\nbyte g\nint16 h\nuint16 i\nuint32 j\n",
	"string name\nstring guild\nint32 level\n",
	"bytes data\nstring text\nint16 x\n",
	"array list\n- int32 a\n- float b\nint32 n\n",
	"array<int32> numbers\narray<string> names\narray<vec3> places\n",
	"array outer\n- int16 id\n- array inner\n- - string s\n- - array<byte> deep\n- string t\n",
	"array[interleaved] a\n- int32 x\n- string s\narray[interleaved] b\n- int16 y\narray<int32> c\n",
	"object o\n- int32 a\n- string s\n- object p\n- - array l\n- - - vec3 v\n- - byte z\nangle w\n",
	"skillid skill\nskillid32 old\ncustomize look\nvec3fa dir\nvec3 loc\nangle turn\n",
	"array empty\nint32 x\n",
	"int32[3] three\nbyte[2][2] four\nvec3[2] two\nstring s\n",
	"ref s\nint32 a\nref l\nstring s\narray l\n- int16 v\n",
	"array list\n- skillid s\n- bool b\n- angle a\n",
	"array<array<int16>> grid\n",
}

// twice has duplicate names. It is the last one, so that the seeds on disk keep their numbers.
const twice = "vec3 a\nint16 n\nvec3 a\nbyte[2] b\nbyte[2] b\narray l\n- vec3 a\n- int32 n\n- vec3 a\n- int32 n\n- string s\n"

// fuzzPrograms are the programs of the definitions, and of messages of the other families.
var fuzzPrograms = sync.OnceValue(func() []*codec.Program {
	var out []*codec.Program
	for i, text := range definitions {
		s, ds := tera.Parse([]*source.File{source.New("C_FUZZ.1.def", text)}, schema.Options{Values: map[string]string{"integrity": strconv.FormatBool(i == 0)}})
		if ds.HasErrors() {
			panic(ds.Render())
		}
		out = append(out, must(codec.Compile(s.Messages[0])))
	}
	for _, m := range []*schema.Message{character(), squad(), cluster(), position(), optionals(), byLength(), byValue(), numbers(), arenas()} {
		out = append(out, must(codec.Compile(m)))
	}
	s, _ := tera.Parse([]*source.File{source.New("C_FUZZ.1.def", twice)}, schema.Options{})
	return append(out, must(codec.Compile(s.Messages[0])))
})

func must(p *codec.Program, err error) *codec.Program {
	if err != nil {
		panic(err)
	}
	return p
}

// seeds adds complete messages of every program, encoded from values by its own encoder, and corrupted ones.
func seeds(f *testing.F, add func(which byte, data []byte)) {
	f.Helper()
	var in, out codec.Record
	values := []string{
		`{}`, `{"a":1,"name":"ab","text":"x","list":[{},{}],"numbers":[1,2],"names":["a","b"],"outer":[{"inner":[{"s":"q","deep":[1]},{}]},{}],"b":[{},{}]}`,
	}
	for i, p := range fuzzPrograms() {
		for _, v := range values {
			var all map[string]json.RawMessage
			if err := json.Unmarshal([]byte(v), &all); err != nil {
				f.Fatal(err)
			}
			for k := range all { // fields that this definition lacks or has with another type
				if value.ParseJSON(&in, p, []byte(`{"`+k+`":`+string(all[k])+`}`)) != nil {
					delete(all, k)
				}
			}
			text, err := json.Marshal(all)
			if err != nil {
				f.Fatal(err)
			}
			if value.ParseJSON(&in, p, text) != nil || p.Encode(&out, &in) != nil {
				continue
			}
			add(byte(i), out.Message())
			if n := len(out.Message()); n > 4 {
				add(byte(i), out.Message()[:n-3])
				cut := slices.Clone(out.Message()[:n-3])
				cut[0] = byte(n - 3)
				add(byte(i), cut)
			}
		}
		add(byte(i), nil)
		add(byte(i), bytes.Repeat([]byte{0xff}, 40))
	}
	for i, p := range fuzzPrograms() {
		if p.Message.Name == "C_FUZZ" {
			add(byte(i), []byte{16, 0, 0, 0, 3, 0, 8, 0, 8, 0, 8, 0, 0, 0, 0, 0})
		}
	}
}

// inspect checks the invariants of every record produced by Decode.
func inspect(t *testing.T, r *codec.Record, data []byte) {
	t.Helper()
	bits := uint64(len(r.Data)) * 8 // with decompressed contents
	if r.Size() != len(data) && len(data) <= codec.MaxMessage || len(r.Data)-len(data) > 4<<20 {
		t.Fatalf("%d bytes, of them %d sent, of %d", len(r.Data), r.Size(), len(data))
	}
	inside := func(what string, g codec.Range) {
		if uint64(g.Off)+uint64(g.Len) > bits {
			t.Fatalf("%s at %d+%d of %d bits", what, g.Off, g.Len, bits)
		}
	}
	if r.Used < 0 || r.Used > len(data) {
		t.Fatalf("used %d of %d", r.Used, len(data))
	}
	if most := 3<<12 + 4*len(data) + min(4*(len(r.Data)-len(data)), 1<<17); len(r.Nodes) > most {
		t.Fatalf("%d nodes for %d bytes", len(r.Nodes), len(data))
	}
	for i, n := range r.Nodes {
		inside("node", n.Range())
		if int(n.After) <= i || int(n.After) > len(r.Nodes) {
			t.Fatalf("node %d ends before %d of %d", i, n.After, len(r.Nodes))
		}
	}
	if (len(r.Problems) == 0) != (r.Status() == codec.OK) {
		t.Fatalf("status %v with %d problems", r.Status(), len(r.Problems))
	}
	all := r.AppendWarnings(slices.Clone(r.Problems))
	for i, p := range all {
		inside("problem "+p.Code.String(), p.Range)
		if text := p.Message(r); text == "" || strings.Contains(text, `""`) {
			t.Fatalf("problem %v without words, or about nothing: %s", p.Code, text)
		}
		if i < 50 {
			r.AppendPath(nil, p.Field(), p.Node(), p.Elem())
		}
	}
	leaves := r.AppendLeaves(nil)
	covered := make([]byte, len(r.Data)) // covered bits, by byte
	mark := func(g codec.Range) (before bool) {
		for at := g.Off; at < g.End(); at++ {
			before = before || covered[at/8]&(1<<(at%8)) != 0
			covered[at/8] |= 1 << (at % 8)
		}
		return before
	}
	work := uint64(0)
	for i, l := range leaves {
		inside("leaf", l.Range())
		if work += uint64(l.Len); work < 1<<24 {
			mark(l.Range())
		}
		if i < 50 {
			r.AppendPath(nil, l.Field, int32(l.Node), l.Elem)
		}
	}
	if work >= 1<<24 {
		return // many share the same bytes: examining each is too slow here
	}
	gaps := 0
	for g := range r.Gaps() {
		inside("gap", g)
		gaps += int(g.Len+7) / 8
		if mark(g) {
			t.Fatalf("gap at %d+%d is not one", g.Off, g.Len)
		}
	}
	for i := range covered {
		if covered[i] != 0xff && (i < r.Used || i >= r.Size()) {
			t.Fatalf("byte %d of %d is not covered: %08b", i, len(r.Data), covered[i])
		}
	}
	if r.Used > 0 && r.Unexplained() != gaps+len(data)-r.Used {
		t.Fatalf("%d bytes unexplained, but %d in gaps and %d after the message", r.Unexplained(), gaps, len(data)-r.Used)
	}
}

// sameRecord checks that the fast path and the full decoder agree.
func sameRecord(t *testing.T, p *codec.Program, r *codec.Record, data []byte) {
	t.Helper()
	var full codec.Record
	p.DecodeFully(&full, data)
	if full.Status() != r.Status() || full.Used != r.Used || full.Code != r.Code || !slices.Equal(full.Nodes, r.Nodes) || !slices.Equal(full.Problems, r.Problems) {
		t.Fatalf("%x:\nquick %v %d %d %+v\n full %v %d %d %+v", data, r.Status(), r.Used, r.Code, r.Nodes, full.Status(), full.Used, full.Code, full.Nodes)
	}
}

func FuzzDecode(f *testing.F) {
	seeds(f, func(which byte, data []byte) { f.Add(which, data) })
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		programs := fuzzPrograms()
		p := programs[int(which)%len(programs)]
		var r codec.Record
		p.Decode(&r, data)
		inspect(t, &r, data)
		sameRecord(t, p, &r, data)
		text := value.AppendJSON(nil, &r)
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		if most := 40<<20 + 1000*len(data); len(text) > most {
			t.Fatalf("%d bytes of text for %d", len(text), len(data))
		}
	})
}

// mayFail reports whether an encoder may reject a decoded record: laid out anew it can be too long, or have a length that selects another
// alternative.
func mayFail(err error) bool {
	return strings.Contains(err.Error(), "too long") || strings.Contains(err.Error(), "bytes long") || strings.Contains(err.Error(), "no alternative")
}

// skipped reports whether no alternative of the definition fits the message.
func skipped(r *codec.Record) bool {
	return slices.ContainsFunc(r.AppendWarnings(nil), func(p codec.Problem) bool { return p.Code == codec.SkippedByChoice })
}

func FuzzEncode(f *testing.F) {
	seeds(f, func(which byte, data []byte) { f.Add(which, data) })
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		programs := fuzzPrograms()
		p := programs[int(which)%len(programs)]
		var r, in, out, again, twice, full codec.Record
		p.Decode(&r, data)
		if r.Status() != codec.OK {
			if err := p.Encode(&out, &r); err == nil {
				t.Fatal("a record with errors was encoded")
			}
			return
		}
		text := value.AppendJSON(nil, &r)
		if len(text) > 1<<20 {
			return
		}
		if err := value.ParseJSON(&in, p, text); err != nil {
			if mayFail(err) {
				return
			}
			t.Fatalf("%v in %s", err, text)
		}
		in.Code, in.Session = r.Code, r.Session
		sources := []*codec.Record{&r, &in}
		if skipped(&r) {
			sources = sources[:1] // from the values alone the encoder selects an alternative that fits
		}
		for _, src := range sources {
			if err := p.Encode(&out, src); err != nil {
				if mayFail(err) {
					continue
				}
				t.Fatalf("%v\n%s", err, text)
			}
			if err := p.EncodeFully(&full, src); err != nil || !bytes.Equal(full.Message(), out.Message()) || !slices.Equal(full.Nodes, out.Nodes) {
				t.Fatalf("%s: %v\nquick %x %+v\n full %x %+v", text, err, out.Message(), out.Nodes, full.Message(), full.Nodes)
			}
			p.Decode(&again, out.Message())
			if again.Status() != codec.OK || again.Used != len(out.Message()) {
				t.Fatalf("%x: %v, used %d of %d: %s", out.Message(), again.Status(), again.Used, len(out.Message()), problems(&again))
			}
			if got := value.AppendJSON(nil, &again); !bytes.Equal(got, text) {
				t.Fatalf("%x:\n got %s\nwant %s", out.Message(), got, text)
			}
			if !reflect.DeepEqual(again.Nodes, out.Nodes) {
				t.Fatalf("%x: nodes\n%v\n%v", out.Message(), out.Nodes, again.Nodes)
			}
			if err := p.Encode(&twice, &again); err != nil || !bytes.Equal(twice.Data, out.Message()) {
				t.Fatalf("%v\n got %x\nwant %x", err, twice.Data, out.Message())
			}
		}
	})
}

// depthOf returns the maximum nesting depth of arrays and objects in a JSON text.
func depthOf(text []byte) (most int) {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

func FuzzParseJSON(f *testing.F) {
	for i := range fuzzPrograms() {
		for _, text := range []string{
			`{}`, `[]`, `nul`, `{"a":1,"b":-0.5e-3,"c":"NaN","d":"18446744073709551615","f":true,"g":255}`, `{"name":"\ud800\u0041\n","level":1e3}`,
			`{"list":[{"a":1},null,{"b":"Infinity"}],"n":-1}`, `{"skill":{"npc":true,"type":1,"huntingZoneId":3,"id":5,"reserved":0},"turn":-3.14}`,
			`{"data":"00ff","text":"é😀"}`, `{"o":{"p":{"l":[{"v":{"x":1}}],"z":2},"a":3}}`, "{\"a\":\"\x01\"}", `{"a":01}`, `{"a":1,}`, `{"a":1 "b":2}`,
			`{"kind":1,"name":"q"}`, `{"crc":1,"size":2}`, `{"a":1,"b":2,"c":3}`, `{"packets":[{"payload":"00"}]}`,
		} {
			f.Add(byte(i), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		programs := fuzzPrograms()
		p := programs[int(which)%len(programs)]
		var in, out, again codec.Record
		err := value.ParseJSON(&in, p, text)
		var syntax *value.SyntaxError
		isJSON := json.Valid(text) && utf8.Valid(text) && depthOf(text) <= 200
		if errors.As(err, &syntax) == isJSON {
			t.Fatalf("%q: %v", text, err)
		}
		if syntax != nil && (syntax.Offset < 0 || syntax.Offset > len(text)) {
			t.Fatalf("%q: error at %d", text, syntax.Offset)
		}
		if err != nil {
			var values value.ValueErrors
			if errors.As(err, &values) {
				for _, e := range values {
					if e.Message == "" || e.Code == "" || e.Offset < 0 || e.Offset > len(text) {
						t.Fatalf("%q: %+v", text, e)
					}
				}
			}
			return
		}
		if err := p.Encode(&out, &in); err != nil {
			return
		}
		p.Decode(&again, out.Message())
		if again.Status() != codec.OK || !reflect.DeepEqual(again.Nodes, out.Nodes) {
			t.Fatalf("%q: %x: %v: %s\n%v\n%v", text, out.Message(), again.Status(), problems(&again), out.Nodes, again.Nodes)
		}
		shown := value.AppendJSON(nil, &again)
		if err := value.ParseJSON(&in, p, shown); err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		if err := p.Encode(&again, &in); err != nil || !bytes.Equal(again.Message(), out.Message()) {
			t.Fatalf("%q: %v\n got %x\nwant %x", text, err, again.Message(), out.Message())
		}
	})
}

func FuzzDef(f *testing.F) {
	for i, text := range definitions {
		f.Add(text, []byte{12, 0, 1, 0, 1, 0, 8, 0, byte(i), 0, 0, 0})
	}
	f.Add("array a\n- array b\n- - array c\n- - - array d\n- - - - string s\n", bytes.Repeat([]byte{8, 0}, 60))
	f.Add("byte[9999][9999] a\n", []byte{})
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if len(text) > 1<<12 {
			return
		}
		s, _ := tera.Parse([]*source.File{source.New("C_FUZZ.1.def", text)}, schema.Options{})
		for _, m := range s.Messages {
			p, err := codec.Compile(m)
			if err != nil {
				continue
			}
			p.Layout()
			least, most := p.Size()
			if most >= 0 && most < least {
				t.Fatalf("size %d to %d", least, most)
			}
			var r, in, out codec.Record
			p.Decode(&r, data)
			inspect(t, &r, data)
			if text := value.AppendJSON(nil, &r); !json.Valid(text) {
				t.Fatalf("not JSON: %s", text)
			}
			if value.ParseJSON(&in, p, []byte(`{}`)) != nil || p.Encode(&out, &in) != nil {
				continue
			}
			if p.Decode(&r, out.Message()); r.Status() != codec.OK || int64(len(out.Message())) < least {
				t.Fatalf("%v, %d bytes, at least %d: %s", r.Status(), len(out.Message()), least, problems(&r))
			}
		}
	})
}
