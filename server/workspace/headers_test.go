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

// A frame whose code no definition has shows the header of the envelope, in JSON, in filters and where bytes are decoded, and stays unknown. Its
// contents are undecoded bytes.
func TestUnknownBehindHeader(t *testing.T) {
	for name, texts := range map[string]map[string]string{
		"beside definitions":  {"p.json": headedProtocol, "protocol.envelope": headedEnvelope},
		"without definitions": {"protocol.envelope": headedEnvelope},
	} {
		files, _ := workspacetest.Dir(t, texts)
		snap := workspacetest.Open(t, workspace.Config{Dialect: "protodef", Files: files}).Now()
		data, _ := hex.DecodeString("ff990d00000768656c6c6f0000") // code 0x99, flags 7
		x := transport.Frame{N: 1, Kind: transport.Message, Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 0x99}, HasKey: true, Via: []string{"header"}, Bytes: data}
		const value = `{"header":{"magic":"ff","length":13,"flags":7},"tail":{"crc":0}}`
		read := workspace.NewReading(snap)
		read.Take(&x)
		info := read.Describe(workspace.Want{Value: true, Fields: true}, workspace.Listed{})
		line := workspace.NewFrameWriter(workspace.Want{Value: true}).Append(nil, read, workspace.Listed{})
		var written workspace.FrameInfo
		if err := json.Unmarshal(line, &written); err != nil {
			t.Fatal(err)
		}
		for _, got := range []workspace.FrameInfo{info, written} {
			if string(got.Value) != value || got.Status != "unknown" || got.Message != "" || got.Leftover != 0 || len(got.Problems) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if read.Message() != nil || read.Record() != nil || snap.FrameMessage(&x) != nil {
			t.Errorf("%s: taken for a definition", name)
		}
		var paths string
		for _, f := range info.Fields {
			paths += f.Path + ":" + f.Role + " "
		}
		if paths != "header.magic:value code:code header.length:value header.flags:value :gap tail.crc:value " {
			t.Errorf("%s: fields %s", name, paths)
		}
		var counts workspace.Problems
		if counts.Add(read); len(counts.Sorted()) != 1 || counts.Sorted()[0].Code != "unknown-message" {
			t.Errorf("%s: problems %+v", name, counts.Sorted())
		}
		for _, c := range []struct {
			filter string
			is     bool
		}{
			{".header.flags == 7", true},
			{".header.flags == 8", false},
			{".flags == 7", true},
			{"*.header.flags", true},
			{`.header.magic == x"ff"`, true},
			{".tail.crc == 0 && op == 0x99", true},
			{".header.flags == 7 && state == unknown", true},
			{"state != unknown", false},
			{"status == unknown", true},
			{"!.header", false},
			{"len(.header.magic) == 1", true},
			{"err", false},
		} {
			f, mistakes := snap.Filter(c.filter)
			if len(mistakes) > 0 {
				t.Errorf("%s: %s: %v", name, c.filter, mistakes)
				continue
			}
			if got := f.Fits(workspace.Where{}, &x); got != c.is || got && !f.CanMatch(nil) {
				t.Errorf("%s: %s: %v, can match %v", name, c.filter, got, f.CanMatch(nil))
			}
			bare := x
			if bare.Via = nil; c.is && c.filter[0] == '.' && f.Fits(workspace.Where{}, &bare) {
				t.Errorf("%s: %s finds a frame without the header", name, c.filter)
			}
		}
		if _, mistakes := snap.Filter(".header.flgs == 7"); len(mistakes) != 1 {
			t.Errorf("%s: %v", name, mistakes)
		}
		for _, is := range []bool{true, false} { // the checksum is wrong: only a mark says that the bytes have the header
			var rec codec.Record
			res := snap.Decode(&rec, data, workspace.Request{Dir: schema.ToServer, Fields: true, Headed: is})
			if has := string(res.Value) == value; has != is || has && (res.Status != "unknown" || res.Message != "" || *res.Code != 0x99 || len(res.Problems) != 1) {
				t.Errorf("%s: headed %v: %+v", name, is, res)
			}
		}
		right, _ := hex.DecodeString("ff990d00000768656c6c6f68b2")
		var rec codec.Record
		if res := snap.Decode(&rec, right, workspace.Request{Dir: schema.ToServer}); res.Status != "unknown" || res.Value == nil {
			t.Errorf("%s: bytes with the constant and the checksum of the header: %+v", name, res)
		}
	}
}
