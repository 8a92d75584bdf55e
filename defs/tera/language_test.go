package tera

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func TestLanguage(t *testing.T) {
	l := Language()
	words := map[string]schema.Word{}
	for _, w := range l.Words {
		if _, twice := words[w.Name]; twice {
			t.Errorf("%q is there twice", w.Name)
		}
		words[w.Name] = w
		if len(w.Doc) < 10 || !strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%q has no sentence: %q", w.Name, w.Doc)
		}
		isType := w.Kind == schema.TypeWord || w.Kind == schema.GroupWord
		if isType && w.Size == "" {
			t.Errorf("%q has no size", w.Name)
		}
		if known := lookupType(w.Name) != unknown; known != (isType || w.Kind == schema.OldWord) {
			t.Errorf("%q is of kind %q, for the parser a type: %v", w.Name, w.Kind, known)
		}
	}
	for name := range typesByName {
		if _, ok := words[name]; !ok {
			t.Errorf("the type %q is missing", name)
		}
	}
	for is := boolType; is <= refType; is++ {
		if lookupType(types[is-1].name) != is {
			t.Errorf("%q is another type", types[is-1].name)
		}
	}
	if l.Comment != "#" {
		t.Errorf("comments start with %q", l.Comment)
	}
}

// TestLanguageSizes compares the documented sizes of fixed types with their actual sizes.
func TestLanguageSizes(t *testing.T) {
	for _, w := range Language().Words {
		is := lookupType(w.Name)
		if is == unknown || is >= stringType {
			continue
		}
		_, size := (&lowerer{}).fixedType(is, source.Span{})
		want := fmt.Sprintf("%d bytes", size)
		if size == 1 {
			want = "1 byte"
		}
		if got, _, _ := strings.Cut(w.Size, ","); got != want {
			t.Errorf("%s: %q, want %q", w.Name, got, want)
		}
	}
}

// TestLanguageWordsAreRead parses a line with each word.
func TestLanguageWordsAreRead(t *testing.T) {
	for _, w := range Language().Words {
		text := map[string]string{
			"array":       "array a\n- byte b\n",
			"object":      "object a\n- byte b\n",
			"ref":         "ref a\nstring a\n",
			"interleaved": "array[interleaved] a\n- byte b\narray[interleaved] c\n- byte d\n",
			"@include":    "@include C_B.1.def\n",
			"offset":      "offset a\ncount a\narray a\n- byte b\n",
		}[w.Name]
		switch {
		case w.Name == "count":
			continue // used together with offset
		case text == "":
			text = w.Name + " a\n"
		}
		_, diags := Parse([]*source.File{source.New("C_A.1.def", text), source.New("C_B.1.def", "byte x\n")}, schema.Options{})
		if len(diags) != 0 {
			t.Errorf("%s: %s", w.Name, diags.Render())
		}
	}
}
