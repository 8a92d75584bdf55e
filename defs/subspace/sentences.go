package subspace

import (
	"regexp"
	"strings"

	"wirebench/defs/source"
)

// sayingKind is the kind of a sentence.
type sayingKind uint8

const (
	nothing sayingKind = iota
	repeats            // rows are an element of a list
	mayEnd
	bySize  // rows for packets of a size
	byValue // rows for a value of a field
	byteOrder
)

// saying is the parts of a sentence; missing parts are zero.
type saying struct {
	kind   sayingKind
	name   source.Span // repeats: the list; byValue: the field
	single bool        // repeats: the name is in the singular
	from   source.Span // repeats, mayEnd: an offset or the name of a row
	times  source.Span // repeats: a number or the name of a row; zero: to the end
	least  source.Span // bySize
	most   source.Span // bySize: of "16 to 20"
	more   bool        // bySize: "or more"
	value  source.Span // byValue; byteOrder: "little" or "big"
	tail   source.Span // documentation after the sentence
}

// sentence is one form of a sentence.
type sentence struct {
	kind    sayingKind
	name    string // in completions
	example string
	doc     string
	pattern *regexp.Regexp
	parts   []string // names of the groups of the pattern
}

// sentences are all supported sentences.
var sentences = []sentence{
	{
		repeats, "repeats from offset", "packet repeats from offset 2 until end",
		"The rows from this offset are the element of a list that extends to the end.",
		regexp.MustCompile(`(?i)^(?:the )?([\w ]*\w) (repeats?) from (?:offset )?([\w.]+),? (?:until|to) (?:the )?end(?: of (?:the )?(?:packet|message))?(?:[.,;:]?|[.,;:] (.*))$`),
		[]string{"name", "verb", "from", "tail"},
	},
	{
		repeats, "times", "ships repeat from offset 4, 8 times",
		"The rows from this offset are the element of a list; the number of elements is a number, or the name of a row above.",
		regexp.MustCompile(`(?i)^(?:the )?([\w ]*\w) (repeats?) from (?:offset )?([\w.]+),? ([\w.]+) times(?:[.,;:]?|[.,;:] (.*))$`),
		[]string{"name", "verb", "from", "times", "tail"},
	},
	{
		mayEnd, "may end at offset", "packet may end at offset 21",
		"The rows from this offset may be missing, the last ones first.",
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
		"The rows below are only present if a number above has this value.",
		regexp.MustCompile(`(?i)^if ([\w. ]*\w) is ([\w-]+):$`),
		[]string{"name", "value"},
	},
	{
		byteOrder, "integers are", "all integers are big endian",
		"Byte order of the numbers in this file, unless their type has one.",
		regexp.MustCompile(`(?i)^(?:all )?(?:integers|numbers) are (?:in )?(little|big)[ -]endian\.?$`),
		[]string{"value"},
	},
}

// understand parses a sentence. The kind of unsupported text is nothing.
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

// asksForMore reports whether an unsupported sentence seems to be about the rows.
func asksForMore(text string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) {
		switch word {
		case "repeat", "repeats", "repeated", "repeating", "offset", "offsets", "optional", "optionally":
			return true
		}
	}
	return false
}

// asAbove matches a comment that refers to the row with its length: "payload with length as above".
var asAbove = regexp.MustCompile(`(?i)^(.*?)\s*\bwith\s+(?:a\s+)?(length|size|count)\s+as\s+above\b\s*(.*)$`)
