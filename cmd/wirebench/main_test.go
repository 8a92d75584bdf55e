package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cli runs a command line in this process.
func cli(t testing.TB, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

// write writes files to a new directory and returns its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

const joinDef = "string channel_name\nuint16 password\n"

var joinLib = map[string]string{"C_JOIN.1.def": "string channel_name\n", "C_JOIN.2.def": joinDef, "S_BAD.1.def": "in32 x\nbyte y\n", "notes.md": "x"}

const joinHex = "12003412080039304c0061006e006e000000"

// TestCommands runs command lines and compares their output and exit status.
func TestCommands(t *testing.T) {
	lib := write(t, joinLib)
	maps := write(t, map[string]string{"protocol.1.map": "C_JOIN 4660\nS_GONE = 7\n", "C_JOIN.2.def": joinDef})
	two := write(t, map[string]string{"C_JOIN.2.def": joinDef, "x.def": "packet: p\n  __group = g\n"})
	untidy := write(t, map[string]string{"C_A.1.def": "int32    x\n", "C_B.1.def": "int32 x\n", "C_C.1.def": "int32 x y\n"})
	old := write(t, map[string]string{
		"S_OLD.1.def": "skillid a\n", "S_GONE.1.def": "int32 a\n", "protocol.1.map": "S_OLD 1\nS_GONE 2\n",
		"deprecated.json": `{"S_OLD": {"1": {"max": 113, "readable": true}}, "S_GONE": {"1": {"max": 113}}}`,
	})
	cases := []struct {
		name   string
		args   []string
		stdin  string
		status int
		stdout string // exact, unless it ends with "..."
		stderr string // contained
	}{
		{
			"decode json",
			[]string{"decode", "--library", lib, "--message", "C_JOIN", "--json"},
			joinHex + "\n", 0,
			`{"message":"C_JOIN","version":2,"code":4660,"status":"ok","used":18,"value":{"channel_name":"Lann","password":12345},"problems":[]}` + "\n", "skipped",
		},
		{
			"decode the version named",
			[]string{"decode", "--library", lib, "--message", "C_JOIN.1", "--json"},
			"0800341206000000", 0,
			`{"message":"C_JOIN","version":1,"code":4660,"status":"ok","used":8,"value":{"channel_name":""},"problems":[]}` + "\n", "",
		},
		{"decode by map in the library", []string{"decode", "--library", maps, "--json"}, joinHex, 0, `{"message":"C_JOIN","version":2,"code":4660,"status":"ok"...`, ""},
		{
			"every line gives one result",
			[]string{"decode", "--library", maps, "--json"},
			"\nzz\n0400 0700\r\n123\n", 1,
			`{"message":"","status":"incomplete","used":0,"problems":[{"severity":"error","code":"truncated","message":"the message is truncated after 0 bytes; at least 4 are needed","bit_offset":0,"bit_length":0}]}
{"status":"error","problems":[{"severity":"error","code":"not-hex","message":"column 1: 'z' is not a hex digit","bit_offset":0,"bit_length":0}]}
{"message":"","code":7,"status":"unknown","used":4,"problems":[{"severity":"warning","code":"unknown-message","message":"code 7 (0x0007) is S_GONE, which has no definition","bit_offset":0,"bit_length":32}]}
{"status":"error","problems":[{"severity":"error","code":"not-hex","message":"an odd number of hex digits (3)","bit_offset":0,"bit_length":0}]}
`, "",
		},
		{
			"decode fields",
			[]string{"decode", "--library", lib, "--message", "C_JOIN", "--json", "--fields"},
			"0a003412080000000000", 0,
			`{"message":"C_JOIN","version":2,"code":4660,"status":"ok","used":10,"value":{"channel_name":"","password":0},"problems":[],"fields":[` +
				`{"path":"length","type":"uint16","role":"length","bit_offset":0,"bit_length":16,"value":10},` +
				`{"path":"code","type":"uint16","role":"code","bit_offset":16,"bit_length":16,"value":4660},` +
				`{"path":"channel_name","type":"uint16","role":"offset","bit_offset":32,"bit_length":16,"value":8,"line":1},` +
				`{"path":"password","type":"uint16","role":"value","bit_offset":48,"bit_length":16,"value":0,"line":2},` +
				`{"path":"channel_name","type":"string","role":"value","bit_offset":64,"bit_length":16,"value":"","line":1}]}` + "\n", "",
		},
		{
			"bytes that no field explains",
			[]string{"decode", "--library", lib, "--message", "C_JOIN", "--json"},
			"0c0034120a000800ffff0000\n0a003412080000000000070707\n", 0,
			`{"message":"C_JOIN","version":2,"code":4660,"status":"ok","used":12,"leftover":2,"value":{"channel_name":"","password":8},"problems":[` +
				`{"severity":"warning","code":"unexplained-bytes","message":"2 bytes that the definition does not explain","bit_offset":64,"bit_length":16}]}
{"message":"C_JOIN","version":2,"code":4660,"status":"ok","used":10,"leftover":3,"value":{"channel_name":"","password":0},"problems":[` +
				`{"severity":"warning","code":"bytes-left-over","message":"3 bytes left over after the message","bit_offset":80,"bit_length":24}]}
`, "",
		},
		{"a message without a definition explains its header", []string{"decode", "--library", maps, "--json"}, "0800090001020304", 0, `{"message":"","code":9,"status":"unknown","used":8,"leftover":4,...`, ""},
		{"a truncated message is incomplete", []string{"decode", "--library", lib, "--message", "C_JOIN", "--json"}, joinHex[:20], 1, `{"message":"C_JOIN","version":2,"code":4660,"status":"incomplete","used":10...`, ""},
		{"decode for people", []string{"decode", "--library", lib, "--message", "C_JOIN"}, joinHex, 0, "C_JOIN.2  code 4660 (0x1234)  18 bytes  ok\n...", ""},
		{"unknown for people", []string{"decode", "--library", maps}, "06000900ffff", 0, "?  code 9 (0x0009)  6 bytes  unknown\n...", ""},
		{"decode pasted", []string{"decode", "--library", lib, "--message", "C_JOIN", "--paste", "--json"}, "00000000: 1200 3412 0800 3930 4c00 6100 6e00 6e00  ..4...90L.a.n.n.\n00000010: 0000                                     ..\n", 0, `{"message":"C_JOIN","version":2,"code":4660,"status":"ok","used":18...`, ""},
		{"decode a text without bytes", []string{"decode", "--library", lib, "--paste", "--json"}, "hello, world", 1, `{"status":"error",...`, ""},
		{"near name", []string{"decode", "--library", lib, "--message", "C_JION"}, "", 2, "", `did you mean "C_JOIN"?`},
		{"near version", []string{"decode", "--library", lib, "--message", "C_JOIN.9"}, "", 2, "", `did you mean "C_JOIN.1"?`},
		{"a broken definition decodes the fields without errors", []string{"decode", "--library", lib, "--message", "S_BAD", "--json"}, "0500010007", 1, `{"message":"S_BAD","version":1,"code":1,"status":"ok","used":5,"value":{"y":7},"problems":[{"severity":"error","code":"definition-has-errors"...`, `unknown type "in32"`},
		{"mistakes elsewhere do not matter", []string{"decode", "--library", lib, "--message", "C_JOIN", "--json"}, joinHex, 0, `{"message":"C_JOIN"...`, ""},
		{"encode", []string{"encode", "--library", lib, "--message", "C_JOIN", "--code", "0x1234"}, `{"channel_name":"Lann","password":12345}`, 0, joinHex + "\n", ""},
		{"encode over bytes", []string{"encode", "--library", lib, "--message", "C_JOIN", "--base", "0c0034120a000800ffff0000"}, `{"channel_name":"","password":9}`, 0, "0c0034120a000900ffff0000\n", ""},
		{
			"encode over the bytes of a line", []string{"encode", "--library", maps, "--message", "C_JOIN"},
			`{"base":"0c00 3412 0a00 0800 ffff 0000 07","value":{"channel_name":"","password":8}}` + "\n" + `{"base":"0c0034120a000800ffff0000","value":{"channel_name":"a"}}` + "\n" + `{"base":"0g","value":{}}`, 1,
			"0c0034120a000800ffff000007\n0c003412080000006100" + "0000\n\n", "base: column 2: 'g' is not a hex digit",
		},
		{"encode by map", []string{"encode", "--library", maps, "--message", "C_JOIN"}, `{"channel_name":"Lann","password":12345}`, 0, joinHex + "\n", ""},
		{"--code overrides the map", []string{"encode", "--library", maps, "--message", "C_JOIN", "--code", "0"}, "{}", 0, "0a000000080000000000\n", ""},
		{"encode continues after a mistake", []string{"encode", "--library", maps, "--message", "C_JOIN"}, "{}\n{\"password\":65536}\n\n{}\n", 1, "0a003412080000000000\n\n\n0a003412080000000000\n", "line 2: error: 65536 does not fit uint16: 0 to 65535 (password) [out-of-range]"},
		{
			"encode json",
			[]string{"encode", "--library", maps, "--message", "C_JOIN", "--json"},
			"{}\n{\"x\":1}\n", 1,
			`{"hex":"0a003412080000000000"}` + "\n" + `{"problems":[{"severity":"error","code":"unknown-field","message":"no field has this name","path":"x","bit_offset":0,"bit_length":0}]}` + "\n", "",
		},
		{"a broken definition encodes nothing", []string{"encode", "--library", lib, "--message", "S_BAD", "--code", "1"}, "{}", 1, "\n", "definition-has-errors"},
		{"encode without a code", []string{"encode", "--library", lib, "--message", "C_JOIN"}, "{}", 2, "", "give --code N or a --map"},
		{"encode without a message", []string{"encode", "--library", lib}, "{}", 1, "\n", "--message"},
		{"paste", []string{"paste"}, "1200 3412", 0, "12003412\n", "Hex"},
		{"paste json", []string{"paste", "--json"}, "0x12, 0x00", 0, `{"form":"hex",...`, ""},
		{"paste odd digits", []string{"paste"}, "1200341", 1, "", "line 1, column 7: 7 hex digits"},
		{
			"layout json",
			[]string{"layout", "--library", lib, "--message", "C_JOIN", "--json"},
			"", 0,
			`{"message":"C_JOIN","version":2,"min_size":10,"max_size":null,"rows":[{"path":"length","depth":0,"type":"uint16","role":"length","offset":"0","bit_offset":0,"min_bits":16,"max_bits":16},` +
				`{"path":"code","depth":0,"type":"uint16","role":"code","offset":"2","bit_offset":16,"min_bits":16,"max_bits":16},` +
				`{"path":"channel_name","depth":0,"type":"uint16","role":"offset","offset":"4","bit_offset":32,"min_bits":16,"max_bits":16,"line":1},` +
				`{"path":"password","depth":0,"type":"uint16","role":"value","offset":"6","bit_offset":48,"min_bits":16,"max_bits":16,"line":2},` +
				`{"path":"channel_name","depth":0,"type":"string","role":"value","offset":"8","bit_offset":64,"min_bits":16,"max_bits":null,"line":1}]}` + "\n", "",
		},
		{"layout for people", []string{"layout", "--library", lib, "--message", "C_JOIN"}, "", 0, "C_JOIN.2  10 bytes or more\n...", ""},
		{"check", []string{"check", filepath.Join(lib, "S_BAD.1.def")}, "", 1, filepath.Join(lib, "S_BAD.1.def") + `:1:1: error: unknown type "in32": did you mean "int32"? [unknown-type]` + "\n", ""},
		{"check json", []string{"check", "--json", filepath.Join(lib, "S_BAD.1.def")}, "", 1, `{"file":"` + filepath.Join(lib, "S_BAD.1.def") + `","line":1,"column":1,"end_line":1,"end_column":5,"severity":"error","code":"unknown-type","message":"unknown type \"in32\"","help":"did you mean \"int32\"?","fix":{"line":1,"column":1,"end_line":1,"end_column":5,"text":"int32"}}` + "\n", ""},
		{"check a directory", []string{"check", lib}, "", 1, lib + `/S_BAD.1.def:1:1: error: unknown type "in32": did you mean "int32"? [unknown-type]` + "\n", ""},
		{"check without mistakes", []string{"check", maps}, "", 0, "", ""},
		{"fmt from standard input", []string{"fmt", "--protocol", "tera", "-"}, "int32   x\nstring name # c\n\n\n", 0, "int32  x\nstring name # c\n", ""},
		{"fmt lists", []string{"fmt", "-l", untidy}, "", 1, untidy + "/C_A.1.def\n", "malformed"},
		{"several protocols", []string{"decode", "--library", two}, "", 2, "", "--protocol"},
		{"unknown flag", []string{"decode", "--nope"}, "", 2, "", "unknown flag"},
		{"unknown command", []string{"dekode"}, "", 2, "", "unknown command"},
		{"unreadable file", []string{"decode", "--library", lib, "nowhere.hex"}, "", 2, "", "nowhere.hex"},
		{"unreadable library", []string{"decode", "--library", "nowhere"}, "", 2, "", "nowhere"},
		{"bad patch", []string{"decode", "--library", lib, "--patch", "x"}, "", 2, "", "--patch x"},
		{"bad direction", []string{"decode", "--library", lib, "--dir", "up"}, "", 2, "", "c2s or s2c"},
		{"a deprecated definition does not encode", []string{"encode", "--library", old, "--patch", "114", "--message", "S_OLD"}, "{}", 1, "\n", "S_OLD.1 is for patches up to 113 (deprecated.json): at patch 114 it can be decoded, but not encoded [deprecated]"},
		{"it decodes if it is readable", []string{"decode", "--library", old, "--patch", "114", "--message", "S_OLD", "--json"}, "0c0001000700000000000000", 0, `{"message":"S_OLD","version":1,"code":1,"status":"ok"...`, "warning: S_OLD.1 is for patches up to 113"},
		{"else it does not", []string{"decode", "--library", old, "--patch", "114", "--message", "S_GONE", "--json"}, "0800020007000000", 1, `{"message":"","status":"error","used":0,"problems":[{"severity":"error","code":"deprecated","message":"S_GONE.1 is for patches up to 113 (deprecated.json): at patch 114 it can be neither encoded nor decoded"...`, ""},
		{"nor by its code", []string{"decode", "--library", old, "--patch", "114", "--json"}, "0800020007000000", 0, `{"message":"","code":2,"status":"unknown"...`, ""},
		{"a definition for the patch encodes", []string{"encode", "--library", old, "--patch", "113.02", "--message", "S_GONE"}, "{}", 0, "0800020000000000\n", ""},
		{"without a patch it encodes", []string{"encode", "--library", old, "--message", "S_GONE"}, "{}", 0, "0800020000000000\n", ""},
		{"and check warns", []string{"check", old}, "", 0, old + "/S_GONE.1.def:1:1: warning: the definition is for patches up to 113 (deprecated.json), and the patch is not known [deprecated]\n...", ""},
		{"a skillid before patch 74", []string{"encode", "--library", old, "--patch", "73.99", "--message", "S_OLD"}, "{}", 0, "0800010000000000\n", ""},
		{"a skillid since patch 74", []string{"encode", "--library", old, "--patch", "74", "--message", "S_OLD"}, "{}", 0, "0c0001000000000000000000\n", ""},
		{"completion of messages", []string{"__complete", "decode", "--library", maps, "--message", "C_"}, "", 0, "C_JOIN.2\n...", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, status := cli(t, c.stdin, c.args...)
			if status != c.status {
				t.Errorf("status %d, want %d; stderr:\n%s", status, c.status, stderr)
			}
			if want, prefix := strings.CutSuffix(c.stdout, "..."); stdout != c.stdout && !(prefix && strings.HasPrefix(stdout, want)) {
				t.Errorf("stdout:\n%s\nwant:\n%s", stdout, c.stdout)
			}
			if !strings.Contains(stderr, c.stderr) {
				t.Errorf("stderr:\n%s\nwant: %s", stderr, c.stderr)
			}
		})
	}
}

func TestFlagsFromEnvironment(t *testing.T) {
	lib := write(t, joinLib)
	t.Setenv("WIREBENCH_DECODE_LIBRARY", lib)
	t.Setenv("WIREBENCH_DECODE_MESSAGE", "C_JOIN")
	t.Setenv("WIREBENCH_DECODE_JSON", "true")
	stdout, stderr, status := cli(t, joinHex, "decode")
	if status != 0 || !strings.HasPrefix(stdout, `{"message":"C_JOIN","version":2`) {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
	t.Setenv("WIREBENCH_DECODE_JSON", "maybe")
	if _, stderr, status := cli(t, joinHex, "decode"); status != 2 || !strings.Contains(stderr, "WIREBENCH_DECODE_JSON") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Formatting keeps the meaning and is idempotent.
func TestFmtRewrites(t *testing.T) {
	lib := write(t, map[string]string{"C_A.1.def": "int32     x   # why\r\n\r\n\r\nstring  name", "sub/S_B.1.def": "\ufeffbyte x\n"})
	if _, stderr, status := cli(t, "", "fmt", "-w", lib); status != 0 {
		t.Fatal(status, stderr)
	}
	got, err := os.ReadFile(filepath.Join(lib, "C_A.1.def"))
	if err != nil || string(got) != "int32 x # why\n\nstring name\n" {
		t.Errorf("%q, %v", got, err)
	}
	if stdout, _, status := cli(t, "", "fmt", "-l", lib); status != 0 || stdout != "" {
		t.Errorf("the second time: status %d, %s", status, stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(lib, ".wirebench-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The integrity header is computed on encoding, and checked on decoding if the key is known.
func TestIntegrityHeader(t *testing.T) {
	lib := write(t, map[string]string{"C_A.1.def": "int32 x\n", "S_A.1.def": "int32 x\n"})
	hex, stderr, status := cli(t, `{"x":1}`+"\n"+`{"x":1}`, "encode", "--library", lib, "--message", "C_A", "--code", "1", "--integrity", "--integrity-iv", "0xffffffff")
	if status != 0 || len(lines(hex)) != 2 {
		t.Fatal(status, hex, stderr)
	}
	first, second := lines(hex)[0], lines(hex)[1]
	if !strings.HasPrefix(first, "1000010001000000") || !strings.HasPrefix(second, "1000010002000000") {
		t.Errorf("counters: %s %s", first, second)
	}
	stdout, _, status := cli(t, hex, "decode", "--library", lib, "--message", "C_A", "--integrity", "--integrity-iv", "4294967295", "--json")
	if status != 0 || strings.Contains(stdout, "wrong-checksum") || !strings.Contains(stdout, `"value":{"x":1},"problems":[]`) {
		t.Error(stdout)
	}
	stdout, _, _ = cli(t, hex, "decode", "--library", lib, "--message", "C_A", "--integrity", "--integrity-iv", "1", "--json")
	if strings.Count(stdout, "wrong-checksum") != 2 {
		t.Error(stdout)
	}
	if s, _, _ := cli(t, `{"x":1}`, "encode", "--library", lib, "--message", "S_A", "--code", "1", "--integrity"); s != "0800010001000000\n" {
		t.Errorf("a server message has no such header: %s", s)
	}
}

// A result line is one JSON object, whatever bytes the message has.
func TestResultsAreJSON(t *testing.T) {
	lib := write(t, map[string]string{"C_A.1.def": "string a\nfloat f\narray<string> l\n"})
	for _, in := range []string{
		"1800341214000000c07f00000000 0000 3c002f0000d8 0000", "ffffffff", "18003412", "1a0034120e000100c07f010010003c00 2f0000d800000000 0000",
	} {
		stdout, _, _ := cli(t, in, "decode", "--library", lib, "--message", "C_A", "--json", "--fields")
		for _, l := range lines(stdout) {
			if !json.Valid([]byte(l)) {
				t.Errorf("%s: not JSON: %s", in, l)
			}
		}
	}
}

// A definition that explains a message with another setting says so, once.
func TestDecodeNamesTheSetting(t *testing.T) {
	dir := write(t, map[string]string{"C_SKILL.1.def": "skillid skill\nstring name\n"})
	in := strings.Repeat("0e0004000a000700000041000000\n", 2)
	const hint = "C_SKILL.1: with patch 73 all bytes are explained\n"
	if _, errs, _ := cli(t, in, "decode", "--library", dir, "--message", "C_SKILL.1"); strings.Count(errs, hint) != 1 {
		t.Errorf("%q", errs)
	}
	if _, errs, _ := cli(t, in, "decode", "--library", dir, "--message", "C_SKILL.1", "--patch", "73"); errs != "" {
		t.Errorf("%q", errs)
	}
}

// A definition for some patches only warns where the patch is not known, when it decodes and when it encodes.
func TestDeprecatedWarns(t *testing.T) {
	dir := write(t, map[string]string{"C_OLD.1.def": "int32 a\n", "deprecated.json": `{"C_OLD": {"1": {"max": 113, "readable": true}}}`})
	for _, c := range []struct {
		patch, warning string
		status         int
	}{{"", "the patch is not known", 0}, {"113", "", 0}, {"114", "it can be decoded, but not encoded", 1}} {
		_, errs, _ := cli(t, "0800010007000000\n", "decode", "--library", dir, "--message", "C_OLD", "--patch", c.patch)
		if !strings.Contains(errs, c.warning) || (errs == "") != (c.warning == "") {
			t.Errorf("decode, patch %q: %q", c.patch, errs)
		}
		_, errs, status := cli(t, `{"a":7}`+"\n", "encode", "--library", dir, "--message", "C_OLD", "--code", "1", "--patch", c.patch)
		if !strings.Contains(errs, c.warning) || (errs == "") != (c.warning == "") || status != c.status {
			t.Errorf("encode, patch %q: %d, %q", c.patch, status, errs)
		}
	}
}
