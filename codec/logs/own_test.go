package logs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

const ownLines = `{"n":41,"time":"2023-11-14T22:13:20.000000005Z","conn":"10.0.0.2:4000-10.0.0.1:7801","session":1,"dir":"c2s","kind":"message","from":[9],"via":["cluster:1"],"code":3,"message":"chat","hex":"0301","flags":["dropped","modified"],"resumed":true,"note":"odd"}
{"n":42,"conn":"-","dir":"s2c","kind":"problem","from":[],"hex":"","offset":12,"length":5}
{"n":43,"conn":"10.0.0.2:4000-10.0.0.1:7801","dir":"both","kind":"control","from":[10],"name":"S_X","code":9,"hex":"09"}
`

func readOwnLines(text string, key bool) (got []string, sum packet.Summary, err error) {
	opts := packet.Options{}
	if key {
		opts.Key = func(dir schema.Dir, b []byte) (schema.Key, bool) {
			return schema.Key{Dir: dir, Group: "game", Code: uint32(b[0])}, true
		}
	}
	sum, _, err = Read(&bytes.Buffer{}, strings.NewReader(text), opts, transport.UDP, func(f *transport.Frame) {
		at := "-"
		if !f.At.IsZero() {
			at = fmt.Sprint(f.At.UnixNano())
		}
		got = append(got, fmt.Sprintf("%d %s#%d %s %s %s %x %v %t %s %v %q %d %d %t %q %v", f.N, f.Conn.Name(), f.Conn.Session, f.Kind, f.Dir, at, f.Bytes, f.Key, f.HasKey, f.Name, f.From, f.Via, f.Offset, f.Length, f.Resumed, f.Note, f.Marks))
	})
	return got, sum, err
}

// The lines of an export hold all properties of a frame.
func TestOwnLines(t *testing.T) {
	got, sum, err := readOwnLines(ownLines, true)
	want := []string{
		`1 10.0.0.2:4000-10.0.0.1:7801#1 message c2s 1700000000000000005 0301 {c2s game 3} true chat [{1 0 2}] ["cluster:1"] -1 0 true "odd" silenced, changed`,
		`2 -#0 problem s2c -  {s2c  0} false  [{2 0 0}] [] 12 5 false "" `,
		`3 10.0.0.2:4000-10.0.0.1:7801#0 control  - 09 { game 9} true S_X [{3 0 1}] [] -1 0 false "" `,
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") || sum.Format != "wirebench-jsonl" || sum.Packets != 3 || sum.Torn != nil {
		t.Errorf("%v %+v\n%s", err, sum, strings.Join(got, "\n"))
	}
	for i := range ownLines { // a truncated file yields its complete lines
		got, sum, err := readOwnLines(ownLines[:i], false)
		if n := strings.Count(ownLines[:i], "\n"); n > 0 && (err != nil || len(got) < n || sum.Torn == nil && len(got) == n && strings.TrimSpace(ownLines[:i]) != strings.TrimSpace(strings.Join(strings.SplitAfter(ownLines, "\n")[:n], ""))) {
			t.Errorf("%d bytes: %d frames, %v, %+v", i, len(got), err, sum)
		}
	}
	for _, bad := range []string{
		strings.Replace(ownLines, `"hex":""`, `"hex":"0"`, 1), strings.Replace(ownLines, `"offset":12`, `"offset":"x"`, 1), strings.Replace(ownLines, `{"n":42`, `"n":42`, 1),
	} {
		if got, sum, err := readOwnLines(bad, false); err != nil || len(got) != 1 || sum.Torn == nil {
			t.Errorf("%d frames, %v, %+v", len(got), err, sum)
		}
	}
	// Rows of other programs are not read as an export.
	if _, sum, _ := readOwnLines(`{"time":1,"dir":"c2s","hex":"0102"}`+"\n", false); sum.Format == "wirebench-jsonl" {
		t.Error("taken for ours")
	}
}

// TestLogOfManyConnections: merging connections above the limit is reported.
func TestLogOfManyConnections(t *testing.T) {
	var b strings.Builder
	for i := range packet.MaxConns + 2 {
		fmt.Fprintf(&b, `{"n":1,"conn":"10.0.0.2:4000-10.0.0.1:7801","session":%d,"dir":"c2s","kind":"message","from":[],"hex":"01"}`+"\n", i)
	}
	sum, _, err := Read(&bytes.Buffer{}, strings.NewReader(b.String()), packet.Options{}, transport.TCP, func(*transport.Frame) {})
	if err != nil || sum.Frames != packet.MaxConns+2 || !strings.HasPrefix(sum.Incomplete(), "only the first 65536 connections are distinguished") {
		t.Errorf("%d frames, %q, %v", sum.Frames, sum.Incomplete(), err)
	}
}

func FuzzOwnLines(f *testing.F) {
	f.Add(ownLines)
	f.Add("1,2023-11-14T22:13:20Z,10.0.0.2:4000-10.0.0.1:7801#1,c2s,message,3,chat,ok,2,0301\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		n := uint32(0)
		_, _, err := Read(&bytes.Buffer{}, strings.NewReader(`{"n":1,"conn":"-","dir":"c2s","kind":"message","from":[],"hex":""}`+"\n"+text), packet.Options{}, transport.TCP, func(x *transport.Frame) { n++ })
		if err != nil || n < 1 {
			t.Errorf("%d frames, %v", n, err)
		}
		if _, _, err := Read(&bytes.Buffer{}, strings.NewReader("n,time,conn,dir,kind,code,message,status,len,hex\n"+text), packet.Options{}, transport.TCP, func(*transport.Frame) {}); err != nil {
			t.Error(err)
		}
		linesTold(scan.NewInput(strings.NewReader(text)))
		tableTold(scan.NewInput(strings.NewReader(text)))
	})
}

// A hook writes what it knows of a message: its direction and bytes are enough.
func TestHookLines(t *testing.T) {
	const lines = `{"dir":"s2c","hex":"0301"}
{"t":1700000000.25,"dir":"c2s","hex":"0902","conn":"10.0.0.2:4000-10.0.0.1:7801"}
{"time":"2023-11-14T22:13:20Z","dir":"c2s","hex":"0102","code":7,"group":"login","message":"chat"}
`
	got, sum, err := readOwnLines(lines, true)
	want := []string{
		`1 -#0 message s2c - 0301 {s2c game 3} true  [{1 0 2}] [] -1 0 false "" `,
		`2 10.0.0.2:4000-10.0.0.1:7801#0 message c2s 1700000000250000000 0902 {c2s game 9} true  [{2 0 2}] [] -1 0 false "" `,
		`3 -#0 message c2s 1700000000000000000 0102 {c2s login 7} true chat [{3 0 2}] [] -1 0 false "" `,
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") || sum.Format != "hook-jsonl" || sum.Torn != nil {
		t.Errorf("%v %+v\n%s", err, sum, strings.Join(got, "\n"))
	}
	for _, bad := range []string{`{"dir":"c2s","hex":"0"}`, `{"dir":"c2s"}`, `{"hex":"00"}`, `{"dir":"up","hex":"00"}`, `[{"dir":"c2s","hex":"00"}]`, `{"dir":"c2s","hex":""}`} {
		if id := Sniff([]byte(bad+"\n"), true); id != "" {
			t.Errorf("%s is %s", bad, id)
		}
	}
	bad := strings.Replace(lines, `"0102"`, `"01 02x"`, 1)
	if got, sum, err := readOwnLines(bad, true); err != nil || len(got) != 2 || sum.Torn == nil {
		t.Errorf("%d frames, %v, %+v", len(got), err, sum)
	}
}
