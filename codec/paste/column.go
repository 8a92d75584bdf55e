package paste

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// Tables: rows of JSON objects or CSV with a column of hex or base64. The table is read twice, first to choose the columns, then for the
// bytes, so that its cells need no memory.

// cell is one value of a row.
type cell struct {
	column int
	kind   cellKind
	text   string // a string without quotes and escapes; others as written
	off    int
}

type cellKind uint8

const (
	cellText cellKind = iota
	cellNumber
	cellList // of numbers
	cellNull
)

// row is one row. Its cells are reused for the next one.
type row struct {
	cells []cell
	off   int
}

const (
	maxColumns = 1000 // distinct, and cells in one row; more are skipped
	minHexCell = 4    // digits in the longest cell of a column without a known name
)

// table walks the rows of a text. names are the columns seen so far; a column's index never changes.
type table interface {
	walk(visit func(r *row) *Error) *Error
	names() []string
}

// columnStat counts the possible contents of a column's cells.
type columnStat struct {
	cells, hex, base64, lists int
	dirs, times               int // cells with a direction or a time
	sure, quads               int // cells that are only base64; those whose length, with padding, allows base64
	chars                     int // in all cells that could be bytes
	longest                   int
}

// bytesKind is the encoding of a column of bytes.
type bytesKind uint8

const (
	bytesHex bytesKind = iota
	bytesBase64
	bytesList
)

// byteNames are names of columns that hold bytes, the most specific first.
var byteNames = []string{
	"hex", "bytes", "rawhex", "hexdata", "payload", "packet", "raw", "data", "body", "frame", "message", "content", "base64", "b64",
	"buffer", "value", "tcp.payload", "udp.payload",
}

// role is a property of a message that has a column.
type role int

const (
	roleDir role = iota
	roleTime
	roleName
	roleVersion
	roleNumber
	roleSource // the ends, by the names of tshark and Wireshark
	roleFromPort
	roleDest
	roleToPort
	roles
)

// roleNames are the names of columns of each role; directions and times are also known by their contents.
var roleNames = [roles][]string{
	roleDir:      {"dir", "direction", "way", "flow", "peer", "side", "origin", "inout", "outbound", "incoming", "outgoing", "inbound"},
	roleTime:     {"time", "timestamp", "ts", "at", "clock", "date", "datetime", "when", "frame.time_epoch", "time_epoch"},
	roleName:     {"name", "message", "msg", "opcode_name", "packet_name", "type", "def", "packet", "info"},
	roleVersion:  {"version", "ver"},
	roleNumber:   {"n", "no", "no.", "number", "packet", "frame.number", "num", "id", "#"},
	roleSource:   {"src", "source", "ip.src", "ipv6.src", "srcip", "srcaddr", "sourceip", "sourceaddress"},
	roleFromPort: {"srcport", "sport", "udp.srcport", "tcp.srcport", "sourceport"},
	roleDest:     {"dst", "destination", "ip.dst", "ipv6.dst", "dstip", "dstaddr", "destinationip", "destinationaddress"},
	roleToPort:   {"dstport", "dport", "udp.dstport", "tcp.dstport", "destinationport"},
}

// rankName returns the index of a column's name in a list, plus 50 for each step of a path that ends in such a name; -1 if it does not
// match.
func rankName(name string, list []string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	last = noiseInWords.Replace(last)
	if i := slices.Index(list, last); i >= 0 {
		return i + 50*strings.Count(name, ".")
	}
	return -1
}

// tableReader reads the rows of a table, once its columns are chosen.
type tableReader struct {
	t     *pasted
	b     *builder
	names []string
	stats []columnStat
	col   int // of the bytes
	kind  bytesKind
	of    [roles]int // columns of the roles, -1 if there is none
	ends  rowEnds
}

// readTable reads all rows of a table.
func readTable(t *pasted, tb table, form string) (*builder, *Error) {
	r := tableReader{t: t, b: &builder{form: form}}
	rows := 0
	e := tb.walk(func(row *row) *Error {
		rows++
		for _, c := range row.cells {
			for len(r.stats) <= c.column {
				r.stats = append(r.stats, columnStat{})
			}
			r.stats[c.column].count(c)
		}
		return nil
	})
	if e != nil {
		return nil, e
	}
	r.names = tb.names()
	if r.chooseColumn(); r.col >= 0 {
		r.chooseRoles()
		e = tb.walk(r.row)
	}
	if e == nil && len(r.b.msgs) == 0 {
		e = errNoColumn(r.names, rows)
	}
	if e != nil {
		return nil, e
	}
	r.b.why = r.reason()
	r.ends.tell(r.b)
	return r.b, nil
}

func errNoColumn(names []string, rows int) *Error {
	if len(names) > 12 {
		names = append(slices.Clone(names[:12]), "…")
	}
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, scan.Quote(n))
	}
	e := errAt(0, "none of the columns of %d rows holds hex or base64: %s", rows, strings.Join(quoted, ", "))
	e.Want = "a column of hex or base64"
	return e
}

func (s *columnStat) count(c cell) {
	if c.kind == cellNull || c.text == "" {
		return
	}
	s.cells++
	switch c.kind {
	case cellList:
		s.lists++
		s.chars += len(c.text)
		return
	case cellNumber:
		return
	}
	s.longest = max(s.longest, len(c.text))
	if len(c.text)%4 == 0 {
		s.quads++
	}
	if len(c.text) <= 40 {
		if DirOf("", c.text) != schema.Both {
			s.dirs++
		} else if st, ok := scan.ParseStamp(c.text); ok && st.Kind != scan.Elapsed {
			s.times++
		}
	}
	if _, ok := hexCell(c.text); ok {
		s.hex++
		s.base64++
		s.chars += len(c.text)
		return
	}
	if _, ok := base64Cell(nil, c.text); ok {
		s.base64++
		s.chars += len(c.text)
		if strings.ContainsAny(c.text, "=+/") || len(c.text)-hexAmong(c.text) >= 3 { // not hex with a wrong digit
			s.sure++
		}
	}
}

// chooseColumn picks the column of bytes: by its name, else the one with the longest contents.
func (r *tableReader) chooseColumn() {
	r.col = -1
	best := int64(0)
	for i, s := range r.stats {
		rank := rankName(r.names[i], byteNames)
		kind, ok := s.bytes(rank >= 0)
		if !ok || rank < 0 && (s.times == s.cells || kind == bytesHex && s.longest < minHexCell || kind == bytesBase64 && s.longest < 16) {
			continue
		}
		score := int64(s.chars)
		switch {
		case rank >= 0:
			score += 1 << 50 >> min(rank, 20)
		case r.isNamed(i, roleNumber), r.isNamed(i, roleTime), r.isNamed(i, roleVersion):
			continue
		case kind == bytesHex:
			score *= 2
		}
		if r.col < 0 || score > best {
			r.col, best, r.kind = i, score, kind
		}
	}
}

func (r *tableReader) isNamed(i int, as role) bool { return rankName(r.names[i], roleNames[as]) >= 0 }

// bytes returns the encoding of a column, if it can be one of bytes.
//
// A column that is mostly hex is hex: its other cells are errors, not a reason to read all as base64, unless they can only be base64.
// Base64 of zeros looks like hex.
func (s *columnStat) bytes(named bool) (kind bytesKind, ok bool) {
	mostly := 2*s.hex >= s.cells && s.hex > 0 && !(s.sure > 0 && s.base64 == s.cells && s.quads == s.cells)
	switch {
	case s.cells == 0:
		return bytesHex, false
	case s.hex == s.cells:
		return bytesHex, true
	case s.lists == s.cells:
		return bytesList, true
	case named && mostly:
		return bytesHex, true
	}
	return bytesBase64, s.base64 == s.cells && !mostly && (named || s.longest >= 8)
}

// chooseRoles finds the columns with other properties of a message by name, directions and times also by contents.
func (r *tableReader) chooseRoles() {
	used := []int{r.col}
	for as := range roles {
		best, rank := -1, 50 // a name at the end of a path belongs to something else, unless it is an end
		for i, n := range r.names {
			if slices.Contains(used, i) || as >= roleSource && (i >= len(r.stats) || r.stats[i].cells == 0) {
				continue
			}
			k := rankName(n, roleNames[as])
			if as >= roleSource {
				if k = rankEnd(n, roleNames[as]); best < 0 {
					rank = k + 1
				}
			}
			if k >= 0 && k < rank && n != "_type" { // tshark writes a constant there
				best, rank = i, k
			}
		}
		for i, s := range r.stats {
			says := as == roleDir && s.dirs == s.cells || as == roleTime && s.times == s.cells
			if best < 0 && says && s.cells > 0 && !slices.Contains(used, i) {
				best = i
			}
		}
		if r.of[as] = best; best >= 0 {
			used = append(used, best)
		}
	}
	if r.of[roleSource] < 0 || r.of[roleDest] < 0 {
		copy(r.of[roleSource:], []int{-1, -1, -1, -1})
	}
}

// maxUnread bounds the columns that are said not to be read.
const maxUnread = 8

// reason returns the Why of a table.
func (r *tableReader) reason() string {
	quoted := func(i int) string { return scan.Quote(r.names[i]) }
	why := "rows; column " + quoted(r.col) + [...]string{" is hex", " is base64", " is lists of numbers"}[r.kind]
	for i, s := range r.stats {
		if i != r.col && s.cells > 0 && s.hex == s.cells && s.longest >= 8 {
			why += ", " + quoted(i) + " could be too"
			break
		}
	}
	for as, what := range [...]string{roleDir: "direction", roleTime: "time", roleName: "name"} {
		if i := r.of[as]; i >= 0 {
			why += ", " + quoted(i) + " the " + what
		}
	}
	var left []string
	for i, s := range r.stats {
		if s.cells > 0 && i != r.col && !slices.Contains(r.of[:], i) {
			if left = append(left, quoted(i)); len(left) > maxUnread {
				left[maxUnread] = "…"
				break
			}
		}
	}
	if len(left) > 0 {
		why += "; not read: " + strings.Join(left, ", ")
	}
	return why
}

// row makes a message from a row.
func (r *tableReader) row(row *row) *Error {
	var m Message
	var ends [4]string
	start, found := len(r.b.out), false
	for _, c := range row.cells {
		switch as := role(slices.Index(r.of[:], c.column)); {
		case c.column == r.col:
			if c.kind == cellNull || found {
				continue
			}
			found = true
			if e := r.bytes(c); e != nil {
				return e.as(certain)
			}
		case as >= roleSource:
			if len(c.text) < 64 {
				ends[as-roleSource] = strings.TrimSpace(c.text)
			}
		case as == roleDir:
			m.Dir = DirOf(r.names[c.column], c.text)
		case as == roleTime:
			m.Time, _ = scan.ParseStamp(c.text)
		case as == roleName && c.kind == cellText:
			m.Name = strings.Clone(c.text)
		case as == roleVersion:
			m.Version, _ = strconv.Atoi(c.text)
		case as == roleNumber:
			m.Number, _ = strconv.Atoi(c.text)
		case as < 0 && strings.HasPrefix(r.names[0], "column "): // columns without names are not known to be something else
			r.b.lost += len(c.text)
		}
	}
	if !found {
		r.b.note(row.off, "this row has no bytes and was skipped")
		return nil
	}
	if r.of[roleSource] >= 0 {
		if dir, conn, ok := r.ends.dir(ends, r.names[r.col]); ok {
			m.Dir, m.Conn = cmp.Or(m.Dir, dir), conn
		}
	}
	return r.b.add(m, start, row.off)
}

// bytes appends the bytes of a cell.
func (r *tableReader) bytes(c cell) *Error {
	switch r.kind {
	case bytesList:
		return appendListCell(r.b, c)
	case bytesBase64:
		var ok bool
		if r.b.out, ok = base64Cell(r.b.out, c.text); !ok {
			return errFound(r.t, c.off, "base64")
		}
		return nil
	}
	switch at, ok := hexCell(c.text); {
	case ok:
		r.b.out, _ = appendDigits(r.b.out, c.text)
		return nil
	case at == len(c.text):
		return errOdd(c.off+max(at-1, 0), hexAmong(c.text), "# hex digits")
	default:
		return errFound(r.t, c.off+at, "hex digits")
	}
}

// hexCell reports whether s is hex with an even number of digits, with spaces, colons or hyphens between bytes and 0x or \x before them. If
// not, off is the position of the first mistake.
func hexCell(s string) (off int, ok bool) {
	from, half := 0, false
	if len(s) > 2 && (s[0] == '0' || s[0] == '\\') && s[1]|0x20 == 'x' {
		from = 2
	}
	for i := from; i < len(s); i++ {
		switch c := s[i]; {
		case scan.IsHex(c):
			half = !half
		case (c == ' ' || c == ':' || c == '-') && !half && i > from:
		default:
			return i, false
		}
	}
	return len(s), !half
}

// base64Cell appends the bytes of a base64 text in either alphabet to out; ok is false if s is not base64.
func base64Cell(out []byte, s string) (_ []byte, ok bool) {
	if s == "" || strings.ContainsAny(s, " \t\r\n") {
		return out, false
	}
	d := base64Decoder{t: &pasted{s}, b: &builder{out: out}}
	if d.unit(span{0, len(s)}) != nil {
		return out, false
	}
	return d.b.out, true
}

// appendListCell appends the bytes of a list of numbers.
func appendListCell(b *builder, c cell) *Error {
	for i := 0; i < len(c.text); {
		if s := c.text[i]; !scan.IsDigit(s) && s != '-' {
			i++
			continue
		}
		end := i + 1
		for end < len(c.text) && scan.IsWord(c.text[end]) || end < len(c.text) && c.text[end] == '.' {
			end++
		}
		v := readLiteral(c.text[:end], i)
		if v.end < end || !v.isByte() {
			return errAt(c.off+i, "%s is not a byte: a number from -128 to 255 was expected", scan.Quote(c.text[i:end]))
		}
		b.out = append(b.out, byte(v.value))
		i = end
	}
	return nil
}

// noiseInWords removes separators between the parts of a word.
var noiseInWords = strings.NewReplacer(" ", "", "_", "", "-", "")

// DirOf parses a direction. Words are from the client's point of view: out and send mean to the server.
func DirOf(column, s string) schema.Dir {
	column = strings.ToLower(column[strings.LastIndexByte(column, '.')+1:])
	s = strings.ToLower(noiseInWords.Replace(s))
	switch column {
	case "outbound", "outgoing":
		s = map[string]string{"true": "c2s", "1": "c2s", "false": "s2c", "0": "s2c"}[s]
	case "inbound", "incoming":
		s = map[string]string{"true": "s2c", "1": "s2c", "false": "c2s", "0": "c2s"}[s]
	case "peer":
		s = map[string]string{"0": "c2s", "1": "s2c"}[s]
	}
	switch s {
	case "c2s", "cs", "c>s", "c→s", "client", "clienttoserver", "client>server", "toserver", "cl",
		"out", "outbound", "outgoing", "o", "send", "sent", "tx", "request", ">", "→", "up", "upstream":
		return schema.ToServer
	case "s2c", "sc", "s>c", "s→c", "server", "servertoclient", "server>client", "toclient", "sv",
		"in", "inbound", "incoming", "i", "recv", "received", "receive", "rx", "response", "<", "←", "down", "downstream":
		return schema.ToClient
	}
	return schema.Both
}
