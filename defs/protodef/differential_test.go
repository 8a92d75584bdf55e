package protodef_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestDifferential compares messages of all published definitions, with random values, with the npm package protodef. It needs node, and
// WIREBENCH_PROTODEF: a folder node_modules with the packages that testdata/generate.js names. WIREBENCH_PROTODEF_LINES is a file with the
// output of that script, in place of running it.
func TestDifferential(t *testing.T) {
	modules, lines := os.Getenv("WIREBENCH_PROTODEF"), os.Getenv("WIREBENCH_PROTODEF_LINES")
	if modules == "" {
		t.Skip("WIREBENCH_PROTODEF is not set")
	}
	var text []byte
	var err error
	if lines != "" {
		text, err = os.ReadFile(lines)
	} else {
		script := exec.Command("node", "testdata/generate.js", modules, "7", "3")
		script.Stderr = os.Stderr
		text, err = script.Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	type result struct{ n, decoded, encoded int }
	var total result
	of := map[string]*result{}
	why := map[string]int{}
	example := map[string]string{}
	programs := map[string]*codec.Program{}
	schemas := map[string]*schema.Schema{}
	var rec, built, out codec.Record
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var m struct {
			File  string
			Names []string
			Name  string
			Hex   string
			Value any
		}
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		s := schemas[m.File]
		if s == nil {
			text, err := os.ReadFile(filepath.Join(modules, "minecraft-data/minecraft-data/data", m.File))
			if err != nil {
				t.Fatal(err)
			}
			s, _ = protodef.Parse([]*source.File{source.New("protocol.json", string(text))}, schema.Options{})
			schemas[m.File], of[m.File] = s, &result{}
			clear(programs)
		}
		r := of[m.File]
		r.n++
		total.n++
		id := strings.Join(m.Names, " ") + " " + m.Name
		p := programs[id]
		for _, x := range s.Messages {
			dir, group := schema.Both, ""
			if len(m.Names) == 2 {
				group = m.Names[0]
				dir = map[string]schema.Dir{"toClient": schema.ToClient, "toServer": schema.ToServer}[m.Names[1]]
			}
			if p == nil && x.Name == m.Name && x.Key.Dir == dir && x.Key.Group == group {
				if p, err = codec.Compile(x); err != nil {
					t.Fatal(err)
				}
				programs[id] = p
			}
		}
		fail := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			key := id
			if why[key]++; example[key] == "" {
				example[key] = m.File + ": " + text + " " + m.Hex[:min(len(m.Hex), 120)]
			}
		}
		if p == nil {
			fail("no message")
			continue
		}
		data, _ := hex.DecodeString(m.Hex)
		p.Decode(&rec, data)
		text := value.AppendJSON(nil, &rec)
		if rec.Status() != codec.OK || rec.Used != len(data) {
			reason := ""
			for _, q := range rec.Problems {
				reason += q.Message(&rec) + "; "
			}
			fail("%s, %d of %d bytes: %s", rec.Status(), rec.Used, len(data), reason)
			continue
		}
		d = json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var ours any
		if err := d.Decode(&ours); err != nil {
			t.Fatal(err)
		}
		if err := sameValue("", m.Value, ours); err != nil {
			fail("%v", err)
		} else {
			r.decoded++
			total.decoded++
		}
		if err := value.ParseJSON(&built, p, text); err != nil {
			fail("%v", err)
			continue
		}
		built.Code = rec.Code
		if err := p.Encode(&out, &built); err != nil {
			fail("%v", err)
			continue
		}
		if !bytes.Equal(out.Data, data) {
			fail("encoded %x", out.Data[:min(60, len(out.Data))])
			continue
		}
		r.encoded++
		total.encoded++
	}
	var keys []string
	for k := range why {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return why[keys[i]] > why[keys[j]] })
	for i, k := range keys {
		if i < 60 {
			t.Logf("%d × %s: %.600s", why[k], k, example[k])
		}
	}
	for name, r := range of {
		if r.decoded*100 < r.n*90 || r.encoded*100 < r.n*90 {
			t.Logf("%s: %d messages, %d values, %d bytes alike", name, r.n, r.decoded, r.encoded)
		}
	}
	t.Logf("%d files, %d messages, %d values alike (%.2f %%), %d bytes alike (%.2f %%)", len(of), total.n, total.decoded, 100*float64(total.decoded)/float64(total.n), total.encoded, 100*float64(total.encoded)/float64(total.n))
	if total.n == 0 || total.decoded*100 < total.n*98 || total.encoded*100 < total.n*98 {
		t.Errorf("fewer than 98 %% alike")
	}
}
