package subspace

import (
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Words other than types.
const (
	directionWord = "direction"
	groupWord     = "group"
)

// directions maps words to directions.
var directions = map[string]schema.Dir{"c2s": schema.ToServer, "s2c": schema.ToClient, "both": schema.Both}

// marks are the keywords other than types and sentences.
var marks = []schema.Word{
	{Name: "offset", Insert: "offset size comment", Doc: "Starts the rows of a table: offset, size, comment or type and name."},
	{Name: directionWord, Insert: directionWord + " s2c", Doc: "Direction of all packets below: c2s, s2c or both."},
	{Name: "c2s", Doc: "Client to server: in a title in parentheses, or on a separate line."},
	{Name: "s2c", Doc: "Server to client: in a title in parentheses, or on a separate line."},
	{Name: groupWord, Insert: groupWord + " ", Doc: "Group of all packets below, with a separate range of types; the default is the group game."},
	{Name: "type", Insert: "type 0x", Doc: "The type of the packet, at its start: type 0x0E. Any word followed by such a number is a constant."},
	{Name: "with length as above", Doc: "The row above is the length of this one; also \"with count as above\" and \"with size as above\"."},
}

// Language returns the keywords of definitions. The types and sentences are those of the parser.
func Language() schema.Language {
	var words []schema.Word
	for _, t := range types {
		words = append(words, schema.Word{Name: t.name, Kind: schema.TypeWord, Doc: t.doc, Size: t.size})
	}
	for _, w := range marks {
		w.Kind = schema.MarkWord
		words = append(words, w)
	}
	for _, s := range sentences {
		words = append(words, schema.Word{Name: s.name, Kind: schema.MarkWord, Doc: s.doc, Insert: s.example})
	}
	return schema.Language{Comment: "#", Words: words}
}

// IsTableLine reports whether a line looks like one of this language: a title with a type such as 0x0E, "offset size comment", or
// a row.
func IsTableLine(text string) bool {
	code := withoutComment(content(source.New("", text), 1))
	return isHeader(code) || isRow(code) || isCode(code) && strings.ContainsAny(code.Text(), " \t")
}
