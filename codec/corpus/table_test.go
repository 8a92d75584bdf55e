package corpus_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

const chat = "string name\nint32 gold\nbool shout\nfloat speed\narray members\n- int64 id\n- string title\narray<int16> marks\nbytes data\n"

func column(t *testing.T, columns []corpus.Column, path string, length bool) corpus.Column {
	t.Helper()
	for _, c := range columns {
		if c.Path == path && c.Len == length {
			return c
		}
	}
	t.Fatalf("no column %q", path)
	return corpus.Column{}
}

func TestTable(t *testing.T) {
	p := compile(t, "tera", "C_CHAT.1.def", chat)
	table := corpus.NewTable(p)
	for i, v := range []string{
		`{"name":"Lann","gold":-5,"shout":true,"speed":0.1,"members":[{"id":"1","title":"a\"b"},{"id":"2"}],"marks":[3],"data":"dead"}`,
		`{"name":"Lann","gold":7,"shout":true,"speed":0.1,"members":[{"id":"3"}],"marks":[],"data":"de"}`,
		`{"name":"Ümit","gold":9,"shout":true,"speed":-2.5,"members":[],"marks":[3,-4],"data":""}`,
		`{"name":"","gold":9,"shout":true,"speed":1e30,"members":[{"id":"4"}],"marks":[3,3,3],"data":"00"}`,
	} {
		table.Add(uint64(10*i+10), encode(t, p, v))
	}
	table.Add(99, encode(t, p, `{}`)[:6])
	if inc, ill := table.Bad(); table.Messages() != 5 || inc+ill != 1 {
		t.Errorf("%d messages, %d incomplete, %d illegal", table.Messages(), inc, ill)
	}
	columns := table.Columns()
	var got []string
	for _, c := range columns {
		top := make([]string, 0, 10)
		for _, v := range c.Top {
			top = append(top, fmt.Sprintf("%s*%d", v.Literal, v.N))
		}
		got = append(got, fmt.Sprintf("%s %d/%d distinct %d const %v %q %.2f bits %s@%d..%s@%d len %d-%d: %s", c.Filter, c.Frames, c.Values,
			c.Distinct, c.Constant, c.Trend, c.Entropy, c.Min.Text, c.MinAt, c.Max.Text, c.MaxAt, c.MinLen, c.MaxLen, strings.Join(top, " ")))
	}
	want := []string{
		`name 4/4 distinct 3 const false "" 1.50 bits @40..Ümit@30 len 0-4: "Lann"*2 ""*1 "Ümit"*1`,
		`gold 4/4 distinct 3 const false "rising" 1.50 bits -5@10..9@30 len 0-0: 9*2 -5*1 7*1`,
		`shout 4/4 distinct 1 const true "" 0.00 bits true@10..true@10 len 0-0: true*4`,
		`speed 4/4 distinct 3 const false "" 1.50 bits -2.5@30..1e+30@40 len 0-0: 0.1*2 -2.5*1 1.0e+30*1`,
		`len(members) 4/4 distinct 3 const false "" 1.50 bits 0@30..2@10 len 0-0: 1*2 0*1 2*1`,
		`members.id 3/4 distinct 4 const false "strictly rising" 2.00 bits 1@10..4@40 len 0-0: 1*1 2*1 3*1 4*1`,
		`members.title 3/4 distinct 2 const false "" 0.81 bits @10..a"b@10 len 0-3: ""*3 "a\"b"*1`,
		`len(marks) 4/4 distinct 4 const false "" 2.00 bits 0@20..3@40 len 0-0: 0*1 1*1 2*1 3*1`,
		`marks 3/6 distinct 2 const false "" 0.65 bits -4@30..3@10 len 0-0: 3*5 -4*1`,
		`data 4/4 distinct 4 const false "" 2.00 bits @30..dead@10 len 0-2: ""*1 x"00"*1 x"de"*1 x"de ad"*1`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := column(t, columns, "members[].id", false); c.First != 10 || c.Type != "int64" {
		t.Errorf("%+v", c)
	}
}

func TestTableOfNothing(t *testing.T) {
	p := compile(t, "tera", "C_CHAT.1.def", chat)
	for _, c := range corpus.NewTable(p).Columns() {
		if c.Values != 0 || c.Constant || c.Entropy != 0 || len(c.Top) != 0 || c.Min.Text != "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestTrend(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "float f\nint16 i\n")
	for _, c := range []struct {
		values string
		want   corpus.Trend
	}{
		{"1", corpus.NoTrend},
		{"1 1 1", corpus.NoTrend},
		{"-3 -2 5", corpus.StrictlyRising},
		{"-3 -3 5", corpus.Rising},
		{"5 -3 -7", corpus.StrictlyFalling},
		{"5 5 -7", corpus.Falling},
		{"1 2 1", corpus.NoTrend},
		{"1 NaN 2", corpus.NoTrend},
		{"NaN 1 2", corpus.NoTrend},
		{"-0.5 -0.25 0.5 Infinity", corpus.StrictlyRising},
		{"-Infinity 0 1", corpus.StrictlyRising},
		{"1 -0 0", corpus.Falling},
	} {
		table := corpus.NewTable(p)
		for i, v := range strings.Fields(c.values) {
			if strings.ContainsAny(v, "NI") {
				v = `"` + v + `"`
			}
			table.Add(uint64(i), encode(t, p, `{"f":`+v+`}`))
		}
		if got := table.Columns()[0].Trend; got != c.want {
			t.Errorf("%s: %v, want %v", c.values, got, c.want)
		}
	}
}

// TestDistinctIsBounded adds more values than are counted individually: the counts are correct, and the others are reported.
func TestDistinctIsBounded(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "uint32 n\nstring s\n")
	table := corpus.NewTable(p)
	data := encode(t, p, `{"s":"0000000"}`)
	const all = corpus.MaxDistinct + 1000
	for i := range all {
		v := uint32(i) * 0x9e3779b1
		binary32(data[6:], v)
		for k := range 7 {
			data[10+2*k] = "0123456789abcdef"[i>>(4*k)&15]
		}
		table.Add(uint64(i), data)
		table.Add(uint64(i), data)
	}
	for _, c := range table.Columns() {
		if c.Values != 2*all || c.Distinct != corpus.MaxDistinct || !c.More || c.Rest != 2000 || c.Constant {
			t.Errorf("%s: %d values, %d distinct, more %v, %d beyond", c.Path, c.Values, c.Distinct, c.More, c.Rest)
		}
		if c.Top[0].N != 2 || c.Entropy > math.Log2(all) || c.Entropy < 15 {
			t.Errorf("%s: top %v, %v bits", c.Path, c.Top[0], c.Entropy)
		}
	}
}

// TestMemoryIsBounded has more fields with unique values than fit the memory: uncounted values are reported, and the rest is correct.
func TestMemoryIsBounded(t *testing.T) {
	const fields, all = 80, 40000
	var text strings.Builder
	for i := range fields {
		fmt.Fprintf(&text, "uint64 n%d\n", i)
	}
	p := compile(t, "tera", "C_T.1.def", text.String()+"int32 same\n")
	table := corpus.NewTable(p)
	data := encode(t, p, `{}`)
	for i := range all {
		for k := 4; k+8 <= len(data)-4; k += 4 {
			binary32(data[k:], uint32(i+1)*0x9e3779b1)
		}
		table.Add(uint64(i), data)
	}
	counted, more := 0, 0
	for _, c := range table.Columns() {
		if c.Values != all || uint64(c.Distinct)+c.Rest != all && !c.Constant || c.More != (c.Rest > 0) {
			t.Errorf("%s: %d values, %d distinct, %d beyond", c.Path, c.Values, c.Distinct, c.Rest)
		}
		counted += c.Distinct
		if c.More {
			more++
		}
		if c.Path == "same" != c.Constant {
			t.Errorf("%s: constant %v", c.Path, c.Constant)
		}
	}
	if counted*16 > 64<<20 || more == 0 {
		t.Errorf("%d values are counted, %d fields have more", counted, more)
	}
}

func binary32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// TestLongTextsAreToldApart: texts that are equal in their stored start are distinguished.
func TestLongTextsAreToldApart(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "string s\nbytes b\n")
	table := corpus.NewTable(p)
	for _, end := range []string{"x", "y", "x"} {
		table.Add(1, encode(t, p, `{"s":"`+strings.Repeat("ä", 400)+end+`","b":"`+strings.Repeat("00", 300)+hex.EncodeToString([]byte(end))+`"}`))
	}
	for _, c := range table.Columns() {
		if c.Distinct != 2 || c.Top[0].N != 2 || c.Top[0].Literal != "" || !strings.HasSuffix(c.Max.Text, "…") || len(c.Max.Text) > 250 {
			t.Errorf("%+v", c)
		}
	}
}

// TestLiterals builds a filter from each frequent value: it must match exactly the messages with this value.
func TestLiterals(t *testing.T) {
	tried := 0
	for pi, p := range libraryPrograms() {
		if pi%7 != 0 && !hasOddNumbers(p) {
			continue
		}
		var frames [][]byte
		for _, e := range value.Examples(p, 8, uint64(pi), 7) {
			if e.Status == codec.OK {
				frames = append(frames, e.Data)
			}
		}
		tried += checkLiterals(t, p, frames)
	}
	if tried < 500 {
		t.Errorf("only %d values were tried", tried)
	}
}

// hasOddNumbers reports whether there are numbers with names or scales, or packed ones.
func hasOddNumbers(p *codec.Program) bool {
	for i := range p.Fields {
		switch x := p.Fields[i].Schema.Type.(type) {
		case *schema.Number:
			if x.Enum != nil || x.Scale != 0 {
				return true
			}
		case *schema.Bitfield:
			return true
		}
	}
	return false
}

func checkLiterals(t interface {
	Errorf(string, ...any)
	Fatal(...any)
}, p *codec.Program, frames [][]byte,
) (tried int) {
	all := corpus.NewTable(p)
	for i, f := range frames {
		all.Add(uint64(i), f)
	}
	env := filter.Env{
		Schema:  &schema.Schema{Messages: []*schema.Message{p.Message}},
		Program: func(*schema.Message) (*codec.Program, error) { return p, nil },
	}
	paths := map[string]int{}
	for _, c := range all.Columns() {
		paths[c.Filter]++
	}
	for ci, c := range all.Columns() {
		if paths[c.Filter] > 1 || strings.ContainsAny(c.Filter, " -") {
			continue // alternatives of several types: the filter selects one of them
		}
		for _, top := range c.Top {
			if top.Literal == "" {
				continue
			}
			path := "*." + c.Filter
			if c.Len {
				path = "len(*." + c.Filter[len("len("):]
			}
			text := path + " == " + top.Literal
			f, mistakes := filter.Compile(text, env)
			if len(mistakes) > 0 {
				t.Errorf("%s: %s: %v", p.Message.Name, text, mistakes)
				continue
			}
			tried++
			var rec codec.Record
			for _, data := range frames {
				p.Decode(&rec, data)
				one := corpus.NewTable(p)
				one.Add(1, data)
				has := slices.ContainsFunc(one.Columns()[ci].Top, func(x corpus.Top) bool {
					return x.Text == top.Text || strings.Trim(x.Text, "-") == "0" && strings.Trim(top.Text, "-") == "0"
				})
				if len(one.Columns()[ci].Top) == 10 {
					continue // it may have more
				}
				x := &filter.Frame{Message: p.Message, Frame: &transport.Frame{Kind: transport.Message, Bytes: data}}
				if got := f.Match(x, &rec); got != has {
					t.Errorf("%s: %s finds %v, want %v: %s", p.Message.Name, text, got, has, value.AppendJSON(nil, &rec))
				}
			}
		}
	}
	return tried
}

// TestTableAgainstJSON compares the statistics with those computed from JSON.
func TestTableAgainstJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		var frames [][]byte
		for _, e := range value.Examples(p, rapid.IntRange(1, 6).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"), 7) {
			frames = append(frames, e.Data)
		}
		for len(frames) > 0 && rapid.Bool().Draw(t, "again") {
			frames = append(frames, rapid.SampledFrom(frames).Draw(t, "frame"))
		}
		againstJSON(t, p, frames)
		checkLiterals(t, p, frames)
	})
}

func TestLibraryAgainstJSON(t *testing.T) {
	for i, p := range libraryPrograms() {
		var frames [][]byte
		for _, e := range value.Examples(p, 4, uint64(i), 7) {
			frames = append(frames, e.Data)
		}
		againstJSON(t, p, frames)
	}
}

type failer interface{ Fatalf(string, ...any) }

func againstJSON(t failer, p *codec.Program, frames [][]byte) {
	table := corpus.NewTable(p)
	var rec codec.Record
	var values []any
	for i, f := range frames {
		p.Decode(&rec, f)
		text := value.AppendJSON(nil, &rec)
		if bytes.Contains(text, []byte(`\ud`)) {
			continue // JSON readers do not preserve lone surrogates
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		values = append(values, v)
		table.Add(uint64(i), f)
	}
	columns := table.Columns()
	twice := map[string]int{}
	for _, c := range columns {
		twice[c.Filter]++
	}
	for _, c := range columns {
		if twice[c.Filter] > 1 {
			continue
		}
		if incomplete, illegal := table.Bad(); incomplete+illegal > 0 && strings.HasSuffix(c.Path, "[]") {
			continue // JSON has an empty value for a truncated element without a name
		}
		n, present := map[string]uint64{}, uint64(0)
		total := uint64(0)
		for _, v := range values {
			found := 0
			at(v, strings.Split(strings.ReplaceAll(c.Path, "[]", ".[]"), "."), func(v any) {
				if s, ok := people(p, &c, v); ok {
					n[s]++
					found++
				}
			})
			if found > 0 {
				present++
			}
			total += uint64(found)
		}
		if c.Values != total || c.Frames != present {
			t.Fatalf("%s.%s: %d values in %d messages, want %d in %d", p.Message.Name, c.Filter, c.Values, c.Frames, total, present)
		}
		if _, packed := p.Fields[c.Field].Schema.Type.(*schema.Bitfield); packed || total == 0 {
			continue
		}
		if len(n) > c.Distinct { // fewer: two floats with different bits may have the same text
			t.Fatalf("%s.%s: %d distinct, want %d: %v", p.Message.Name, c.Filter, c.Distinct, len(n), n)
		}
		got := map[string]uint64{}
		for _, x := range c.Top {
			got[x.Text] += x.N
		}
		for text, count := range got {
			if !strings.HasSuffix(text, "…") && (n[text] < count || len(c.Top) < 10 && n[text] != count) {
				t.Fatalf("%s.%s: %q %d times, want %d of %v", p.Message.Name, c.Filter, text, count, n[text], n)
			}
		}
		counts, entropy := make([]uint64, 0, len(n)), 0.0
		for _, k := range n {
			counts = append(counts, k)
			q := float64(k) / float64(total)
			entropy -= q * math.Log2(q)
		}
		slices.SortFunc(counts, func(a, b uint64) int { return cmp.Compare(b, a) })
		if len(n) == c.Distinct && (math.Abs(entropy-c.Entropy) > 1e-9 || c.Top[0].N != counts[0]) {
			t.Fatalf("%s.%s: %v bits, want %v; top %d of %v", p.Message.Name, c.Filter, c.Entropy, entropy, c.Top[0].N, counts)
		}
		if c.Constant != (c.Distinct == 1) {
			t.Fatalf("%s.%s: constant %v of %d", p.Message.Name, c.Filter, c.Constant, c.Distinct)
		}
		if c.Text || c.Bytes {
			continue
		}
		least, most := math.Inf(1), math.Inf(-1)
		for text := range n {
			if f, err := strconv.ParseFloat(text, 64); err == nil && f == f {
				least, most = min(least, f), max(most, f)
			}
		}
		for _, x := range []struct {
			text string
			want float64
		}{{c.Min.Text, least}, {c.Max.Text, most}} {
			if f, err := strconv.ParseFloat(x.text, 64); err == nil && f != x.want {
				t.Fatalf("%s.%s: bound %s, want %v of %v", p.Message.Name, c.Filter, x.text, x.want, n)
			}
		}
	}
}

// at returns all values at a path.
func at(v any, path []string, found func(any)) {
	if len(path) == 0 {
		found(v)
		return
	}
	switch x := v.(type) {
	case map[string]any:
		if in, ok := x[path[0]]; ok {
			at(in, path[1:], found)
		}
	case []any:
		if path[0] == "[]" {
			for _, e := range x {
				at(e, path[1:], found)
			}
		}
	}
}

// people formats a JSON value for display.
func people(p *codec.Program, c *corpus.Column, v any) (text string, ok bool) {
	if c.Len {
		list, ok := v.([]any)
		return strconv.Itoa(len(list)), ok
	}
	switch x := v.(type) {
	case nil:
		return "", false
	case bool:
		return strconv.FormatBool(x), true
	case map[string]any:
		return "packed", true
	case json.Number:
		text = x.String()
	case string:
		text = x
	}
	n, number := p.Fields[c.Field].Schema.Type.(*schema.Number)
	if !number {
		return text, true
	}
	if name := n.NameOf(text); name != "" {
		return name, true
	}
	if n.Kind == schema.Float && strings.HasPrefix(text, "NaN(") { // its bits are shown for one value alone
		return "NaN", true
	}
	if f, err := strconv.ParseFloat(text, 64); n.Kind == schema.Float && n.Bits == 32 && n.Scale == 0 && err == nil && !math.IsInf(f, 0) && f == f {
		if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
			return strconv.FormatFloat(f, 'e', -1, 32), true
		}
		return strconv.FormatFloat(f, 'f', -1, 32), true
	}
	return text, true
}

func FuzzTable(f *testing.F) {
	for i, p := range libraryPrograms() {
		if i%11 != 0 {
			continue
		}
		for _, e := range value.Examples(p, 1, 1, 7) {
			f.Add(uint16(i), e.Data)
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		p := libraryPrograms()[int(which)%len(libraryPrograms())]
		half := data[:len(data)/2]
		againstJSON(t, p, [][]byte{data, half, data})
		sameByColumns(t, p, [][]byte{data, data, half, data, data}, func() int { return 1 + len(data)%4 })
		var a, b codec.Record
		p.Decode(&a, data)
		p.Decode(&b, half)
		if len(data) < 1<<12 {
			checkDiff(t, &a, &b)
		}
		var paths []string
		for i := range p.Fields {
			paths = append(paths, string(p.AppendFieldPath(nil, uint16(i))))
		}
		paths = append(paths, string(half), "["+string(half)+"]")
		for i, text := range corpus.NewCells(p, paths).Append(nil, &a) {
			if len(text) > corpus.MaxCell {
				t.Fatalf("%s: %d bytes", paths[i], len(text))
			}
		}
	})
}
