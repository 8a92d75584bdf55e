package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPlaceText(t *testing.T) {
	for text, want := range map[string]Place{"1+0": {1, 0, 0}, "12+34": {12, 34, 0}, "12+34/5": {12, 34, 5}, "4294967295+4294967295/4294967295": {1<<32 - 1, 1<<32 - 1, 1<<32 - 1}} {
		var p Place
		if err := p.UnmarshalText([]byte(text)); err != nil || p != want {
			t.Errorf("%s: %v %v", text, p, err)
		}
		if got, _ := p.MarshalText(); string(got) != text {
			t.Errorf("%v is written as %s", p, got)
		}
	}
	for _, text := range []string{"", "1", "+", "1+", "+1", "1+2/", "1+2/3/4", "-1+2", "1+4294967296", "1 +2"} {
		p := Place{9, 9, 9}
		if err := p.UnmarshalText([]byte(text)); err == nil || p != (Place{9, 9, 9}) {
			t.Errorf("%q is %v", text, p)
		}
	}
}

// Pins that come to one number and part again are what they were; what is written to one number meanwhile is of all of them.
func TestPinsComeTogetherAndPart(t *testing.T) {
	pins := []Pin{{N: 1, Place: Place{1, 0, 0}, Note: "one"}, {N: 2, Place: Place{1, 5, 0}, Mark: true}, {N: 3, Place: Place{2, 0, 0}, Note: "three"}, {N: 9, Note: "nobody knows where"}}
	var n Notes
	n.SetPins(pins)
	if got := n.Pins(); !reflect.DeepEqual(got, pins) {
		t.Fatalf("%+v", got)
	}
	together := n.Pins()
	for i := range 3 {
		together[i].N = 7
	}
	n.SetPins(together)
	if n.Frames[7] != "one\nthree" || len(n.Frames) != 2 || fmt.Sprint(n.Marked) != "[7]" {
		t.Fatalf("%+v", n)
	}
	again := n.Pins()
	for i := range 3 {
		again[i].N = uint64(i + 1)
	}
	parted := n
	parted.SetPins(again)
	if got := parted.Pins(); !reflect.DeepEqual(got, pins) {
		t.Errorf("parted: %+v", got)
	}
	n.Frames[7] = "another"
	if got := n.Pins(); len(got) != 2 || got[0] != (Pin{N: 7, Place: Place{1, 0, 0}, Mark: true, Note: "another"}) {
		t.Errorf("written anew: %+v", got)
	}
	n.Marked, n.Frames = nil, nil
	if err := n.tidy(); err != nil || n.Places != nil {
		t.Errorf("taken away: %v %+v", err, n.Places)
	}
}

func openCaptures(t *testing.T, root string) *Captures {
	t.Helper()
	c, err := OpenCaptures(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Places are kept beside the capture, and are not told with what people noted. What a hand has written there counts as far as it is right.
func TestPlacesAreKept(t *testing.T) {
	root := t.TempDir()
	c := openCaptures(t, root)
	x, err := c.Add("a", time.Now(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 18, 4, 5, 123456789, time.UTC)
	long := strings.Repeat("n", MaxNote)
	want := []Pin{{N: 1, Place: Place{4, 2, 0}, Note: long}, {N: 1, Place: Place{4, 6, 1}, Mark: true, Note: strings.Repeat("m", MaxNote)}, {N: 5, Mark: true}}
	if _, err := c.Note(x.ID, func(n *Notes) {
		n.SetPins(want)
		n.Markers = []Marker{{N: 3, At: at, Text: "now", Place: Place{8, 0, 0}}}
	}); err != nil {
		t.Fatal(err)
	}
	got, err := openCaptures(t, root).Get(x.ID)
	if err != nil || !reflect.DeepEqual(got.Notes.Pins(), want) || got.Notes.Markers[0].Place != (Place{8, 0, 0}) {
		t.Errorf("%v %+v", err, got.Notes)
	}
	if _, err := c.Note(x.ID, func(n *Notes) { n.Frames[1] = long + "x" }); err == nil {
		t.Error("a note that is too long")
	}
	for _, text := range []string{
		`{"notes":{"marked":[3]},"places":[{"n":3,"at":"x"}]}`, `{"notes":{"marked":[3]},"places":7}`, `{"notes":{"marked":[3]},"places":[{"n":-1}],"markerPlaces":{"x":"1+2"}}`,
		`{"notes":{"marked":[3]},"places":[{"n":3},{"n":3,"mark":true},{"n":4,"at":"1+2","note":"of nothing"}]}`,
	} {
		if _, err := c.dir.Write(x.ID+aboutEnding, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Get(x.ID); err != nil || len(got.Notes.Pins()) > 2 || got.Notes.Frames != nil {
			t.Errorf("%s: %v %+v", text, err, got.Notes)
		}
	}
}
