package paste

import (
	"fmt"
	"regexp"
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// Hex among words: lines of a log with a time, a direction and a name before their bytes, or lines of hex below a line that tells about
// them. What the columns of a line are is learnt from the lines of its shape: one line of few bytes proves nothing, but the same words
// before many bytes elsewhere do; "in" is a direction where other lines of the shape have "out".

// run is the bytes of a line.
type run struct {
	line
	from, to int // in the text of the line
	n        int // bytes
	strong   bool
	base64   bool
	shape    string
}

func (r *run) before() string { return strings.TrimSpace(r.text[:r.from]) }
func (r *run) after() string  { return strings.Trim(r.text[r.to:], " \t\"'])}>;,.|/#-") }

// plain reports whether nothing but bytes is on the line.
func (r *run) plain() bool { return r.n > 0 && r.before() == "" && r.after() == "" }

// template is what is known of the lines of a shape.
type template struct {
	strong int
	dirs   map[int]schema.Dir // seen in each word; their sum if both are
}

// maxShapes bounds the shapes of lines of a text. More are no template.
const maxShapes = 5000

type linesReader struct {
	t      *pasted
	b      *builder
	runs   []run
	shapes map[string]*template
	last   *run // whose message is open
	fail   *Error
	words  bool // a message has words around it
}

// tryLines recognises hex among words by one line that surely has bytes.
func tryLines(t *pasted) (*builder, *Error) {
	if rest := strings.Trim(t.s, "0123456789abcdefABCDEF \t\r\n"); len(rest) < 2 {
		return nil, nil // nothing but hex, of which half a byte may be missing, and a mistake
	}
	r := linesReader{t: t, b: &builder{form: formLogLines}, shapes: map[string]*template{}}
	strong, found := 0, 0
	for l := range t.head(4 * MaxMessages) {
		x := findRun(l)
		if x.n > 0 && x.from < maxWords && !x.plain() {
			r.learn(&x)
		}
		if x.n > 0 {
			found++
		}
		if x.strong {
			strong++
		}
		r.runs = append(r.runs, x)
	}
	if strong == 0 {
		return nil, nil
	}
	for i := range r.runs {
		if e := r.take(&r.runs[i]); e != nil {
			return nil, e
		}
	}
	if r.fail != nil && (!r.words || strong < 3) {
		return nil, r.fail
	}
	r.b.why = fmt.Sprintf("hex at the ends of lines, or below lines of words; %d of %d lines have some", found, len(r.runs))
	return r.b.whole(nil, noBytes)
}

// readLines reads the form "log-lines".
func readLines(t *pasted) (*builder, *Error) {
	b, e := tryLines(t)
	if b == nil && e == nil {
		e = errWhole("no line of the text surely has bytes in hex")
	}
	return b, e
}

// learn adds a line to the template of its shape.
func (r *linesReader) learn(x *run) {
	words := strings.Fields(x.before())
	var shape strings.Builder
	dirs := map[int]schema.Dir{}
	for i, w := range words[:min(len(words), 41)] {
		switch d := dirAt(words[i:], true); {
		case d != schema.Both:
			dirs[i] = d
			w = "\x01"
		case strings.ContainsAny(w, "0123456789"):
			w = "\x02"
		case isMessageName(w):
			w = "\x03"
		}
		shape.WriteString(w + " ")
	}
	x.shape = shape.String()
	t := r.shapes[x.shape]
	if t == nil {
		if len(r.shapes) >= maxShapes {
			return
		}
		t = &template{dirs: dirs}
		r.shapes[x.shape] = t
	}
	if x.strong {
		t.strong++
	}
	for i, d := range dirs {
		if t.dirs[i] != d {
			t.dirs[i] = schema.ToServer + schema.ToClient
		}
	}
}

// isMessageName reports whether a word is the name of a message, as S_CHAT or C_MOVE.2.
func isMessageName(w string) bool {
	name, _, _ := strings.Cut(strings.Trim(w, nameMarks), ".")
	return len(name) > 3 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" && strings.Contains(name, "_") && !scan.IsDigit(name[0])
}

// take reads one line.
func (r *linesReader) take(x *run) *Error {
	if x.blank() {
		r.b.leaveLabel(len(r.b.label))
		return r.b.end()
	}
	plain, t := x.plain(), r.shapes[x.shape]
	follows := r.b.open && r.last != nil && plain
	known := x.strong || !plain && t != nil && t.strong > 0 || follows || plain && len(r.b.label) > 0 && x.n > 1 && hasLetter(x.text)
	switch {
	case !known || x.n == 0:
		return r.wordsOnly(x)
	case follows && (r.last.plain() || indentOf(x.text) > indentOf(r.last.text)): // the bytes go on
	default:
		if e := r.begin(x, t); e != nil {
			return e
		}
	}
	r.last = x
	if s := x.text[x.from:x.to]; x.base64 {
		r.b.out, _ = base64Cell(r.b.out, s)
	} else {
		r.b.out, _ = appendDigits(r.b.out, s)
	}
	return nil
}

// begin begins a message with the words around its bytes, on the line and above it.
func (r *linesReader) begin(x *run, t *template) *Error {
	if e := r.b.begin(Message{}, x.off+x.from); e != nil {
		return e
	}
	text := x.text[:x.from]
	if strings.TrimSpace(text) == "" {
		text += r.b.takeLabel()
	}
	r.b.leaveLabel(len(r.b.label))
	if after := x.after(); after != "" {
		text += " " + after
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	r.words = true
	words := strings.Fields(x.text[:min(x.from, maxWords)])
	for i := 0; t != nil && i < len(words) && r.b.m.Dir == schema.Both; i++ { // the first one of several
		if t.dirs[i] == schema.ToServer+schema.ToClient {
			r.b.m.Dir = dirAt(words[i:], true)
		}
	}
	readAround(text, &r.b.m)
	for _, w := range strings.Fields(text[:min(len(text), maxWords)]) {
		if !isMessageName(w) {
			continue
		}
		if r.b.m.Name != "" { // several are no name
			r.b.m.Name = ""
			break
		}
		r.b.m.Name = strings.Clone(strings.Trim(w, nameMarks))
	}
	return nil
}

// nameMarks are around the names of messages.
const nameMarks = "[](){}<>:;,|\"'*="

// wordsOnly handles a line without bytes: it may tell about the ones below.
func (r *linesReader) wordsOnly(x *run) *Error {
	if at := damagedAt(x.text); at >= 0 && r.fail == nil {
		r.fail = errFound(r.t, x.off+at, "hex digits").as(likely)
	}
	if isRule(x.text) {
		r.b.leaveLabel(len(r.b.label))
	} else {
		r.b.addLabel(x.line, 2)
	}
	return r.b.end()
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func hasLetter(s string) bool {
	return strings.ContainsAny(s, "abcdefABCDEF") && strings.ContainsAny(s, "0123456789") || len(s) > 12
}

// damagedAt returns the position of what keeps a line that is nearly hex from being hex, else -1.
func damagedAt(s string) int {
	good, all, bad := 0, 0, -1
	for i := skipSpaces(s, 0); i < len(s); all++ {
		_, next := wordAt(s, i)
		word := strings.TrimRight(s[i:next], " \t,;:")
		switch n := hexRun(word, 0); {
		case n == len(word) && n%2 == 0:
			good++
		case len(word) >= 16 && hexAmong(word) > len(word)*4/5 && n > 3 && n < len(word) && wordEnd(word, 0) == len(word):
			bad, good = i+n, good+5
		case bad < 0:
			bad = i + n
		}
		i = next
	}
	if good >= 4 && 5*good > 3*all || strings.Trim(s, "0123456789abcdefABCDEF \t,;:-_") == "" && hasLetter(s) || strings.TrimSpace(s) == "*" {
		return max(bad, 0)
	}
	return -1
}

func hexAmong(s string) (n int) {
	for i := range len(s) {
		if scan.IsHex(s[i]) {
			n++
		}
	}
	return n
}

// saysData matches words that precede bytes.
var saysData = regexp.MustCompile(`(?i)(?:^|\W)(?:data|hex|bytes|payload|raw|packet|buffer|buf|body|dump|contents?|msg|message|frame)[ \t:="']*[:=][ \t"'[({<]*$`)

// findRun returns the longest run of bytes of a line, the last of equal ones.
func findRun(l line) (best run) {
	s := l.text
	for i := 0; i < len(s) && len(s) <= MaxBytes; {
		if !scan.IsWord(s[i]) && s[i] < 0x80 && s[i] != '\\' {
			i++
			continue
		}
		x := run{to: i}
		if i == 0 || s[i-1] != '.' { // a fraction
			x = runAt(s, i)
		}
		if x.n > 0 && x.n >= best.n {
			best = x
		}
		if x.to > i {
			i = x.to
			continue
		}
		for i++; i < len(s) && (scan.IsWord(s[i]) || s[i] >= 0x80); i++ {
		}
	}
	if best.n == 0 && len(s) <= MaxBytes {
		best = base64Run(s)
	}
	best.line = l
	return best
}

// runAt reads the run of bytes at s[i:], the start of a word: tokens of one size, the last one perhaps shorter.
func runAt(s string, i int) run {
	x := run{from: i, to: i}
	size, tokens, sep := 0, 0, byte(0)
	letters, digits, uuid := false, false, ""
	for i < len(s) {
		marked := isPrefix(s, i)
		at := i + marked
		n := hexRun(s, at)
		end := at + n
		if n == 0 || n%2 != 0 || end < len(s) && (scan.IsWord(s[end]) || s[end] >= 0x80) && !(n == 2 && s[end]|0x20 == 'h') {
			break
		}
		if tokens > 0 && n > size || // columns of numbers, or binary
			n > 4 && s[at] == '0' && s[at+1] == 'b' && strings.Trim(s[at+2:end], "01") == "" {
			return run{from: x.from, to: x.to}
		}
		if tokens > 0 && n < size {
			if next := skipSpaces(s, end); size == 2 || next < len(s) && hexRun(s, next) > 1 {
				break // bytes after a number
			}
		}
		if tokens == 0 {
			size = n
		}
		for _, c := range []byte(s[at:end]) {
			letters, digits = letters || c > '9', digits || c <= '9'
		}
		if len(uuid) < 8 {
			uuid += string(rune('a' + min(n, 20)))
		}
		tokens++
		x.n += n / 2
		if end < len(s) && s[end]|0x20 == 'h' {
			end++
		}
		x.to = end
		if n < size {
			break
		}
		next := end
		if next < len(s) && strings.IndexByte(":-,_", s[next]) >= 0 {
			sep = s[next]
			next++
		}
		next = skipSpaces(s, next)
		if next == end && (next == len(s) || isPrefix(s, next) == 0) || next-end > 3 {
			break
		}
		i = next
	}
	return x.judged(s, tokens, size, sep, letters, digits, uuid)
}

// judged returns a run with its strength, without bytes if it is something else: a part of a string or a list, a UUID.
func (x run) judged(s string, tokens, size int, sep byte, letters, digits bool, uuid string) run {
	after := strings.TrimLeft(s[x.to:], "\"'])}>;,.")
	word := strings.TrimLeft(after, " ")
	ends := strings.TrimSpace(after) == "" || strings.HasPrefix(after, "  ") || strings.HasPrefix(word, "//") || strings.IndexByte("#;|(/", word[0]) >= 0
	listed := (sep == ',' || tokens == 1) && (strings.HasSuffix(strings.TrimRight(s[:x.from], " "), ",") || strings.HasPrefix(s[x.to:], ","))
	switch {
	case s[x.from] == '\\' && x.from > 0 && strings.IndexByte(" \t\"'=:([", s[x.from-1]) < 0, // of a string
		listed && (sep == ',' || size == 2), // of a list
		uuid == "iemem", uuid == "ieeem", !ends && x.n < 8:
		return run{from: x.from, to: x.to}
	case saysData.MatchString(s[max(0, x.from-40):x.from]):
		x.strong = x.n > 1
	case size == 2:
		x.strong = x.n >= 4 && !(x.n == 6 && sep != 0 && sep != ',') && (letters || sep == 0 || sep == ',') // a MAC address
	case tokens == 1:
		x.strong = x.n >= 4 && letters && digits || x.n >= 12 && digits
	default:
		x.strong = x.n >= 6 && digits && (letters || tokens > 3)
	}
	return x
}

// base64Run returns the last word of a line if it is surely base64.
func base64Run(text string) (none run) {
	s := strings.TrimRight(text, " \t\"'])}>;,.")
	at := len(s)
	for at > 0 && (base64Value[s[at-1]] != scan.NotHex || s[at-1] == '=') {
		at--
	}
	at += len(s[at:]) - len(strings.TrimLeft(s[at:], "=")) // payload=
	word := s[at:]
	if k := strings.IndexByte(word, '='); k >= 0 && k < len(word)-2 { // payload=AAEC
		at += k + 1
		word = s[at:]
	}
	if strings.TrimSpace(s[:at]) == "" || len(word) < 8 || !looksLikeBase64(word) ||
		!(saysData.MatchString(s[max(0, at-40):at]) || len(word) >= 16 && strings.HasSuffix(word, "=") && len(word)%4 == 0) {
		return none
	}
	out, ok := base64Cell(nil, word)
	if !ok {
		return none
	}
	return run{from: at, to: len(s), n: len(out), base64: true, strong: true}
}
