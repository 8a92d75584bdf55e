package workspace_test

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

const headedProtocol = `{"types": {}, "toServer": {"types": {
	"ping": ["container", [{"name": "v", "type": "lu32"}]],
	"say": ["container", [{"name": "text", "type": ["pstring", {"rest": true}]}]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"37": "ping", "38": "say"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"ping": "ping", "say": "say"}}]}]]}}}`

const headedEnvelope = `frame length u16 le including all at 2 keep
code u8 at 1
field magic hex ff at 0
field flags u16 be at 4
checksum crc crc16-modbus le at -2
`

// Bytes with the header of the envelope, and without it, are read as what they are, by their code and by their name; values that have it are
// written with it; filters find its fields.
func TestMessagesBehindHeader(t *testing.T) {
	files, _ := workspacetest.Dir(t, map[string]string{"p.json": headedProtocol, "protocol.envelope": headedEnvelope})
	snap := workspacetest.Open(t, workspace.Config{Dialect: "protodef", Files: files}).Now()
	const withHeader, without = "ff260d00000768656c6c6f5f95", "2668656c6c6f"
	say := snap.Lookup(schema.Key{Dir: schema.ToServer, Code: 38})
	for _, c := range []struct{ hex, value string }{
		{withHeader, `{"header":{"magic":"ff","length":13,"flags":7},"text":"hello","tail":{"crc":38239}}`},
		{without, `{"text":"hello"}`},
		{"ff250c0000000102030449a4", ""}, // a ping whose checksum is wrong
	} {
		data, _ := hex.DecodeString(c.hex)
		for _, req := range []workspace.Request{{Dir: schema.ToServer}, {}, {Message: say}} {
			var rec, quick codec.Record
			res := snap.Decode(&rec, data, req)
			got, _ := json.Marshal(res.Value)
			line, _ := snap.AppendDecoded(nil, &quick, data, req)
			var fast struct{ Value json.RawMessage }
			if err := json.Unmarshal(line, &fast); err != nil {
				t.Fatal(err)
			}
			want := c.value
			if want == "" {
				if req.Message == nil && res.Message != "ping" {
					t.Errorf("%s by code: %q %s", c.hex, res.Message, got)
				}
				continue
			}
			if string(fast.Value) != want || res.Message != "say" || string(got) != want {
				t.Errorf("%s: %s, %s, want %s", c.hex, got, fast.Value, want)
			}
			back, _, problems, err := snap.EncodeValue(say, nil, []byte(want))
			if hex.EncodeToString(back) != c.hex {
				t.Errorf("%s: encoded %x %v %v", c.hex, back, problems, err)
			}
		}
	}
	data, _ := hex.DecodeString(withHeader)
	for _, c := range []struct {
		filter string
		is     bool
	}{
		{".header.flags == 7", true},
		{".flags == 7", true},
		{"say.header.flags == 7", true},
		{"say.flags == 7", false},
		{".header.flags == 8", false},
		{`.text == "hello"`, true},
		{"*.text", true},
		{".tail.crc == 38239", true},
		{"say", true},
		{"ping", false},
		{".v", false},
	} {
		f, mistakes := snap.Filter(c.filter)
		if len(mistakes) > 0 && c.filter != "say.flags == 7" {
			t.Errorf("%s: %v", c.filter, mistakes)
			continue
		}
		x := transport.Frame{Dir: schema.ToServer, Key: say.Key, HasKey: true, Via: []string{"header"}, Bytes: data}
		if got := f.Fits(workspace.Where{}, &x); got != c.is {
			t.Errorf("%s: %v", c.filter, got)
		}
	}
}
