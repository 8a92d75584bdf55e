package subspace

import (
	"regexp"
	"strings"

	"wirebench/defs/source"
)

// sayingKind is what an understood sentence is about.
type sayingKind uint8

const (
	nothing sayingKind = iota
	repeats            // rows are an element of a list
	mayEnd
	bySize  // rows for packets of a size
	byValue // rows for a value of a field
	byteOrder
)

// saying is an understood sentence, cut into its parts. Those that it does not have are no place.
type saying struct {
	kind   sayingKind
	name   source.Span // repeats: the list; byValue: the field
	single bool        // repeats: the name is that of one element
	from   source.Span // repeats, mayEnd: an offset or the name of a row
	times  source.Span // repeats: a number or the name of a row; no place: to the end
	least  source.Span // bySize
	most   source.Span // bySize: of "16 to 20"
	more   bool        // bySize: "or more"
	value  source.Span // byValue; byteOrder: "little" or "big"
	tail   source.Span // what is said beside it
}

// sentence is one kind of sentence that is understood.
type sentence struct {
	kind    sayingKind
	name    string // for people
	example string
	doc     string
	pattern *regexp.Regexp
	parts   []string // what the groups of the pattern are
}

// sentences are all sentences that are understood.
var sentences = []sentence{
	{
		repeats, "repeats from offset", "packet repeats from offset 2 until end",
		"The rows from this offset on are the element of a list, which goes on to the end.",
		regexp.MustCompile(`(?i)^(?:the )?([\w ]*\w) (repeats?) from (?:offset )?([\w.]+),? (?:until|to) (?:the )?end(?: of (?:the )?(?:packet|message))?(?:[.,;:]?|[.,;:] (.*))$`),
		[]string{"name", "verb", "from", "tail"},
	},
	{
		repeats, "times", "ships repeat from offset 4, 8 times",
		"The rows from this offset on come so many times: a number, or the name of a row before them that has it.",
		regexp.MustCompile(`(?i)^(?:the )?([\w ]*\w) (repeats?) from (?:offset )?([\w.]+),? ([\w.]+) times(?:[.,;:]?|[.,;:] (.*))$`),
		[]string{"name", "verb", "from", "times", "tail"},
	},
	{
		mayEnd, "may end at offset", "packet may end at offset 21",
		"The rows from this offset on may be missing, the last ones first.",
		regexp.MustCompile(`(?i)^(?:the )?(?:packet|message) may end (?:at|before) (?:offset )?([\w.]+)(?:[.,;:]?|[.,;:] (.*))$`),
		[]string{"from", "tail"},
	},
	{
		bySize, "in packets of", "in packets of 21 bytes:",
		"The rows below are only in packets of this size; also \"21 bytes or more\" and \"16 to 20 bytes\".",
		regexp.MustCompile(`(?i)^in (?:packets|messages) of (\d+)(?: to (\d+))? bytes?( or more)?:?$`),
		[]string{"least", "most", "more"},
	},
	{
		byValue, "if", "if kind is 2:",
		"The rows below are only there if a number above has this value.",
		regexp.MustCompile(`(?i)^if ([\w. ]*\w) is ([\w-]+):$`),
		[]string{"name", "value"},
	},
	{
		byteOrder, "integers are", "all integers are big endian",
		"The order of the bytes of numbers in this file, unless a type says its own.",
		regexp.MustCompile(`(?i)^(?:all )?(?:integers|numbers) are (?:in )?(little|big)[ -]endian\.?$`),
		[]string{"value"},
	},
}

// understand reads a sentence. Its kind is nothing if it is not understood.
func understand(at source.Span) saying {
	text := strings.TrimLeft(at.Text(), "•*- \t\u00a0")
	at = at.Sub(len(at.Text())-len(text), len(at.Text()))
	var s saying
	for i := range sentences {
		m := sentences[i].pattern.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		s.kind = sentences[i].kind
		for k, part := range sentences[i].parts {
			from, to := m[2*k+2], m[2*k+3]
			if from < 0 || from == to {
				continue
			}
			place := at.Sub(from, to)
			switch part {
			case "name":
				s.name = place
			case "verb":
				s.single = strings.HasSuffix(strings.ToLower(place.Text()), "s")
			case "from":
				s.from = place
			case "times":
				s.times = place
			case "least":
				s.least = place
			case "most":
				s.most = place
			case "more":
				s.more = true
			case "value":
				s.value = place
			case "tail":
				s.tail = place
			}
		}
		return s
	}
	return s
}

// asksForMore reports whether a sentence that is not understood seems to say something about the rows.
func asksForMore(text string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) {
		switch word {
		case "repeat", "repeats", "repeated", "repeating", "offset", "offsets", "optional", "optionally":
			return true
		}
	}
	return false
}

// asAbove is a comment that names the row with the length of its own: "payload with length as above".
var asAbove = regexp.MustCompile(`(?i)^(.*?)\s*\bwith\s+(?:a\s+)?(length|size|count)\s+as\s+above\b\s*(.*)$`)
