package main

import (
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
)

type corpusVector struct {
	Def    string          `json:"def"`
	Opcode uint32          `json:"opcode"`
	Hex    string          `json:"hex"`
	Value  json.RawMessage `json:"value"`
}

// decode gives the value, and encode the bytes, of every vector of the reference parser.
func TestCorporaVectorsByCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and many cases, with -short")
	}
	corpora.Run(t, testVectorsByCommandLine)
}

func testVectorsByCommandLine(t *testing.T, c *corpora.Corpus) {
	dir := c.Dir(t)
	byDef := map[string][]corpusVector{}
	for _, v := range corpora.Rows[corpusVector](t, c, "tera/vectors-toolbox.jsonl") {
		byDef[v.Def] = append(byDef[v.Def], v)
	}
	checked := 0
	for def, list := range byDef {
		var hexes, values strings.Builder
		for _, v := range list {
			hexes.WriteString(v.Hex + "\n")
			values.Write(append(v.Value, '\n'))
		}
		flags := []string{"--library", filepath.Join(dir, "tera/toolbox/definitions", def), "--message", strings.TrimSuffix(def, ".def"), "--json"}
		stdout, stderr, status := cli(t, hexes.String(), append([]string{"decode", "--fields"}, flags...)...)
		got := lines(stdout)
		if status != 0 || len(got) != len(list) {
			t.Fatalf("%s: status %d, %d results\n%s", def, status, len(got), stderr)
		}
		for i, line := range got {
			decodedRight(t, list[i], line)
		}
		stdout, stderr, status = cli(t, values.String(), append([]string{"encode", "--code", strconv.Itoa(int(list[0].Opcode))}, flags[:4]...)...)
		if status != 0 || stdout != hexes.String() {
			t.Errorf("%s: status %d\n got %s\nwant %s\n%s", def, status, stdout, hexes.String(), stderr)
		}
		checked += len(list)
	}
	if checked != 2505 && !c.Own || checked < 280 {
		t.Errorf("%d vectors checked", checked)
	}
}

// decodedRight compares a result with a vector, and checks that the fields cover every bit once.
func decodedRight(t *testing.T, v corpusVector, line string) {
	t.Helper()
	var res struct {
		Status   string
		Used     int
		Value    any
		Problems []any
		Fields   []struct {
			BitOffset, BitLength int
			Role                 string
			Overlap              bool
		}
	}
	line = strings.NewReplacer("bit_offset", "BitOffset", "bit_length", "BitLength").Replace(line)
	if err := json.Unmarshal([]byte(line), &res); err != nil {
		t.Fatalf("%s: %v", v.Def, err)
	}
	var want any
	if err := json.Unmarshal(v.Value, &want); err != nil {
		t.Fatal(err)
	}
	if res.Status != "ok" || res.Used != len(v.Hex)/2 || len(res.Problems) > 0 || !reflect.DeepEqual(res.Value, want) {
		t.Errorf("%s: %s\nwant %s", v.Def, line, v.Value)
	}
	at := 0
	for _, f := range res.Fields {
		if f.BitOffset != at || f.Overlap || f.Role == "gap" {
			t.Errorf("%s: a field at bit %d where %d is next: %s", v.Def, f.BitOffset, at, line)
			break
		}
		at += f.BitLength
	}
	if at != len(v.Hex)*4 {
		t.Errorf("%s: fields end at bit %d of %d", v.Def, at, len(v.Hex)*4)
	}
}

func TestCorporaIntegrityVectorsByCommandLine(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	corpora.Run(t, testIntegrityVectorsByCommandLine)
}

func testIntegrityVectorsByCommandLine(t *testing.T, c *corpora.Corpus) {
	var file struct {
		Vectors []struct {
			IV, Opcode, Count, Checksum uint32
			Packet                      string
		}
	}
	if c.JSON(t, "tera/integrity.json", &file); len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	// The bodies have no definition: a fixed array has the bytes to the end of the message.
	for _, v := range file.Vectors {
		packet, err := hex.DecodeString(v.Packet)
		if err != nil {
			t.Fatal(err)
		}
		def := "# nothing\n"
		value := "{}"
		if n := len(packet) - 12; n > 0 {
			def = "byte[" + strconv.Itoa(n) + "] rest\n"
			nums := make([]string, n)
			for i, b := range packet[12:] {
				nums[i] = strconv.Itoa(int(b))
			}
			value = `{"rest":[` + strings.Join(nums, ",") + `]}`
		}
		lib := write(t, map[string]string{"C_X.1.def": def})
		flags := []string{"--library", lib, "--message", "C_X", "--integrity", "--integrity-iv", strconv.Itoa(int(v.IV))}
		stdout, stderr, status := cli(t, v.Packet, append([]string{"decode", "--json"}, flags...)...)
		if status != 0 || !strings.Contains(stdout, `"problems":[]`) {
			t.Errorf("%s: %s %s", v.Packet, stdout, stderr)
		}
		stdout, stderr, status = cli(t, value, append([]string{"encode", "--code", strconv.Itoa(int(v.Opcode)), "--integrity-count", strconv.Itoa(int(v.Count))}, flags...)...)
		if status != 0 || stdout != v.Packet+"\n" {
			t.Errorf("%s: encoded %s %s", v.Packet, stdout, stderr)
		}
	}
}

func TestCorporaPastedTextsByCommandLine(t *testing.T) { corpora.Run(t, testPastedTextsByCommandLine) }

func testPastedTextsByCommandLine(t *testing.T, c *corpora.Corpus) {
	dir := filepath.Join(c.Dir(t), "pasted")
	type row struct {
		File, Hex, Reason string
		Digits            int
	}
	var truth struct {
		Formats, Repeat, Errors []row
		RepeatMessage           struct{ Hex string } `json:"repeat_message"`
	}
	if c.JSON(t, "pasted/truth.json", &truth); len(truth.Formats) < 30 || len(truth.Repeat) < 5 || len(truth.Errors) == 0 {
		t.Fatal(len(truth.Formats), len(truth.Repeat))
	}
	for _, r := range append(truth.Formats, truth.Repeat...) {
		want := r.Hex
		if want == "" {
			want = truth.RepeatMessage.Hex
		}
		stdout, stderr, status := cli(t, "", "paste", "--json", filepath.Join(dir, r.File))
		var got struct{ Messages []struct{ Hex string } }
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 || len(got.Messages) != 1 || got.Messages[0].Hex != want {
			t.Errorf("%s: status %d, %s %s", r.File, status, stdout, stderr)
		}
	}
	for _, r := range truth.Errors {
		if stdout, stderr, status := cli(t, "", "paste", filepath.Join(dir, r.File)); status != 1 || stdout != "" || !strings.Contains(stderr, strconv.Itoa(r.Digits)+" hex digits") {
			t.Errorf("%s: status %d, %s %s", r.File, status, stdout, stderr)
		}
	}
}

// All public definitions check without an error, and formatting is idempotent.
func TestCorporaChecksAndFormats(t *testing.T) { corpora.Run(t, testCorpusChecksAndFormats) }

func testCorpusChecksAndFormats(t *testing.T, c *corpora.Corpus) {
	dir := filepath.Join(c.Dir(t), "tera/toolbox")
	stdout, _, status := cli(t, "", "check", dir)
	if status != 0 || strings.Contains(stdout, ": error:") {
		t.Errorf("status %d\n%s", status, stdout)
	}
	files := c.Files(t, "tera/toolbox/definitions/*.def")
	if len(files) != 836 && !c.Own || len(files) < 70 {
		t.Fatal(len(files))
	}
	lib := write(t, files)
	if _, stderr, status := cli(t, "", "fmt", "-w", lib); status != 0 {
		t.Fatal(stderr)
	}
	if stdout, stderr, status := cli(t, "", "fmt", "-l", lib); status != 0 || stdout != "" {
		t.Errorf("the second time: %s %s", stdout, stderr)
	}
	if stdout, _, status := cli(t, "", "check", lib); status != 0 {
		t.Errorf("after formatting: %s", stdout)
	}
}
