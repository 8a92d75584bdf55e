package collab

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) Change {
	t.Helper()
	var c Change
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// What no client of CodeMirror sends is refused, and nothing changes.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                        "is an array",
		`[1.5]`:                     "number and lines",
		`["x"]`:                     "number and lines",
		`[0]`:                       "cannot stay",
		`[-1]`:                      "cannot stay",
		`[[]]`:                      "number, or",
		`[["x"]]`:                   "starts with",
		`[[-1]]`:                    "starts with",
		`[[0]]`:                     "changes nothing",
		`[[0,""]]`:                  "changes nothing",
		`[[0,1]]`:                   "a line is a string",
		`[[0,"a\nb"]]`:              "line break",
		`[[0,"\ud83d"]]`:            "splits",
		`[[0,"\uDE00x"]]`:           "splits",
		`[[0,"\ud83dx"]]`:           "splits",
		`[5000000]`:                 "cannot stay",
		`[4000000,4000000,4000000]`: "covers more",
	} {
		var c Change
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{`[[0,"\ud83d\ude00"]]`, `[[0,"😀"]]`, `[[0,"\\ud83d"]]`, `[[0,"","",""]]`, `[]`, `[3,[2],1]`} {
		parse(t, text)
	}
	d := New(NewText("a😀b"), 7)
	for _, c := range []struct {
		version int
		client  string
		change  string
		want    error
	}{
		{6, "c", `[4]`, ErrVersion},
		{8, "c", `[4]`, ErrVersion},
		{-1, "c", `[4]`, ErrVersion},
		{7, "", `[4]`, ErrChange},
		{7, strings.Repeat("c", 65), `[4]`, ErrChange},
		{7, "c", `[3]`, ErrChange},
		{7, "c", `[2,[0,"x"],2]`, ErrChange}, // inside of 😀
		{7, "c", `[2,[1],1]`, ErrChange},
		{7, "c", `[1,[1],2]`, ErrChange},
	} {
		if got, err := d.Receive(c.version, c.client, []Change{parse(t, c.change)}); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if d.Text().String() != "a😀b" || d.Version() != 7 {
		t.Errorf("%q at %d", d.Text().String(), d.Version())
	}
	if _, err := d.Receive(7, "c", []Change{parse(t, `[4,[0,"x"]]`), parse(t, `[4]`)}); !errors.Is(err, ErrChange) || d.Version() != 7 {
		t.Errorf("the first of two changes was accepted, and the second refused: %v", err)
	}
	large := New(make(Text, maxUnits-1), 0)
	if _, err := large.Receive(0, "c", []Change{parse(t, `[4194303,[0,"ab"]]`)}); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
}

// An update that arrives again, since its confirmation was lost, is accepted once; what follows it is accepted, too.
func TestReceiveAgain(t *testing.T) {
	d := New(NewText("ab"), 0)
	first, second := parse(t, `[2,[0,"1"]]`), parse(t, `[3,[0,"2"]]`)
	if got, err := d.Receive(0, "c", []Change{first}); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if _, err := d.Receive(1, "other", []Change{parse(t, `[[0,">"],3]`)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.Receive(0, "c", []Change{first, second}); err != nil {
			t.Fatal(err)
		}
		if d.Text().String() != ">ab12" || d.Version() != 3 {
			t.Errorf("%q at %d", d.Text().String(), d.Version())
		}
	}
}

// Old updates are forgotten, those of clients that are there are not.
func TestForget(t *testing.T) {
	d := New(nil, 0)
	for i := range maxRecent * 2 {
		if _, err := d.Receive(i, "c", []Change{Change(nil).add(Span{Len: len(d.Text()), Keep: true}, false).add(Span{Text: Text{'a'}}, false)}); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 999 { // the text stays small
			if _, err := d.Receive(d.Version(), "c", []Change{{{Len: len(d.Text())}}}); err != nil {
				t.Fatal(err)
			}
			d.version--
			d.recent = d.recent[:len(d.recent)-1]
		}
	}
	if n := len(d.recent); n < maxRecent || n > maxRecent*5/4 {
		t.Errorf("%d updates are kept", n)
	}
	if _, ok := d.Since(0); ok {
		t.Error("the first update is still there")
	}
	if updates, ok := d.Since(d.Version() - maxRecent); !ok || len(updates) != maxRecent {
		t.Error("a recent update is missing")
	}
}

// Between makes one text the other, whatever they are, and keeps what is equal.
func TestBetween(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", `[]`},
		{"a\n", "a\n", `[2]`},
		{"", "a\nb", `[[0,"a","b"]]`},
		{"a\nb\n", "", `[[4]]`},
		{"uint32 id\nstring name\n", "uint32 id\nstring title\n", `[17,[3,"titl"],2]`},
		{"a\nb\nc\n", "a\nx\nb\nc\n", `[2,[0,"x",""],4]`},
		{"a😀b", "a😁b", `[1,[2,"😁"],1]`},
		{"😀", "𝒳", `[[2,"𝒳"]]`},
		{"one two\n", "one 2\n", `[4,[3,"2"],1]`},
	} {
		got, err := json.Marshal(Between(NewText(c.before), NewText(c.after)))
		if err != nil || string(got) != c.want {
			t.Errorf("%q to %q: %s, want %s", c.before, c.after, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		make := func() Text {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString([]string{"a", "b", "\n", "x\n", "😀", "😁", "𝒳", "uint32 id\n"}[random.IntN(8)])
			}
			return NewText(b.String())
		}
		before, after := make(), make()
		if got, err := Between(before, after).Apply(before); err != nil || got.String() != after.String() {
			t.Fatalf("%q to %q: %q %v", before.String(), after.String(), got.String(), err)
		}
	}
}

// Lines that somebody inserts stay whole, and so do those of the other text, wherever that differs: numbered lines have much in common.
func TestBetweenKeepsLines(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 4))
		make := func() (out []string) {
			for i := range 20 {
				if r.IntN(3) == 0 {
					out = append(out, fmt.Sprintf("byte f%d_\n", i))
				}
			}
			return out
		}
		before, after := make(), make()
		theirs := Between(NewText(strings.Join(before, "")), NewText(strings.Join(after, "")))
		own := Between(NewText(strings.Join(before, "")), NewText(strings.Join(slices.Insert(slices.Clone(before), r.IntN(len(before)+1), "byte f99_\n"), "")))
		change, err := own.Map(theirs, r.IntN(2) == 0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := change.Apply(NewText(strings.Join(after, "")))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(strings.Lines(text.String()))
		if want := slices.Sorted(slices.Values(append(after, "byte f99_\n"))); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q to %q: %q", seed, before, after, text.String())
		}
	}
}

// Messages of clients never panic, and what is accepted keeps the text valid.
func FuzzReceive(f *testing.F) {
	f.Add("a😀b\n", 0, `[[2,[0,"x"],3]]`, `[[5,[0,"y"]],[6,[0,"z"]]]`)
	f.Add("", 0, `[[[0,"a","b"]]]`, `[]`)
	f.Add("uint32 id\n", 1, `[[10],[10]]`, `[[[10]]]`)
	f.Fuzz(func(t *testing.T, text string, version int, one, two string) {
		if len(text) > 2000 || len(one) > 2000 || len(two) > 2000 {
			return
		}
		d := New(NewText(text), 0)
		for i, message := range []string{one, two, one} {
			var changes []Change
			if json.Unmarshal([]byte(message), &changes) != nil {
				continue
			}
			before := d.Text().String()
			got, err := d.Receive(version*(i%2), []string{"a", "b", "a"}[i], changes)
			if err != nil && (d.Text().String() != before || got != nil) {
				t.Fatal("a refused message changed the text")
			}
			if now := NewText(d.Text().String()); len(now) != len(d.Text()) {
				t.Fatalf("%q is not valid any more", d.Text().String())
			}
			for _, u := range got {
				out, err := json.Marshal(u.Change)
				var again Change
				if err != nil || json.Unmarshal(out, &again) != nil {
					t.Fatalf("%s cannot be read", out)
				}
			}
		}
	})
}
