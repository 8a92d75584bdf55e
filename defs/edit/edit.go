// Package edit describes changes to the text of definitions: fields that are inserted, replaced, renamed and removed by lines, so that
// everything else stays as it was written. Each dialect has Rules; package reshape chooses among the texts that they write.
package edit

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules edit the definitions of a dialect. Their functions do not judge the result: callers compile it. They never fail on hostile input;
// a text that they cannot edit is returned as "", false.
type Rules struct {
	Holes bool // bytes before a field may have no field: fields have offsets

	// Begin returns the text of a definition of a message that has none yet.
	Begin func(name string, of Message) string

	// Guess returns the text of a definition of a message by its bytes; nil if these tell nothing of the fields. ok is false for bytes that
	// are not a message of the language.
	Guess func(name string, data []byte) (text string, ok bool)

	// Types returns the types that a run of bits may have, most usual first.
	Types func(f *source.File, at Run) []Type

	// Filler returns types for bits whose meaning is unknown, in wire order.
	Filler func(bits int) []Type

	// Write returns the text of a file with fields at a place.
	Write func(f *source.File, at Place, fields []Field) (text string, ok bool)

	// Retype returns the text with another type of contents elsewhere for the field on a line: its pointer has the same size.
	Retype func(f *source.File, line source.Span, typ string) (text string, ok bool)

	// Loosen returns the text in which the pointer of the field on a line is a plain number, with its name and its comments, and its contents
	// have no field; nil if pointers cannot be plain numbers.
	Loosen func(f *source.File, line source.Span) (text string, ok bool)

	// Rename returns the text with another name for the field on a line, and for all references to it. path is the field's path as
	// written: objects, separated by dots.
	Rename func(f *source.File, line source.Span, path, name string) (text string, ok bool)

	// Name returns the text with another name for the message of a span, nil if the name of the file is that of its message.
	Name func(f *source.File, message source.Span, name string) (text string, ok bool)

	// Include returns the text with another name for a message whose definition the file includes; nil if the dialect has no such lines.
	Include func(f *source.File, from, to string) string

	// Remove returns the text without the field on a line, and without the fields inside it.
	Remove func(f *source.File, line source.Span) (text string, ok bool)
}

// Message is a message without a definition.
type Message struct {
	Code    uint32
	HasCode bool
	Group   string // of its code, "" if it is unknown
	Dir     schema.Dir
	Data    []byte // its bytes, nil if they are not known
}

// Run is a run of bits in a message.
type Run struct {
	Off, Bits int  // from the start of the message
	ToEnd     bool // it ends at the end of the message
	Zero      bool // its last byte is 0

	Tagged *Tagged // it is in an element that has a tag; nil: it is not
}

// Tagged is an element that has a tag, of a message whose fields are in any order.
type Tagged struct {
	In       string // schema.Struct.Name of the message
	Tag      uint32
	Repeated bool   // the message has several of them
	Data     []byte // without the tag
}

// Kind is the relation of a type to the bits of a field.
type Kind uint8

// The kinds of types.
const (
	Value   Kind = iota
	Pointer      // the bits are the offset, the count or the length of contents elsewhere
)

// Type is a type as written in a definition.
type Type struct {
	Text  string // "uint16[4]", "char {255}"
	Title string // shown to users, unique; "": Text
	Group string // heading in a menu
	Kind  Kind
	Bits  int  // of its part at the place of the field; -1: it extends to the end of the message
	More  bool // a variant of the type before, offered if it explains more bytes
}

// Name returns the text by which users know the type.
func (t Type) Name() string { return cmp.Or(t.Title, t.Text) }

// Field is a field to write.
type Field struct {
	Name string
	Type Type        // without Text: the type on the line Like
	Like source.Span // line of a replaced field whose comment it gets, and whose name if Name is ""; zero: none
}

// Place is the place of new fields: in the sequence of the fields of a message, of a list element or of a group, in wire order.
type Place struct {
	Message  source.Span   // span of the message
	List     source.Span   // line of the list whose elements have the fields; zero: the message
	Replaced []source.Span // lines of fields that the new ones replace, in wire order
	Before   source.Span   // without Replaced: line of the field before, or of a group that ends before; zero: none
	Pointer  bool          // the pointer of the field Before is there, not its contents
	Skip     int           // bits between the end of the field before, or the start of the first replaced one, and the first new field
	Tagged   *Tagged       // the element that becomes the only new field; without Replaced its tag has no field yet
}

// Lines is a text that is changed by lines, which count from 0.
type Lines struct {
	text   []string // with line ends
	before map[int][]string
	end    string
	open   bool // the last line has no line break
}

// NewLines returns the lines of a file.
func NewLines(f *source.File) *Lines {
	l := &Lines{text: strings.SplitAfter(f.Text, "\n"), before: map[int][]string{}, end: "\n", open: f.Text != "" && !strings.HasSuffix(f.Text, "\n")}
	if last := len(l.text) - 1; l.text[last] == "" {
		l.text = l.text[:last]
	}
	if len(l.text) > 0 && strings.HasSuffix(l.text[0], "\r\n") {
		l.end = "\r\n"
	}
	return l
}

// Insert adds a line before line i, after those that were inserted there before.
func (l *Lines) Insert(i int, line string) {
	i = min(i, len(l.text)) // source.File counts an empty last line
	l.before[i] = append(l.before[i], line)
}

// Replace changes line i.
func (l *Lines) Replace(i int, line string) {
	l.text[i] = line + lineEnd(l.text[i], "")
}

// Delete removes line i.
func (l *Lines) Delete(i int) { l.text[i] = "" }

// Text returns the changed text. If the last line had no line break, it has none now.
func (l *Lines) Text() string {
	var b strings.Builder
	for i := 0; i <= len(l.text); i++ {
		for _, line := range l.before[i] {
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteString(l.end)
			}
			b.WriteString(line + l.end)
		}
		if i < len(l.text) {
			b.WriteString(l.text[i])
		}
	}
	if l.open {
		return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r")
	}
	return b.String()
}

// Column returns the number of characters in s.
func Column(s string) int { return utf8.RuneCountInString(s) }

// Pad returns s followed by spaces up to a column, at least one.
func Pad(s string, column int) string { return s + strings.Repeat(" ", max(column-Column(s), 1)) }

// Shift returns the white space after a word that has become longer by some characters, so that what follows stays in its column if there is
// room. Without two spaces or more nothing follows in a column.
func Shift(gap string, longer int) string {
	if !strings.HasPrefix(gap, "  ") || longer == 0 {
		return gap
	}
	spaces := len(gap) - len(strings.TrimLeft(gap, " "))
	return strings.Repeat(" ", max(spaces-longer, 1)) + gap[spaces:]
}

// Splice returns the text of a file with spans replaced, which must be in order and not overlap.
func Splice(f *source.File, spans []source.Span, with func(i int) string) string {
	var b strings.Builder
	at := 0
	for i, s := range spans {
		b.WriteString(f.Text[at:s.Start])
		b.WriteString(with(i))
		at = s.End
	}
	b.WriteString(f.Text[at:])
	return b.String()
}
