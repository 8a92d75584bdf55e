package mavlink

import (
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestGolden parses the files of each case as one set.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", []string{"schema", "diagnostics", "formatted"}, func(t *testing.T, c *defstest.Case) map[string]string {
		var files []*source.File
		var formatted strings.Builder
		for _, in := range c.Files {
			files = append(files, source.New(in.Name, in.Text))
			if text := formatChecked(t, in.Name, in.Text); text != in.Text {
				formatted.WriteString(text)
			}
		}
		s, diags := Parse(files, schema.Options{Values: c.Settings})
		return map[string]string{"schema": s.String(), "diagnostics": diags.Render(), "formatted": formatted.String()}
	})
}

// formatChecked formats a text, and checks that formatting is idempotent and preserves the meaning.
func formatChecked(t *testing.T, name, text string) string {
	t.Helper()
	out, _ := Format(source.New(name, text))
	if again, _ := Format(source.New(name, out)); again != out {
		t.Errorf("formatting twice changes the text:\n%s\nthen\n%s", out, again)
	}
	before, _ := Parse([]*source.File{source.New(name, text)}, schema.Options{})
	after, _ := Parse([]*source.File{source.New(name, out)}, schema.Options{})
	if before.String() != after.String() {
		t.Errorf("formatting changes the meaning:\n%s\nto\n%s", before, after)
	}
	return out
}

// TestExtra checks the byte of messages against a CRC that is computed bit by bit over the text of the guide's rule.
func TestExtra(t *testing.T) {
	for _, c := range []struct{ fields, over string }{
		{``, "M "},
		{`<field type="uint8_t" name="a"/>`, "M uint8_t a "},
		{`<field type="uint8_t_mavlink_version" name="a"/>`, "M uint8_t a "},
		{`<field type="uint8_t" name="a"/><field type="uint16_t" name="b"/>`, "M uint16_t b uint8_t a "},
		{`<field type="char[20]" name="a"/><field type="double" name="b"/>`, "M double b char a \x14"},
		{`<field type="uint8_t[4]" name="a"/><field type="float[3]" name="b"/><field type="int32_t" name="c"/>`, "M float b \x03int32_t c uint8_t a \x04"},
		{`<field type="int8_t" name="a"/><extensions/><field type="double" name="b"/>`, "M int8_t a "},
	} {
		s, diags := Parse([]*source.File{source.New("m.xml", `<mavlink><messages><message id="1" name="M">`+c.fields+`</message></messages></mavlink>`)}, schema.Options{})
		if len(diags) > 0 {
			t.Fatal(diags.Render())
		}
		crc := uint16(0xFFFF)
		for _, b := range []byte(c.over) {
			for i := range 8 {
				bit := (crc ^ uint16(b>>i)) & 1
				if crc >>= 1; bit == 1 {
					crc ^= 0x8408
				}
			}
		}
		if want, got := byte(crc)^byte(crc>>8), s.Messages[0].Extra; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %x, not %x", c.fields, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`<mavlink><enums><enum name="E" bitmask="true"><entry value="2**3" name="A"/></enum></enums><messages><message id="1" name="M"><field type="uint8_t[3]" name="x" enum="E">d</field></message></messages></mavlink>`)
	f.Add("<?xml version='1.0'?><mavlink><!-- -- --><include> a.xml </include><messages><message id=\"70000\" name='M'><wip/><extensions/><field type=\"char[9]\" name='t' /></messages>")
	f.Fuzz(func(t *testing.T, text string) {
		formatChecked(t, "a.xml", text)
		s, diags := Parse([]*source.File{source.New("a.xml", text)}, schema.Options{})
		for _, d := range diags {
			if d.Span.File == nil || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s at %d to %d of %d bytes", d.Message, d.Span.Start, d.Span.End, len(text))
			}
		}
		for _, m := range s.Messages {
			if _, err := codec.Compile(m); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	})
}
