package paste

import (
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

// Names of columns with other properties of a message.
var (
	dirNames     = []string{"dir", "direction", "way", "flow", "peer", "side", "origin", "inout", "outbound", "incoming", "outgoing", "inbound"}
	timeNames    = []string{"time", "timestamp", "ts", "at", "clock", "date", "datetime", "when", "frame.time_epoch", "time_epoch"}
	nameNames    = []string{"name", "message", "msg", "opcode_name", "packet_name", "type", "def", "packet", "info"}
	versionNames = []string{"version", "ver"}
	sourceNames  = []string{"src", "source", "ip.src", "ipv6.src", "srcip", "srcaddr", "sourceip", "sourceaddress"}
	destNames    = []string{"dst", "destination", "ip.dst", "ipv6.dst", "dstip", "dstaddr", "destinationip", "destinationaddress"}
	fromPorts    = []string{"srcport", "sport", "udp.srcport", "tcp.srcport", "sourceport"}
	toPorts      = []string{"dstport", "dport", "udp.dstport", "tcp.dstport", "destinationport"}
	numberNames  = []string{"n", "no", "no.", "number", "packet", "frame.number", "num", "id", "#"}
)

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

// readTable reads all rows of a table.
func readTable(t *pasted, tb table, form string) (*builder, *Error) {
	var stats []columnStat
	rows := 0
	e := tb.walk(func(r *row) *Error {
		rows++
		for _, c := range r.cells {
			for len(stats) <= c.column {
				stats = append(stats, columnStat{})
			}
			stats[c.column].count(c)
		}
		return nil
	})
	if e != nil {
		return nil, e
	}
	names := tb.names()
	col, kind := chooseColumn(names, stats)
	if col < 0 {
		return nil, errNoColumn(names, rows)
	}
	b := &builder{form: form}
	m := metaColumns(names, stats, col)
	e = tb.walk(func(r *row) *Error { return readRow(t, b, names, r, col, kind, m) })
	if e != nil {
		return nil, e
	}
	if len(b.msgs) == 0 {
		return nil, errNoColumn(names, rows)
	}
	b.why = m.reason(names, stats, col, kind)
	m.ends.tell(b)
	return b, nil
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
		if surelyBase64(c.text) {
			s.sure++
		}
	}
}

// surelyBase64 reports whether a cell that is valid base64 cannot be hex with a wrong digit.
func surelyBase64(text string) bool {
	strange := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '=', c == '+', c == '/':
			return true
		case !scan.IsHex(c):
			strange++
		}
	}
	return strange >= 3
}

// chooseColumn picks the column of bytes: by its name, else the one with the longest contents; -1 if there is none.
func chooseColumn(names []string, stats []columnStat) (col int, kind bytesKind) {
	best, bestRank := -1, int64(0)
	for i, s := range stats {
		if s.cells == 0 {
			continue
		}
		fits, k := s.hex == s.cells, bytesHex
		if !fits && s.lists == s.cells {
			fits, k = true, bytesList
		}
		rank := rankName(names[i], byteNames)
		// A column that is mostly hex is hex: its other cells are errors, not a reason to read all as base64, unless they can only be
		// base64. Base64 of zeros looks like hex.
		mostly := 2*s.hex >= s.cells && s.hex > 0 && !(s.sure > 0 && s.base64 == s.cells && s.quads == s.cells)
		switch {
		case fits:
		case rank >= 0 && mostly:
			fits = true
		case s.base64 == s.cells && !mostly && (rank >= 0 || s.longest >= 8):
			fits, k = true, bytesBase64
		}
		if !fits || rank < 0 && (s.times == s.cells || k == bytesHex && s.longest < minHexCell || k == bytesBase64 && s.longest < 16) {
			continue
		}
		score := int64(s.chars)
		switch {
		case rank >= 0:
			score += 1 << 50 >> min(rank, 20)
		case rankName(names[i], numberNames) >= 0, rankName(names[i], timeNames) >= 0, rankName(names[i], versionNames) >= 0:
			continue
		case k == bytesHex:
			score *= 2
		}
		if best < 0 || score > bestRank {
			best, bestRank, kind = i, score, k
		}
	}
	return best, kind
}

// role is a property of a message that has a column.
type role uint8

const (
	roleDir role = iota
	roleTime
	roleName
	roleVersion
	roleNumber
	roles int = iota
)

// roleNames are the names of columns of each role; directions and times are also known by their contents.
var roleNames = [roles][]string{dirNames, timeNames, nameNames, versionNames, numberNames}

// metaColumn holds the columns with other properties of the message, -1 if there is none.
type metaColumn struct {
	of   [roles]int
	ends *rowEnds
}

// metaColumns finds them by name, direction and time also by contents.
func metaColumns(names []string, stats []columnStat, bytes int) (m metaColumn) {
	used := []int{bytes}
	for r := range m.of {
		best, rank := -1, 50 // a name at the end of a path belongs to something else
		for i, n := range names {
			if k := rankName(n, roleNames[r]); k >= 0 && k < rank && !slices.Contains(used, i) && n != "_type" { // tshark writes a constant there
				best, rank = i, k
			}
		}
		for i, s := range stats {
			says := role(r) == roleDir && s.dirs == s.cells || role(r) == roleTime && s.times == s.cells
			if best < 0 && says && s.cells > 0 && !slices.Contains(used, i) {
				best = i
			}
		}
		if m.of[r] = best; best >= 0 {
			used = append(used, best)
		}
	}
	m.ends = newRowEnds(names, stats, used)
	return m
}

// maxUnread bounds the columns that are said not to be read.
const maxUnread = 8

// reason returns the Why of a table.
func (m metaColumn) reason(names []string, stats []columnStat, col int, kind bytesKind) string {
	quoted := func(i int) string { return scan.Quote(names[i]) }
	why := "rows; column " + quoted(col) + [...]string{" is hex", " is base64", " is lists of numbers"}[kind]
	for i, s := range stats {
		if i != col && s.cells > 0 && s.hex == s.cells && s.longest >= 8 {
			why += ", " + quoted(i) + " could be too"
			break
		}
	}
	for r, what := range [...]string{roleDir: "direction", roleTime: "time", roleName: "name"} {
		if i := m.of[r]; i >= 0 {
			why += ", " + quoted(i) + " the " + what
		}
	}
	var left []string
	for i, s := range stats {
		used := i == col || slices.Contains(m.of[:], i) || m.ends != nil && slices.Contains(m.ends.columns[:], i)
		if s.cells > 0 && !used {
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

// readRow makes a message from a row.
func readRow(t *pasted, b *builder, names []string, r *row, col int, kind bytesKind, meta metaColumn) *Error {
	var m Message
	unnamed := strings.HasPrefix(names[0], "column ") // columns without names are not known to be something else
	start, found := len(b.out), false
	ends := meta.ends
	ends.begin()
	for _, c := range r.cells {
		if ends.take(c) {
			continue
		}
		switch c.column {
		case col:
			if c.kind == cellNull || found {
				continue
			}
			found = true
			if e := appendCell(t, b, c, kind); e != nil {
				return e.as(certain)
			}
		case meta.of[roleDir]:
			m.Dir = DirOf(names[c.column], c.text)
		case meta.of[roleTime]:
			m.Time, _ = scan.ParseStamp(c.text)
		case meta.of[roleName]:
			if c.kind == cellText {
				m.Name = strings.Clone(c.text)
			}
		case meta.of[roleVersion]:
			m.Version, _ = strconv.Atoi(c.text)
		case meta.of[roleNumber]:
			m.Number, _ = strconv.Atoi(c.text)
		default:
			if unnamed {
				b.lost += len(c.text)
			}
		}
	}
	if !found {
		b.note(r.off, "this row has no bytes and was skipped")
		return nil
	}
	if dir, conn, ok := ends.dir(names[col]); ok {
		m.Conn = conn
		if m.Dir == schema.Both {
			m.Dir = dir
		}
	}
	return b.add(m, start, r.off)
}

// appendCell appends the bytes of a cell.
func appendCell(t *pasted, b *builder, c cell, kind bytesKind) *Error {
	switch kind {
	case bytesBase64:
		var ok bool
		if b.out, ok = base64Cell(b.out, c.text); !ok {
			return errFound(t, c.off, "base64")
		}
		return nil
	case bytesList:
		return appendListCell(t, b, c)
	}
	off, ok := hexCell(c.text)
	if !ok {
		if off == len(c.text) {
			return errOdd(c.off+max(off-1, 0), hexAmong(c.text), "# hex digits")
		}
		return errFound(t, c.off+off, "hex digits")
	}
	b.out, _ = appendDigits(b.out, c.text)
	return nil
}

func trimHexMark(s string) string {
	if len(s) > 2 && (s[0] == '0' || s[0] == '\\') && s[1]|0x20 == 'x' {
		return s[2:]
	}
	return s
}

// hexCell reports whether s is hex with an even number of digits, with spaces, colons or hyphens between bytes and 0x or \x before them. If
// not, off is the position of the first mistake.
func hexCell(s string) (off int, ok bool) {
	body := trimHexMark(s)
	skipped := len(s) - len(body)
	half := false
	for i := range len(body) {
		switch c := body[i]; {
		case scan.IsHex(c):
			half = !half
		case (c == ' ' || c == ':' || c == '-') && !half && i > 0:
		default:
			return skipped + i, false
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
func appendListCell(t *pasted, b *builder, c cell) *Error {
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
