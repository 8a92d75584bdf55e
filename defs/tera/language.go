package tera

import "wirebench/defs/schema"

// includeWord starts a line that is replaced by the lines of another file.
const includeWord = "@include"

// Language returns the keywords and types of definitions. The types are those of the parser.
func Language() schema.Language {
	var words []schema.Word
	for _, t := range types {
		word := schema.Word{Name: t.name, Kind: schema.TypeWord, Doc: t.doc, Size: t.size}
		if t.is == arrayType || t.is == objectType {
			word.Kind = schema.GroupWord
		}
		words = append(words, word)
	}
	for _, w := range oldWords {
		words = append(words, schema.Word{Name: w.name, Kind: schema.OldWord, Doc: w.doc})
	}
	return schema.Language{Comment: "#", Words: append(words,
		schema.Word{Name: interleaved, Kind: schema.MarkWord, Doc: "The elements of this array and of adjacent arrays with this flag are interleaved."},
		schema.Word{Name: includeWord, Kind: schema.MarkWord, Doc: "Includes the fields of another definition.", Insert: includeWord + " "},
	)}
}
