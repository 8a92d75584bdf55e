package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/defs/emit"
)

var dump = flag.String("dump", "", "directory for the hashed outputs of TestCorporaFrozen, to compare two versions with diff -r")

const frozenFile = "testdata/frozen.txt"

// TestCorporaFrozen compares outputs of the program with hashes: decoding, encoding, layouts, pasted text, frames, emitted code and responses of the
// HTTP API, for the built-in library, the own corpora and, if available, larger ones. It keeps the behavior unchanged during a refactoring; -update records an
// intended change and fails, and the commit message names the change.
func TestCorporaFrozen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	f := &freezer{t: t, dir: t.TempDir(), texts: map[string]*strings.Builder{}}
	f.shipped()
	f.api()
	f.corpus(t, "own/", corpora.Own())
	wide := corpora.Wide(t)
	if wide != nil {
		f.corpus(t, "", wide)
	}
	f.compare(wide != nil)
}

// freezer collects outputs by name; outputs of the same name are hashed together.
type freezer struct {
	t     *testing.T
	dir   string // temporary directory, removed from outputs before hashing
	base  string // folder of the corpus, removed too
	under string // before the names
	texts map[string]*strings.Builder
}

func (f *freezer) add(name string, outputs ...string) {
	name = f.under + name
	b := f.texts[name]
	if b == nil {
		b = &strings.Builder{}
		f.texts[name] = b
	}
	for _, o := range outputs {
		o = strings.ReplaceAll(o, f.dir, "DIR")
		if f.base != "" {
			o = strings.ReplaceAll(o, f.base, "CORPORA")
		}
		fmt.Fprintf(b, "%s\n----\n", o)
	}
}

// run adds the output of a command.
func (f *freezer) run(name, stdin string, args ...string) string {
	f.t.Helper()
	stdout, stderr, status := cli(f.t, stdin, args...)
	f.add(name, "$ "+strings.Join(args, " "), stdout, stderr, strconv.Itoa(status))
	return stdout
}

// shipped adds the built-in libraries, samples and recordings.
func (f *freezer) shipped() {
	for _, protocol := range []string{"tera", "muta", "subspace", "protodef", "mavlink"} {
		base := "shipped/" + protocol
		flags := []string{"--protocol", protocol}
		library := filepath.Join("../../defs/library", protocol)
		file, err := os.Open(filepath.Join(library, "samples.jsonl"))
		if err != nil {
			f.t.Fatal(err)
		}
		defer file.Close()
		random := rand.New(rand.NewPCG(1, 2))
		seen := map[string]bool{}
		for sc := bufio.NewScanner(file); sc.Scan(); {
			var sample struct {
				Message string
				Hex     string
				Value   json.RawMessage
			}
			if err := json.Unmarshal(sc.Bytes(), &sample); err != nil {
				f.t.Fatal(err)
			}
			flags := append(slices.Clone(flags), "--message", sample.Message)
			hexes := strings.Join(mangled(random, sample.Hex), "\n") + "\n"
			f.run(base+"/decode", hexes, append([]string{"decode", "--json", "--fields"}, flags...)...)
			f.run(base+"/decode-text", hexes, append([]string{"decode"}, flags...)...)
			if sample.Value != nil {
				f.run(base+"/encode", string(sample.Value)+"\n", append([]string{"encode", "--json"}, flags...)...)
			}
			if !seen[sample.Message] {
				seen[sample.Message] = true
				f.run(base+"/layout", "", append([]string{"layout", "--json"}, flags...)...)
				f.run(base+"/layout-text", "", append([]string{"layout"}, flags...)...)
			}
		}
		for _, target := range emit.Targets {
			f.run(base+"/emit/"+target.Name, "", append([]string{"emit", "--json", "--target", target.Name}, flags...)...)
		}
		f.run(base+"/check", "", "check", "--explain", "--protocol", protocol, library)
		f.run(base+"/frames", "", append([]string{"frames", "--json", "--value", "--fields", filepath.Join(library, "demo.pcapng")}, flags...)...)
		f.run(base+"/frames-text", "", append([]string{"frames", filepath.Join(library, "demo.pcapng")}, flags...)...)
		f.run(base+"/frames-filter", "", append([]string{"frames", "--filter", "len > 20 && kind == message", filepath.Join(library, "demo.pcapng")}, flags...)...)
		f.raw(base+"/raw", flags)
	}
}

// raw adds the frames of raw bytes: the messages to the server of a recording, one after another, split by framings and by the envelope.
func (f *freezer) raw(base string, flags []string) {
	protocol := flags[len(flags)-1]
	stdout, stderr, status := cli(f.t, "", append([]string{"frames", "--json", "--kind", "message", "--filter", "dir == c2s", filepath.Join("../../defs/library", protocol, "demo.pcapng")}, flags...)...)
	if status != 0 {
		f.t.Fatal(stderr)
	}
	var plain, sized, cut []byte // as they are, with a size of a varint and the mark of no compression, and with bytes missing
	for line := range strings.Lines(stdout) {
		var x struct{ Hex string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			f.t.Fatal(err)
		}
		b, err := hex.DecodeString(x.Hex)
		if err != nil {
			f.t.Fatal(err)
		}
		plain = append(plain, b...)
		sized = append(binary.AppendUvarint(sized, uint64(len(b)+1)), 0)
		sized = append(sized, b...)
	}
	cut = append(append(cut, sized[:len(sized)/2]...), sized[len(sized)/2+3:]...)
	for name, file := range map[string][]byte{"plain": plain, "sized": sized, "cut": cut} {
		path := filepath.Join(f.t.TempDir(), name+".bin")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			f.t.Fatal(err)
		}
		for _, framing := range []string{"whole+c2s", "prefixed:varint+c2s", "delimited:00+c2s", "envelope+c2s"} {
			stdout, stderr, status := cli(f.t, "", append([]string{"frames", "--json", "--framing", framing, path}, flags...)...)
			f.add(base+"/"+name+"/"+framing, stdout, strings.ReplaceAll(stderr, path, "FILE"), strconv.Itoa(status))
		}
	}
}

// mangled returns a message, parts of it, and copies with changed bytes.
func mangled(random *rand.Rand, hexText string) []string {
	data, err := hex.DecodeString(hexText)
	if err != nil || len(data) == 0 {
		return []string{hexText}
	}
	list := []string{hexText, hexText + "00ff"}
	for range 4 {
		list = append(list, hex.EncodeToString(data[:random.IntN(len(data))]))
	}
	for range 12 {
		changed := slices.Clone(data)
		for range 1 + random.IntN(3) {
			changed[random.IntN(len(changed))] = byte(random.IntN(256))
		}
		list = append(list, hex.EncodeToString(changed))
	}
	return list
}

// api adds responses of the HTTP API.
func (f *freezer) api() {
	addr, _ := started(f.t, "--listen", "127.0.0.1:0")
	base := "http://" + addr
	post := func(name, path, body string) {
		f.t.Helper()
		res, err := http.Post(base+path, "application/json", strings.NewReader(body))
		if err != nil {
			f.t.Fatal(err)
		}
		defer res.Body.Close()
		var text strings.Builder
		if _, err := bufio.NewReader(res.Body).WriteTo(&text); err != nil {
			f.t.Fatal(err)
		}
		f.add("api/"+name, path+" "+body, strconv.Itoa(res.StatusCode), text.String())
	}
	_, document := get(f.t, base+"/api/openapi.json")
	var indented any
	if err := json.Unmarshal([]byte(document), &indented); err != nil {
		f.t.Fatal(err)
	}
	text, err := json.MarshalIndent(indented, "", " ")
	if err != nil {
		f.t.Fatal(err)
	}
	f.add("api/openapi", string(text))

	const edit = "26002c4e02000c001c00d2040c001400e903000014000000d20700004c0061006e006e000000"
	post("decode", "/api/tera/decode", `{"hex":"`+edit+`"}`)
	post("decode", "/api/tera/decode", `{"hex":"`+edit[:40]+`"}`)
	post("decode", "/api/tera/decode", `{"message":"NO_SUCH","hex":"00"}`)
	post("decode", "/api/tera/decode", `{"message":"X","definition":"int32 a\nstring s","hex":"0c00000006000100000000"}`)
	post("decode", "/api/muta/decode", `{"hex":"0101ffffffffffffffff"}`)
	post("decode", "/api/subspace/decode", `{"hex":"00040a000000"}`)
	post("encode", "/api/tera/encode", `{"message":"C_EDIT_PRIVATE_CHANNEL","value":{"password":7,"members":[{"player_id":1}],"channel_name":"x"}}`)
	post("encode", "/api/tera/encode", `{"message":"C_EDIT_PRIVATE_CHANNEL","value":{"password":65536}}`)
	post("encode", "/api/tera/encode", `{"message":"C_EDIT_PRIVATE_CHANNEL","value":{"none":1}}`)
	post("layout", "/api/tera/layout", `{"message":"C_EDIT_PRIVATE_CHANNEL"}`)
	post("layout", "/api/tera/layout", `{"text":"in32 a\nstring s\narray b\n- int16 c"}`)
	post("layout", "/api/muta/layout", `{"text":"group: a\npacket: a_b\n __group = a\n x = char {1, 5}\n"}`)
	post("layout", "/api/subspace/layout", `{"text":"Thing\n\noffset size comment\n0 1 type 0x05\n1 ? text\n"}`)
	post("paste", "/api/tera/paste", `{"text":"00000000  26 00 2c 4e |&.,N|\n"}`)
	post("paste", "/api/tera/paste", `{"text":"nothing here"}`)
	for _, ws := range []string{"tera", "muta", "subspace"} {
		var list struct{ Captures []struct{ ID string } }
		_, body := get(f.t, base+"/api/"+ws+"/captures")
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Captures) == 0 {
			f.t.Fatalf("captures of %s: %v %s", ws, err, body)
		}
		for _, rest := range []string{"frames?count=300", "frames?filter=len>20", "frames?filter=nonsense%3D%3D", "export?format=csv", "export?format=jsonl"} {
			status, body := get(f.t, base+"/api/"+ws+"/captures/"+list.Captures[0].ID+"/"+rest)
			f.add("api/captures/"+ws, rest, strconv.Itoa(status), strings.ReplaceAll(body, list.Captures[0].ID, "ID"))
		}
	}
}

// corpus adds everything of a corpus.
func (f *freezer) corpus(t *testing.T, under string, c *corpora.Corpus) {
	f.under, f.base = under, c.Dir(t)
	f.teraCorpus()
	f.mutaCorpus()
	f.captureCorpus()
	f.pastedCorpus()
	f.under, f.base = "", ""
}

// teraCorpus adds every definition and vector of the TERA corpus.
func (f *freezer) teraCorpus() {
	folder := filepath.Join(f.base, "tera/toolbox/definitions")
	f.run("tera/check", "", "check", folder)
	flags := []string{"--library", folder, "--map", filepath.Join(f.base, "tera/toolbox/protocol.387396.map")}
	for _, target := range emit.Targets {
		f.run("tera/emit/"+target.Name, "", append([]string{"emit", "--json", "--target", target.Name}, flags...)...)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.def"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".def")
		f.run("tera/layout/"+name[:min(3, len(name))], "", "layout", "--json", "--library", file, "--message", name)
		f.run("tera/layout-text/"+name[:min(3, len(name))], "", "layout", "--library", file, "--message", name)
	}
	data, err := os.ReadFile(filepath.Join(f.base, "tera/vectors-toolbox.jsonl"))
	if err != nil {
		f.t.Fatal(err)
	}
	hexes, order := map[string][]string{}, []string(nil)
	random := rand.New(rand.NewPCG(3, 4))
	for line := range strings.Lines(string(data)) {
		var v corpusVector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			f.t.Fatal(err)
		}
		if hexes[v.Def] == nil {
			order = append(order, v.Def)
		}
		if len(v.Hex) < 4000 {
			hexes[v.Def] = append(hexes[v.Def], mangled(random, v.Hex)...)
		}
	}
	for _, def := range order {
		name := strings.TrimSuffix(def, ".def")
		f.run("tera/decode/"+name[:min(3, len(name))], strings.Join(hexes[def], "\n")+"\n",
			"decode", "--json", "--fields", "--library", filepath.Join(folder, def), "--message", name)
	}
}

// mutaCorpus adds every vector of the MUTA corpus, each with its definitions.
func (f *freezer) mutaCorpus() {
	data, err := os.ReadFile(filepath.Join(f.base, "muta/vectors.jsonl"))
	if err != nil {
		f.t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for line := range strings.Lines(string(data)) {
		var v struct {
			Text      string                 `json:"def_text"`
			Constants map[string]json.Number `json:"constants"`
			Group     string
			Message   string
			Value     json.RawMessage
			Hex       *string
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			f.t.Fatal(err)
		}
		file := filepath.Join(f.dir, "vector.def")
		if err := os.WriteFile(file, []byte(v.Text), 0o644); err != nil {
			f.t.Fatal(err)
		}
		flags := []string{"--protocol", "muta", "--library", file, "--group", v.Group}
		for _, name := range slices.Sorted(maps.Keys(v.Constants)) {
			flags = append(flags, "--const", name+"="+v.Constants[name].String())
		}
		if v.Hex != nil {
			f.run("muta/decode", strings.Join(mangled(random, *v.Hex), "\n")+"\n", append([]string{"decode", "--json", "--fields"}, flags...)...)
		}
		flags = append(flags, "--message", v.Message)
		f.run("muta/encode", string(v.Value)+"\n", append([]string{"encode", "--json"}, flags...)...)
		f.run("muta/layout", "", append([]string{"layout", "--json"}, flags...)...)
		f.run("muta/layout-text", "", append([]string{"layout"}, flags...)...)
	}
}

// captureCorpus adds every capture, with values and fields.
func (f *freezer) captureCorpus() {
	tera := []string{"--library", filepath.Join(f.base, "tera/toolbox/definitions"), "--map", filepath.Join(f.base, "tera/toolbox/protocol.387396.map")}
	muta := []string{"--library", filepath.Join(f.base, "captures/muta-session.def")}
	subspace := []string{"--protocol", "subspace"}
	for _, capture := range []struct {
		name  string
		flags []string
	}{
		{"subspace/plain-session.pcap", subspace},
		{"subspace/vie-session.pcap", subspace},
		{"subspace/plain-lossy-serverside.pcap", subspace},
		{"subspace/plain-malformed.pcap", subspace},
		{"subspace/sim-directory-list.pcap", subspace},
		{"subspace/sim-continuum-opaque.pcap", subspace},
		{"captures/muta-session.pcapng", muta},
		{"captures/muta-desync.pcapng", muta},
		{"captures/tera-session.pcapng", tera},
		{"captures/tera-plain.pcapng", tera},
		{"captures/tera-broken.pcapng", tera},
	} {
		file := filepath.Join(f.base, filepath.FromSlash(capture.name))
		f.run("frames/"+capture.name, "", append([]string{"frames", "--json", "--value", "--fields", file}, capture.flags...)...)
		f.run("frames-text/"+capture.name, "", append([]string{"frames", file}, capture.flags...)...)
		f.run("frames-filter/"+capture.name, "", append([]string{"frames", "--filter", "dir == c2s && len > 12", file}, capture.flags...)...)
	}
}

// pastedCorpus adds every pasted text.
func (f *freezer) pastedCorpus() {
	folder := filepath.Join(f.base, "pasted")
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".txt", ".log"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kind := filepath.Base(filepath.Dir(path))
		f.run("paste/"+kind, string(text), "paste", "--json")
		f.run("paste-decode/"+kind, string(text), "decode", "--paste", "--json")
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// compare compares the hashes with those of the file. Without the corpora, their names in the file are ignored.
func (f *freezer) compare(withCorpora bool) {
	t := f.t
	data, err := os.ReadFile(frozenFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = hash
	}
	got := map[string]string{}
	for name, text := range f.texts {
		sum := sha256.Sum256([]byte(text.String()))
		got[name] = hex.EncodeToString(sum[:8])
		if *dump != "" {
			path := filepath.Join(*dump, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	differs := false
	for name := range want {
		if got[name] == "" && !withCorpora && !strings.HasPrefix(name, "shipped/") && !strings.HasPrefix(name, "api/") && !strings.HasPrefix(name, "own/") {
			got[name] = want[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != want[name] {
			differs = true
			t.Errorf("%s: the output has changed", name)
		}
	}
	for name := range want {
		if got[name] == "" {
			differs = true
			t.Errorf("%s: no longer written", name)
		}
	}
	if differs && *update {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(got)) {
			fmt.Fprintf(&b, "%s %s\n", got[name], name)
		}
		if err := os.WriteFile(frozenFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("wrote %s", frozenFile)
	}
}
