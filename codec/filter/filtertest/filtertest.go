// Package filtertest makes filters and frames for tests of all places that filter frames.
//
// The filters follow the grammar of the language. Their names are those that completion offers, and the fields of the definitions, each
// with the classes of values that a trial shows, so that new names need nothing here. Their numbers, places in brackets and bytes are often
// at a bound, or beyond it.
package filtertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Grammar makes filters for an environment.
type Grammar struct {
	env       filter.Env
	kinds     map[string][]string // atoms by class
	all       []string
	functions []string
	messages  []string
}

// classes are recognized by a filter that is valid for no other class.
var classes = []struct{ name, trial string }{
	{"number", "%s + 1 == 1"},
	{"text", `lower(%s) == "a"`},
	{"bytes", "u8(%s) == 1"},
	{"bool", "%s == true"},
	{"list", "len(%s) > count(%[1]s)"},
	{"time", `%s > "10:00:05"`},
}

// New returns the grammar of an environment.
func New(env filter.Env) *Grammar {
	g := &Grammar{env: env, kinds: map[string][]string{}}
	bare := env
	bare.Schema = nil // its messages are too many beside the other names
	_, options := filter.Complete("", 0, bare)
	for _, o := range options {
		switch name := strings.TrimSuffix(o.Text, "("); o.Kind {
		case "function":
			g.functions = append(g.functions, name)
		case "frame":
			g.add(name)
		}
	}
	if env.Layers != nil {
		for _, f := range env.Layers.Fields {
			g.add(env.Layers.Group + "." + f.Name)
		}
	}
	for name := range env.Values {
		g.all = append(g.all, "$"+name)
	}
	for _, m := range env.Schema.Messages {
		g.messages = append(g.messages, m.Name, m.Name+"."+strconv.Itoa(m.Version), m.Name[:1]+"*")
		if m.Key.Group != "" {
			g.messages = append(g.messages, m.Key.Group, m.Key.Group+"."+m.Name)
		}
		if p := g.program(m); p != nil {
			g.fields(p)
		}
	}
	for _, name := range []string{"frame.number", "frame[0]", "ip.addr", "tcp.port", "data.data", "_ws.malformed", "frame.time_relative"} {
		g.add(name)
	}
	return g
}

func (g *Grammar) program(m *schema.Message) *codec.Program {
	p, err := g.env.Program(m)
	if err != nil || m.Body == nil {
		return nil
	}
	return p
}

// fields adds the fields of a message, as a path from the message, from anywhere, and by their last name.
func (g *Grammar) fields(p *codec.Program) {
	for i := range p.Fields {
		path := string(p.AppendFieldPath(nil, uint16(i)))
		plain := strings.ReplaceAll(path, "[]", "")
		for _, one := range []string{p.Message.Name + "." + plain, "." + plain, p.Message.Name + "." + strings.ReplaceAll(path, "[]", "[*]"), "." + strings.ReplaceAll(path, "[]", "[1]"), "." + plain[strings.LastIndexByte(plain, '.')+1:], "@." + plain, "$sel." + plain} {
			if !slices.Contains(g.all, one) {
				g.add(one)
			}
		}
	}
}

// add adds an atom with its classes.
func (g *Grammar) add(name string) {
	g.all = append(g.all, name)
	for _, c := range classes {
		if _, mistakes := filter.Compile(fmt.Sprintf(c.trial, name), g.env); len(mistakes) == 0 {
			g.kinds[c.name] = append(g.kinds[c.name], name)
		}
	}
}

// Names returns the number of names by class.
func (g *Grammar) Names() map[string]int {
	out := map[string]int{"any": len(g.all), "function": len(g.functions), "message": len(g.messages)}
	for k, v := range g.kinds {
		out[k] = len(v)
	}
	return out
}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

// Draw makes a filter. Most are valid.
func (g *Grammar) Draw(r *rand.Rand) string {
	switch r.IntN(60) {
	case 0:
		return "= " + g.integer(r)
	case 1:
		return pick(r, "~q", "~s", "~b a", "~u x", "tcp port 7801", "host 10.0.0.2 and port 5000", "party", g.integer(r), "lfg Lann")
	case 2: // cut anywhere
		text := g.condition(r, 2)
		return text[:r.IntN(len(text)+1)]
	}
	return g.condition(r, 1+r.IntN(3))
}

func (g *Grammar) condition(r *rand.Rand, depth int) string {
	if depth > 0 {
		switch r.IntN(8) {
		case 0, 1:
			return "(" + g.condition(r, depth-1) + pick(r, " && ", " || ", " and ", " or ", " ^^ ", " xor ") + g.condition(r, depth-1) + ")"
		case 2:
			return pick(r, "!", "not ") + "(" + g.condition(r, depth-1) + ")"
		}
	}
	quant := pick(r, "", "", "", "any ", "all ")
	op := pick(r, " == ", " != ", " < ", " <= ", " > ", " >= ", " eq ", " ne ", " gt ", " le ", " === ", " !== ", " ~= ", " any_eq ", " all_eq ", " any_ne ", " all_ne ")
	not := pick(r, " in {", " not in {")
	switch r.IntN(14) {
	case 0, 1, 2:
		return quant + g.number(r, depth) + op + g.number(r, depth)
	case 3:
		return quant + g.number(r, depth) + not + g.integer(r) + ", " + g.integer(r) + ".." + g.integer(r) + "}"
	case 4:
		return quant + g.text(r) + op + pick(r, g.text(r), `"Lann"`, `""`, `r"\x"`, `"é\u0000"`)
	case 5:
		return quant + g.text(r) + not + `"a", "lfg"}`
	case 6:
		return quant + pick(r, g.text(r), g.bytes(r)) + pick(r, " ~ ", " matches ") + pick(r, `"^S_"`, `r"[\x00-\xff]$"`, `"(?i)l.*n?"`, `"(a*)*b"`, `""`, `"日"`)
	case 7:
		return quant + pick(r, g.text(r), g.bytes(r)) + " contains " + pick(r, `"a"`, `"Lann"`, `utf16("a")`, `""`)
	case 8, 9:
		return quant + g.bytes(r) + pick(r, op, " contains ") + g.pattern(r)
	case 10:
		return quant + g.bytes(r) + op + g.bytes(r)
	case 11:
		return pick(r, g.kind(r, "time"), "t", "delta") + op + pick(r, `"20ms"`, `"10:00:05"`, `"2026-11-20"`, "0.5", "1e10", g.integer(r))
	case 12: // words, booleans, and conditions of one atom
		return pick(r, "dir"+op+"c2s", "state"+op+pick(r, "clean", "under", "over", "mismatch", "unknown", "error"), "status"+op+"illegal", "kind"+op+"opaque", g.kind(r, "bool")+" == true",
			"op"+op+pick(r, g.messages...), "op in {"+pick(r, g.messages...)+", "+pick(r, g.messages...)+"}", pick(r, g.messages...), pick(r, g.all...), pick(r, g.all...)+g.bracket(r), g.number(r, 1)+" & "+g.integer(r))
	}
	return quant + pick(r, g.all...) + pick(r, "", g.bracket(r)) + op + pick(r, g.all...) + pick(r, "", g.bracket(r)) // of any classes
}

func (g *Grammar) kind(r *rand.Rand, class string) string {
	if len(g.kinds[class]) == 0 {
		return pick(r, g.all...)
	}
	return pick(r, g.kinds[class]...)
}

// integers are at the bounds of the types that hold them.
var integers = []string{
	"0", "1", "2", "3", "4", "5", "7", "8", "60", "77", "127", "128", "250", "255", "256", "500", "9938", "0x26d2", "32768", "65535", "65536", "0b101", "0xffffffff", "2147483647", "2147483648",
	"4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "0xffffffffffffffff", "0.1", "2.5", "1e3", "1e308", "1e-320", "1e19",
}

func (g *Grammar) integer(r *rand.Rand) string { return pick(r, "", "", "-") + pick(r, integers...) }

// places are offsets and lengths in brackets.
var places = []string{"0", "1", "2", "3", "4", "5", "7", "8", "9", "16", "0x10", "255", "256", "65535", "65536", "67108863", "67108864", "2147483648", "99999999999999999999"}

func (g *Grammar) bracket(r *rand.Rand) string {
	at := pick(r, "", "", "-") + pick(r, places[:9+r.IntN(len(places)-8)]...)
	to := pick(r, "1", "2", "3", "4", pick(r, places...))
	return "[" + pick(r, at, at, at, at+":"+to, at+":"+to, at+"-"+to, at+":", "*", " "+at+" ", at+":-"+to, ":"+to, ":", at+","+to, at+":"+to+", "+at, at+"--"+to) + "]" + pick(r, "", "", "", "", "", "[0]", "[-1]")
}

func (g *Grammar) number(r *rand.Rand, depth int) string {
	if depth > 0 {
		switch r.IntN(8) {
		case 0, 1:
			return "(" + g.number(r, depth-1) + pick(r, " + ", " - ", " * ", " / ", " % ", " & ") + g.number(r, depth-1) + ")"
		case 2:
			return "-" + g.number(r, depth-1)
		}
	}
	switch r.IntN(9) {
	case 0, 1:
		return g.integer(r)
	case 2:
		return pick(r, g.functions...) + "(" + pick(r, g.bytes(r), g.bytes(r), g.text(r), g.kind(r, "list"), pick(r, g.all...), g.integer(r)) + pick(r, "", "", "", ", 0.5") + ")"
	case 3:
		if r.IntN(2) == 0 {
			return pick(r, "max", "min", "abs") + "(" + g.number(r, depth-1) + pick(r, "", ", "+g.kind(r, "number"), ", "+g.kind(r, "number")+", "+g.integer(r)) + ")"
		}
		return pick(r, "len", "count") + "(" + pick(r, g.kind(r, "list"), g.text(r), g.bytes(r), "via", "from") + ")"
	case 4, 5:
		return g.bytes(r) + g.bracket(r) // one byte is a number
	}
	return g.kind(r, "number")
}

func (g *Grammar) text(r *rand.Rand) string {
	x := g.kind(r, "text")
	if r.IntN(3) == 0 {
		x += g.bracket(r)
	}
	return pick(r, x, x, x, "lower("+x+")", "upper("+x+")", "hex("+g.bytes(r)+")", "hex("+g.kind(r, "number")+")", "string("+g.kind(r, "number")+")"+pick(r, "", g.bracket(r)))
}

func (g *Grammar) bytes(r *rand.Rand) string {
	x := g.kind(r, "bytes")
	switch r.IntN(6) {
	case 0, 1:
		x += g.bracket(r)
	case 2:
		x = "utf16(" + g.text(r) + ")"
	case 3:
		x = "bytes" + g.bracket(r)
	}
	return x
}

func (g *Grammar) pattern(r *rand.Rand) string {
	return pick(r, "00", "00:00", `x"?? 00"`, `x"de ?? be ?f"`, `x""`, pick(r, "u8", "u16le", "u32be", "u64le", "i16be", "i64be")+"("+g.integer(r)+")", "f32("+pick(r, integers...)+pick(r, "", ", 0.5", ", -1")+")", "f64be(1.5)", `utf16("Lann")`, `utf8("a")`, `x"`+strings.Repeat("00 ?1 ", r.IntN(60)+1)+`"`)
}

// Variable is the environment variable with the number of filters of a long run.
const Variable = "WIREBENCH_FILTERS"

// Count returns the number of filters that a test draws: a few, or in a long run, whose number is the text, as many per million.
func Count(long string, few, perMillion int) int {
	if n, err := strconv.Atoi(long); err == nil {
		return max(n/1_000_000*perMillion, few)
	}
	return few
}

// Case is a frame with its record, nil if it has none.
type Case struct {
	*filter.Frame
	Record *codec.Record
}

// Frames makes frames of all messages of an environment: valid ones, empty, short and damaged ones, frames of unknown messages, and frames
// that are no messages.
func Frames(env filter.Env, r *rand.Rand, each int) (out []Case) {
	begin := time.Date(2026, 11, 20, 10, 0, 5, 250e6, time.UTC)
	add := func(m *schema.Message, data []byte) {
		x := &filter.Frame{
			Frame: &transport.Frame{N: uint32(len(out) + 1), At: begin.Add(time.Duration(len(out)) * time.Millisecond), Kind: transport.Message, Bytes: data},
			Where: filter.Where{Conn: "127.0.0.1:40001-10.0.0.2:5000", Proto: "tcp", Start: begin},
			Delta: time.Millisecond, Message: m,
		}
		c := Case{Frame: x}
		if m != nil {
			x.Dir, x.Key, x.HasKey, x.Name = m.Key.Dir, m.Key, m.HasKey, m.Name
			if p, err := env.Program(m); err == nil && m.Body != nil {
				c.Record = new(codec.Record)
				p.Decode(c.Record, data)
				x.Status = c.Record.Status()
			}
		}
		switch r.IntN(6) { // of other origins
		case 0:
			x.Via, x.From = []string{"reliable:3", "cluster:1", "chunk"}, []transport.Source{{Packet: 3}, {Packet: 3}, {Packet: 4}}
			x.Where.Conn = "[::1]:1-[fe80::1]:65535"
		case 1:
			x.Where.Conn, x.Where.Start = "", time.Time{}
			x.Frame.Note, x.Where.Note, x.Mark, x.Marker = "a #tag and #", "#shop", "boss", "the marker"
		case 2:
			x.At, x.HasKey, x.N = time.Time{}, false, 0
			x.Marks = transport.Fake | transport.Changed
		case 3:
			x.Where.Conn, x.Resumed = "no address", true
		}
		out = append(out, c)
	}
	for _, m := range env.Schema.Messages {
		p, err := env.Program(m)
		if err != nil || m.Body == nil {
			add(m, []byte{1, 2, 3, 4})
			continue
		}
		add(m, nil)
		for _, e := range value.Examples(p, each, r.Uint64(), 0) {
			add(m, e.Data)
			add(m, e.Data[:r.IntN(len(e.Data)+1)])
			add(m, append(slices.Clone(e.Data), 0xff, 1))
			damaged := slices.Clone(e.Data)
			for i := range 1 + r.IntN(4) {
				if len(damaged) > 0 {
					damaged[r.IntN(len(damaged))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(i)}[r.IntN(6)]
				}
			}
			add(m, damaged)
		}
	}
	add(nil, nil)
	add(nil, []byte{0x26, 0xd2, 0, 0, 1})
	for _, k := range []transport.Kind{transport.Control, transport.Opaque, transport.Problem} {
		add(nil, []byte{9, 8, 7})
		out[len(out)-1].Kind, out[len(out)-1].Frame.Frame.Note = k, pick(r, "", "gap")
	}
	return out
}
