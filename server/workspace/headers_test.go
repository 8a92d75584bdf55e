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

// positioned has positions from the start, from the end and of itself, and values that depend on where it is.
const positioned = `meta: {id: ends, endian: le}
seq:
  - {id: ofs_words, type: u2}
  - {id: ofs_node, type: u1}
  - {id: first, type: place}
  - {id: text, type: str, size: ofs_words - _io.pos, encoding: ASCII}
instances:
  words: {pos: ofs_words, type: u2, repeat: expr, repeat-expr: 2}
  last: {pos: _io.size - 1, type: u1}
  node: {pos: ofs_node, type: node}
types:
  place:
    seq: [{id: kind, type: u1}]
    instances:
      at: {value: _io.pos}
      total: {value: _root._io.size}
      word: {io: _root._io, pos: 3, type: u1}
  node:
    seq: [{id: next, type: u1}]
    instances:
      more: {pos: next, type: node, if: next != 0}
`

// Positions count from where the contents begin, whatever an envelope has before and after them.
func TestPositionsBehindHeader(t *testing.T) {
	contents := []byte("\x0a\x00\x0e" + "Khello!" + "\x01\x02\x03\x04" + "\x0f\x00z")
	alone := ""
	for _, c := range []struct{ envelope, before, after string }{
		{"", "", ""},
		{"frame length u16 le\ncode u8\nfield x u8 at 1\n", "\x07\x55", ""},
		{"frame length u16 le including all keep\ncode varint at 3\nfield x u8 at 2\n", "\x15\x00\x55\x07", ""},
		{"frame length u16 le including all keep\ncode u8 at 2\nfield x u16 be at 3\nchecksum sum sum8 at -1\nfield y u16 le at -3\n", "\x19\x00\x07\x12\x34", "\x78\x56"},
	} {
		files := map[string]string{"ends.ksy": positioned}
		if c.envelope != "" {
			files["protocol.envelope"], files["opcodes.map"] = c.envelope, "ends 7\n"
		}
		dir, _ := workspacetest.Dir(t, files)
		snap := workspacetest.Open(t, workspace.Config{Dialect: "kaitai", Files: dir}).Now()
		m, err := snap.Find("ends")
		if err != nil {
			t.Fatal(err)
		}
		data := []byte(c.before + string(contents) + c.after)
		if c.envelope != "" {
			m = snap.Alternate(m)
		}
		if c.after != "" {
			sum := byte(0)
			for _, b := range data {
				sum += b
			}
			data = append(data, sum)
		}
		var rec codec.Record
		res := snap.Decode(&rec, data, workspace.Request{Message: m})
		value, _ := json.Marshal(res.Value)
		if res.Status != "ok" {
			t.Errorf("%q: %s %v", c.envelope, res.Status, res.Problems)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "header")
		delete(fields, "tail")
		got, _ := json.Marshal(fields)
		if alone == "" {
			alone = string(got)
			if want := `{"first":{"kind":75,"at":"4","total":"17","word":75},"last":122,"node":{"next":15,"more":{"next":0}},"ofs_node":14,"ofs_words":10,"text":"hello!","words":[513,1027]}`; alone != want {
				t.Errorf("%s, want %s", alone, want)
			}
		}
		if string(got) != alone {
			t.Errorf("%q: %s, alone %s", c.envelope, got, alone)
		}
		back, _, problems, err := snap.EncodeValue(m, nil, value)
		if string(back) != string(data) {
			t.Errorf("%q: encoded %x, want %x: %v %v", c.envelope, back, data, problems, err)
		}
	}
}
