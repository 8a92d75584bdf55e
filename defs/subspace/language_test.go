package subspace

import (
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
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
		if isType := w.Kind == schema.TypeWord; isType != isTypeWord(w.Name) || isType && w.Size == "" {
			t.Errorf("%q is of kind %q and has the size %q", w.Name, w.Kind, w.Size)
		}
	}
	for is := unsignedType; is <= constType; is++ {
		found := false
		for _, w := range types {
			found = found || w.is == is
		}
		if !found {
			t.Errorf("no word for type %d", is)
		}
	}
	for _, word := range []string{directionWord, groupWord, "offset"} {
		if _, ok := words[word]; !ok {
			t.Errorf("%q is missing", word)
		}
	}
	if l.Comment != "#" {
		t.Errorf("comments start with %q", l.Comment)
	}
}

// TestLanguageIsRead parses each type in a row and each sentence below a suitable table.
func TestLanguageIsRead(t *testing.T) {
	for _, w := range types {
		row := map[string]string{
			"u16": "1 2 u16", "u32": "1 4 u32", "u64": "1 8 u64", "i16": "1 2 i16", "i32": "1 4 i32", "i64": "1 8 i64", "f32": "1 4 f32", "f64": "1 8 f64",
			"cstr": "1 ? cstr", "const": "1 2 const 0x1234",
		}[w.name]
		if row == "" {
			row = "1 1 " + w.name
		}
		parses(t, w.name, "0x01 a\n"+row+" x\n")
	}
	for _, s := range sentences {
		text := "0x01 a\n1 1 u8 kind\n2 2 u16 x\n4 17 bytes y\n21 1 u8 z\n" + s.example + "\n"
		switch s.kind {
		case bySize:
			text = "0x01 a\n" + s.example + "\n1 20 text x\n"
		case byValue:
			text += "22 1 u8 more\n"
		}
		parses(t, s.name, text)
		if understand(source.New("a.def", s.example).Line(1)).kind != s.kind {
			t.Errorf("%q is not understood", s.example)
		}
	}
	for _, w := range marks {
		switch w.Name {
		case directionWord:
			parses(t, w.Name, w.Insert+"\n")
		case groupWord:
			parses(t, w.Name, w.Insert+"biller\n")
		case "c2s", "s2c":
			parses(t, w.Name, w.Name+"\n")
		case "offset":
			parses(t, w.Name, "0x01 a\n"+w.Insert+"\n")
		case "type":
			parses(t, w.Name, "0x01 a\n0 1 "+w.Insert+"01\n")
		case "with length as above":
			parses(t, w.Name, "0x01 a\n1 1 length\n2 ? payload "+w.Name+"\n")
		default:
			t.Errorf("no test uses %q", w.Name)
		}
	}
}

func parses(t *testing.T, what, text string) {
	t.Helper()
	if _, diags := Parse([]*source.File{source.New("a.def", text)}, schema.Options{}); len(diags) > 0 {
		t.Errorf("%s:\n%s%s", what, text, diags.Render())
	}
}

// TestSentences checks variants of sentences, and text that is not a sentence.
func TestSentences(t *testing.T) {
	for text, want := range map[string]sayingKind{
		"packet repeats from offset 2 until end":                            repeats,
		"Packet repeats from offset 2 to the end of the packet.":            repeats,
		"the hit points repeat from 7 until the end; more of that":          repeats,
		"• packets repeat from offset 20.5, until end, as arbitrary packet": repeats,
		"ships repeat from offset 4, 8 times":                               repeats,
		"users repeat from user.name, count times.":                         repeats,
		"the message may end at offset 21":                                  mayEnd,
		"packet may end before energy, if it must":                          mayEnd,
		"in packets of 21 bytes":                                            bySize,
		"In messages of 1 byte:":                                            bySize,
		"in packets of 16 to 20 bytes:":                                     bySize,
		"in packets of 16 bytes or more:":                                   bySize,
		"if kind is 2:":                                                     byValue,
		"If weapon.type is proximity-bomb:":                                 byValue,
		"All integers are little endian":                                    byteOrder,
		"numbers are in big-endian.":                                        byteOrder,
		"packet repeats":                                                    nothing,
		"packet repeats from offset 2":                                      nothing,
		"repeats from offset 2 until end":                                   nothing,
		"the packet may end":                                                nothing,
		"in packets of any size":                                            nothing,
		"if it is so":                                                       nothing,
		"keep appending payloads until 0x09 chunk tail is received":         nothing,
		"": nothing,
	} {
		if got := understand(source.New("a.def", text).Line(1)).kind; got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

func TestTableLines(t *testing.T) {
	for text, want := range map[string]bool{
		"0x0E cluster": true, "offset size comment": true, "OFFSET  SIZE": true, "Field Length Description": true, "0      1    type 0x00": true, "2 ? payload": true,
		"? 4 u32 x": true, "20.5 5b u5 level # bits": true, "\ufeff 0 1 x": true, "1 1": true,
		"": false, "0x0E": false, "int32 a": false, "- int32 a": false, "packet: a": false, "id = uint64": false, "# 0 1 x": false,
		"1. first": false, "a 1 b": false, "offset of the count": false, "1 u8 x": false,
	} {
		if IsTableLine(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestLimits checks inputs that are too long for a case in testdata.
func TestLimits(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		code string
	}{
		"lines":    {strings.Repeat("\n", text.MaxLines+1) + "0x01 a\n", text.CodeTooManyLines},
		"mistakes": {strings.Repeat("1 1 u8 x\n", maxMistakes+10), text.CodeTooManyMistakes},
		"rows":     {"0x01 a\n" + strings.Repeat("? 1 ??\n", maxRows+10), codeTooManyRows},
		"parts":    {"0x01 a\n" + strings.Repeat("in packets of 3 bytes:\n", maxVariants+10), codeTooManyParts},
		"line":     {"0x01 a\n1 1 u8 x # " + strings.Repeat("x", text.MaxLine) + "\n", text.CodeLineTooLong},
	} {
		f := source.New("a.def", c.text)
		_, diags := Parse([]*source.File{f}, schema.Options{})
		n := 0
		for _, d := range diags {
			if d.Code == c.code {
				n++
			}
		}
		if n != 1 || len(diags) > maxMistakes+2 {
			t.Errorf("%s: %d diagnostics, %d of them %s", what, len(diags), n, c.code)
		}
		formatChecked(t, f.Name, c.text)
	}
}
