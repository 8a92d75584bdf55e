package codec_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestEveryDialect states the requirements for a dialect: its example parses without a diagnostic, is in canonical form, compiles, and an empty
// value of every message survives encoding, decoding and encoding again.
func TestEveryDialect(t *testing.T) {
	if len(defs.Dialects) == 0 {
		t.Fatal("no dialects")
	}
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			if text, ds := d.Format(d.Example); len(ds) > 0 || text != d.Example.Text {
				t.Errorf("the example is not in canonical form:\n%s%s", text, ds.Render())
			}
			if found, ok := defs.Detect(d.Example); !ok || found != d.Name {
				t.Errorf("the example is told to be %q", found)
			}
			s, ds := defs.Load([]*source.File{d.Example}, d.Name, schema.Options{})
			if len(ds) > 0 || len(s.Messages) == 0 {
				t.Fatalf("%d messages\n%s", len(s.Messages), ds.Render())
			}
			for _, m := range s.Messages {
				roundTrip(t, m)
			}
			for _, f := range d.Frames {
				if _, err := codec.Compile(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func roundTrip(t *testing.T, m *schema.Message) {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	var in, out, back, again codec.Record
	if err := value.ParseJSON(&in, p, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	in.Code = m.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	p.Decode(&back, out.Data)
	if back.Status() != codec.OK || back.Used != len(out.Data) {
		t.Errorf("%s: %s", m.Name, view.Transcript(&back))
	}
	if err := value.ParseJSON(&in, p, value.AppendJSON(nil, &back)); err != nil {
		t.Fatal(err)
	}
	in.Code = m.Key.Code
	if err := p.Encode(&again, &in); err != nil || !bytes.Equal(again.Data, out.Data) {
		t.Errorf("%s: %x, then %x (%v)", m.Name, out.Data, again.Data, err)
	}
}

// TestLeftOverInEveryDialect: bytes after a message are a warning with their place and a row of the transcript, whatever the language.
func TestLeftOverInEveryDialect(t *testing.T) {
	for _, d := range defs.Dialects {
		s, _ := defs.Load([]*source.File{d.Example}, d.Name, schema.Options{})
		told := 0
		for _, m := range s.Messages {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			var in, out, back codec.Record
			if err := value.ParseJSON(&in, p, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			in.Code = m.Key.Code
			if err := p.Encode(&out, &in); err != nil {
				t.Fatal(err)
			}
			whole := len(out.Data)
			p.Decode(&back, append(bytes.Clone(out.Data), 1, 2, 3))
			if back.Status() != codec.OK || back.Used == len(back.Data) {
				continue // the last field takes all bytes, or the size of the message is what it depends on
			}
			told++
			got := view.Of(&back, false)
			k := slices.IndexFunc(got.Problems, func(x view.ProblemInfo) bool { return x.Code == codec.LeftOver.String() })
			if k < 0 || got.Leftover != 3 || got.Problems[k].BitOffset != uint32(whole)*8 || got.Problems[k].BitLength != 24 || got.Problems[k].Severity != "warning" {
				t.Errorf("%s %s: %+v, leftover %d", d.Name, m.Name, got.Problems, got.Leftover)
			}
			text, row := view.Transcript(&back), fmt.Sprintf("0x%04X  01 02 03                 ...       (gap)", whole)
			if !strings.Contains(text, row) || !strings.Contains(text, "3 bytes left over after the message") {
				t.Errorf("%s %s: no row %q\n%s", d.Name, m.Name, row, text)
			}
		}
		if told == 0 && d.Name != "protobuf" { // its messages go on to the end
			t.Errorf("%s: no message can have bytes after it", d.Name)
		}
	}
}

// mutated changes a definition: words are dropped, repeated, exchanged and replaced by numbers.
func mutated(text string, rng *rand.Rand) string {
	words := regexp.MustCompile(`\w+|\s+|.`).FindAllString(text, -1)
	for range 1 + rng.IntN(4) {
		a, b := rng.IntN(len(words)), rng.IntN(len(words))
		switch rng.IntN(5) {
		case 4:
			words[a] = strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		case 0:
			words[a] = ""
		case 1:
			words[a] += words[b]
		case 2:
			words[a], words[b] = words[b], words[a]
		case 3:
			words[a] = words[b]
		}
	}
	return strings.Join(words, "")
}

// acceptedCompiles requires that all messages of a definition without errors compile. It reports whether there are any.
func acceptedCompiles(t *testing.T, d *defs.Dialect, text string) bool {
	t.Helper()
	s, ds := defs.Load([]*source.File{source.New(d.Example.Name, text)}, d.Name, schema.Options{})
	if ds.HasErrors() {
		return false
	}
	for _, m := range s.Messages {
		if _, err := codec.Compile(m); err != nil {
			t.Errorf("%s: no error, but %v\n%s", d.Name, err, text)
		}
	}
	return len(s.Messages) > 0
}

// TestAcceptedCompiles: what check accepts compiles, in every language.
func TestAcceptedCompiles(t *testing.T) {
	for i := range defs.Dialects {
		d, rng, accepted := &defs.Dialects[i], rand.New(rand.NewPCG(30, uint64(i))), 0
		const drawn = 400
		for range drawn {
			if acceptedCompiles(t, d, mutated(d.Example.Text, rng)) {
				accepted++
			}
		}
		if t.Logf("%s: %d of %d accepted", d.Name, accepted, drawn); accepted < drawn/50 {
			t.Errorf("%s: too few for a test", d.Name)
		}
	}
}

func FuzzAcceptedCompiles(f *testing.F) {
	for i := range defs.Dialects {
		f.Add(uint8(i), defs.Dialects[i].Example.Text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		if len(text) < 1<<14 {
			acceptedCompiles(t, &defs.Dialects[int(which)%len(defs.Dialects)], text)
		}
	})
}
