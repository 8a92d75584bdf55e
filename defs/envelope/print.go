package envelope

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// String returns the envelope as a text from which Parse returns the same envelope, except for spans. Each state has all of its own lines.
func (e *Envelope) String() string {
	var b strings.Builder
	line := func(indent int, words ...string) {
		b.WriteString(strings.Repeat(indentation, indent))
		first := true
		for _, w := range words {
			if w == "" {
				continue
			}
			if !first && w != ":" && w != "," {
				b.WriteByte(' ')
			}
			b.WriteString(w)
			first = false
		}
		b.WriteByte('\n')
	}
	line(0, "carrier", carriers[e.Carrier].name)
	if e.Port > 0 {
		line(0, "port", strconv.Itoa(int(e.Port)))
	}
	each(func(i int) string { return e.Compress[i].words(e.Compress[i].Method == schema.Unpacked) }, func(dir, words string) { line(0, "compress", dir, words) })
	each(func(i int) string { return e.Cipher[i].words() }, func(dir, words string) { line(0, "cipher", dir, words) })
	for i := range e.States {
		s := &e.States[i]
		indent := 0
		if s.Name != "" {
			b.WriteByte('\n')
			line(0, e.block(), Word(s.Name))
			indent = 1
		}
		frames(&s.Frame, indent, line)
		each(func(i int) string { return s.Code[i].String() }, func(dir, words string) { line(indent, "code", dir, words) })
		fields(&s.Header, indent, line)
		each(func(i int) string {
			if s.Group[i] == s.Name && !e.Forms || s.Group[i] == "" && e.Forms {
				return ""
			}
			return Word(s.Group[i])
		}, func(dir, words string) { line(indent, "group", dir, words) })
		for _, x := range s.Bundles {
			line(indent, "bundle", x.message(), dirWord(x.Dir), x.from(), "frame", x.Frame.String())
			table(&x.Frame, indent+1, line)
		}
		for _, r := range s.Rules {
			line(indent, e.words(&r)...)
		}
	}
	return b.String()
}

// block returns the statement that begins the lines of a state.
func (e *Envelope) block() string {
	if e.Forms {
		return "form"
	}
	return "state"
}

// each calls write for a part of both directions: once if they are equal. A part "" is not written.
func each(part func(way int) string, write func(dir, words string)) {
	a, b := part(0), part(1)
	if a == b {
		if a != "" {
			write("", a)
		}
		return
	}
	if a != "" {
		write(dirWord(schema.ToServer), a)
	}
	if b != "" {
		write(dirWord(schema.ToClient), b)
	}
}

func frames(f *[2]Framing, indent int, line func(int, ...string)) {
	if f[0].whole() == f[1].whole() {
		if f[0].Kind != NoFraming {
			line(indent, "frame", f[0].String())
			table(&f[0], indent+1, line)
		}
		return
	}
	for i, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
		if f[i].Kind != NoFraming {
			line(indent, "frame", dirWord(dir), f[i].String())
			table(&f[i], indent+1, line)
		}
	}
}

func fields(h *[2]*Header, indent int, line func(int, ...string)) {
	text := func(way int) (out []string) {
		if h[way] == nil {
			return nil
		}
		for i := range h[way].Fields {
			f := &h[way].Fields[i]
			statement := "field"
			if f.Sum != nil {
				statement = "checksum"
			}
			out = append(out, statement+" "+f.words())
		}
		return out
	}
	one, other := text(0), text(1)
	if slices.Equal(one, other) {
		for _, s := range one {
			line(indent, s)
		}
		return
	}
	for i, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
		for _, s := range text(i) {
			statement, rest, _ := strings.Cut(s, " ")
			line(indent, statement, dirWord(dir), rest)
		}
	}
}

func table(f *Framing, indent int, line func(int, ...string)) {
	for _, c := range f.Sizes {
		line(indent, c.words()...)
	}
}

func (c *CodeSize) words() []string {
	code, size := "other", strconv.Itoa(c.Size)
	if !c.Other {
		code = strconv.FormatUint(c.Code, 10)
	}
	if c.Length != nil {
		size = c.Length.String()
	}
	return []string{code, "=", size}
}

// whole returns a framing with its table.
func (f *Framing) whole() string {
	words := []string{f.String()}
	for _, c := range f.Sizes {
		words = append(words, c.words()...)
	}
	return strings.Join(words, " ")
}

// String returns the framing as in a text, without the table of codes.
func (f Framing) String() string {
	if f.Kind == NoFraming {
		return ""
	}
	words := []string{framings[f.Kind-1].name}
	number := func(name string, v int64) { words = append(words, name, strconv.FormatInt(v, 10)) }
	switch f.Kind {
	case Length:
		words = append(words, f.Number.String())
		if f.Counts != Rest {
			words = append(words, "including", [...]string{"", "itself", "all"}[f.Counts])
		}
		if f.Times > 1 {
			number("times", f.Times)
		}
		switch {
		case f.Add > 0:
			number("plus", f.Add)
		case f.Add < 0:
			number("minus", -f.Add)
		}
	case Delimiter:
		for _, c := range f.Delimiter {
			words = append(words, hex.EncodeToString([]byte{c}))
		}
		if f.End {
			words = append(words, "or", "end")
		}
	case Fixed:
		words = append(words, strconv.Itoa(f.Size))
	case Codes:
		words = append(words, f.Number.String())
	}
	if f.At > 0 {
		number("at", int64(f.At))
	}
	if f.Keep {
		words = append(words, "keep")
	}
	if f.Zeros {
		words = append(words, "zeros")
	}
	if f.Min > 0 {
		number("min", int64(f.Min))
	}
	if f.Max != DefaultMax && f.Kind != Fixed {
		number("max", int64(f.Max))
	}
	return strings.Join(words, " ")
}

// String returns the number as in a text.
func (n Number) String() string {
	switch n.Kind {
	case UInt:
		s := "u" + strconv.Itoa(8*n.Size)
		if n.Size > 1 {
			s += [...]string{" le", " be"}[n.Order]
		}
		return s
	case VarInt:
		return "varint"
	case ZigZag:
		return "zigzag"
	case BigVarInt:
		return "varint be"
	}
	return "none"
}

// String returns the code as in a text.
func (c Code) String() string {
	if c.Number.Kind == NoNumber {
		if c.Name == "" {
			return ""
		}
		return "none " + Word(c.Name)
	}
	s := c.Number.String()
	if c.At > 0 {
		s += " at " + strconv.Itoa(c.At)
	}
	return s
}

// String returns the message as in a text.
func (m Message) String() string {
	if m.ByCode {
		return strconv.FormatUint(uint64(m.Code), 10)
	}
	return Word(m.Name)
}

// message returns the message as in a text, "" for every frame.
func (b *Bundle) message() string {
	switch {
	case b.Message.IsZero():
		return ""
	case slices.Contains(bundled, b.Message.Name):
		return strconv.Quote(b.Message.Name)
	}
	return b.Message.String()
}

func (b *Bundle) from() string {
	if b.From == 0 {
		return ""
	}
	return "at " + strconv.Itoa(b.From)
}

// words returns the compression as in a text; none reports that there is none.
func (c *Compression) words(none bool) string {
	if none {
		return ""
	}
	var words []string
	if c.Method != schema.Unpacked {
		words = append(words, c.Method.String())
	}
	switch c.Header {
	case SizeHeader:
		words = append(words, "size", c.Number.String())
	case FlagHeader:
		words = append(words, "flag", c.Number.String())
	}
	switch {
	case c.Off:
		words = append(words, "off")
	case c.Field != "":
		words = append(words, "from", FieldWord(c.Field))
	case c.From != 0:
		words = append(words, "from", strconv.FormatInt(c.From, 10))
	default:
		words = append(words, "on")
	}
	return strings.Join(words, " ")
}

func (c *Cipher) words() string {
	if c.Kind == NoCipher {
		return ""
	}
	s := ciphers[c.Kind-1].name + " key " + c.Key.words()
	if c.IV.Kind != NoSecret {
		s += " iv " + c.IV.words()
	}
	return s
}

func (s *Secret) words() string {
	switch s.Kind {
	case Stated:
		return "hex " + hex.EncodeToString(s.Bytes)
	case Given:
		return "given"
	}
	if s.Of.IsZero() {
		return FieldWord(s.Field)
	}
	return FieldWord(s.Field) + " of " + s.Of.String()
}

// words returns the words of a rule.
func (e *Envelope) words(r *Rule) []string {
	words := []string{r.Message.String(), dirWord(r.Dir)}
	if r.Field != "" {
		sign, value := "=", ""
		if r.Not {
			sign = "!="
		}
		if value = strconv.Quote(r.Value.Text); r.Value.IsNumber {
			value = strconv.FormatInt(r.Value.Number, 10)
		}
		words = append(words, "when", FieldWord(r.Field), sign, value)
	}
	before := ":"
	for i, a := range r.Actions {
		if a.Kind == Go && i == 0 {
			words = append(words, "->", Word(e.States[a.State].Name), dirWord(a.Dir))
			continue
		}
		words = append(words, before)
		before = ","
		switch a.Kind {
		case Compress:
			words = append(words, "compress", dirWord(a.Dir), a.Compress.words(false))
		case Encrypt:
			if words = append(words, "cipher", dirWord(a.Dir)); a.Cipher.Kind == NoCipher {
				words = append(words, "off")
			} else {
				words = append(words, a.Cipher.words())
			}
		}
	}
	return words
}

func dirWord(dir schema.Dir) string {
	return [...]string{schema.Both: "", schema.ToServer: "to-server", schema.ToClient: "to-client"}[dir]
}

// Word returns a name as one word: in quotes if it would be read as something else.
func Word(name string) string {
	plain := name != "" && !isNumber(name) && name[0] != '#' && !strings.Contains(name, "->") && name != "to-server" && name != "to-client"
	for i := 0; plain && i < len(name); i++ {
		plain = isWordByte(name[i])
	}
	if !plain {
		return strconv.Quote(name)
	}
	return name
}

// FieldWord is like Word, for the path of a field.
func FieldWord(path string) string {
	if path == "hex" || path == "text" || path == "given" {
		return strconv.Quote(path)
	}
	return Word(path)
}

// isWordByte reports whether a byte can be part of a word without quotes. Bytes of characters outside ASCII can.
func isWordByte(c byte) bool {
	return c > ' ' && c != 0x7f && c != '"' && c != ':' && c != ',' && c != '=' && c != '!'
}

// isNumber reports whether a word looks like a number.
func isNumber(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// indentation is one level of indentation.
const indentation = "  "
