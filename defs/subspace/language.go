package subspace

import (
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Words that are no types.
const (
	directionWord = "direction"
	groupWord     = "group"
)

// directions are the words for directions.
var directions = map[string]schema.Dir{"c2s": schema.ToServer, "s2c": schema.ToClient, "both": schema.Both}

// marks are the words beside types and sentences.
var marks = []schema.Word{
	{Name: "offset", Insert: "offset size comment", Doc: "Starts the rows of a table: offset, size, comment or type and name."},
	{Name: directionWord, Insert: directionWord + " s2c", Doc: "The direction of all packets below: c2s, s2c or both."},
	{Name: "c2s", Doc: "From the client to the server: in a title in parentheses, or in a line of its own."},
	{Name: "s2c", Doc: "From the server to the client: in a title in parentheses, or in a line of its own."},
	{Name: groupWord, Insert: groupWord + " ", Doc: "The packets below have types of their own; without it they are of the group game."},
	{Name: "type", Insert: "type 0x", Doc: "The type of the packet, which it starts with: type 0x0E. A word and a number like this are a constant."},
	{Name: "with length as above", Doc: "The row above has the length of this one; also count and size."},
}

// Language is the words of definitions. The types and sentences are those that the parser knows.
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
