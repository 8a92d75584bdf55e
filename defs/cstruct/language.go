package cstruct

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/schema"
)

// Language returns the words of headers: types, the words of declarations, and those of annotations in comments.
func Language() schema.Language {
	words := []schema.Word{
		{Name: "struct", Kind: schema.MarkWord, Doc: "Fields one after the other; one with a name is a message."},
		{Name: "union", Kind: schema.MarkWord, Doc: "Fields at the same place, of which one is shown: that of @show or @when, else the first of the largest."},
		{Name: "enum", Kind: schema.MarkWord, Doc: "Names for numbers, and a type of 4 bytes unless it says another."},
		{Name: "typedef", Kind: schema.MarkWord, Doc: "Another name for a type."},
		{Name: "namespace", Kind: schema.MarkWord, Doc: "Names of their own, as in C++."},
		{Name: "template", Kind: schema.MarkWord, Doc: "A struct with numbers or types that are given where it is used."},
		{Name: "constexpr", Kind: schema.MarkWord, Doc: "A constant; of a struct, one called opcode is the code of the message."},
		{Name: "alignas", Kind: schema.MarkWord, Doc: "The alignment of a field or of a struct in bytes."},
		{Name: "sizeof", Kind: schema.MarkWord, Doc: "The size of a type in bytes, in an expression."},
		{Name: "static_assert", Kind: schema.MarkWord, Doc: "A condition that must hold: static_assert(sizeof(Login) == 64)."},
		{Name: "define", Kind: schema.MarkWord, Doc: "A constant: #define SIZE 16.", Insert: "define "},
		{Name: "pragma", Kind: schema.MarkWord, Doc: "Packing: #pragma pack(push, 1) puts fields next to each other, #pragma pack(pop) ends it.", Insert: "pragma pack(push, 1)"},
		{Name: "include", Kind: schema.MarkWord, Doc: "Another file of the project whose types are used.", Insert: "include \"\""},
	}
	for _, w := range keys(annotations) {
		words = append(words, schema.Word{Name: "@" + w, Kind: schema.MarkWord, Doc: "In a comment: " + annotations[w]})
	}
	seen := map[string]bool{}
	for i := range builtins {
		b := &builtins[i]
		for _, name := range strings.Split(b.names, ", ") {
			if strings.ContainsAny(name, " :") || seen[name] || b.doc == "" {
				continue
			}
			seen[name] = true
			size := fmt.Sprintf("%d bytes", b.size)
			switch {
			case b.size == 1:
				size = "1 byte"
			case b.size == 0:
				size = ""
			}
			words = append(words, schema.Word{Name: name, Kind: schema.TypeWord, Doc: b.doc, Size: size})
		}
	}
	for _, name := range []string{"be16", "be32", "be64", "le16", "le32", "le64"} {
		t := orderedNames[name]
		words = append(words, schema.Word{Name: name, Kind: schema.TypeWord, Doc: "An unsigned integer in the byte order of its name.", Size: fmt.Sprintf("%d bytes", t.size)})
	}
	return schema.Language{Comment: "//", Words: words, Syntax: "words"}
}

var (
	declarationLine = regexp.MustCompile(`^\s*(typedef\s+)?(struct|union)\s+(\w+\s*)?(:[^:;]*)?\{|^\s*#\s*pragma\s+pack\b|^\s*#\s*include\s*[<"]|^\s*(const\s+)?(u?int(8|16|32|64)_t|unsigned|float|double|char|short)\s+\w+(\s*\[\w*\])*(\s*:\s*\d+)?\s*;`)
	declaration     = regexp.MustCompile(`(?m)^\s*(typedef\s+)?(struct|class|union|enum)\b[^;()=]*\{|^\s*#\s*(define\s+\w+[ \t]+\S|pragma\s+pack)|^\s*(typedef|using|static\s+const|constexpr)\b[^;]*;`)
	structStart     = regexp.MustCompile(`^\s*(typedef\s+)?(struct|union|enum|class)\s+\w+\s*$`)
)

// IsLine reports whether a line is one of a header, to detect the language.
func IsLine(line string) bool {
	return declarationLine.MatchString(line) || structStart.MatchString(line)
}

// IsText reports whether a text is a header with types or constants.
func IsText(text string) bool {
	return declaration.MatchString(text[:min(len(text), 1<<20)]) && !slices.Contains([]byte(text), 0)
}
