package main

import (
	"context"
	"errors"
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

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/transport/muta"
	"wirebench/codec/transport/protocols"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/workspace"
)

// The made-up protocol: a definition has a line for each message, "say NAME CODE FIELD...", whose fields are bytes. A message is its
// length, its code and its fields; with the option "wide" the fields have two bytes. Some messages travel with a number behind the code.
// Keys are numbers, servers have two ports, and messages travel in wraps.
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
	Options: []schema.Option{{Name: "wide", Kind: schema.SwitchOption, Doc: "fields have two bytes", Default: "false", Values: []string{"true"}}},
	Frames:  []*schema.Message{{Key: schema.Key{Group: "wrap"}, Body: &schema.Struct{Wire: madeUpHeader}}},
	Alternate: &defs.Header{Name: "numbered", Of: func(m *schema.Message) *schema.Message {
		other, body := *m, *m.Body
		body.Wire = slices.Insert(slices.Clone(m.Body.Wire), len(madeUpHeader), schema.Item{Kind: schema.Counter, Bits: 8})
		other.Body, other.AlternateOf = &body, m
		return &other
	}},
}

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
			m.Body.Fields = append(m.Body.Fields, field)
			m.Body.Wire = append(m.Body.Wire, schema.Item{Kind: schema.Value, Field: field})
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

// madeUpMeasure says where messages end, if the key is right: lengths are enciphered.
func madeUpMeasure(e *protocols.Env) transport.Measure {
	key, _ := e.KeyOf("madeup").(int)
	return func(dir schema.Dir, data []byte) (n, need int, k schema.Key, why transport.Reason) {
		if len(data) < 2 {
			return 0, 2, k, nil
		}
		n = int(data[0]) - key
		if n < 2 {
			return 0, 0, k, func() string { return "the key is another one" }
		}
		if n > len(data) {
			return 0, n, k, nil
		}
		return n, 0, schema.Key{Dir: dir, Group: "wrap", Code: uint32(data[1])}, nil
	}
}

var madeUpProtocol = protocols.Protocol{
	Dialect: "madeup", Streams: true, Ciphers: true, Ports: 2,
	New: func(e *protocols.Env, _ uint16) transport.Transport {
		return muta.New(muta.Options{Measure: madeUpMeasure(e)})
	},
	Rewriter: func(e *protocols.Env, _ uint16) transport.Rewriter {
		return muta.NewRewriter(muta.Options{Measure: madeUpMeasure(e)})
	},
	End: func(e *protocols.Env, sends schema.Dir, _ uint16, _ protocols.Ends) (transport.Endpoint, error) {
		return muta.NewEndpoint(muta.Options{Measure: madeUpMeasure(e)}, sends), nil
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

// A protocol is a row of each table: nothing else of the program knows the made-up one.
func TestMadeUpProtocol(t *testing.T) {
	dialects, all := defs.Dialects, protocols.Protocols
	defs.Dialects, protocols.Protocols = append(slices.Clip(dialects), madeUpDialect), append(slices.Clip(all), madeUpProtocol)
	t.Cleanup(func() { defs.Dialects, protocols.Protocols = dialects, all })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "words.def"), []byte("say hello 7 who what\nsay bye 8\n"), 0o600); err != nil {
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
	if snap.Dialect.Name != "madeup" { // by the look of its lines
		t.Fatalf("the files are taken for %s", snap.Dialect.Name)
	}

	// Definitions: by code, with an option, with the second header, edited.
	var rec codec.Record
	if r := snap.Decode(&rec, []byte{4, 7, 1, 2}, workspace.Request{}); r.Message != "hello" || string(r.Value) != `{"who":1,"what":2}` {
		t.Errorf("%s %s %v", r.Message, r.Value, r.Problems)
	}
	if r := snapshot("--wide").Decode(&rec, []byte{6, 7, 1, 0, 2, 0}, workspace.Request{}); r.Message != "hello" || r.Status != "ok" {
		t.Errorf("with the option: %s %s %v", r.Message, r.Status, r.Problems)
	}
	key := schema.Key{Dir: schema.ToServer, Group: "wrap", Code: 7}
	long := &transport.Frame{Dir: schema.ToServer, Key: key, HasKey: true, Bytes: []byte{5, 7, 99, 1, 2}, Via: []string{"numbered"}}
	if info := snap.DescribeFrame(&rec, long, workspace.Want{Value: true}); info.Status != "ok" || string(info.Value) != `{"who":1,"what":2}` {
		t.Errorf("with the second header: %s %s", info.Status, info.Value)
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

	// Connections: keys, ports, transport, endpoints for replays and demos.
	keys, err := protocols.ParseKeys("* madeup 3\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protocols.ParseKeys("* madeup none\n"); err == nil || !strings.Contains(err.Error(), "the key is a number") {
		t.Error(err)
	}
	if _, err := protocols.ParseKeys("* unknown 1\n"); err == nil || !strings.Contains(err.Error(), "tera or subspace or madeup") {
		t.Error(err)
	}
	p, ok := protocols.Of(snap.Dialect.Name)
	if !ok || p.Ports != 2 {
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
}

// Nothing outside of the dialects' own folders and rows decides by the name of one.
func TestNobodyAsksForTheNameOfAProtocol(t *testing.T) {
	decides := regexp.MustCompile(`(case |[!=]= )"(tera|muta|subspace)"`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		if found := decides.Find(code); found != nil {
			t.Errorf("%s has %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
