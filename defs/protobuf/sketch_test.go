package protobuf

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"wirebench/codec"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestSketch guesses definitions from bytes, of which each line is a part.
func TestSketch(t *testing.T) {
	defstest.Run(t, "testdata/sketch/*.txtar", []string{"sketch"}, func(t *testing.T, c *defstest.Case) map[string]string {
		out := ""
		for _, f := range c.Files {
			digits := ""
			for line := range strings.Lines(f.Text) {
				part, _, _ := strings.Cut(line, "#")
				digits += strings.Join(strings.Fields(part), "")
			}
			data, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			text, ok := Sketch("Unknown", data)
			if !ok {
				text = "no field\n"
			}
			out += text
		}
		return map[string]string{"sketch": out}
	})
}

// TestSketchExplains guesses definitions of random messages of the library of the language: they have no mistakes, explain each byte, and give the
// same bytes again.
func TestSketchExplains(t *testing.T) {
	of := descriptors(t, peers, "two.proto", "three.proto", "edition.proto")
	rec, guessed := &codec.Record{}, 0
	for seed := range uint64(150) {
		for name, d := range of {
			m := dynamicpb.NewMessage(d)
			filler{rand.New(rand.NewPCG(seed, 7))}.fill(m, 0)
			data, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			text, ok := Sketch("Guess", data)
			if !ok {
				if len(data) > 0 {
					t.Fatalf("%s %d: nothing is guessed of %x", name, seed, data)
				}
				continue
			}
			def, problems := sketched(t, text), ""
			prog, err := codec.Compile(def)
			if err != nil {
				t.Fatal(err)
			}
			prog.Decode(rec, data)
			for _, x := range rec.AllProblems() {
				problems += x.Message(rec) + "\n"
			}
			if rec.Status() != codec.OK || rec.Unexplained() > 0 || problems != "" {
				t.Fatalf("%s %d: %x\n%s\n%v, %d unexplained\n%s", name, seed, data, text, rec.Status(), rec.Unexplained(), problems)
			}
			keeps(t, def, data)
			guessed++
		}
	}
	if guessed < 250 {
		t.Errorf("only %d messages were guessed", guessed)
	}
}

// sketched compiles a guessed definition.
func sketched(t testing.TB, text string) *schema.Message {
	t.Helper()
	s, diags := Parse([]*source.File{source.New("guess.proto", text)}, schema.Options{})
	if len(diags) > 0 || len(s.Messages) == 0 {
		t.Fatalf("%s\n%s", text, diags.Render())
	}
	return s.Messages[0]
}

// FuzzSketch guesses definitions of any bytes.
func FuzzSketch(f *testing.F) {
	f.Add([]byte("\x0a\x06Petrel\x10\x01\x19\x00\x00\x00\x00\x00\x00\x0a\x40"))
	f.Add([]byte{0x0b, 0x08, 0x01, 0x0c, 0xc0, 0xa3, 0x09, 0x05, 0x08})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, ok := Sketch("Guess", data)
		if !ok {
			return
		}
		keeps(t, sketched(t, text), data)
	})
}
