package codec_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/source"
)

// TestSizeOfTheMessage: values that depend on the size of the message, which is known only when all of it is laid out, are encoded if there is a
// size that they agree with; over a message its size is tried first. What is encoded decodes to the same values.
func TestSizeOfTheMessage(t *testing.T) {
	const (
		last  = "meta: {id: m}\nseq:\n  - {id: n, type: u1}\n  - {id: body, size: n}\ninstances:\n  tail: {pos: _io.size - 1, type: u1}\n"
		rest  = "meta: {id: m}\nseq:\n  - {id: body, size: _io.size - 2}\n  - {id: sum, size: 2}\n"
		twice = "meta: {id: m}\nseq:\n  - {id: a, type: u1}\ninstances:\n  b: {pos: 0, type: u1}\n"
		maybe = "meta: {id: m}\nseq:\n  - {id: a, type: u1}\n  - {id: b, type: u1, if: not _io.eof}\n"
	)
	for _, c := range []struct{ definition, base, value, want, failed string }{
		{last, "", `{"n":2,"body":"0102","tail":9}`, "02010209", ""},
		{last, "020102", `{"n":2,"body":"0103","tail":3}`, "020103", ""},
		{rest, "", `{"body":"01","sum":"09"}`, "", "sum: 1 bytes where 2 are needed"},
		{last, "020102ff07", `{"n":2,"body":"0103","tail":8}`, "020103ff08", ""},
		{last, "020102ff07", `{"n":1,"body":"05","tail":8}`, "010502ff08", ""},
		{rest, "", `{"body":"010203","sum":"0908"}`, "0102030908", ""},
		{rest, "0102030908", `{"body":"01","sum":"0908"}`, "010908", ""},
		{rest, "", `{"body":"","sum":"0908"}`, "0908", ""},
		{twice, "05", `{"a":5,"b":5}`, "05", ""},
		{twice, "05", `{"a":6,"b":6}`, "06", ""},
		{twice, "05", `{"a":5,"b":6}`, "", "encode m: b cannot begin at byte 0"},
		{twice, "05", `{"a":6,"b":5}`, "", "encode m: b cannot begin at byte 0"},
		{maybe, "", `{"a":1}`, "01", ""},
		{maybe, "", `{"a":1,"b":2}`, "0102", ""},
		{maybe, "01", `{"a":1,"b":2}`, "0102", ""},
		{maybe, "0102", `{"a":1}`, "01", ""},
	} {
		p, err := codec.Compile(load(t, "kaitai", nil, source.New("m.ksy", c.definition)).Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		var base, in, out codec.Record
		var from *codec.Record
		if c.base != "" {
			data, err := hex.DecodeString(c.base)
			if err != nil {
				t.Fatal(err)
			}
			p.Decode(&base, data)
			from = &base
		}
		var over value.Over
		failed := ""
		if err := over.Values(&out, &in, p, []byte(c.value), from, 0, codec.Session{}); err != nil {
			failed = err.Error()
		}
		if failed != c.failed && (c.failed == "" || !strings.HasPrefix(failed, c.failed)) || failed == "" && hex.EncodeToString(out.Message()) != c.want {
			t.Errorf("%s over %q: %x, %q", c.value, c.base, out.Message(), failed)
			continue
		}
		if failed == "" {
			if got := value.AppendJSON(nil, &out); string(got) != c.value {
				t.Errorf("%s over %q is %s", c.value, c.base, got)
			}
		}
	}
}
