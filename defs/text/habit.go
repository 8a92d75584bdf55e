package text

import (
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// Habit is a field as people write it by habit, from C, C#, Go, TypeScript and Kaitai Struct: int32 id; // x, int32 id[4], id int32, id: int32.
// A line that is only a comment has neither type nor name.
type Habit struct {
	Type    string // in the words of the language of the definition
	Name    string
	Array   string // the brackets after the name: "[4]", "[]", or ""
	Value   string // after "="
	Comment string // without its marks
	Remark  bool   // there is a comment
}

var (
	foreignComment = regexp.MustCompile(`^(.*?)\s*(?://+|/\*+)\s*(.*?)\s*(?:\*+/)?$`)
	foreignArray   = regexp.MustCompile(`^([A-Za-z_]\w*)((?:\[\w*\])+)$`)
	foreignGeneric = regexp.MustCompile(`^(?:std::)?(?:List|vector|Vec|Array|IList|IEnumerable)<\s*([\w:]+)\s*>$`)
	foreignDefault = regexp.MustCompile(`^(\S+\s+\w+)\s*=\s*(\S+)$`)
)

// modifiers stand before a type in other languages, without a meaning here.
var modifiers = []string{"public", "private", "protected", "internal", "readonly", "const", "static", "final", "let", "var", "required", "std::"}

// IsModifier reports whether a word stands before a type in other languages.
func IsModifier(word string) bool { return slices.Contains(modifiers, word) || word == "unsigned" }

// ElementType returns the type of the elements of a list type of another language: int[], List<int>.
func ElementType(word string) (of string, ok bool) {
	if of, ok = strings.CutSuffix(word, "[]"); ok {
		return of, true
	}
	if m := foreignGeneric.FindStringSubmatch(word); m != nil {
		return strings.TrimPrefix(m[1], "std::"), true
	}
	return "", false
}

// CutHabit returns a line without its comment and its end as other languages have them.
func CutHabit(line string) (code, comment string, remark bool) {
	if m := foreignComment.FindStringSubmatch(line); m != nil {
		line, comment, remark = m[1], m[2], true
	}
	return strings.TrimRight(line, ";, \t"), comment, remark
}

// plainNumbers are the types of numbers of other languages, as a letter and bits.
var plainNumbers = map[string]string{
	"byte": "u8", "sbyte": "i8", "uint8": "u8", "int8": "i8", "uint8_t": "u8", "int8_t": "i8", "uchar": "u8",
	"short": "i16", "ushort": "u16", "int16": "i16", "uint16": "u16", "int16_t": "i16", "uint16_t": "u16",
	"int": "i32", "uint": "u32", "int32": "i32", "uint32": "u32", "int32_t": "i32", "uint32_t": "u32",
	"long": "i64", "ulong": "u64", "int64": "i64", "uint64": "u64", "int64_t": "i64", "uint64_t": "u64",
	"float": "f32", "float32": "f32", "single": "f32", "double": "f64", "float64": "f64", "boolean": "bool", "bool": "bool",
}

// PlainNumber returns a type of number of another language as a letter and bits: i32; or bool. It is "" for other words.
func PlainNumber(word string) string { return plainNumbers[strings.ToLower(word)] }

// ReadHabit reads a line in the form of another language. known returns a type as the language of the definition writes it, "" if there is none;
// own reports whether a word may be meant as one of its types. ok is false if the line is not certain enough.
func ReadHabit(line string, known func(word string) string, own func(word string) bool) (h Habit, ok bool) {
	code, comment, remark := CutHabit(line)
	if h.Comment, h.Remark = comment, remark; code == "" {
		return h, remark
	}
	if m := foreignDefault.FindStringSubmatch(code); m != nil {
		code, h.Value = m[1], m[2]
	}
	words := strings.Fields(code)
	for len(words) > 2 && slices.Contains(modifiers, words[0]) {
		words = words[1:]
	}
	switch {
	case len(words) == 3 && words[0] == "unsigned" && known("u"+words[1]) != "":
		words = []string{"u" + words[1], words[2]}
	case len(words) == 3 && words[1] == ":":
		words = []string{words[0] + ":", words[2]}
	case len(words) == 1 && strings.Count(words[0], ":") == 1:
		name, typ, _ := strings.Cut(words[0], ":")
		words = []string{name + ":", typ}
	}
	if len(words) != 2 {
		return h, false
	}
	typ, name := words[0], words[1]
	if of, found := strings.CutSuffix(typ, ":"); found {
		typ, name = name, of
	} else if known(typ) == "" && known(name) != "" && !own(typ) {
		typ, name = name, typ
	}
	if m := foreignArray.FindStringSubmatch(name); m != nil {
		name, h.Array = m[1], m[2]
	}
	h.Type, h.Name = known(typ), name
	return h, h.Type != ""
}

// Foreign returns the mistake of a line in the form of another language, and the repair.
func Foreign(code string, at source.Span, meant, rule string) diag.Diagnostic {
	return Fixed(Mistake(code, at, "unexpected "+Quote(at.Text())+": "+rule, `did you mean "`+meant+`"?`), at, meant)
}
