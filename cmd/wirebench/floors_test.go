package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// floors lists the permitted imports of each package: a statement of policy, in the manner of go/build/deps_test.go of the Go project.
//
// An empty line ends a floor. The packages right of "<", and their own permitted imports, may be imported; they must be on a lower floor,
// which is further up here. Every package must be in the table; a package in the table need not exist yet.
const floors = `
defs/source
defs/library
defs/defstest
defs/benchtest
defs/corpora
defs/tooltest
static
web/browsertest
web/build
web/docs
web/flows

defs/diag < defs/source

defs/schema < defs/diag
defs/text   < defs/diag

defs/edit  < defs/schema defs/text
defs/wire  < defs/schema
codec/pack < defs/schema

defs/build < defs/text defs/wire

defs/tera     < defs/build defs/text defs/edit
defs/muta     < defs/build defs/text defs/edit
defs/protodef < defs/build defs/edit defs/text
defs/mavlink  < defs/build defs/edit defs/text
defs/cstruct  < defs/build defs/text defs/edit
defs/kaitai   < defs/build defs/edit defs/text
defs/protobuf < defs/build defs/edit defs/text
defs/subspace < defs/build defs/text defs/edit
defs/emit     < defs/wire
defs/emit/runtime
defs/envelope < defs/schema defs/text
codec         < defs/wire codec/pack

defs            < defs/tera defs/muta defs/subspace defs/protodef defs/mavlink defs/cstruct defs/kaitai defs/protobuf defs/emit defs/library
codec/transport < defs/schema

codec/tls < codec/transport

codec/filter             < codec codec/transport
codec/transport/subspace < codec codec/transport
codec/transport/stream < codec codec/transport defs/envelope codec/pack
codec/transport/transporttest < codec defs/envelope
codec/packet             < codec/tls
codec/packettest         < codec/transport
codec/scan
codec/bytediff
codec/value              < codec
codec/redact             < codec

codec/view < codec/value
codec/columns < codec/value
codec/transport/tera < codec/transport/stream
codec/filter/filtertest < codec/filter codec/value
codec/reshape < defs codec/value
codec/pcap < codec/packet codec/scan

codec/corpus < codec/columns codec/view
codec/parquet < codec/columns codec/transport
codec/paste < codec/pcap
codec/logs  < codec/pcap

codec/capture < codec/paste codec/logs codec/transport/stream

codec/transport/protocols < defs codec/tls codec/transport/tera codec/transport/subspace codec/transport/stream

server/settings < defs codec/transport/protocols

templates < codec/view codec/bytediff static web/docs

server/admit
server/objects
server/bus
server/bus/bustest
server/wsconn
server/supervise
server/collab  < defs/text

cmd/wirebench/demo/regatta < server/supervise

server/store  < codec/capture server/objects server/settings server/supervise
server/live   < codec/capture server/supervise
server/replay < codec/view codec/filter codec/corpus codec/transport server/supervise

server/answer    < server/admit
server/lake      < codec/parquet server/objects server/supervise
server/git
server/logs
server/history   < server/collab server/store
server/proxy     < codec/filter server/live server/store

server/workspace < codec/corpus codec/reshape codec/redact codec/filter server/settings server/history

server/workspace/workspacetest < server/workspace
server/objects/objectstest     < defs/tooltest
server/store/storetest         < server/store

server/access < server/answer templates server/supervise
server/frames < server/workspace server/lake server/live server/admit codec/bytediff codec/corpus codec/value codec/redact codec/transport/protocols

server/captures < server/frames
server/rooms    < server/admit server/collab server/workspace defs/edit
server/socket   < server/wsconn server/supervise
server/view     < server/workspace codec/bytediff

server/projects < server/workspace defs/library
server/scores   < server/captures codec/columns
server/ingest   < server/captures server/lake
server/publish  < server/workspace templates

server/relay  < server/captures server/proxy codec/transport/protocols
server/retain < server/captures server/projects
server/archive < server/captures server/projects

server/collect      < server/relay server/bus
server/cluster      < server/answer server/bus server/store
server/runs         < server/relay server/replay
cmd/wirebench/demo < server/workspace server/replay codec/transport/protocols

server/api < server/access server/cluster server/ingest server/runs server/projects server/rooms server/scores server/retain server/publish server/git

server/page   < server/api server/socket server/view
server/agents < server/api

server/servertest < server/access server/projects server/relay server/workspace/workspacetest cmd/wirebench/demo/regatta web/docs

server < server/page server/agents server/rooms server/logs server/cluster server/collect static server/archive

cmd/wirebench < server server/cluster server/publish server/replay cmd/wirebench/demo cmd/wirebench/demo/regatta
web/types     < server
`

// soleImporters maps modules to the only package that may import them, so that replacing a module changes one package.
var soleImporters = map[string]string{"nhooyr.io/websocket": "server/wsconn", "github.com/parquet-go/parquet-go": "codec/parquet", "github.com/minio/minio-go/v7": "server/objects"}

// pkg is the output of go list for a package, without tests and their imports.
type pkg struct {
	ImportPath string
	Imports    []string
}

func TestFloors(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and many cases, with -short")
	}
	const root = "../.."
	lookAtTree(t, os.DirFS(root))
	for _, v := range floorViolations(floors, listPackages(t, root)) {
		t.Error(v)
	}
	for _, v := range sourceViolations(t, os.DirFS(root)) {
		t.Error(v)
	}
}

// lookAtTree opens every directory that may hold a package: go test caches a pass until a file or directory that the test opened changes, and
// it does not see the files that go list opens.
func lookAtTree(t *testing.T, root fs.FS) {
	t.Helper()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func listPackages(t *testing.T, root string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

// floorViolations checks packages against a table such as floors, and the table against itself.
func floorViolations(table string, pkgs []pkg) []string {
	var found []string
	allowed := map[string]map[string]bool{} // package → its permitted imports, transitively
	for floor := range strings.SplitSeq(strings.TrimSpace(table), "\n\n") {
		thisFloor := map[string]map[string]bool{}
		for line := range strings.Lines(floor) {
			name, needs, _ := strings.Cut(strings.TrimSpace(line), "<")
			name = strings.TrimSpace(name)
			may := map[string]bool{}
			for _, need := range strings.Fields(needs) {
				if allowed[need] == nil {
					found = append(found, fmt.Sprintf("table: %s is not on a floor below %s", need, name))
				}
				may[need] = true
				for deeper := range allowed[need] {
					may[deeper] = true
				}
			}
			thisFloor[name] = may
		}
		for name, may := range thisFloor {
			allowed[name] = may
		}
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, "wirebench/")
		may, listed := allowed[name]
		if !listed {
			found = append(found, fmt.Sprintf("%s is not in the table: give it a floor", name))
			continue
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, "wirebench/"); ok && !may[ours] {
				found = append(found, fmt.Sprintf("%s may not import %s", name, ours))
			}
			for module, only := range soleImporters {
				if (imported == module || strings.HasPrefix(imported, module+"/")) && name != only {
					found = append(found, fmt.Sprintf("%s may not import %s: only %s does", name, imported, only))
				}
			}
			if under(name, "codec") && doesIO(imported) {
				found = append(found, fmt.Sprintf("%s may not import %s: it does no I/O", name, imported))
			}
		}
	}
	return found
}

// doesIO reports whether a package does I/O: net, os and their subpackages, except net/netip, which has only addresses.
func doesIO(imported string) bool {
	return imported != "net/netip" && (under(imported, "net") || under(imported, "os"))
}

func under(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// games finds names of games and dialects as words of prose or of identifiers (teraKey, NewMuta, SUBSPACE_PORT) and not inside
// other words (literal, immutable).
var games = regexp.MustCompile(`(?i:\b(?:tera|muta|subspace|continuum)\b)` +
	`|(?:^|[^A-Za-z])(?:tera|muta|subspace|continuum)(?:$|[^a-z])` +
	`|(?:Tera|Muta|Sub[Ss]pace|Continuum)(?:$|[^a-z])` +
	`|(?:^|[^A-Z])(?:TERA|MUTA|SUBSPACE|CONTINUUM)`)

var clock = regexp.MustCompile(`\btime\.(?:Now|Since|Until|Sleep|After|AfterFunc|Tick|NewTicker|NewTimer)\b`)

// namesAllowed reports whether a file in codec or server is about one game: its transport, the forms of pasted text and captures, which
// are named after the programs that write them, and what tests send.
func namesAllowed(name string) bool {
	return under(name, "codec/transport") || under(name, "codec/paste") || under(name, "codec/logs") || under(name, "server/servertest")
}

// sourceViolations reads the files below server/ and codec/ for rules that imports do not show. Tests and testdata are exempt.
func sourceViolations(t *testing.T, root fs.FS) []string {
	t.Helper()
	var found []string
	for _, dir := range []string{"codec", "server"} {
		err := fs.WalkDir(root, dir, func(name string, entry fs.DirEntry, err error) error {
			if name == dir && errors.Is(err, fs.ErrNotExist) {
				return nil // not existing yet, as the table allows
			}
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if entry.IsDir() || strings.HasSuffix(name, "_test.go") || path.Ext(name) == ".test" || path.Ext(name) == ".prof" {
				return nil // a profiler writes the last two
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			number := 0
			for line := range strings.Lines(string(text)) {
				number++
				line = strings.TrimSpace(line)
				if !namesAllowed(name) && games.MatchString(line) {
					found = append(found, fmt.Sprintf("%s:%d names a game or dialect: %s", name, number, line))
				}
				if under(name, "codec") && path.Ext(name) == ".go" && clock.MatchString(line) {
					found = append(found, fmt.Sprintf("%s:%d reads the clock: time is a parameter in codec: %s", name, number, line))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestFloorViolations and TestSourceViolations check each rule with an artificial violation.
func TestFloorViolations(t *testing.T) {
	const table = "low\ncodec\n\nmid < low\nside < low\n\nhigh < mid side\nserver/wsconn\n"
	for _, test := range []struct {
		name  string
		table string
		pkg   pkg
		want  []string
	}{
		{name: "allowed", pkg: pkg{"wirebench/high", []string{"fmt", "net", "wirebench/mid"}}},
		{name: "allowed through another", pkg: pkg{"wirebench/high", []string{"wirebench/low"}}},
		{name: "upwards", pkg: pkg{"wirebench/mid", []string{"wirebench/high"}}, want: []string{"mid may not import high"}},
		{name: "sideways", pkg: pkg{"wirebench/mid", []string{"wirebench/side"}}, want: []string{"mid may not import side"}},
		{name: "downwards but not listed", pkg: pkg{"wirebench/mid", []string{"wirebench/codec"}}, want: []string{"mid may not import codec"}},
		{name: "not in the table", pkg: pkg{"wirebench/util", nil}, want: []string{"util is not in the table: give it a floor"}},
		{name: "socket in codec", pkg: pkg{"wirebench/codec", []string{"net/http", "net/netip"}}, want: []string{"codec may not import net/http: it does no I/O"}},
		{name: "disk in codec", pkg: pkg{"wirebench/codec", []string{"os"}}, want: []string{"codec may not import os: it does no I/O"}},
		{name: "websocket in its place", pkg: pkg{"wirebench/server/wsconn", []string{"nhooyr.io/websocket"}}},
		{
			name: "websocket elsewhere", pkg: pkg{"wirebench/high", []string{"nhooyr.io/websocket/wsjson"}},
			want: []string{"high may not import nhooyr.io/websocket/wsjson: only server/wsconn does"},
		},
		{name: "table with a need on its own floor", table: "a\nb < a", pkg: pkg{"wirebench/a", nil}, want: []string{"table: a is not on a floor below b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.table == "" {
				test.table = table
			}
			if diff := cmp.Diff(test.want, floorViolations(test.table, []pkg{test.pkg})); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSourceViolations(t *testing.T) {
	fine := []string{"an immutable literal, by permutation", "iterate", "GetInteractive", "LITERAL", "mutate", "Mutation"}
	named := []string{"// as TERA does", "func newTera()", "teraKey", "key_muta", "SUBSPACE_PORT", "the SubSpace core", "Continuum", `"tera"`, "muta.Parse", "tErA"}
	root := fstest.MapFS{
		"codec/fine.go":                   {Data: []byte(strings.Join(fine, "\n"))},
		"codec/named.go":                  {Data: []byte(strings.Join(named, "\n"))},
		"codec/clock.go":                  {Data: []byte("at := time.Now()\ntype At time.Time\n")},
		"codec/transport/tera/frame.go":   {Data: []byte("package tera\nvar start = time.Now()\n")},
		"codec/testdata/tera/string.go":   {Data: []byte("package tera")},
		"server/live/ring_test.go":        {Data: []byte("package live // with TERA frames")},
		"server/live/ring.go":             {Data: []byte("package live\nvar now = time.Now\n")},
		"server/pages/continuum-notes.md": {Data: []byte("\nContinuum")},
	}
	var want []string
	for i, line := range named {
		want = append(want, fmt.Sprintf("codec/named.go:%d names a game or dialect: %s", i+1, line))
	}
	want = append(want,
		"codec/clock.go:1 reads the clock: time is a parameter in codec: at := time.Now()",
		"codec/transport/tera/frame.go:2 reads the clock: time is a parameter in codec: var start = time.Now()",
		"server/pages/continuum-notes.md:2 names a game or dialect: Continuum",
	)
	slices.Sort(want)
	got := sourceViolations(t, root)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}
