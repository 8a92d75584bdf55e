package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"wirebench/cmd/wirebench/demo"
	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/codec/transport/stream"
	"wirebench/defs"
	"wirebench/defs/benchtest"
	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/settings"
	"wirebench/server/workspace"
)

// The made-up protocol: a line of a definition is a message, "say NAME CODE FIELD...", whose fields are bytes. A message is its length, its
// code and its fields; with the option "wide" fields have two bytes, and a field called flags is a bitfield. Messages with the alternative
// header have a number after the code. Keys are numbers, servers have two ports, and messages are wrapped.
var madeUpDialect = defs.Dialect{
	Name:   "madeup",
	Title:  "Made up",
	IsLine: func(line string) bool { return strings.HasPrefix(line, "say ") },
	Rules: &build.Rules{
		Reads: func(name string) bool { return strings.HasSuffix(name, ".def") },
		Parse: func(f *source.File) build.Tree { return madeUpTree{f} },
		Lower: lowerMadeUp,
	},
	Format:  func(f *source.File) (string, diag.List) { return f.Text, nil },
	Example: source.New("words.def", madeUpWords),
	Options: []schema.Option{{Name: "wide", Title: "Wide fields", Kind: schema.SwitchOption, Doc: "fields have two bytes", Default: "false", Values: []string{"true"}}},
	Frames:  []*schema.Message{{Key: schema.Key{Group: "wrap"}, Body: &schema.Struct{Wire: madeUpHeader}}},
	Alternate: &defs.Header{Name: "numbered", Of: func(m *schema.Message) *schema.Message {
		other, body := *m, *m.Body
		body.Wire = slices.Insert(slices.Clone(m.Body.Wire), len(madeUpHeader), schema.Item{Kind: schema.Counter, Bits: 8})
		other.Body, other.AlternateOf = &body, m
		return &other
	}},
}

const madeUpWords = "say hello 7 who what\nsay bye 8\nsay look 9 flags\n"

var madeUpFlags = &schema.Bitfield{Bits: 8, Names: []string{"loud", "mood"}, Forms: []schema.Form{{
	Parts: []schema.Part{{Name: "loud", Bits: 1, Kind: schema.Bool}, {Name: "mood", Shift: 1, Bits: 7}},
}}}

var madeUpHeader = []schema.Item{{Kind: schema.Length, Bits: 8}, {Kind: schema.Code, Bits: 8}}

type madeUpTree struct{ file *source.File }

func (madeUpTree) Names() []string { return nil }

func lowerMadeUp(t build.Tree, o schema.Options, _ *build.Among) (out build.Lowered) {
	f := t.(madeUpTree).file
	bits := 8
	if o.Values["wide"] == "true" {
		bits = 16
	}
	for n := range f.NumLines() {
		words := strings.Fields(f.Line(n + 1).Text())
		if len(words) == 0 {
			continue
		}
		if words[0] != "say" || len(words) < 3 {
			out.Diagnostics.Add(text.Mistake("no-say", f.Line(n+1), "this line says nothing", "write say NAME CODE FIELD"))
			continue
		}
		code, _ := strconv.Atoi(words[2])
		m := &schema.Message{Name: words[1], Version: 1, Key: schema.Key{Group: "wrap", Code: uint32(code)}, HasKey: true, Span: f.Line(n + 1)}
		m.Body = &schema.Struct{Wire: slices.Clone(madeUpHeader)}
		for _, name := range words[3:] {
			field := &schema.Field{Name: name, Type: &schema.Number{Bits: bits}, TypeText: "byte", Span: m.Span}
			if name == "flags" {
				field.Type = madeUpFlags
			}
			m.Body.Fields = append(m.Body.Fields, field)
			m.Body.Wire = append(m.Body.Wire, schema.Item{Kind: schema.Value, Field: field})
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

// madeUpMeasure measures messages with the key, as lengths are encrypted.
func madeUpMeasure(e *protocols.Env) transport.Measure {
	key, _ := e.KeyOf("madeup").(int)
	return func(dir schema.Dir, data []byte) (n, need int, k schema.Key, why transport.Reason) {
		if len(data) < 2 {
			return 0, 2, k, nil
		}
		n = int(data[0]) - key
		if n < 2 {
			return 0, 0, k, func() string { return "the key is wrong" }
		}
		if n > len(data) {
			return 0, n, k, nil
		}
		return n, 0, schema.Key{Dir: dir, Group: "wrap", Code: uint32(data[1])}, nil
	}
}

var madeUpProtocol = protocols.Protocol{
	Dialect: "madeup", Streams: true, Ciphers: true, Ports: []string{"talk", "news"},
	New: func(e *protocols.Env, _ uint16) transport.Transport {
		return stream.New(stream.Measured(madeUpMeasure(e)))
	},
	Rewriter: func(e *protocols.Env, _ uint16) transport.Rewriter {
		return stream.NewRewriter(stream.Measured(madeUpMeasure(e)))
	},
	End: func(e *protocols.Env, sends schema.Dir, _ uint16, _ protocols.Ends) (transport.Endpoint, error) {
		return stream.NewEndpoint(stream.Measured(madeUpMeasure(e)), sends), nil
	},
	Key: func(words []string) (any, error) {
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, errors.New("the key is a number")
		}
		return n, nil
	},
	Layers: &transport.Layers{Group: "wrap", Fields: []transport.LayerField{{
		Name: "depth", Doc: "how many wraps", Value: func(x *transport.Frame, i int) (int64, bool, bool) { return int64(len(x.Via)), true, i == 0 },
	}}},
}

// A protocol is a row of each table: nothing else in the program knows the made-up one.
func TestMadeUpProtocol(t *testing.T) {
	dialects, all := defs.Dialects, protocols.Protocols
	defs.Dialects, protocols.Protocols = append(slices.Clip(dialects), madeUpDialect), append(slices.Clip(all), madeUpProtocol)
	t.Cleanup(func() { defs.Dialects, protocols.Protocols = dialects, all })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "words.def"), []byte(madeUpWords), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot := func(flags ...string) *workspace.Snapshot {
		t.Helper()
		l, cmd := &libraryFlags{}, &cobra.Command{}
		cmd.SetContext(context.Background())
		l.add(cmd)
		if err := cmd.ParseFlags(append(flags, "--library", dir)); err != nil {
			t.Fatal(err)
		}
		snap, err := l.snapshot(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	snap := snapshot()
	if snap.Dialect.Name != "madeup" { // detected from the lines
		t.Fatalf("the files are taken for %s", snap.Dialect.Name)
	}

	// Definitions: by code, with an option, with the alternative header, edited.
	var rec codec.Record
	if r := snap.Decode(&rec, []byte{4, 7, 1, 2}, workspace.Request{}); r.Message != "hello" || string(r.Value) != `{"who":1,"what":2}` {
		t.Errorf("%s %s %v", r.Message, r.Value, r.Problems)
	}
	if r := snapshot("--wide").Decode(&rec, []byte{6, 7, 1, 0, 2, 0}, workspace.Request{}); r.Message != "hello" || r.Status != "ok" {
		t.Errorf("with the option: %s %s %v", r.Message, r.Status, r.Problems)
	}
	key := schema.Key{Dir: schema.ToServer, Group: "wrap", Code: 7}
	long := &transport.Frame{Dir: schema.ToServer, Key: key, HasKey: true, Bytes: []byte{5, 7, 99, 1, 2}, Via: []string{"numbered"}}
	read := workspace.NewReading(snap)
	read.Take(long)
	if info := read.Describe(workspace.Want{Value: true}, workspace.Listed{}); info.Status != "ok" || string(info.Value) != `{"who":1,"what":2}` {
		t.Errorf("with the second header: %s %s", info.Status, info.Value)
	}
	if r := snap.Decode(&rec, []byte{3, 9, 11}, workspace.Request{}); string(r.Value) != `{"flags":{"loud":true,"mood":5}}` {
		t.Errorf("a bitfield: %s %s", r.Message, r.Value)
	}
	if next, f := snap.With("words.def", "say hi 7\nnothing"); len(next.Named("hi")) != 1 || len(next.DiagnosticsOf(f)) != 1 {
		t.Error("an edit")
	}

	// Filters: fields, and the layers of this protocol.
	plain := &transport.Frame{Dir: schema.ToServer, Key: key, HasKey: true, Bytes: []byte{4, 7, 1, 2}, Via: []string{"wrap", "wrap"}}
	for filterText, want := range map[string]bool{"hello.who == 1": true, "hello.who == 2": false, "wrap.depth == 2": true, "wrap.depth == 3": false} {
		f, mistakes := snap.Filter(filterText)
		if len(mistakes) > 0 || f.Fits(workspace.Where{}, plain) != want {
			t.Errorf("%s: %v, %v", filterText, !want, mistakes)
		}
	}
	if _, options := filter.Complete("wrap.d", len("wrap.d"), snap.FilterEnv()); len(options) != 1 || options[0].Doc != "how many wraps" {
		t.Errorf("completion: %+v", options)
	}

	// Settings of a workspace.
	var chosen settings.Settings
	if err := json.Unmarshal([]byte(`{"wide":"true","unknown":1}`), &chosen); err != nil || chosen.Options["wide"] != "true" {
		t.Errorf("settings: %+v %v", chosen, err)
	}

	// Connections: keys, ports, transport, endpoints for replays and demos.
	keys, err := protocols.ParseKeys("* madeup 3\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protocols.ParseKeys("* madeup none\n"); err == nil || !strings.Contains(err.Error(), "the key is a number") {
		t.Error(err)
	}
	if _, err := protocols.ParseKeys("* unknown 1\n"); err == nil || !strings.Contains(err.Error(), " or madeup") {
		t.Error(err)
	}
	p, ok := protocols.Of(snap.Dialect.Name)
	if !ok || len(p.Ports) != 2 {
		t.Fatal(p.Ports)
	}
	env := (&protocols.Env{Definitions: snap, Keys: keys, Options: snap.Options.Values}).For("10.0.0.1:1-10.0.0.2:2", 0)
	var got []string
	p.New(env, 1).Feed(transport.Segment{Dir: schema.ToServer, Start: true, Bytes: []byte{7, 7, 1, 2, 5, 8}}, func(f *transport.Frame) {
		got = append(got, f.Kind.String()+" "+strconv.Itoa(int(f.Key.Code)))
	})
	if strings.Join(got, ", ") != "message 7, message 8" {
		t.Errorf("frames: %q", got)
	}
	for _, sends := range []schema.Dir{schema.ToServer, schema.ToClient} {
		end, err := p.End(env, sends, 1, protocols.Ends{})
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		relay := &transport.Relay{Emit: func(*transport.Frame) {}, Out: func(s transport.Segment) { sent += len(s.Bytes) }}
		end.Start(time.Unix(1, 0), relay)
		if err := end.Send(transport.Outgoing{Bytes: []byte{7, 7, 1, 2}}, time.Unix(1, 0), relay); err != nil || sent != 4 {
			t.Errorf("%v: %d bytes, %v", sends, sent, err)
		}
	}

	// A proxy's messages can be injected.
	var sent []string
	relay := &transport.Relay{Out: func(s transport.Segment) { sent = append(sent, fmt.Sprintf("%v %x", s.Dir, s.Bytes)) }}
	rewriter := p.Rewriter(env, 1)
	rewriter.Operate(true, time.Unix(1, 0), relay)
	rewriter.Feed(transport.Segment{Dir: schema.ToServer, Start: true, At: time.Unix(1, 0), Bytes: []byte{5, 8}}, relay)
	if err := rewriter.Send(schema.ToServer, transport.Outgoing{Bytes: []byte{5, 8}}, time.Unix(1, 0), relay); err != nil || strings.Join(sent, ", ") != "c2s 0508, c2s 0508" {
		t.Errorf("sent: %q %v", sent, err)
	}

	// The demo game runs through the proxy, which records it; the recording is detected, listed and replayed.
	var said diary
	game, err := demo.Start(t.Context(), demo.Options{Protocol: "madeup", Rate: 200, Seen: said.note})
	if err != nil {
		t.Fatal(err)
	}
	defer game.Close()
	file := filepath.Join(t.TempDir(), "session.pcapng")
	line := startRelay(t, game, "--library", dir, "--json", "--record", file)
	play(t, game, &said, line.addr, 20)
	line.stop()
	game.Close()
	frames := 0
	for _, f := range framesOf(t, line.out.String()) {
		if f.Kind != "message" || f.Status != "ok" {
			t.Errorf("relayed: %+v", f)
		}
		frames++
	}
	recorded, errs, status := cli(t, "", "frames", "--library", dir, "--json", file)
	if status != exitOK || frames < 40 || len(framesOf(t, recorded)) != frames {
		t.Errorf("%d frames relayed, %d recorded: %s", frames, len(framesOf(t, recorded)), errs)
	}
	bothSides(t, file, "--library", dir)
}

// Words of one dialect are in its folders and its table rows only.
func TestWordsOfDialectsStandInTheirRows(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	var words []string
	rows := map[string]bool{"defs/dialects.go": true, "defs/envelope/carriers.go": true}
	options := map[string]int{} // number of dialects
	for _, d := range defs.Dialects {
		for _, o := range d.Options {
			options[o.Name]++
		}
	}
	common := []string{"c", "endian"} // words of much else: they cannot be found
	for _, d := range defs.Dialects {
		if !slices.Contains(common, d.Name) {
			words = append(words, d.Name)
		}
		for _, o := range d.Options {
			if options[o.Name] == 1 && !slices.Contains(common, o.Name) {
				words = append(words, o.Name)
			}
		}
		if d.Alternate != nil {
			words = append(words, d.Alternate.Name)
		}
		if p, ok := protocols.Of(d.Name); ok && p.Layers != nil {
			words = append(words, p.Layers.Group)
		}
		rows["codec/transport/protocols/"+d.Name+".go"], rows["cmd/wirebench/demo/"+d.Name+".go"] = true, true
	}
	word := regexp.MustCompile(`"(wirebench/(defs|codec/transport)/)?(` + strings.Join(words, "|") + `)"`)
	folder := regexp.MustCompile(`/(` + strings.Join(words, "|") + `|cstruct|node_modules|dialects|corpora|servertest)$`) // corpora, servertest: data of tests
	source := regexp.MustCompile(`\.(go|ts|tsx|templ)$`)
	test := regexp.MustCompile(`(_test\.go|_templ\.go|\.test\.ts)$`)
	comment := regexp.MustCompile(`(?m)^\s*//.*$|\s//.*$`)
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (folder.MatchString("/"+name) || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case d.IsDir() || !source.MatchString(name) || test.MatchString(name) || rows[name]:
			return nil
		}
		files++
		code, err := os.ReadFile(path)
		for _, found := range word.FindAll(comment.ReplaceAll(code, nil), -1) {
			t.Errorf("%s has %s", name, found)
		}
		return err
	})
	if err != nil || files < 300 {
		t.Fatalf("%d files: %v", files, err)
	}
}
