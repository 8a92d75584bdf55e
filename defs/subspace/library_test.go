package subspace_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/corpora"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
)

// shipped returns the definitions that ship with the program. They have no diagnostics and are in canonical form.
func shipped(t *testing.T) *schema.Schema {
	t.Helper()
	fsys, ok := library.Dialect("subspace")
	if !ok {
		t.Fatal("nothing of subspace ships with the program")
	}
	names, err := fs.Glob(fsys, "*.def")
	if err != nil || len(names) == 0 {
		t.Fatal("no definitions ship with the program", err)
	}
	var files []*source.File
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		f := source.New(name, string(text))
		files = append(files, f)
		if formatted, diags := subspace.Format(f); formatted != f.Text || len(diags) > 0 {
			t.Errorf("%s is not in canonical form\n%s", name, diags.Render())
		}
	}
	return linked(t, files...)
}

// linked returns the messages of files, which must have no diagnostics.
func linked(t *testing.T, files ...*source.File) *schema.Schema {
	t.Helper()
	s, diags := subspace.Parse(files, schema.Options{})
	if len(diags) > 0 {
		t.Error(diags.Render())
	}
	return s
}

// page returns the messages of a page in the form of the wiki: that of the wiki itself is beside larger corpora.
func page(t *testing.T, c *corpora.Corpus) *schema.Schema {
	t.Helper()
	if c.Own {
		return linked(t, source.New("page.txt", ownPage()))
	}
	return linked(t, source.New("page.txt", c.Text(t, "../source/subspace-core-protocol.txt")))
}

// pagePackets are the packets of the page: their names, and those of their fields.
var pagePackets = map[uint32]string{
	0x01: "login client_key protocol_version", 0x02: "login_response client_key", 0x03: "reliable_header packet_id payload",
	0x04: "reliable_acknowledge packet_id", 0x05: "sync local_time packets_sent packets_received",
	0x06: "sync_response time_from_last_received_0x05_packet server_time", 0x07: "disconnect", 0x08: "small_chunk payload",
	0x09: "chunk_tail payload", 0x0a: "stream total_length_of_all_segments payload", 0x0b: "cancel_stream_request",
	0x0c: "cancel_stream_acknowledge", 0x0e: "cluster packets", 0x10: "Continuum_alternate_encryption_response unknown_2",
	0x11: "Continuum_alternate_encryption_response_response unknown_2",
}

// ownPage writes the packets of the page as the wiki does.
func ownPage() string {
	var b strings.Builder
	b.WriteString("Packets\n\nThis text is not a table.\n\n")
	for _, code := range slices.Sorted(maps.Keys(pagePackets)) {
		words := strings.Fields(pagePackets[code])
		fmt.Fprintf(&b, "0x%02X %s\noffset size comment\n0      1    type 0x00\n1      1    type 0x%02X\n", code, strings.ReplaceAll(words[0], "_", " "), code)
		off := 2
		for _, name := range words[1:] {
			size := "4"
			switch name {
			case "packets":
				b.WriteString("2      1    length\n3      ?    payload with length as above\npacket repeats from offset 2 until end, process contents as arbitrary packets\n")
				continue
			case "protocol_version":
				size = "2"
			case "payload":
				size = "?"
			case "unknown_2": // what a row without a name is called
				size, name = "?", ""
			}
			fmt.Fprintf(&b, "%d      %s    %s\n", off, size, strings.ReplaceAll(name, "_", " "))
			off += 4
		}
		b.WriteString(map[uint32]string{8: "parts are appended\n", 9: "append this part\n", 10: "append all parts\n"}[code] + "\n")
	}
	return b.String()
}

// withBoth runs a test with the shipped definitions and with the page.
func withBoth(t *testing.T, run func(t *testing.T, s *schema.Schema, isPage bool)) {
	t.Run("library", func(t *testing.T) { run(t, shipped(t), false) })
	t.Run("page", func(t *testing.T) { corpora.Run(t, func(t *testing.T, c *corpora.Corpus) { run(t, page(t, c), true) }) })
}

// programs compiles messages on demand.
type programs map[*schema.Message]*codec.Program

func (p programs) of(t *testing.T, m *schema.Message) *codec.Program {
	t.Helper()
	if p[m] == nil {
		var err error
		if p[m], err = codec.Compile(m); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
	}
	return p[m]
}

// decode decodes a complete packet, checks that its value encodes to the same bytes, and returns the value.
func (p programs) decode(t *testing.T, m *schema.Message, data []byte) map[string]any {
	t.Helper()
	prog := p.of(t, m)
	var rec, in, out codec.Record
	prog.Decode(&rec, data)
	if rec.Status() != codec.OK || rec.Unexplained() > 0 {
		t.Errorf("%s: %x\n%s", m.Name, data, view.Transcript(&rec))
		return nil
	}
	text := value.AppendJSON(nil, &rec)
	if err := value.ParseJSON(&in, prog, text); err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	in.Code = m.Key.Code
	// Bytes after the zero of a text are preserved when a message is edited, but are not part of its value.
	if err := prog.Encode(&out, &in); err != nil || len(rec.AppendWarnings(nil)) == 0 && !bytes.Equal(out.Data, data) {
		t.Errorf("%s: %x round-trips to %x (%v)", m.Name, data, out.Data, err)
	}
	var value map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestCorporaEmptyValues encodes an empty value of each message, and decodes the result.
func TestCorporaEmptyValues(t *testing.T) {
	withBoth(t, func(t *testing.T, s *schema.Schema, isPage bool) {
		all := programs{}
		for _, m := range s.Messages {
			if !isPage && (m.Doc == "" || m.Doc[0] < 'A' || m.Doc[0] > 'Z') {
				t.Errorf("%s has no description that is a sentence: %q", m.Name, m.Doc)
			}
			if m.Broken {
				t.Errorf("%s is broken", m.Name)
			}
			var in, out codec.Record
			p := all.of(t, m)
			if err := value.ParseJSON(&in, p, []byte("{}")); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			in.Code = m.Key.Code
			if err := p.Encode(&out, &in); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			all.decode(t, m, bytes.Clone(out.Data))
		}
	})
}

// TestCorporaPage checks the fields of the page's tables.
func TestCorporaPage(t *testing.T) { corpora.Run(t, testPage) }

func testPage(t *testing.T, c *corpora.Corpus) {
	s := page(t, c)
	for code, want := range pagePackets {
		m := s.Lookup(schema.Key{Group: "core", Code: code})
		if m == nil {
			t.Errorf("no packet 0x%02X", code)
			continue
		}
		got := m.Name
		for _, f := range m.Body.Fields {
			got += " " + f.Name
		}
		if got != want {
			t.Errorf("0x%02X is %s, want %s", code, got, want)
		}
	}
	for code, want := range map[uint32]bool{0x03: true, 0x08: false, 0x09: false, 0x0a: false, 0x0e: true} {
		for where, s := range map[string]*schema.Schema{"page": s, "library": shipped(t)} {
			if got := nested(s.Lookup(schema.Key{Group: "core", Code: code}).Body); got != want {
				t.Errorf("%s: 0x%02X contains packets: %v", where, code, got)
			}
		}
	}
	if len(s.Messages) != 15 {
		t.Errorf("%d packets", len(s.Messages))
	}
}

// nested reports whether a struct contains packets.
func nested(s *schema.Struct) bool {
	for _, f := range s.Fields {
		switch typ := f.Type.(type) {
		case *schema.Blob:
			if typ.Nested {
				return true
			}
		case *schema.List:
			if nested(typ.Elem) {
				return true
			}
		}
	}
	return false
}

// truth calls each for every line of the files with the contents of captures.
func truth(t *testing.T, each func(file string, line capturedLine)) {
	t.Helper()
	for _, c := range corpora.All(t) {
		for _, name := range c.Glob(t, "subspace/*.truth.jsonl") {
			for _, line := range corpora.Rows[capturedLine](t, c, name) {
				each(path.Base(name), line)
			}
		}
	}
}

// capturedLine is a line about a datagram of a capture.
type capturedLine struct {
	Kind  string
	Dir   string
	Type  uint32
	Name  string
	Hex   string
	Plain string // the deciphered datagram
	Src   string
	Tree  *packetTree
}

// packetTree is a packet and its nested packets.
type packetTree struct {
	P         string
	Malformed any
	Items     []*packetTree
	Inner     *packetTree

	Seq, Total, Key, Version, Time, Sent, Recv json.Number
	ServerTime                                 json.Number `json:"server_time"`
	Type                                       uint32
}

func direction(name string) schema.Dir {
	if name == "c2s" {
		return schema.ToServer
	}
	return schema.ToClient
}

// TestCorporaGameMessages checks that every game message of the captures decodes.
func TestCorporaGameMessages(t *testing.T) {
	s, all := shipped(t), programs{}
	decoded, unknown := 0, 0
	truth(t, func(file string, line capturedLine) {
		if line.Kind != "msg" {
			return
		}
		group := "game"
		if strings.HasPrefix(file, "sim-directory") {
			group = "directory"
		}
		m := s.Lookup(schema.Key{Dir: direction(line.Dir), Group: group, Code: line.Type})
		if m == nil {
			if line.Name != "unknown" {
				t.Errorf("%s: no message of type 0x%02X, %s", file, line.Type, line.Name)
			}
			unknown++
			return
		}
		data, err := hex.DecodeString(line.Hex)
		if err != nil {
			t.Fatal(err)
		}
		all.decode(t, m, data)
		decoded++
	})
	if decoded < 400 || unknown > 3 {
		t.Errorf("%d messages were decoded, %d have no definition", decoded, unknown)
	}
}

// coreFields are the fields of core packets: their values in the captures, and their names in the shipped definitions and in the page.
var coreFields = map[string]struct {
	code   uint32
	fields func(p *packetTree) []json.Number
	names  []string
	page   []string
}{
	"login":             {1, func(p *packetTree) []json.Number { return []json.Number{p.Key, p.Version} }, []string{"client_key", "version"}, []string{"client_key", "protocol_version"}},
	"login-response":    {2, func(p *packetTree) []json.Number { return []json.Number{p.Key} }, []string{"server_key"}, []string{"client_key"}},
	"reliable":          {3, func(p *packetTree) []json.Number { return []json.Number{p.Seq} }, []string{"sequence"}, []string{"packet_id"}},
	"ack":               {4, func(p *packetTree) []json.Number { return []json.Number{p.Seq} }, []string{"sequence"}, []string{"packet_id"}},
	"sync":              {5, func(p *packetTree) []json.Number { return []json.Number{p.Time, p.Sent, p.Recv} }, []string{"time", "packets_sent", "packets_received"}, []string{"local_time", "packets_sent", "packets_received"}},
	"sync-response":     {6, func(p *packetTree) []json.Number { return []json.Number{p.Time, p.ServerTime} }, []string{"request_time", "time"}, []string{"time_from_last_received_0x05_packet", "server_time"}},
	"disconnect":        {code: 7},
	"chunk":             {code: 8},
	"chunk-tail":        {code: 9},
	"stream":            {10, func(p *packetTree) []json.Number { return []json.Number{p.Total} }, []string{"total"}, []string{"total_length_of_all_segments"}},
	"stream-cancel":     {code: 11},
	"stream-cancel-ack": {code: 12},
	"cluster":           {code: 14},
}

// TestCorporaDatagrams decodes every datagram of the captures, including nested packets, with the shipped definitions and with the page.
func TestCorporaDatagrams(t *testing.T) {
	withBoth(t, func(t *testing.T, s *schema.Schema, isPage bool) {
		all, seen := programs{}, map[string]int{}
		truth(t, func(file string, line capturedLine) {
			if line.Kind != "dgram" || line.Tree == nil {
				return
			}
			text := line.Hex
			if line.Plain != "" {
				text = line.Plain
			}
			data, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			decodeTree(t, s, all, direction(line.Dir), isPage, line.Tree, data, seen)
		})
		for p := range coreFields {
			if seen[p] < 2 {
				t.Errorf("%d packets %s were decoded", seen[p], p)
			}
		}
	})
}

// decodeTree decodes a packet and its nested packets, and compares them with the expected contents. Packets that are malformed on purpose
// are skipped.
func decodeTree(t *testing.T, s *schema.Schema, all programs, dir schema.Dir, isPage bool, tree *packetTree, data []byte, seen map[string]int) {
	t.Helper()
	core, ok := coreFields[tree.P]
	if !ok || tree.Malformed != nil || tree.P == "login-response" && tree.Key == "" {
		return
	}
	m := s.Lookup(schema.Key{Dir: dir, Group: "core", Code: core.code})
	if m == nil {
		t.Fatalf("no packet 0x%02X", core.code)
	}
	seen[tree.P]++
	value := all.decode(t, m, data)
	names := core.names
	if isPage {
		names = core.page
	}
	for i, name := range names {
		number, _ := value[name].(json.Number)
		if want := core.fields(tree)[i]; !sameBits(number, want) {
			t.Errorf("%s: %s is %v, want %s", m.Name, name, value[name], want)
		}
	}
	switch {
	case tree.P == "cluster":
		items, _ := value["packets"].([]any)
		if len(items) != len(tree.Items) {
			t.Fatalf("%d packets in a cluster, want %d", len(items), len(tree.Items))
		}
		for i, item := range items {
			decodeTree(t, s, all, dir, isPage, tree.Items[i], payload(t, item), seen)
		}
	case tree.P == "reliable" && tree.Inner != nil:
		decodeTree(t, s, all, dir, isPage, tree.Inner, payload(t, value), seen)
	}
}

// sameBits reports whether two signed or unsigned numbers have the same 32 bits.
func sameBits(a, b json.Number) bool {
	x, errX := a.Int64()
	y, errY := b.Int64()
	return errX == nil && errY == nil && uint32(x) == uint32(y)
}

// payload returns the bytes of the field "payload".
func payload(t *testing.T, value any) []byte {
	t.Helper()
	object, _ := value.(map[string]any)
	text, _ := object["payload"].(string)
	data, err := hex.DecodeString(text)
	if err != nil || len(data) == 0 {
		t.Fatalf("no payload in %v", value)
	}
	return data
}

// TestCorporaPings decodes the traffic of the ping port.
func TestCorporaPings(t *testing.T) {
	s, all := shipped(t), programs{}
	seen := map[string]int{}
	truth(t, func(_ string, line capturedLine) {
		if line.Kind != "ping" {
			return
		}
		data, err := hex.DecodeString(line.Hex)
		if err != nil {
			t.Fatal(err)
		}
		isAnswer := strings.HasSuffix(line.Src, ":5001") || strings.HasSuffix(line.Src, ":5011")
		name := ""
		switch n := len(data); {
		case n == 4 && !isAnswer:
			name = "ping"
		case n == 8 && !isAnswer:
			name = "summary_request"
		case n == 8:
			name = "pong"
		case n > 8 && isAnswer:
			name = "summary"
		default:
			return // truncated on purpose
		}
		seen[name]++
		all.decode(t, s.Find(name, 0), data)
	})
	for _, name := range []string{"ping", "pong", "summary_request", "summary"} {
		if seen[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
}
