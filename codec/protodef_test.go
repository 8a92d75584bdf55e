package codec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/defstest"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// protodefPrograms are the programs of defstest.Variable.
var protodefPrograms = sync.OnceValue(func() []*codec.Program {
	s, ds := protodef.Parse([]*source.File{source.New("variable.json", defstest.Variable)}, schema.Options{})
	if len(ds) > 0 {
		panic(ds.Render())
	}
	out := make([]*codec.Program, 0, len(s.Messages))
	for _, m := range s.Messages {
		out = append(out, must(codec.Compile(m)))
	}
	return out
})

// protodefProgram returns the program of a message of defstest.Variable.
func protodefProgram(name string) *codec.Program {
	for _, p := range protodefPrograms() {
		if p.Message.Name == name {
			return p
		}
	}
	panic(name)
}

// TestExamplesOfProtodef: every message has examples, with every alternative. Those of messages that contain themselves are nested.
func TestExamplesOfProtodef(t *testing.T) {
	for _, p := range protodefPrograms() {
		var rec codec.Record
		seen := map[uint16]uint64{} // by op: the cases
		n, calls := 0, false
		for _, e := range value.Examples(p, 60, 7, 0) {
			p.Decode(&rec, e.Data)
			if rec.Status() != e.Status {
				t.Fatalf("%s: %x: %v, want %v", p.Message.Name, e.Data, rec.Status(), e.Status)
			}
			if e.Status != codec.OK {
				continue
			}
			n++
			for i := range rec.Nodes {
				switch x := &rec.Nodes[i]; {
				case x.Kind == codec.NodeVariant && x.Raw < 64:
					seen[x.Op] |= 1 << x.Raw
				case p.Ops[x.Op].Code == codec.OpCall:
					calls = true
				}
			}
		}
		if n < 30 && p.Message.Name != "nothing" {
			t.Errorf("%s: %d examples", p.Message.Name, n)
		}
		if slices.ContainsFunc(p.Ops, func(o codec.Op) bool { return o.Code == codec.OpCall }) {
			if !calls {
				t.Errorf("%s: no nested example", p.Message.Name)
			}
			continue
		}
		for i := range p.Ops {
			if p.Ops[i].Code != codec.OpVariant {
				continue
			}
			k := 0
			for c := i + 1; c < int(p.Ops[i].End); c = int(p.Ops[c].End) {
				if seen[uint16(i)]>>k&1 == 0 {
					t.Errorf("%s: no example with case %d of op %d", p.Message.Name, k, i)
				}
				k++
			}
		}
	}
}

// checkVariable checks the properties of a message of any bytes: decoding, its ranges, and encoding.
func checkVariable(t *testing.T, p *codec.Program, data []byte) {
	t.Helper()
	var rec, in, out, again codec.Record
	begin := time.Now()
	p.Decode(&rec, data)
	inspect(t, &rec, data)
	placed := slices.ContainsFunc(p.Ops, func(o codec.Op) bool { _, ok := o.Position(); return ok })
	if !placed { // contents at other positions may share bytes
		coverOnce(t, &rec)
	}
	text := value.AppendJSON(nil, &rec)
	if !json.Valid(text) {
		t.Fatalf("%s: %x: not JSON: %s", p.Message.Name, data, text)
	}
	if d := time.Since(begin); d > time.Minute { // what is exponential takes longer on any machine
		t.Errorf("%s: %d bytes take %v", p.Message.Name, len(data), d)
	}
	if rec.Status() != codec.OK {
		if p.Encode(&out, &rec) == nil {
			t.Fatalf("%s: %x: a record with errors was encoded", p.Message.Name, data)
		}
		return
	}
	if err := value.ParseJSON(&in, p, text); err != nil {
		t.Fatalf("%s: %x: %v in %s", p.Message.Name, data, err, text)
	}
	in.Code = rec.Code
	for k, src := range []*codec.Record{&rec, &in} {
		if err := p.Encode(&out, src); err != nil {
			var at *codec.PositionError
			if strings.Contains(err.Error(), "extends to the end") || placed && errors.As(err, &at) {
				continue
			}
			t.Fatalf("%s: %x: source %d: %v\n%s", p.Message.Name, data, k, err, text)
		}
		made := bytes.Clone(out.Message())
		p.Decode(&again, made)
		if again.Status() != codec.OK || again.Used != len(made) || !slices.Equal(again.Nodes, out.Nodes) {
			t.Fatalf("%s: %x: source %d encodes as %x: %v, used %d: %s\n%v\n%v", p.Message.Name, data, k, made, again.Status(), again.Used, problems(&again), out.Nodes, again.Nodes)
		}
		if got := value.AppendJSON(nil, &again); !bytes.Equal(got, text) {
			t.Fatalf("%s: %x: source %d encodes as %x\n got %s\nwant %s", p.Message.Name, data, k, made, got, text)
		}
		if err := p.Encode(&out, &again); err != nil || !bytes.Equal(out.Message(), made) {
			t.Fatalf("%s: %x: %v\n got %x\nwant %x", p.Message.Name, data, err, out.Message(), made)
		}
	}
}

// coverOnce checks that leaves and gaps have each bit of the message once.
func coverOnce(t *testing.T, r *codec.Record) {
	t.Helper()
	seen := make([]bool, r.Used*8)
	for _, l := range r.AppendLeaves(nil) {
		for i := l.Off; i < l.Range().End() && int(i) < len(seen); i++ {
			if seen[i] {
				t.Fatalf("%s: %x: bit %d belongs to two leaves", r.Program.Message.Name, r.Data, i)
			}
			seen[i] = true
		}
	}
}

// TestProtodefMessages checks examples, and copies of them with changed bytes.
func TestProtodefMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i, p := range protodefPrograms() {
		for _, e := range value.Examples(p, 25, uint64(i), 0) {
			checkVariable(t, p, e.Data)
			for range 40 {
				data := bytes.Clone(e.Data)
				for range 1 + rng.IntN(3) {
					if len(data) > 0 {
						data[rng.IntN(len(data))] = []byte{0, 1, 2, 3, 10, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(9)]
					}
				}
				switch rng.IntN(6) {
				case 0:
					data = append(data, 1, 2)
				case 1:
					data = data[:rng.IntN(len(data)+1)]
				}
				checkVariable(t, p, data)
			}
		}
	}
}

func FuzzProtodef(f *testing.F) {
	for i, p := range protodefPrograms() {
		for _, e := range value.Examples(p, 4, uint64(i), 0) {
			f.Add(byte(i), e.Data)
		}
		f.Add(byte(i), bytes.Repeat([]byte{0xff}, 40))
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		programs := protodefPrograms()
		if len(data) < 1<<14 {
			p := programs[int(which)%len(programs)]
			checkVariable(t, p, data)
			var rec codec.Record
			if p.Decode(&rec, data); len(data) < 300 {
				checkSites(t, &rec)
				checkColumns(t, p, [][]byte{data, data[:len(data)/2]})
			}
		}
	})
}

// TestColumnsAndSitesOfProtodef compares columns and cursors with leaves, in valid and damaged messages.
func TestColumnsAndSitesOfProtodef(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var rec codec.Record
	for i, p := range protodefPrograms() {
		var frames [][]byte
		for _, e := range value.Examples(p, 8, uint64(i), 0) {
			frames = append(frames, damaged(rng, e.Data)...)
		}
		for _, f := range frames {
			p.Decode(&rec, f)
			checkSites(t, &rec)
		}
		checkColumns(t, p, frames)
	}
}

// TestWritten changes numbers of a message in place: one of variable size may take more bytes, the end of a list is a byte.
func TestWritten(t *testing.T) {
	p := protodefProgram("lists")
	var in, out, rec codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"n":2,"counted":[1,300],"three":[1,2,3],"rows":[{"key":"k","vals":[1]}],"options":["x"],"while":[{"slot":1,"item":2}],"until":[]}`)); err != nil {
		t.Fatal(err)
	}
	in.Code = p.Message.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		role  codec.Role
		units int64
		grows int
		ok    bool
	}{
		{"rows", codec.RoleCount, 1, 0, true},
		{"rows", codec.RoleCount, 200, 1, true},
		{"rows", codec.RoleCount, -1, 4, true},
		{"rows", codec.RoleCount, 1 << 40, 0, false},
		{"counted[1]", codec.RoleValue, 3, -1, true},
		{"n", codec.RoleValue, -2, 0, true},
		{"n", codec.RoleValue, 40000, 0, false},
		{"rows[0].vals", codec.RoleCount, 200, 0, false},
		{"until", codec.RoleEnd, 254, 0, true},
		{"until", codec.RoleEnd, 256, 0, false},
		{"rows[0].opt", codec.RolePresent, 1, 0, true},
	} {
		l, ok := out.FindLeaf(c.path, c.role, 0)
		if !ok {
			t.Fatalf("no %v %s", c.role, c.path)
		}
		data, ok := out.Written(bytes.Clone(out.Message()), l, c.units)
		if ok != c.ok || ok && len(data) != len(out.Message())+c.grows {
			t.Errorf("%v %s = %d: %x, %v", c.role, c.path, c.units, data, ok)
			continue
		}
		if ok {
			p.Decode(&rec, data)
			if got, found := rec.FindLeaf(c.path, c.role, l.Off); c.role != codec.RoleEnd && (!found || int32(got.Raw) != int32(c.units) && int16(got.Raw) != int16(c.units)) {
				t.Errorf("%v %s = %d reads as %d", c.role, c.path, c.units, int64(got.Raw))
			}
		}
	}
}

// sessionMessage is a message of a session.
type sessionMessage struct {
	Dir, State, Name, Hex string
	Encodes               bool
}

// sessions calls do with each message of the recorded sessions of a corpus, and its program.
func sessions(t *testing.T, c *corpora.Corpus, do func(p *codec.Program, m *sessionMessage, data []byte)) {
	t.Helper()
	for _, name := range c.Glob(t, "protodef/messages-*.jsonl") {
		text := c.Text(t, strings.Replace(strings.TrimSuffix(name, "l"), "messages-", "pc-", 1))
		s, _ := protodef.Parse([]*source.File{source.New("protocol.json", text)}, schema.Options{})
		programs := map[string]*codec.Program{}
		for _, m := range corpora.Rows[sessionMessage](t, c, name) {
			key := m.State + m.Dir + m.Name
			if programs[key] == nil {
				i := slices.IndexFunc(s.Messages, func(x *schema.Message) bool {
					return x.Name == m.Name && x.Key.Group == m.State && x.Key.Dir.String() == m.Dir
				})
				if i < 0 {
					t.Fatalf("%s: no message %s", name, key)
				}
				programs[key] = must(codec.Compile(s.Messages[i]))
			}
			data, err := hex.DecodeString(m.Hex)
			if err != nil {
				t.Fatal(err)
			}
			do(programs[key], &m, data)
		}
	}
}

// TestCorporaSessionsOfProtodef decodes messages of real sessions: without an error or a warning, and to the same bytes again.
func TestCorporaSessionsOfProtodef(t *testing.T) { corpora.Run(t, testSessionsOfProtodef) }

func testSessionsOfProtodef(t *testing.T, c *corpora.Corpus) {
	var rec, out codec.Record
	n := 0
	sessions(t, c, func(p *codec.Program, m *sessionMessage, data []byte) {
		p.Decode(&rec, data)
		if w := rec.AppendWarnings(nil); rec.Status() != codec.OK || len(w) > 0 {
			t.Fatalf("%s: %v, %s%v", m.Name, rec.Status(), problems(&rec), w)
		}
		if err := p.Encode(&out, &rec); err != nil || !bytes.Equal(out.Message(), data) {
			t.Fatalf("%s: %v: %x, want %x", m.Name, err, out.Message(), data)
		}
		if n++; n%10 == 0 && len(data) < 4000 {
			checkVariable(t, p, data)
			checkSites(t, &rec)
		}
	})
	if n < 200 {
		t.Errorf("%d messages", n)
	}
}

// TestWarningsOfChoices: a value without an alternative is a warning if the definition has no default.
func TestWarningsOfChoices(t *testing.T) {
	for text, want := range map[string]string{
		`"fields": {"1": "i8"}`:                    `no alternative of "value" fits the values before`,
		`"fields": {"1": "i8"}, "default": "void"`: "",
		`"fields": {"1": "i8"}, "default": "i8"`:   "",
		`"fields": {"1": "i8", "5": "void"}`:       "",
	} {
		s, ds := protodef.Parse([]*source.File{source.New("v.json", `{"types": {"m": ["container", [
			{"name": "kind", "type": "u8"}, {"name": "value", "type": ["switch", {"compareTo": "kind", `+text+`}]}]]}}`)}, schema.Options{})
		if len(ds) > 0 {
			t.Fatal(ds.Render())
		}
		p := must(codec.Compile(s.Messages[0]))
		var rec codec.Record
		p.Decode(&rec, []byte{5, 5})
		got := ""
		for _, w := range rec.AppendWarnings(nil) {
			if w.Code == codec.SkippedByChoice {
				got = w.Message(&rec)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
