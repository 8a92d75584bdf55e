package emit

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// yamlMap is an ordered mapping. A value is a string, a yamlQuoted, a yamlRaw, a yamlMap or a []yamlMap.
type yamlMap []yamlPair

type yamlPair struct {
	key   string
	value any
}

// yamlQuoted is text that is always quoted, yamlRaw is verbatim YAML.
type (
	yamlQuoted string
	yamlRaw    string
)

const yamlTrue = yamlRaw("true")

func (m yamlMap) has(key string) bool {
	for _, p := range m {
		if p.key == key {
			return true
		}
	}
	return false
}

// write writes the mapping with an indentation.
func (m yamlMap) write(b *strings.Builder, indent string) {
	for i, p := range m {
		if i > 0 || !strings.HasSuffix(indent, "- ") {
			b.WriteString(strings.ReplaceAll(indent, "-", " "))
		}
		b.WriteString(p.key + ":")
		inner := strings.ReplaceAll(indent, "-", " ") + "  "
		switch v := p.value.(type) {
		case yamlMap:
			if len(v) == 0 {
				b.WriteString(" {}")
			}
			b.WriteByte('\n')
			v.write(b, inner)
		case []yamlMap:
			b.WriteByte('\n')
			for _, one := range v {
				b.WriteString(inner + "- ")
				one.write(b, inner+"- ")
			}
		case yamlRaw:
			b.WriteString(" " + string(v) + "\n")
		case yamlQuoted:
			b.WriteString(" " + jsonText(string(v)) + "\n")
		case string:
			if p.key == "doc" {
				writeDoc(b, inner, v)
				continue
			}
			b.WriteString(" " + yamlText(v) + "\n")
		}
	}
}

// plain matches text that is valid without quotes: words, and expressions that start with a word.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*([ -]?[A-Za-z0-9_().*+/=<>]+)*$|^[0-9]{1,15}$`)

func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return jsonText(s)
	}
	if plain.MatchString(s) {
		return s
	}
	if !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || c == '\'' }) {
		return "'" + s + "'"
	}
	return jsonText(s)
}

// jsonText returns text in double quotes, which is valid in YAML and in JSON.
func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return strconv.QuoteToASCII(s)
	}
	// NEL and other C1 characters, DEL and the byte order mark are valid in JSON, but not in YAML.
	var out strings.Builder
	for _, c := range strings.TrimSuffix(b.String(), "\n") {
		if c >= 0x7f && c < 0xa0 || c == 0xfeff || c >= 0xfffe && c <= 0xffff {
			out.WriteString(`\u` + strconv.FormatInt(0x10000+int64(c), 16)[1:])
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

// writeDoc writes documentation, as a block if it has several lines. The compiler copies it into comments of its targets without escaping
// the end of a comment.
func writeDoc(b *strings.Builder, indent, text string) {
	text = strings.NewReplacer("*/", "* /", `"""`, `" " "`).Replace(text)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	quoted := jsonText(strings.Join(lines, "\n"))
	if len(lines) == 1 {
		b.WriteString(" " + yamlText(lines[0]) + "\n")
		return
	}
	if strings.Contains(quoted, `\u`) {
		b.WriteString(" " + quoted + "\n")
		return
	}
	b.WriteString(" |\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
}

// ksyNames assigns the identifiers of one scope. Kaitai's targets convert their style, so that identifiers that differ only in "_" conflict.
type ksyNames struct {
	taken map[string]bool
	last  map[string]int // the last number appended to an identifier
}

func newKsyNames() *ksyNames {
	n := &ksyNames{map[string]bool{}, map[string]int{}}
	for _, word := range keywords(ksyWords) {
		n.taken[strings.ReplaceAll(word, "_", "")] = true
	}
	return n
}

// ksyWords are reserved in expressions, or in the languages of the compiler's output.
const ksyWords = `and or not true false null
	abstract as assert bool boolean break byte case catch char class close const constructor continue def default del delete do
	double elif else end enum except export extends final finally float for foreach from from_bytes from_file from_io func function global goto
	if implements import in instanceof int interface io is lambda local long namespace new nil none of operator package
	parent pass private protected prototype public read return root self short signed sizeof static stream string struct super switch
	template this throw to_s try typedef typeof union unless unsigned until using var virtual void volatile while with yield bytes any str strz`

var ksyType1 = regexp.MustCompile(`^([us][1248]|f[48])(le|be)?$|^b[0-9]+(le|be)?$`)

// take returns an identifier for a name, with a number appended if it is in use.
func (n *ksyNames) take(want string) string {
	want = ksyID(want)
	id := want
	for i := n.last[want] + 1; n.taken[strings.ReplaceAll(id, "_", "")] || ksyType1.MatchString(id); i++ {
		id = want + "_" + strconv.Itoa(i+1)
		n.last[want] = i
	}
	n.taken[strings.ReplaceAll(id, "_", "")] = true
	return id
}

// ksyID returns a name in the style of Kaitai: C_EXAMPLE is c_example, playerId is player_id.
func ksyID(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range legal(name) {
		upper := c >= 'A' && c <= 'Z'
		if upper && lower {
			b.WriteByte('_')
		}
		lower = c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		b.WriteRune(c)
	}
	words := strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool { return c == '_' })
	id := strings.Join(words, "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = strings.TrimSuffix("n_"+id, "_")
	}
	return id
}
