package muta

import "wirebench/defs/schema"

// Language returns the keywords of definitions: the kinds of records, the directives and the types, from the tables of the parser.
func Language() schema.Language {
	const ours = " An extension: the original tool does not have it."
	var words []schema.Word
	for _, k := range recordKinds {
		w := schema.Word{Name: k.name, Kind: schema.MarkWord, Doc: k.doc, Insert: k.name + ": "}
		if k.ours {
			w.Doc += ours
		}
		words = append(words, w)
	}
	for _, d := range directives {
		w := schema.Word{Name: d.name, Kind: schema.MarkWord, Doc: d.doc, Insert: d.name + " = "}
		if d.ours {
			w.Doc += ours
		}
		words = append(words, w)
	}
	for _, p := range primitives {
		words = append(words, schema.Word{Name: p.name, Kind: schema.TypeWord, Doc: p.doc, Size: p.size})
	}
	return schema.Language{Comment: "#", Words: words}
}
