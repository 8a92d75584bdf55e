package tera

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		about, hex string
		dir        schema.Dir
		build      uint32
	}{
		{"first element", "2000 bc4d 0200 0800 0800 1400 00000000 44e90500 1400 0000 01000000 8c014000", schema.ToServer, 387396},
		{"second element", "2000 bc4d 0200 0800 0800 1400 01000000 8c014000 1400 0000 00000000 44e90500", schema.ToServer, 387396},
		{"direction unknown", "1400 bc4d 0100 0800 0800 0000 00000000 44e90500", schema.Both, 387396},
		{"of the server", "1400 bc4d 0100 0800 0800 0000 00000000 44e90500", schema.ToClient, 0},
		{"another code", "1400 bd4d 0100 0800 0800 0000 00000000 44e90500", schema.ToServer, 0},
		{"no build", "1400 bc4d 0100 0800 0800 0000 01000000 44e90500", schema.ToServer, 0},
		{"the wrong place", "1400 bc4d 0100 0800 0900 0000 00000000 44e90500", schema.ToServer, 0},
		{"outside", "1400 bc4d 0100 ff00 0800 0000 00000000 44e90500", schema.ToServer, 0},
		{"circle", "1400 bc4d ffff 0800 0800 0800 01000000 44e90500", schema.ToServer, 0},
		{"too short", "0600 bc4d 0100", schema.ToServer, 0},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		f := &transport.Frame{Kind: transport.Message, Dir: c.dir, Key: schema.Key{Code: uint32(data[2]) | uint32(data[3])<<8}, HasKey: true, Bytes: data}
		if build, ok := Build(f); build != c.build || ok != (c.build > 0) {
			t.Errorf("%s: %d, %v", c.about, build, ok)
		}
	}
}
