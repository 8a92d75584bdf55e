package reshape

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/source"
)

var update = flag.Bool("update", false, "rewrite the results in testdata, and fail if they differ")

// Each case has a definition, a message in hex, and edits, each with the text after it:
//
//	define OFFSET+LENGTH TYPE [NAME]     in bytes; OFFSET.BIT and bits as "5b" where the dialect has them; spaces of a type are "~"
//	split OFFSET+LENGTH INTO
//	rename PATH NAME
//	remove PATH
//	choices OFFSET+LENGTH                a line for each choice: type, group, value
//
// A refusal is the text "refused: REASON".
//
// With -update the texts are rewritten: review them.
func TestEdits(t *testing.T) {
	const path = "testdata/edits.txtar"
	cases, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if *update {
			if err := os.WriteFile(path, txtar.Format(cases), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}()
	var s sample
	var text, name string
	for i, f := range cases.Files {
		kind, rest, _ := strings.Cut(f.Name, " ")
		body := string(f.Data)
		switch kind {
		case "definition": // definition DIALECT FILE MESSAGE: WHAT
			rest, name, _ = strings.Cut(rest, ": ")
			words := strings.Fields(rest)
			d, ok := defs.Find(words[0])
			if !ok {
				t.Fatalf("no dialect %s", words[0])
			}
			s, text = sample{dialect: d, file: words[1], text: body, message: words[2]}, body
		case "message":
			if s.data, err = hex.DecodeString(strings.Join(strings.Fields(body), "")); err != nil {
				t.Fatal(err)
			}
		default:
			t.Run(name+": "+f.Name, func(t *testing.T) {
				now := apply(t, s.editor(t, text), kind, strings.Fields(rest))
				cases.Files[i].Data = []byte(now)
				if now != body {
					t.Errorf("%s\n%s\nwant\n%s", f.Name, now, body)
				}
			})
		}
	}
}

func apply(t *testing.T, e *Editor, kind string, args []string) string {
	t.Helper()
	var done Result
	var err error
	switch kind {
	case "define":
		done, err = e.Define(rangeOf(t, args[0]), strings.ReplaceAll(args[1], "~", " "), strings.Join(args[2:], " "))
	case "split":
		into, _ := strconv.Atoi(args[1])
		done, err = e.Split(rangeOf(t, args[0]), into)
	case "rename":
		done, err = e.Rename(args[0], strings.Join(args[1:], " "))
	case "remove":
		done, err = e.Remove(args[0])
	case "choices":
		list, wrong := e.Choices(rangeOf(t, args[0]))
		for _, c := range list {
			done.Text += c.Type + " | " + c.Group + " | " + c.Value + " | " + c.At + "\n"
		}
		err = wrong
	default:
		t.Fatalf("no edit %s", kind)
	}
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	return done.Text
}

func rangeOf(t *testing.T, text string) codec.Range {
	t.Helper()
	off, size, _ := strings.Cut(text, "+")
	bytes, bit, _ := strings.Cut(off, ".")
	from, err := strconv.Atoi(bytes)
	if err != nil {
		t.Fatal(err)
	}
	bits, _ := strconv.Atoi(bit)
	n, isBits := strings.CutSuffix(size, "b")
	length, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	if !isBits {
		length *= 8
	}
	return codec.Range{Off: uint32(from*8 + bits), Len: uint32(length)}
}

// A text that is not in canonical form keeps the look of its lines: indentation, tabs, line ends.
func TestLookIsKept(t *testing.T) {
	tera, _ := defs.Find("tera")
	s := sample{tera, "S_X.1.def", "", "S_X", make([]byte, 24)}
	s.data[0] = 24
	for was, want := range map[string]string{
		"uint32\t\ta # one\nuint32\t\tb\n":       "uint32\t\ta # one\nuint32\t\tb\nuint32\t\tc\n",
		"uint32     a\r\nuint32     b\r\n":       "uint32     a\r\nuint32     b\r\nuint32     c\r\n",
		"  uint32 a\n  uint32 b":                 "  uint32 a\n  uint32 b\n  uint32 c",
		"uint32 a\nuint32 b # of a\n\n\n# end\n": "uint32 a\nuint32 b # of a\nuint32 c\n\n\n# end\n",
	} {
		done, err := s.editor(t, was).Define(codec.Range{Off: 12 * 8, Len: 32}, "uint32", "c")
		if err != nil || done.Text != want {
			t.Errorf("%q: %q %v, want %q", was, done.Text, err, want)
		}
	}
}

// Includes and other files are not edited.
func TestIncluded(t *testing.T) {
	tera, _ := defs.Find("tera")
	compile := compiler(tera, "S_X.1.def", source.New("inner.def", "uint32 a # inner\n"))
	now := compile("@include inner.def\nuint32 b\n")
	data := make([]byte, 16)
	data[0] = 16
	e, err := New(tera, now, now.Messages[0], data, codec.Session{}, compile)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := e.Define(codec.Range{Off: 4 * 8, Len: 32}, "float", ""); err == nil {
		t.Errorf("an included field was changed: %q", done.Text)
	}
	if _, err := e.Rename("a", "c"); err == nil {
		t.Error("an included field was renamed")
	}
	done, err := e.Define(codec.Range{Off: 12 * 8, Len: 32}, "float", "c")
	if want := "@include inner.def\nuint32 b\nfloat  c\n"; err != nil || done.Text != want {
		t.Errorf("%q %v", done.Text, err)
	}
}

// The types of a pointer in the last bytes of a message do not reach past its end.
func TestPointerAtEnd(t *testing.T) {
	tera, _ := defs.Find("tera")
	s := sample{tera, "S_X.1.def", "", "S_X", []byte{8, 0, 0, 0, 0, 0, 0, 0}}
	e := s.editor(t, "string a\nstring b\n")
	for off := range uint32(8) {
		choices, err := e.Choices(codec.Range{Off: off * 8, Len: 16})
		for _, c := range choices {
			var from, bits uint32
			if _, err := fmt.Sscanf(c.At, "%d:%d", &from, &bits); c.At != "" && (err != nil || from+bits > 64) {
				t.Errorf("%d: %s at %s, %v", off, c.Type, c.At, err)
			}
		}
		if (err == nil) == (len(choices) == 0) {
			t.Errorf("%d: %d choices, %v", off, len(choices), err)
		}
	}
}
