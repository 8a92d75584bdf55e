package codec_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Contents that share bytes with other fields are a sign of a wrong definition: they are read, with a warning that names both.
func TestSharedBytes(t *testing.T) {
	for _, c := range []struct {
		name, def, data string
		fit             codec.Fit
		want            []string // code and path, and a part of the message
	}{
		{"text in the fixed part", "int32 a\nint32 b\nstring s", "0e00 3412 0a00 01000000 4c000000", codec.Misplaced, []string{`shared-bytes s: "s" shares 4 bytes with "b", from 0x0a on`}},
		{"text over two fields", "int32 a\nint16 b\nstring s", "0c00 3412 0600 41004200 0000", codec.Misplaced, []string{
			`shared-bytes s: "s" shares 4 bytes with "a"`, `shared-bytes s: "s" shares 2 bytes with "b"`,
		}},
		{"text over a pointer", "string s\narray l\n- byte v", "0f00 3412 0600 0100 0a00 0a00 0000 07", codec.Misplaced, []string{
			`shared-bytes s: "s" shares 2 bytes with the count of "l"`, `shared-bytes s: "s" shares 2 bytes with the offset of "l"`,
			`shared-bytes l[0]: the here of "l[0]" shares 2 bytes with "s"`, `shared-bytes l[0]: the next of "l[0]" shares 2 bytes with "s"`,
		}},
		{"elements of two lists", "array<int16> a\narray<int16> b", "1200 3412 0100 0c00 0100 0c00 0c00 0000 0500", codec.Misplaced, []string{
			`shared-bytes b[0]: the here of "b[0]" shares 2 bytes with the here of "a[0]"`, `shared-bytes b[0]: the next of "b[0]"`, `shared-bytes b[0]: "b[0]" shares 2 bytes with "a[0]"`,
		}},
		{"texts that are one", "string a\nstring b", "0c00 3412 0800 0800 6800 0000", codec.Misplaced, []string{`shared-bytes b: "b" shares 4 bytes with "a"`}},
		{"text in an element", "array l\n- int32 v\n- string s", "1400 3412 0100 0800 0800 0000 0e00 0100 4c00 0000", codec.Misplaced, []string{`shared-bytes l[0].s: "l[0].s" shares 4 bytes with "l[0].v", from 0x0e on`}},
		{"empty list behind the end", "array l\n- byte v\nint16 x", "0a00 3412 0000 0b00 0100", codec.Misplaced, []string{`unused-offset-out-of-range l: "l" is empty, but its offset 0x0b is outside the frame of 10 bytes`}},
		{"empty bytes behind the end", "array o\n- bytes b", "1000 3412 0100 0800 0800 0000 ff00 0000", codec.Misplaced, []string{`unused-offset-out-of-range o[0].b:`}},
		{"empty at the end", "bytes b\narray l\n- byte v", "0c00 3412 0c00 0000 0000 0c00", codec.Exact, nil},
		{"empty in the fixed part", "int32 x\narray l\n- byte v", "0c00 3412 0000 0600 07000000", codec.Exact, nil},
		{"empty texts, each with a zero", "string a\nstring b", "0c00 3412 0800 0a00 0000 0000", codec.Exact, nil},
		{"contents in another order", "string a\nstring b\nint16 x", "0e00 3412 0c00 0a00 0700 0000 0000", codec.Exact, nil},
		{"a gap", "string a", "0a00 3412 0800 ffff 0000", codec.Leftover, []string{`unexplained-bytes : 2 bytes`}},
		{"a null offset", "string a\nint16 x", "0800 3412 0000 0700", codec.Exact, []string{`null-offset a:`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, "C_TEST.1.def", c.def+"\n", schema.Options{})
			data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			var r codec.Record
			p.Decode(&r, data)
			var got []string
			for _, w := range r.AllProblems() {
				got = append(got, w.Code.String()+" "+string(r.AppendSpotPath(nil, w.Spot))+": "+w.Message(&r))
			}
			ok := len(got) == len(c.want)
			for i := 0; ok && i < len(got); i++ {
				ok = strings.HasPrefix(got[i], c.want[i])
			}
			if r.Status() != codec.OK || !ok || r.Fit() != c.fit {
				t.Errorf("%v, fit %d:\n got %s\nwant %s", r.Status(), r.Fit(), strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}
