package emit_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
	"wirebench/defs/wire"
)

// sample is a schema, and messages for the code generated from it.
type sample struct {
	name   string
	schema *schema.Schema
	rows   []row
}

// row is a message that generated code reads, or a value that it writes. The expected results are from the codec or from a vector.
type row struct {
	Sample  string          `json:"sample"`
	Message string          `json:"message"`         // name in Messages of the target; "" = by its code, in Set
	Set     string          `json:"set,omitempty"`   // group of a message to be found by its code
	Hex     string          `json:"hex"`             // to be read
	Write   json.RawMessage `json:"write,omitempty"` // a value to be written instead
	Code    uint32          `json:"code,omitempty"`  // of the value
	status  string          // "ok", "incomplete", "illegal", or "refused" for a value that cannot be written
	maybe   string          // alternative valid status
	used    int             // bytes read
	value   json.RawMessage // expected value
	again   string          // hex of the encoded value
	exact   string          // alternative: hex of the encoded record, which preserves more than its values
	known   bool            // from a vector of the corpora
	free    bool            // values may lack members that are not in the message
}

// answer is the result of generated code for a row.
type answer struct {
	Status string          `json:"status"`
	Used   int             `json:"used"`
	Value  json.RawMessage `json:"value"`
	Again  string          `json:"again"` // hex of the encoded value, read or given
	Error  string          `json:"error"`
}

var made struct {
	sync.Once
	samples []sample
}

// samples returns all samples. They are generated once and immutable.
func samples(t *testing.T) []sample {
	t.Helper()
	made.Do(func() { made.samples = makeSamples(t) })
	return made.samples
}

func makeSamples(t *testing.T) []sample {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	out := []sample{
		{name: "svmsg", schema: svmsg()},
		{name: "move", schema: clmsgMove()},
		{name: "chat", schema: clmsgChat()},
		{name: "prmsg", schema: prmsg()},
		{name: "squad", schema: squad()},
		{name: "random", schema: randomSample(20, 1)},
		{name: "datagrams", schema: datagrams()},
	}
	c := corpora.Largest(t)
	if !c.Own {
		out = out[4:] // the first four are messages of larger corpora
	}
	out = append(append(out, mutaSamples(t, c)...), teraSample(t, c))
	out = append(out, teraFeatures(t), protodefPlain(t))
	for i := range out {
		codecRows(t, &out[i], rng)
	}
	return out
}

// mutaSamples returns the definitions of MUTA's vectors with all their rows.
func mutaSamples(t *testing.T, c *corpora.Corpus) []sample {
	var out []sample
	of := map[string]int{}
	n := 0
	for _, v := range corpora.Rows[struct {
		Group, Message, Hex, Outcome string
		Value                        json.RawMessage
		Consumed                     int
		Def                          string `json:"def_text"`
		Constants                    map[string]json.Number
	}](t, c, "muta/vectors.jsonl") {
		if v.Outcome == "def_error" {
			continue // an invalid definition has no code
		}
		key := fmt.Sprint(v.Def, v.Constants)
		i, ok := of[key]
		if !ok {
			constants := map[string]string{}
			for name, value := range v.Constants {
				constants[name] = value.String()
			}
			s, ds := muta.Parse([]*source.File{source.New("m.def", v.Def)}, schema.Options{Constants: constants})
			if ds.HasErrors() {
				t.Fatal(ds.Render())
			}
			schema.Link(s)
			i = len(out)
			of[key] = i
			out = append(out, sample{name: fmt.Sprintf("muta%d", i), schema: s})
		}
		s := &out[i]
		n++
		if v.Outcome == "encode_error" {
			s.rows = append(s.rows, row{Sample: s.name, Message: v.Message, Write: v.Value, status: "refused", known: true})
			continue
		}
		s.rows = append(s.rows, row{Sample: s.name, Set: v.Group, Hex: v.Hex, status: v.Outcome, used: v.Consumed, value: v.Value, again: v.Hex[:2*v.Consumed]})
		if v.Outcome == "ok" {
			s.rows = append(s.rows, row{Sample: s.name, Message: v.Message, Write: v.Value, status: "ok", again: v.Hex[:2*v.Consumed], known: true})
		}
	}
	if n < 150 {
		t.Errorf("only %d vectors of MUTA", n)
	}
	return out
}

// vectors returns the vectors for the generated tests: those of the corpora, and examples of the codec.
func vectors(t *testing.T, s sample, most int) []emit.Vector {
	t.Helper()
	var known, out []emit.Vector
	for _, r := range s.rows {
		if r.Write == nil || !r.known {
			continue
		}
		data, err := hex.DecodeString(r.again)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, emit.Vector{Message: r.Message, Value: r.Write, Bytes: data, Outcome: emit.Outcome(r.status)})
	}
	step := 1 + len(known)/most // some of each message
	for i := 0; i < len(known); i += step {
		out = append(out, known[i])
	}
	return append(out, exampleVectors(t, s.schema, max(2, min(12, most/len(s.schema.Messages))))...)
}

type teraVector struct {
	Def    string          `json:"def"`
	Opcode uint32          `json:"opcode"`
	Hex    string          `json:"hex"`
	Value  json.RawMessage `json:"value"`
}

var typeWord = regexp.MustCompile(`(?m)^[- ]*(\S+)`)

// teraSample returns 50 definitions that are as different as possible, and all their vectors.
func teraSample(t *testing.T, c *corpora.Corpus) sample {
	byDef := map[string][]teraVector{}
	for _, v := range corpora.Rows[teraVector](t, c, "tera/vectors-toolbox.jsonl") {
		byDef[v.Def] = append(byDef[v.Def], v)
	}
	texts := map[string]string{}
	words := map[string]map[string]bool{}
	var names []string
	for name := range byDef {
		b := c.Read(t, "tera/toolbox/definitions/"+name)
		names, texts[name], words[name] = append(names, name), string(b), map[string]bool{}
		for _, m := range typeWord.FindAllStringSubmatch(string(b), -1) {
			words[name][m[1]] = true
		}
	}
	sort.Strings(names)
	// Definitions with the rarest types first: each is rated by its words that were not chosen often yet.
	chosen, seen := map[string]bool{}, map[string]int{}
	for len(chosen) < 50 && len(chosen) < len(names) {
		best, most := "", -1.0
		for _, name := range names {
			if chosen[name] {
				continue
			}
			score := 0.0
			for _, w := range slices.Sorted(maps.Keys(words[name])) { // sorted, as sums of floats depend on the order
				score += 1 / float64(1+seen[w]*seen[w])
			}
			if score > most {
				best, most = name, score
			}
		}
		chosen[best] = true
		for w := range words[best] {
			seen[w]++
		}
	}
	var files []*source.File
	out := sample{name: "tera"}
	for _, name := range names {
		if !chosen[name] {
			continue
		}
		files = append(files, source.New(name, texts[name]))
	}
	s, ds := tera.Parse(files, schema.Options{})
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	schema.Link(s)
	out.schema = s
	for _, name := range names {
		for _, v := range byDef[name] {
			if !chosen[name] {
				break
			}
			message := strings.TrimSuffix(strings.TrimSuffix(name, ".def"), ".1")
			out.rows = append(out.rows,
				row{Sample: "tera", Message: message, Hex: v.Hex, status: "ok", used: len(v.Hex) / 2, value: v.Value, again: v.Hex},
				row{Sample: "tera", Message: message, Write: v.Value, Code: v.Opcode, status: "ok", again: v.Hex, known: true})
		}
	}
	return out
}

// teraFeatures returns definitions with every feature of TERA.
func teraFeatures(t *testing.T) sample {
	defs := map[string]string{
		"C_EVERY.1.def":  "bool a\nbyte b\nint16 c\nuint16 d\nint32 e\nuint32 f\nint64 g\nuint64 h\nfloat i\ndouble j\nangle k\nvec3 l\nvec3fa m\nskillid n\nskillid32 o\ncustomize p\nstring q\nbytes r\n",
		"S_LISTS.2.def":  "array l\n- int32 a\n- array inner\n- - string s\n- - byte b\n- string s\narray<int64> m\narray<string> n\narray<array<byte>> o\narray<vec3> p\narray<skillid> q\nobject x\n- string y\n- int32 z\n- object w\n- - array v\n- - - byte b\n",
		"S_LISTS.1.def":  "ref a\nint32 x\nref b\nbyte y\nstring a\narray b\n- byte c\n",
		"C_WEAVE.1.def":  "array[interleaved] a\n- int32 x\n- string s\narray[interleaved] b\n- byte y\nint32 z\n",
		"C_TWICE.1.def":  "int32 a\nbyte b\nint32 a\nbyte[3] c\nbyte d\nbyte[3] c\nvec3 e\nvec3 e\nint16[2][3] f\n",
		"C_EMPTY.1.def":  "",
		"C_Clash.1.def":  "int32 code\nstring size\nint32 len\narray data\n- int32 next\n- bool this\n",
		"C_CLASH.1.def":  "int32 Code\nint32 _code\nint32 __proto__\n",
		"c_clash_v2.def": "",
	}
	var files []*source.File
	for name, text := range defs {
		if strings.Count(name, ".") == 2 {
			files = append(files, source.New(name, text))
		}
	}
	slices.SortFunc(files, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	s, ds := tera.Parse(files, schema.Options{})
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	schema.Link(s)
	return sample{name: "features", schema: s}
}

// codecRows adds random messages from the codec, all their prefixes, and variants with wrong bytes.
func codecRows(t *testing.T, s *sample, rng *rand.Rand) {
	t.Helper()
	var in, out codec.Record
	most := max(2, min(12, 60/len(s.schema.Messages)))
	for _, m := range s.schema.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for try := 0; made < most && try < 200; try++ {
			var b strings.Builder
			randomStruct(&b, rng, m.Body, 0)
			if err := value.ParseJSON(&in, p, []byte(b.String())); err != nil {
				continue // an alternative of another size
			}
			if in.Code = m.Key.Code; !m.HasKey {
				in.Code = 4660
			}
			if err := p.Encode(&out, &in); err != nil || len(out.Data) > 4000 {
				continue
			}
			made++
			data := bytes.Clone(out.Data)
			addRow(t, s, m, p, data)
			if r := addRow(t, s, m, p, append(bytes.Clone(data), 0xff, 1)); m.Measured && r.used != len(data) {
				t.Errorf("%s: %d bytes used of %d", m.Name, r.used, len(data))
			}
			lone := strings.Contains(b.String(), `\ud800`) || strings.Contains(b.String(), `\udc00`) // not supported by the harness
			if len(m.Body.Variants) == 0 && m.Body.Optional == 0 && !strings.Contains(m.Name, "choice") && !lone {
				r := row{Sample: s.name, Message: messageName(m), Write: json.RawMessage(b.String()), Code: in.Code, status: "ok", again: hex.EncodeToString(data)}
				s.rows = append(s.rows, r)
			}
			for n := 0; n < len(data); n += 1 + len(data)/10 {
				addRow(t, s, m, p, data[:n])
			}
			for range 10 {
				if len(data) == 0 {
					break
				}
				wrong := bytes.Clone(data)
				for range 1 + rng.IntN(3) {
					wrong[rng.IntN(len(wrong))] = []byte{0, 1, 2, 4, 8, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(9)]
				}
				if m.HasKey { // a message with another code is another message
					copy(wrong, data[:headSize(m)])
				}
				addRow(t, s, m, p, wrong)
			}
		}
		if made == 0 && m.Body.Fields != nil {
			t.Fatalf("%s: no message could be generated", m.Name)
		}
	}
}

// headSize returns the number of bytes up to the end of a message's code.
func headSize(m *schema.Message) int {
	bits := 0
	for _, it := range m.Body.Wire {
		if bits += it.Bits; it.Kind == schema.Code {
			break
		}
	}
	return bits / 8
}

func messageName(m *schema.Message) string {
	if m.Version == 1 {
		return m.Name
	}
	return fmt.Sprintf("%s.%d", m.Name, m.Version)
}

// addRow adds a row with the codec's results for bytes.
func addRow(t *testing.T, s *sample, m *schema.Message, p *codec.Program, data []byte) row {
	var rec, in, out codec.Record
	p.Decode(&rec, data)
	r := row{Sample: s.name, Message: messageName(m), Hex: hex.EncodeToString(data), status: rec.Status().String(), used: rec.Used}
	framed := len(m.Body.Wire) > 0 && m.Body.Wire[0].Kind == schema.Length
	switch {
	case rec.Status() == codec.OK:
		r.value = nanBits.ReplaceAll(value.AppendJSON(nil, &rec), []byte(`"NaN"`)) // what is emitted has no form for the bits
		r.again = "-"
		if err := value.ParseJSON(&in, p, r.value); err == nil {
			in.Code = rec.Code
			if err := p.Encode(&out, &in); err == nil {
				r.again = hex.EncodeToString(out.Data)
			}
		}
		if err := p.Encode(&out, &rec); err == nil {
			r.exact = hex.EncodeToString(out.Data)
		}
		r.free = true
	case rec.Status() == codec.Illegal && framed && len(data) >= 2 && len(data) < int(data[0])|int(data[1])<<8:
		r.maybe = "incomplete" // generated code waits for the whole frame
	case rec.Status() == codec.Illegal && !framed && !m.Measured:
		r.maybe = "incomplete" // it checks the size of all elements before it reads the first one
	}
	s.rows = append(s.rows, r)
	return r
}

// randomStruct writes a random value of a struct.
func randomStruct(b *strings.Builder, rng *rand.Rand, s *schema.Struct, depth int) {
	b.WriteByte('{')
	fields := s.Fields
	if s.Optional > 0 {
		fields = fields[:len(fields)-rng.IntN(min(s.Optional, len(fields))+1)]
	}
	if n := len(s.Variants); n > 0 {
		v := s.Variants[rng.IntN(n)]
		if v.Body != nil {
			fields = append(slices.Clone(fields), v.Body.Fields...)
		}
		if v.Field != nil {
			copied := *v.Field
			copied.Type = ranged(8, 0, float64(v.Value), float64(v.Value))
			fields = slices.Clone(fields)
			for i := range fields {
				if fields[i] == v.Field {
					fields[i] = &copied
				}
			}
		}
	}
	comma := ""
	for _, f := range fields {
		if f.Same != nil {
			continue
		}
		fmt.Fprintf(b, "%s%q:", comma, f.Name)
		comma = ","
		randomValue(b, rng, f.Type, depth)
	}
	b.WriteByte('}')
}

func randomUnits(rng *rand.Rand, e schema.Extent, depth int) int {
	if e.Size == schema.Fixed {
		return e.N
	}
	lo, hi := 0, []int{2, 5, 20}[rng.IntN(3)]
	if depth > 1 {
		hi = 3
	}
	if e.Min != nil {
		lo = int(e.Min.Uint)
	}
	if hi += lo; e.Max != nil {
		hi = min(hi, int(e.Max.Uint))
	}
	return lo + rng.IntN(hi-lo+1)
}

func randomValue(b *strings.Builder, rng *rand.Rand, t schema.Type, depth int) {
	switch t := t.(type) {
	case *schema.Number:
		randomNumber(b, rng, t)
	case *schema.Bitfield:
		b.WriteString([]string{
			`{"npc":true,"type":1,"huntingZoneId":7,"id":1000,"reserved":0}`, `{"npc":false,"type":3,"huntingZoneId":0,"id":123456,"reserved":1}`, `{}`,
		}[rng.IntN(3)])
	case *schema.Text:
		n := randomUnits(rng, t.Extent, depth)
		if t.Size == schema.Fixed && t.Min == nil {
			n = rng.IntN(n + 1)
		}
		b.WriteByte('"')
		for i := 0; i < n; i++ {
			switch k := rng.IntN(6); {
			case k == 0 && t.Charset == schema.Latin1:
				b.WriteString("é")
			case k == 0 && t.Charset == schema.UTF16LE:
				b.WriteString([]string{"家", `\ud800`, `\udc00`}[rng.IntN(3)])
			case k == 1 && t.Charset == schema.UTF16LE && i+1 < n:
				b.WriteString("😀")
				i++
			case k == 0 && i+1 < n:
				b.WriteString("é")
				i++
			default:
				b.WriteByte(byte('a' + rng.IntN(26)))
			}
		}
		b.WriteByte('"')
	case *schema.Blob:
		fmt.Fprintf(b, "%q", hex.EncodeToString(randomBytes(rng, randomUnits(rng, t.Extent, depth))))
	case *schema.List:
		b.WriteByte('[')
		for i := range randomUnits(rng, t.Extent, depth+1) {
			if i > 0 {
				b.WriteByte(',')
			}
			if t.Bare {
				randomValue(b, rng, t.Elem.Fields[0].Type, depth+1)
			} else {
				randomStruct(b, rng, t.Elem, depth+1)
			}
		}
		b.WriteByte(']')
	case *schema.Group:
		randomStruct(b, rng, t.Struct, depth)
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func randomNumber(b *strings.Builder, rng *rand.Rand, n *schema.Number) {
	raw := rng.Uint64() >> rng.IntN(64) & (^uint64(0) >> (64 - n.Bits))
	quote := ""
	if n.Bits > 32 && n.Scale == 0 {
		quote = `"`
	}
	switch {
	case n.Kind == schema.Bool:
		fmt.Fprintf(b, "%v", raw&1 == 1)
	case n.Kind == schema.Float && n.Min != nil:
		fmt.Fprintf(b, "%v", n.Min.Float+(n.Max.Float-n.Min.Float)*float64(rng.IntN(5))/4)
	case n.Kind == schema.Float:
		fmt.Fprint(b, []string{"0", "1.5", "-2.25", `"NaN"`, `"Infinity"`, "1e20", "0.1"}[rng.IntN(7)])
	case n.Kind == schema.Signed && n.Min != nil:
		v := n.Min.Int + int64(rng.Uint64()%uint64(n.Max.Int-n.Min.Int+1))
		if n.Scale != 0 {
			fmt.Fprintf(b, "%v", float64(v)*n.Scale)
		} else {
			fmt.Fprintf(b, "%s%d%s", quote, v, quote)
		}
	case n.Min != nil:
		fmt.Fprintf(b, "%s%d%s", quote, n.Min.Uint+rng.Uint64()%(n.Max.Uint-n.Min.Uint+1), quote)
	case n.Scale != 0 && n.Kind == schema.Signed:
		fmt.Fprintf(b, "%v", float64(int64(raw<<(64-n.Bits))>>(64-n.Bits))*n.Scale)
	case n.Scale != 0:
		fmt.Fprintf(b, "%v", float64(raw)*n.Scale)
	case n.Kind == schema.Signed:
		fmt.Fprintf(b, "%s%d%s", quote, int64(raw<<(64-n.Bits))>>(64-n.Bits), quote)
	default:
		fmt.Fprintf(b, "%s%d%s", quote, raw, quote)
	}
}

// sameMeaning reports whether bytes decode to the value of a row: other data in the row's bytes may be preserved or not.
func (r *row) sameMeaning(t *testing.T, s *schema.Schema, text string) bool {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	for _, m := range s.Messages {
		if messageName(m) != r.Message {
			continue
		}
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		packed := slices.ContainsFunc(p.Wire().Features(), func(u wire.Use) bool { return u.Feature == wire.Compression })
		var rec codec.Record
		p.Decode(&rec, data)
		return rec.Status() == codec.OK && (packed || len(text) == len(r.again)) && bytes.Equal(nanBits.ReplaceAll(value.AppendJSON(nil, &rec), []byte(`"NaN"`)), r.value)
	}
	return false
}

// compare checks the answers of generated code to all rows.
func compare(t *testing.T, rows []row, answers []answer) {
	t.Helper()
	if len(rows) != len(answers) {
		t.Fatalf("%d answers to %d messages", len(answers), len(rows))
	}
	count := map[string]int{}
	failed := 0
	for i, r := range rows {
		count[r.status]++
		wrong := r.wrong(t, answers[i])
		if wrong == "" {
			continue
		}
		what := fmt.Sprintf("%s %s%s %s%s", r.Sample, r.Message, r.Set, r.Hex, r.Write)
		if len(what) > 300 {
			what = what[:300] + "…"
		}
		if len(wrong) > 1000 {
			wrong = wrong[:1000] + "…"
		}
		t.Errorf("%s:\n%s", what, wrong)
		if failed++; failed > 10 {
			t.Fatalf("and so on: %d of %d messages", i, len(rows))
		}
	}
	limited := len(rows) == 0 || rows[0].Sample != "protodef" // the plain types of ProtoDef have no illegal values
	if count["ok"] == 0 || count["incomplete"] == 0 || count["illegal"] == 0 && limited {
		t.Errorf("too few messages: %v", count)
	}
	t.Logf("%v", count)
}

// nanBits is a NaN with its bits in JSON.
var nanBits = regexp.MustCompile(`"NaN\(0x[0-9a-f]+\)"`)

// wrong describes the first error in an answer.
func (r *row) wrong(t *testing.T, a answer) string {
	if a.Status != r.status && (r.maybe == "" || a.Status != r.maybe) {
		return fmt.Sprintf(" got %s (%s)\nwant %s", a.Status, a.Error, r.status)
	}
	if a.Status != "ok" {
		return ""
	}
	if r.Write == nil {
		if a.Used != r.used {
			return fmt.Sprintf("%d bytes read, want %d", a.Used, r.used)
		}
		if !sameValue(t, r.value, a.Value, r.free) {
			return fmt.Sprintf(" got %s\nwant %s", a.Value, r.value)
		}
	}
	if r.free && bytes.Contains(r.value, []byte(`"NaN"`)) && len(a.Again) == len(r.again) {
		return "" // the payload of a NaN is not in its value
	}
	if a.Again != r.again && a.Again != r.exact && (r.again != "-" || a.Error == "") {
		return fmt.Sprintf("written\n got %s (%s)\nwant %s", a.Again, a.Error, r.again)
	}
	return ""
}

// sameValue compares values. free: got may have members that want does not, if they are zero.
func sameValue(t *testing.T, want, got json.RawMessage, free bool) bool {
	var a, b any
	if err := json.Unmarshal(want, &a); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if err := json.Unmarshal(got, &b); err != nil {
		t.Errorf("%v in %s", err, got)
		return false
	}
	return same(a, b, free)
}

func same(a, b any, free bool) bool {
	if free && zero(a) && zero(b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !same(v, w, free) {
				return false
			}
		}
		for k, w := range b {
			last, _, _ := strings.Cut(k, "#") // generated code has all fields of one name, values only those that differ from the last one
			if _, ok := a[k]; !ok && (!free || !zeros(w)) && (last == k || !same(b[last], w, free)) {
				return false
			}
		}
		return true
	case []any:
		bText := b // bytes and lists of bytes are indistinguishable in some targets
		b, ok := b.([]any)
		if s, isText := bText.(string); isText {
			var b strings.Builder
			for _, v := range a {
				n, _ := v.(float64)
				fmt.Fprintf(&b, "%02x", int(n))
			}
			return b.String() == s
		}
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i], free) {
				return false
			}
		}
		return true
	case float64: // a part that is missing in the form of a bitfield is 0, regardless of its type in other forms
		if v, ok := b.(bool); ok {
			return a == 0 && !v
		}
	}
	return reflect.DeepEqual(a, b)
}

// zeros reports whether a value is that of a missing member: a list of fixed length has zeros.
func zeros(v any) bool {
	list, ok := v.([]any)
	for _, e := range list {
		if !zeros(e) {
			return false
		}
	}
	return ok || zero(v)
}

func zero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case float64:
		return v == 0
	case bool:
		return !v
	case string:
		return strings.Trim(v, "0") == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, w := range v {
			if !zero(w) {
				return false
			}
		}
		return true
	}
	return false
}

// jsonLines returns rows in the input format of a harness.
func jsonLines[R any](t *testing.T, rows []R) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%v in %+v", err, r)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// readAnswers parses the output of a harness.
func readAnswers(t *testing.T, text []byte) []answer {
	var out []answer
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		var a answer
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatalf("%v in %s", err, sc.Text())
		}
		out = append(out, a)
	}
	return out
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
