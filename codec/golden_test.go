package codec_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
)

// TestGolden pins the displayed output: the layout of a definition, a transcript of each message of frames.hex, the values of the valid
// ones, and the bytes that values.json encodes to. A line of frames.hex is a message; "#" starts a comment.
func TestGolden(t *testing.T) {
	sections := []string{"layout", "diagram", "transcript", "values", "encoded"}
	defstest.Run(t, "testdata/*.txtar", sections, func(t *testing.T, c *defstest.Case) map[string]string {
		name, text := "", ""
		for _, f := range c.Files {
			if strings.HasSuffix(f.Name, ".def") {
				name, text = f.Name, f.Text
			}
		}
		p := compile(t, name, text, schema.Options{Values: map[string]string{"integrity": c.Settings["integrity"]}})
		info := view.Layout(p)
		out := map[string]string{"layout": info.Text(), "diagram": info.Diagram()}
		var transcript, values, encoded strings.Builder
		var rec, in codec.Record
		for line := range strings.Lines(c.File("frames.hex")) {
			line, _, _ = strings.Cut(line, "#")
			if strings.TrimSpace(line) == "" {
				continue
			}
			data, err := hex.DecodeString(strings.Join(strings.Fields(line), ""))
			if err != nil {
				t.Fatal(err)
			}
			p.Decode(&rec, data)
			if transcript.Len() > 0 {
				transcript.WriteByte('\n')
			}
			transcript.WriteString(view.Transcript(&rec))
			values.Write(append(value.AppendJSON(nil, &rec), '\n'))
		}
		for line := range strings.Lines(c.File("values.json")) {
			if err := value.ParseJSON(&in, p, []byte(line)); err != nil {
				encoded.WriteString("error: " + err.Error() + "\n")
				continue
			}
			in.Code, in.Session = 0x1234, codec.Session{Counter: 1, Key: 1}
			if err := p.Encode(&rec, &in); err != nil {
				encoded.WriteString("error: " + err.Error() + "\n")
				continue
			}
			encoded.WriteString(hex.EncodeToString(rec.Data) + "\n")
		}
		out["transcript"], out["values"], out["encoded"] = transcript.String(), values.String(), encoded.String()
		return out
	})
}
