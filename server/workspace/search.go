package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// Hit is a part of the library that a search has found.
type Hit struct {
	Kind    string `json:"kind" enum:"message,field,comment,code"`
	Title   string `json:"title" doc:"the message, the path of the field, the comment, or the name in the code map"`
	Message string `json:"message" doc:"NAME or NAME.VERSION of its definition; of a code without a definition, the name of a new one"`
	Line    int    `json:"line,omitempty" doc:"1-based, in the definition"`
	Hint    string `json:"hint,omitempty" doc:"code of a message, type of a field, place of a comment"`

	message *schema.Message
	score   float64
}

// The kinds of found parts.
const (
	HitMessage = "message"
	HitField   = "field"
	HitComment = "comment"
	HitCode    = "code" // a name of the code map without a definition
)

// Bounds of searches.
const (
	maxSearchWords = 8
	maxSearchField = 5000    // fields and comments of a message that are searched
	maxSearchDoc   = 8 << 10 // bytes of a comment that are searched
	maxSearchTitle = 300     // bytes of a comment that are shown
)

// searched is the text of a message that searches look at. It is kept with the message's file.
type searched struct {
	name  string // lower case
	parts []searchedPart
}

type searchedPart struct {
	kind       string
	title, low string // a path, or a comment
	hint       string
	line       int
}

type searchedOf struct{ m *schema.Message }

// Search finds messages, fields, codes and comments by words that their names or texts contain; a number, in decimal or
// hex, also finds the code. At most n are returned, the best first: a message of exactly that name is the first of all.
func (s *Snapshot) Search(query string, n int) []Hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 || len(words) > maxSearchWords || n <= 0 {
		return []Hit{}
	}
	number := ""
	if len(words) == 1 {
		number = words[0]
	}
	whole := strings.Join(words, " ")
	out := []Hit{}
	least := 0.0
	add := func(f Hit) {
		if len(out) >= 2*n && f.score <= least {
			return
		}
		if out = append(out, f); len(out) >= 4*n {
			out = best(out, n)
			least = out[len(out)-1].score
		}
	}
	for m := range s.Messages() {
		t := s.searched(m)
		score := scoreName(whole, words, t.name, m)
		if byCode := scoreCode(number, m.Key.Code); m.HasKey && byCode > score {
			score = byCode + float64(m.Version)/1000
		}
		if score > 0 {
			add(Hit{Kind: HitMessage, Title: m.Name, message: m, score: score})
		}
		for i := range t.parts {
			p := &t.parts[i]
			if score := scorePart(words, t.name, p); score > 0 {
				add(Hit{Kind: p.kind, Title: p.title, Line: p.line, Hint: p.hint, message: m, score: score})
			}
		}
	}
	for name, c := range s.Options.Codes {
		if len(s.set.Named(name)) > 0 {
			continue
		}
		if score := max(scoreName(whole, words, strings.ToLower(name), nil), scoreCode(number, c)) - 50; score > -50 {
			add(Hit{Kind: HitCode, Title: name, Message: s.FirstVersion(name), Hint: fmt.Sprintf("0x%04X, without a definition", c), score: max(score, 1)})
		}
	}
	out = best(out, n)
	for i := range out {
		f := &out[i]
		m := f.message
		if m == nil {
			continue
		}
		f.Message = s.NameOf(m)
		switch f.Kind {
		case HitMessage:
			f.Title = f.Message
			if m.HasKey {
				f.Hint = fmt.Sprintf("code %d (0x%04X)", m.Key.Code, m.Key.Code)
			}
		default:
			f.Hint = strings.TrimSpace(f.Message + " " + f.Hint)
		}
	}
	return out
}

// scoreCode rates a code by a word that is a number: in decimal, in hex after "0x", or, behind names, in hex without it. 0 is another code.
func scoreCode(word string, code uint32) float64 {
	digits, marked := strings.CutPrefix(word, "0x")
	if n, err := strconv.ParseUint(word, 10, 32); err == nil && uint32(n) == code {
		return 900
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	switch {
	case err != nil || uint32(n) != code:
		return 0
	case marked:
		return 900
	}
	return 350
}

// best returns the n best, in descending order; equals are in the order of their titles.
func best(list []Hit, n int) []Hit {
	slices.SortStableFunc(list, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.Title), len(b.Title)), strings.Compare(a.Title, b.Title))
	})
	return list[:min(n, len(list))]
}

// searched returns the searched text of a message.
func (s *Snapshot) searched(m *schema.Message) *searched {
	f := s.set.File(m.Span.File)
	if f == nil {
		return searchedText(m)
	}
	key := searchedOf{m}
	known, ok := f.Memo.Load(key)
	if !ok {
		known, _ = f.Memo.LoadOrStore(key, searchedText(m))
	}
	return known.(*searched)
}

func searchedText(m *schema.Message) *searched {
	t := &searched{name: strings.ToLower(m.Name)}
	comment := func(text, at string, line int) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			low := strings.ToLower(text[:min(len(text), maxSearchDoc)])
			if len(text) > maxSearchTitle {
				text = strings.ToValidUTF8(text[:maxSearchTitle], "") + "…"
			}
			t.parts = append(t.parts, searchedPart{HitComment, text, low, at, line})
		}
	}
	comment(m.Doc, "", m.Span.Pos().Line)
	open := map[*schema.Struct]bool{} // groups that may contain themselves
	var walk func(s *schema.Struct, prefix string, depth int)
	walk = func(s *schema.Struct, prefix string, depth int) {
		if s == nil || depth > 16 {
			return
		}
		for _, f := range s.Fields {
			if len(t.parts) >= maxSearchField {
				return
			}
			path, line := prefix+f.Name, 0
			if f.Name == "" { // the value of a bare element or alternative, or a choice
				path = strings.TrimSuffix(prefix, ".")
			}
			if f.Span.File == m.Span.File {
				line = f.Span.Pos().Line
			}
			if f.Name != "" {
				t.parts = append(t.parts, searchedPart{HitField, path, strings.ToLower(path), f.TypeText, line})
				comment(f.Doc, path, line)
			}
			inner := path + "."
			if path == "" {
				inner = ""
			}
			switch typ := f.Type.(type) {
			case *schema.Choice:
				for i := range typ.Cases {
					walk(typ.Cases[i].Body, inner, depth+1)
				}
			case *schema.Group:
				if open[typ.Struct] {
					break // in itself
				}
				open[typ.Struct] = typ.Own
				if !typ.Array && len(typ.Struct.Fields) > 0 && (typ.Struct.Fields[0].Span != f.Span || f.Span.IsZero()) { // the parts of a vector have no lines
					walk(typ.Struct, inner, depth+1)
				}
				delete(open, typ.Struct)
			case *schema.List:
				if !typ.Bare || choosesOrNests(typ.Elem) {
					walk(typ.Elem, inner, depth+1)
				}
			}
		}
		for i := range s.Variants {
			walk(s.Variants[i].Body, prefix, depth+1)
		}
	}
	walk(m.Body, "", 0)
	return t
}

// choosesOrNests reports whether a value without a name has fields with names: a choice, or a group with a body of its own.
func choosesOrNests(s *schema.Struct) bool {
	if len(s.Fields) != 1 {
		return false
	}
	switch t := s.Fields[0].Type.(type) {
	case *schema.Choice:
		return true
	case *schema.Group:
		return t.Own || t.Sized || t.At != nil
	}
	return false
}

// scoreName rates a name by the words; 0: it does not have all of them.
func scoreName(whole string, words []string, name string, m *schema.Message) float64 {
	newer := 0.0 // of equal names the highest version comes first
	if m != nil {
		newer = float64(m.Version) / 1000
	}
	if whole == name || m != nil && whole == fmt.Sprintf("%s.%d", name, m.Version) {
		return 10_000 + newer
	}
	sum := 0.0
	for _, w := range words {
		n := scoreWord(w, name)
		if n == 0 {
			return 0
		}
		sum += n
	}
	return 400 + sum/float64(len(words)) - float64(len(name))/10 + newer
}

// scorePart rates a field or a comment: at least one word is in its text, and the others are in it or in the name of the message.
func scorePart(words []string, name string, p *searchedPart) float64 {
	sum, own := 0.0, 0
	for _, w := range words {
		n := scoreWord(w, p.low)
		if n > 0 {
			own++
		} else if strings.Contains(name, w) {
			n = 50
		} else {
			return 0
		}
		sum += n
	}
	if own == 0 {
		return 0
	}
	base := 200.0
	if p.kind == HitComment {
		base = 0
	}
	return base + sum/float64(len(words)) - float64(len(p.low))/10
}

// scoreWord rates a word in a text: 300 if it is the whole text, 200 at its start, 150 at the start of a word, 80 elsewhere.
func scoreWord(w, text string) float64 {
	i := strings.Index(text, w)
	switch {
	case i < 0:
		return 0
	case i == 0 && len(text) == len(w):
		return 300
	case i == 0:
		return 200
	}
	for ; i >= 0; i = next(text, w, i) {
		if c := text[i-1]; c == ' ' || c == '.' || c == '_' {
			if i+len(w) == len(text) {
				return 180
			}
			return 150
		}
	}
	return 80
}

// next returns the index of the next occurrence of a word, -1 if there is none.
func next(text, w string, i int) int {
	if k := strings.Index(text[i+1:], w); k >= 0 {
		return i + 1 + k
	}
	return -1
}
