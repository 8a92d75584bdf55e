package codec_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

type edgeCase struct {
	Case    string          `json:"case"`
	Op      string          `json:"op"`
	DefText string          `json:"def_text"`
	Value   json.RawMessage `json:"value"`
	Hex     string          `json:"hex"`
	Toolbox edgeOutcome     `json:"toolbox"`
	Protojs edgeOutcome     `json:"protojs"`
}

type edgeOutcome struct {
	Hex   string          `json:"hex"`
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
}

// decided lists the cases in which we differ from at least one reference. The value is the bytes of an encode, the status of a decode
// followed by its first problem, or the code of the error that rejects the value.
//
// The rules: nothing wraps or is converted silently; missing values are zero; an offset that points out of the message or into its header
// is an error, and so is a chain that ends early or has a cycle; mere irregularities are warnings.
var decided = map[string]string{
	// Encoding: values that do not fit, or are of another kind, are errors.
	"byte out of range": "out-of-range", "int wrap": "out-of-range", "int64 wrap": "out-of-range", "float overflow": "out-of-range",
	"bool truthiness": "wrong-kind", "skillid number": "wrong-kind", "skillid bigint": "wrong-kind", "skillid32 number": "wrong-kind",
	"customize bigint": "wrong-kind", "customize partial": "out-of-range", "embedded NUL": "nul-in-text",
	"skillid npc reaction": "out-of-range",
	// All reserved bits are preserved.
	"skillid reserved > 1": "0c003412050000100c000000",
	// Missing numbers are 0, not NaN.
	"missing float": "0800341200000000", "missing double": "0c0034120000000000000000", "vec3 with missing component": "100034120000803f0000004000000000",
	// Pointers first in their scope, contents after all fixed fields, as real peers do.
	"missing object: scalars": "120034121000000000000000000005000000", "dotted ref": "0c0034120800030071000000",

	// Decoding: the zone form needs npc and type 1.
	"skillid all ones":   `ok {"s":{"npc":true,"type":15,"huntingZoneId":0,"id":268435455,"reserved":2147483647}}`,
	"skillid npc type 2": `ok {"s":{"npc":true,"type":2,"huntingZoneId":0,"id":236044015,"reserved":6}}`,
	// A null pointer is empty text, not the header read as characters.
	"string offset 0":       `ok {"s":""} null-offset unexplained-bytes`,
	"string not terminated": `illegal {"s":"ab"} not-terminated`, "string offset past end": `illegal {} offset-out-of-range`,
	"bytes past end": `illegal {"b":"0102"} contents-out-of-range`, "truncated": `illegal {} past-frame`,
	// Offsets are followed wherever they point inside the message.
	"array<string> element offset not adjacent":  `ok {"a":["Y"]} unexplained-bytes`,
	"fixed field after string (in-order layout)": `ok {"s":"hi","x":6881384} unexplained-bytes shared-bytes`,
	"fixed field after string (deferred layout)": `ok {"s":"hi","x":16909060}`,
	"fixed field after bytes (in-order layout)":  `ok {"b":"010203","x":513} unexplained-bytes shared-bytes`,
	"two strings sharing data":                   `ok {"a":"h","b":"h"} shared-bytes`,
	// A chain must have as many elements as its count, each once.
	"array wrong here value":         `ok {"a":[7]} wrong-here`,
	"array count larger than chain":  `illegal {"a":[7]} chain-too-short`,
	"array count smaller than chain": `ok {"a":[7]} chain-continues unexplained-bytes`,
	"array out-of-order elements":    `ok {"a":[7,8]}`, "array backwards element order": `ok {"a":[7,8]}`,
	"array self loop":                 `illegal {"a":[7]} chain-cycle`,
	"array count 0 offset nonzero":    `ok {"a":[]} unexplained-bytes`,
	"bytes empty offset 0":            `ok {"b":""}`,
	"bool > 1":                        `ok {"a":true,"b":true} bool-above-one bool-above-one`,
	"trailing bytes":                  `ok {"x":5} unexplained-bytes`,
	"empty definition, extra payload": `ok {} unexplained-bytes`,
}

// undecided lists the rows that are not about a single message: their definition is invalid, or their value is not in the file.
var undecided = map[string]bool{
	"one explicit ref disables implicit ones: other string becomes a bare ref": true, // an error of the definition
	"total length 65535": true, "total length 65536": true, "total length 65537": true, // TestLongestMessage
}

func TestCorporaEdgeCases(t *testing.T) { corpora.Run(t, testEdgeCases) }

func testEdgeCases(t *testing.T, corpus *corpora.Corpus) {
	rows := 0
	for _, text := range corpora.Rows[json.RawMessage](t, corpus, "tera/edge-cases.jsonl") {
		var c edgeCase
		if err := json.Unmarshal(text, &c); err != nil {
			continue // definition cases, which are decided in the tests of the parser
		}
		if undecided[c.Case] {
			continue
		}
		rows++
		switch c.Op {
		case "encode":
			t.Run("encode/"+c.Case, func(t *testing.T) { edgeEncode(t, c) })
		case "decode":
			t.Run("decode/"+c.Case, func(t *testing.T) { edgeDecode(t, c) })
		}
	}
	if rows < 70 {
		t.Errorf("only %d rows were looked at", rows)
	}
}

func edgeEncode(t *testing.T, c edgeCase) {
	p := compile(t, "X.1.def", c.DefText, schema.Options{})
	var in, out codec.Record
	got := ""
	err := value.ParseJSON(&in, p, c.Value)
	var ve value.ValueErrors
	if errors.As(err, &ve) {
		got = ve[0].Code
	} else if err != nil {
		got = err.Error()
	} else {
		in.Code = 4660
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		got = hex.EncodeToString(out.Data)
	}
	if want, ok := decided[c.Case]; ok {
		if got != want {
			t.Errorf("got %s, decided %s", got, want)
		}
		return
	}
	if got != c.Toolbox.Hex && got != c.Protojs.Hex {
		t.Errorf("got %s %v", got, err)
	}
}

func edgeDecode(t *testing.T, c edgeCase) {
	p := compile(t, "X.1.def", c.DefText, schema.Options{})
	data, err := hex.DecodeString(c.Hex)
	if err != nil {
		t.Fatal(err)
	}
	var rec codec.Record
	p.Decode(&rec, data)
	got := rec.Status().String() + " " + string(value.AppendJSON(nil, &rec))
	for _, p := range view.Problems(&rec) {
		got += " " + p.Code
	}
	if want, ok := decided[c.Case]; ok {
		if got != want {
			t.Errorf("got     %s\ndecided %s", got, want)
		}
		return
	}
	var ours, theirs any
	if err := json.Unmarshal(value.AppendJSON(nil, &rec), &ours); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.Toolbox.Value, &theirs); err != nil || rec.Status() != codec.OK || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("got %s\nreference %s", got, c.Toolbox.Value)
	}
}

// The length field has 16 bits; a longer message is rejected, neither truncated nor wrapped.
func TestLongestMessage(t *testing.T) {
	p := compile(t, "X.1.def", "bytes b", schema.Options{})
	var in, out codec.Record
	for size, ok := range map[int]bool{65535: true, 65536: false, 65537: false, 70000: false} {
		values := []byte(`{"b":"` + strings.Repeat("00", size-8) + `"}`)
		if err := value.ParseJSON(&in, p, values); err != nil {
			t.Fatal(err)
		}
		err := p.Encode(&out, &in)
		if (err == nil) != ok {
			t.Errorf("%d bytes: error %v", size, err)
		}
		if ok && (len(out.Data) != size || out.Data[0] != 0xff || out.Data[1] != 0xff) {
			t.Errorf("%d bytes: got %d, header % x", size, len(out.Data), out.Data[:4])
		}
	}
}

// TestProblemsOfTheWholeMessage: a problem that concerns no field names none.
func TestProblemsOfTheWholeMessage(t *testing.T) {
	a := field("a", unsigned(8))
	b := field("b", &schema.Number{Bits: 8, Max: &schema.Limit{Const: "MOST"}})
	p := program(t, message("m", record(a, b)))
	var r codec.Record
	p.Decode(&r, []byte{1, 2})
	for _, info := range view.Problems(&r) {
		if info.Code == codec.UnresolvedLimit.String() && info.Path == "" && info.Line == 0 {
			return
		}
	}
	t.Errorf("%+v", view.Problems(&r))
}
