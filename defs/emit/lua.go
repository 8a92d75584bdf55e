package emit

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

//go:embed support_lua.txt
var luaSupport string

// luaFrame are the filter names of properties of all messages, with their kinds. The program's filters have the same names.
var luaFrame = map[string]string{"name": "string", "status": "string", "op": "uint32", "len": "uint32", "ver": "uint32"}

// emitLua writes a dissector for Wireshark 4 as one Lua file. The messages are tables after the code that interprets them.
func emitLua(s *schema.Schema, o Options) ([]File, []Loss) {
	g := &luaTarget{schema: s, sessions: o.Sessions, tables: map[*schema.Enum]string{}, losses: slices.Clone(o.lost), top: newLuaScope(), names: luaClasses{}, room: luaRoom(o.room)}
	for name, kind := range luaFrame {
		g.names.take(name, kind)
	}
	for _, m := range newestFirst(s.Messages) {
		g.message(m)
	}
	g.apart()
	g.general()
	lost := g.kinds()
	name := strings.ToLower(legal(o.name()))
	var out strings.Builder
	out.WriteString(head("-- ", "lua", s, lost))
	out.WriteString(`--
-- Put this file into the folder of personal Lua plugins (Help, About Wireshark, Folders), or run: wireshark -X lua_script:FILE.
-- Then set the ports of the servers in the preferences of the protocol, or use "Decode As" for a packet.
-- Filter names are PROTOCOL.MESSAGE.FIELD, without indexes of elements, or the version. The names of other numbers begin with "wb_": contents
-- have .wb_count and .wb_offset, elements of chained lists .wb_here and .wb_next.

`)
	fmt.Fprintf(&out, "local NAME, TITLE = %s, %s -- prefix of all filter names, and the displayed name\n", luaString(name), luaString(o.name()))
	out.WriteString(luaSupport)
	if o.Sessions != nil {
		out.WriteString("\ndo -- SESSIONS\n\n" + o.Sessions.Lua + "\nend\n")
	}
	out.WriteString("\n-- MESSAGES: items of a block are {kind, offset in bits, size in bits}; other parts are consecutive or at an offset.\n(function() -- which has registers of its own\n")
	if len(g.tables) > 0 {
		out.WriteString("\nlocal VALUES = {} -- names of values, for numbers with many names\n")
	}
	start := out.Len()
	for _, m := range g.messages {
		out.WriteString("\n" + m.text)
	}
	own := Range{start, out.Len()}
	out.WriteString("\nend)()\nregister()\n")
	return []File{{name + ".lua", out.String(), own}}, lost
}

// newestFirst returns messages with the versions of one name together, the newest first: it gets the filter names of its fields, if an older
// one has fields of these names that cannot share them.
func newestFirst(messages []*schema.Message) []*schema.Message {
	first := map[string]int{}
	for i, m := range messages {
		if _, ok := first[m.Name]; !ok {
			first[m.Name] = i
		}
	}
	out := slices.Clone(messages)
	slices.SortStableFunc(out, func(a, b *schema.Message) int {
		return cmp.Or(cmp.Compare(first[a.Name], first[b.Name]), cmp.Compare(b.Version, a.Version))
	})
	return out
}

// luaRoom returns the bytes for all messages: fields of a struct have names of their own in each use, so that the sizes of definitions count four
// times.
func luaRoom(room int) int { return budgetBase + 4*(2*room-budgetBase) - len(luaSupport) }

type luaTarget struct {
	schema   *schema.Schema
	sessions *Sessions
	top      *luaScope
	names    luaClasses
	messages []*luaMessage
	tables   map[*schema.Enum]string // see luaCompiler
	bodies   int
	room     int // bytes that messages may still take
	losses
}

// luaMessage is a converted message.
type luaMessage struct {
	m           *schema.Message
	path        string // of its filter name, without the protocol
	kind        string // framing: framed, measured, datagram
	length, key luaPlace
	header      int // bytes
	marks       []luaMark
	apart       bool // not selected by its code
	carries     bool // some bytes are messages
	text        string
}

// luaPlace is the position of a number in the first block, in bits. bits 0: none.
type luaPlace struct {
	off, bits int
	order     schema.Order
}

func (p luaPlace) String() string {
	if p.order == schema.Big {
		return fmt.Sprintf("{%d, %d, big = true}", p.off, p.bits)
	}
	return fmt.Sprintf("{%d, %d}", p.off, p.bits)
}

// luaMark is constant bytes of a message.
type luaMark struct {
	at    int // bytes
	bytes []byte
}

func (g *luaTarget) message(m *schema.Message) {
	g.try(m, luaFeatures, func(laid *wire.Message) {
		for i := range laid.Fields {
			if t, ok := laid.Fields[i].Schema.Type.(*schema.Text); ok && t.Charset.Table() {
				g.lose(m, laid.Label(i), "text in %s is not converted: each byte is a character", t.Charset)
			}
		}
		c := &luaCompiler{
			m: laid, tables: g.tables, names: g.names, bodies: &g.bodies, called: map[int]int{}, prefixes: map[string]int{}, least: map[int]int64{}, fields: make([]*luaField, len(laid.Fields)),
			out: &luaMessage{m: m, kind: "datagram", length: place(laid.Length), key: place(laid.Code), header: laid.Header},
		}
		for f, part := range contents(laid) {
			if part.Kind == wire.List {
				c.least[f] = (part.Elem.Min.Bits + 7) / 8
			}
		}
		c.depends()
		root := &luaField{path: g.top.of(m.Name), scope: newLuaScope()}
		c.out.path = g.names.take(root.path, "none")
		c.enter(laid.Body.Fields, root)
		ops := c.ops(laid.Body.Parts, root, true)
		c.nested = slices.ContainsFunc(laid.Features(), func(u wire.Use) bool { return u.Feature != wire.HalfFloats })
		if m.Measured {
			c.out.kind = "measured"
		}
		if c.out.length.bits > 0 {
			c.out.kind = "framed"
		}
		for _, name := range laid.Unresolved {
			c.lose(m, "", "the constant %s has no value; its limit is not checked", name)
		}
		c.out.text = c.write(m, ops, (laid.Body.Min.Bits+7)/8)
		if g.room -= len(c.out.text); g.room < 0 {
			g.room += len(c.out.text)
			maps.DeleteFunc(g.tables, func(_ *schema.Enum, name string) bool { return strings.Contains(c.out.text, name+" = ") })
			fail("%s", tooMuch)
		}
		g.losses = append(g.losses, c.losses...)
		g.messages = append(g.messages, c.out)
	})
}

// write writes a message: its groups, then its table.
func (c *luaCompiler) write(m *schema.Message, ops []*luaOp, least int64) string {
	var w code
	out := c.out
	w.open("message({")
	w.line("path = %s, name = %s, def = %s, kind = %s, header = %d, min = %d, parts = %d,",
		luaString(out.path), luaString(messageName(m)), luaString(m.Name), luaString(out.kind), out.header, least, countOps(ops))
	if m.Doc != "" {
		w.line("doc = %s,", luaString(oneLine(m.Doc)))
	}
	var found []string
	if m.HasKey {
		found = append(found, fmt.Sprintf("code = %d", m.Key.Code))
	}
	switch m.Key.Dir {
	case schema.ToServer:
		found = append(found, `to = "server"`)
	case schema.ToClient:
		found = append(found, `to = "client"`)
	}
	if m.Key.Group != "" {
		found = append(found, "group = "+luaString(m.Key.Group))
	}
	if m.Version > 1 {
		found = append(found, fmt.Sprintf("version = %d", m.Version))
	}
	if out.length.bits > 0 {
		found = append(found, "length = "+out.length.String())
	}
	if out.key.bits > 0 {
		found = append(found, "key = "+out.key.String())
	}
	if c.nested {
		found = append(found, "nested = true")
	}
	if c.m.Whole != wire.None {
		found = append(found, fmt.Sprintf("whole = %d", c.m.Whole+1))
	}
	last := len(ops)
	if c.m.Tail > 0 {
		found = append(found, fmt.Sprintf("tail = %d", c.m.Tail))
		last--
	}
	if len(found) > 0 {
		w.line("%s,", strings.Join(found, ", "))
	}
	w.line("%s", luaApart)
	if out.kind == "datagram" {
		var marks []string
		for _, k := range out.marks {
			marks = append(marks, fmt.Sprintf("{%d, %s}", k.at, luaBytes(k.bytes)))
		}
		w.line("marks = {%s},", strings.Join(marks, ", "))
	}
	c.ops2(&w, "ops = {", ops[:last], "},", 0)
	if last < len(ops) {
		c.ops2(&w, "last = {", ops[last:], "},", 0)
	}
	w.shut("})")
	var groups code
	for _, line := range c.groups {
		groups.line("%s", line)
	}
	return groups.b.String() + w.b.String()
}

// luaApart is a placeholder for the attribute "apart", which depends on all messages.
const luaApart = "--APART"

// apart marks messages that are not selected by their code, and adds the reasons as losses.
func (g *luaTarget) apart() {
	first := map[string]*luaMessage{}
	count := map[string]int{}
	for _, m := range g.messages {
		if m.kind == "datagram" {
			count[m.m.Key.Dir.String()]++
		}
	}
	for _, m := range g.messages {
		group := m.kind
		if m.kind == "measured" {
			group += m.m.Key.Group
		}
		one := first[group]
		switch {
		case m.kind == "datagram":
			switch winner := g.schema.Lookup(m.m.Key); {
			case m.m.HasKey && winner != nil && winner != m.m && winner.Name == m.m.Name:
				m.apart = true
				g.lose(m.m, "", "another version has the same code; only the preference \"Show everything as\" selects this one")
			case len(m.marks) == 0 && len(g.messages) > 1 && (g.sessions == nil || !slices.Contains(g.sessions.Named, m.m.Name)):
				g.lose(m.m, "", "it has no constant bytes that distinguish it from others; only the preference \"Show everything as\" selects it")
			}
		case one == nil:
			first[group] = m
			if m.key.bits == 0 && len(g.messages) > 1 {
				m.apart = true
				delete(first, group)
				g.lose(m.m, "", "it contains no code; only the preference \"Show everything as\" selects it")
			}
		case m.key != one.key || m.length != one.length:
			m.apart = true
			g.lose(m.m, "", "its length or its code is at another position than in %s; only the preference \"Show everything as\" selects it", messageName(one.m))
		}
		if m.kind != "datagram" && m.key.bits > 0 && !m.apart {
			switch winner := g.schema.Lookup(m.m.Key); {
			case !m.m.HasKey:
				if len(g.messages) > 1 {
					g.lose(m.m, "", "its code is not in the definitions; the preference \"File of codes\" can provide it")
				}
			case winner != nil && winner != m.m:
				m.apart = true
				g.lose(m.m, "", "%s has the same code; only the preference \"Show everything as\" selects this one", messageName(winner))
			}
		}
	}
	for _, m := range g.messages {
		with := ""
		if m.apart {
			with = "\tapart = true, -- not selected by its code\n"
		}
		m.text = strings.Replace(m.text, "\t"+luaApart+"\n", with, 1)
	}
}

// general adds losses that are features of the protocol, not of messages.
func (g *luaTarget) general() {
	stream, nested := false, false
	for _, m := range g.messages {
		stream = stream || m.kind != "datagram"
		nested = nested || m.carries
	}
	if stream {
		g.lose(nil, "", "handshakes and encryption are not in definitions; a stream is parsed as messages from its first byte")
	}
	if nested {
		g.lose(nil, "", "the session layer is not in definitions: fragments are not reassembled, encrypted packets are not decrypted, retransmissions are shown again")
	}
	for _, m := range g.messages {
		if strings.Contains(m.text, `set = "`) {
			g.lose(nil, "", "characters that Wireshark cannot show are replaced: NUL by U+2400, lone surrogates and invalid UTF-8 by U+FFFD")
			return
		}
	}
}

// luaFloat returns a number that round-trips.
func luaFloat(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "math.huge"
	case math.IsInf(v, -1):
		return "-math.huge"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// luaString returns a string literal of text.
func luaString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(strings.ToValidUTF8(text, "?")) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// luaBytes returns a string literal of bytes.
func luaBytes(bytes []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range bytes {
		fmt.Fprintf(&b, `\%03d`, c)
	}
	b.WriteByte('"')
	return b.String()
}
