package codec_test

import (
	"testing"

	"wirebench/codec"
	"wirebench/codec/packettest"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// A message recognised by its count and checksum is read from byte 12 on, with the same definition.
func TestLongHeader(t *testing.T) {
	s, ds := tera.Parse([]*source.File{source.New("C_CHAT.1.def", "string message\nint32 x\n")}, schema.Options{})
	if len(ds) != 0 {
		t.Fatal(ds)
	}
	const want = `{"message":"ttttttt","x":-4}`
	for _, c := range []struct {
		m   *schema.Message
		hex string
	}{
		{s.Messages[0], "1a00204e0a00fcffffff7400740074007400740074007400" + "0000"},
		{tera.LongHeader(s.Messages[0]), "2200204e01000000ca8801001200fcffffff74007400740074007400740074000000"},
	} {
		var rec codec.Record
		program(t, c.m).Decode(&rec, packettest.Unhex(t, c.hex))
		if got := string(value.AppendJSON(nil, &rec)); rec.Status() != codec.OK || got != want || len(view.Problems(&rec)) != 0 {
			t.Errorf("%s: %s", c.hex, view.Transcript(&rec))
		}
	}
}
