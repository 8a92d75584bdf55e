package templates

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/view"
)

// The golden files are the saved files.
func TestLayoutFiles(t *testing.T) {
	program, _ := opened(t, listText)
	info := view.Layout(program)
	for name, got := range map[string]string{"layout.svg": LayoutSVG("C_LIST.1", &info), "layout.txt": LayoutText("C_LIST.1", &info)} {
		path := "testdata/" + name
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Error("rewritten: review the changes, then run without -update")
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// Names are escaped, and the picture is well-formed.
func TestLayoutSVGIsWellFormed(t *testing.T) {
	evil := "<script>&\"'\x00\xff" + strings.Repeat("x", 500)
	big, bits := int64(8*500), int64(3)
	for _, rows := range [][]view.LayoutRow{
		nil,
		{{Path: evil, Type: evil, Role: "value", Offset: evil, Note: evil, Doc: evil, MinBits: 8, MaxBits: &big}},
		{{Path: "a", Type: evil, Role: "value", Offset: "0", MinBits: big, MaxBits: &big}, {Path: evil, Type: "t", Role: "value", Offset: "1", MinBits: bits, MaxBits: &bits}},
	} {
		l := &view.LayoutInfo{Message: evil, Version: 1, Rows: rows}
		picture := LayoutSVG("x", l)
		for d := xml.NewDecoder(strings.NewReader(picture)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, picture)
			}
			if s, ok := token.(xml.StartElement); ok && s.Name.Local == "script" {
				t.Error("a name became markup")
			}
		}
		if text := LayoutText("x", l); strings.ContainsAny(text, "\x00") {
			t.Error("a control character in the text")
		}
	}
}

// The picture has the tints of the page.
func TestLayoutSVGTints(t *testing.T) {
	css, err := os.ReadFile("../web/src/kit/css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := regexp.MustCompile(`--t-([a-z]+)(-alt)?: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1)
	if len(tokens) != 14 {
		t.Fatalf("%d tints in tokens.css", len(tokens))
	}
	light, dark, _ := strings.Cut(svgStyle, "@media(prefers-color-scheme:dark)")
	for _, token := range tokens {
		if token[1] == "gap" {
			continue // white or black background
		}
		name := "." + token[1] + strings.Replace(token[2], "-", ".", 1)
		for part, color := range map[string]string{light: token[3], dark: token[4]} {
			if rule := name + "{fill:" + color + "}"; !strings.Contains(part, rule) {
				t.Errorf("no rule %s", rule)
			}
		}
	}
}
