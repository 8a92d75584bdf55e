package tera

import "wirebench/defs/schema"

// includeWord starts a line that stands for the lines of another file.
const includeWord = "@include"

// Language is the words of definitions. The types are those that the parser knows.
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
		schema.Word{Name: interleaved, Kind: schema.MarkWord, Doc: "The elements of this array and of its neighbours with this flag take turns."},
		schema.Word{Name: includeWord, Kind: schema.MarkWord, Doc: "The fields of another definition stand here.", Insert: includeWord + " "},
	)}
}
