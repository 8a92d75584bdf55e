package server

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"wirebench/defs/library"
	"wirebench/server/access"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
)

// script is a program that knows nothing but what the tools say. It counts its calls and their bytes.
type script struct {
	*testing.T
	c            *mcp.ClientSession
	project      string
	calls, bytes int
}

// use calls a tool, and returns the lines of its answer without the marks.
func (s *script) use(tool string, args map[string]any) (lines []string) {
	s.Helper()
	if s.project != "" {
		args["project"] = s.project
	}
	text, refused := use(s.T, s.c, tool, args)
	if s.calls, s.bytes = s.calls+1, s.bytes+len(text)+len(fmt.Sprint(args)); refused {
		s.Fatalf("%s %v: %s", tool, args, text)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "data:" && line != "end of data" {
			lines = append(lines, line)
		}
	}
	return lines
}

// find returns the parts of the lines that match an expression.
func (s *script) find(lines []string, expression string) (found [][]string) {
	s.Helper()
	re := regexp.MustCompile(expression)
	for _, line := range lines {
		if m := re.FindStringSubmatch(line); m != nil {
			found = append(found, m[1:])
		}
	}
	if len(found) == 0 {
		s.Fatalf("no %s in\n%s", expression, strings.Join(lines, "\n"))
	}
	return found
}

// unknown is a type of messages without a definition.
type unknown struct {
	filter, dir, name string
	code, count       int
	fixed             bool // all have one size
}

// numeral returns a number that a tool has written.
func (s *script) numeral(text string) int {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		s.Fatal(err)
	}
	return int(n)
}

// define makes a definition of the bytes of messages: a type of four bytes for floating point where the tool guesses a number of that kind, else one of
// a byte, as the language has them.
func (s *script) define(capture string, u unknown, language []string) string {
	number, single := s.find(language, `^(\w+): type; 4 bytes; .*floating`)[0][0], s.find(language, `^(\w+): type; 1 byte; .* 255`)[0][0]
	header := s.numeral(s.find(s.use("layout", map[string]any{"message": u.name + ".1", "text": single + " first\n"}), `^first at (\S+):`)[0][0])
	fields := s.find(s.use("fields", map[string]any{"capture": capture, "type": u.filter}), `^(0x\w+) hex: .*?(f32 float\?|$)`)
	var text strings.Builder
	for at := header; at < len(fields); at++ {
		if fields[at][1] != "" && at+4 <= len(fields) {
			fmt.Fprintf(&text, "%s at%d\n", number, at)
			at += 3
			continue
		}
		fmt.Fprintf(&text, "%s at%d\n", single, at)
	}
	return text.String()
}

// TestAgentScript: with the tools alone, a program takes a capture of a project without definitions and without a code map to names for all its codes
// and to two definitions that explain every message of theirs. It only suggests; a person accepts, and the capture reads as the tools have said.
func TestAgentScript(t *testing.T) {
	s := captureServer(t, "tera", nil)
	files, _ := library.Dialect("tera")
	data, err := fs.ReadFile(files, "demo.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	servertest.Keep(t, s, "play.pcapng", data)
	x := &script{T: t, c: agent(t, s, access.Commenter)}

	x.project = x.find(x.use("projects", map[string]any{}), `^(\w+): .*, 1 captures`)[0][0]
	about := x.use("project", map[string]any{})
	x.find(about, `(code map none)`)
	capture := x.find(about, `^capture (\S+): `)[0][0]
	x.find(about, `^(no definition): read without a file describes the language`)
	language := x.use("read", map[string]any{})
	prefix := map[string]string{"c2s": "C", "s2c": "S"} // as the name of the example has it
	name := x.find(language[:1], `^example of .*, [CS]_\w+(\.1)(\.\w+):$`)[0]

	// Names for all codes.
	var all []unknown
	codes := map[string]any{}
	for _, m := range x.find(x.use("types", map[string]any{"capture": capture}), `^(.*): (c2s|s2c) message, (\d+) times, (\d+) to (\d+) bytes, code (\d+), no definition$`) {
		u := unknown{filter: m[0], dir: m[1], name: prefix[m[1]] + "_MESSAGE_" + m[5], code: x.numeral(m[5]), count: x.numeral(m[2]), fixed: m[3] == m[4]}
		all, codes[u.name] = append(all, u), u.code
	}
	if len(codes) < 10 {
		t.Fatalf("%d codes", len(codes))
	}
	x.find(x.use("suggest", map[string]any{"codes": codes, "why": "names for all codes of the capture"}), `^suggestion (\w+): it makes the file `)

	// Definitions of the two types with most messages of a single size that become clean.
	slices.SortStableFunc(all, func(a, b unknown) int { return b.count - a.count })
	clean := map[string]int{} // number of messages by name
	for _, u := range all {
		if !u.fixed || len(clean) == 2 {
			continue
		}
		text := x.define(capture, u, language)
		if judged := x.find(x.use("score", map[string]any{"message": u.name + ".1", "text": text}), `(\d+) messages judged of (\d+), (\d+) clean`)[0]; judged[0] != judged[2] || judged[0] != strconv.Itoa(u.count) {
			continue
		}
		x.find(x.use("suggest", map[string]any{"file": u.name + name[0] + name[1], "text": text, "why": fmt.Sprintf("explains all %d messages", u.count)}), `^suggestion (\w+): it makes the file `)
		clean[u.name] = u.count
	}
	if len(clean) != 2 {
		t.Fatalf("clean are %v", clean)
	}
	t.Logf("%d codes, 2 definitions: %d calls, %d bytes", len(codes), x.calls, x.bytes)
	if x.calls > 20 || x.bytes > 32<<10 {
		t.Errorf("%d calls, %d bytes", x.calls, x.bytes)
	}

	// Nothing has changed so far. A person accepts, with the definitions first.
	var list struct{ Threads []workspace.Thread }
	if code := servertest.Request(t, s, "GET", "/api/one/threads", nil, &list); code != 200 || len(list.Threads) != 3 || len(s.Projects.Find("one").Now().Library.All()) != 0 {
		t.Fatalf("%d %+v", code, list)
	}
	for _, th := range list.Threads {
		if code := servertest.AskJSON(t, s, "POST", "/api/one/threads/"+th.ID+"/accept", `{"name":"Ann"}`, nil); code != 200 {
			t.Fatal(code, th)
		}
	}
	types := x.use("types", map[string]any{"capture": capture})
	if named := x.find(types, `, code \d+; (\w+), no definition$`); len(s.Projects.Find("one").Now().Options.Codes) != len(codes) || len(named) != len(codes)-len(clean) {
		t.Errorf("%d messages without a definition have names, of %d codes", len(named), len(codes))
	}
	for name, count := range clean {
		if m := x.find(types, `^`+name+`: .*message, (\d+) times, .* code \d+(.*)$`)[0]; m[0] != strconv.Itoa(count) || m[1] != "" {
			t.Errorf("%s: %v", name, m)
		}
		x.find(x.use("frames", map[string]any{"capture": capture, "filter": name, "count": 1}), `(\d+) frames match`)
		judged := x.find(x.use("score", map[string]any{"message": name + ".1"}), `(\d+) messages judged of (\d+), (\d+) clean`)[0]
		if judged[2] != strconv.Itoa(count) {
			t.Errorf("%s: %v", name, judged)
		}
	}
}

// TestAgentPages: whatever a list has is in some answer, once.
func TestAgentPages(t *testing.T) {
	files := map[string]string{}
	for i := range 836 {
		files[fmt.Sprintf("C_MESSAGE_%03d.1.def", i)] = "uint32 id\n"
	}
	files["C_MESSAGE_000.2.def"] = "uint64 id\n"
	long := strings.Repeat("# a comment of some length, which takes room\n", 500) + "uint32 last\n"
	files["C_LONG.1.def"] = long
	s := captureServer(t, "tera", files)
	x := &script{T: t, c: agent(t, s, access.Viewer), project: "one"}
	seen := map[string]int{}
	read := func(tool string, args map[string]any) (all []string) {
		for from := 0; ; {
			if from > 0 {
				args["from"] = from
			}
			lines := x.use(tool, args)
			last := lines[len(lines)-1]
			m := regexp.MustCompile(`^\d+ lines more: give from: (\d+)$`).FindStringSubmatch(last)
			if m == nil {
				return append(all, lines...)
			}
			if all = append(all, lines[:len(lines)-1]...); x.numeral(m[1]) <= from {
				t.Fatalf("%s after %d", last, from)
			}
			from = x.numeral(m[1])
		}
	}
	for _, m := range x.find(read("project", map[string]any{}), `^definition (\S+):`) {
		seen[m[0]]++
	}
	if delete(files, "C_MESSAGE_000.1.def"); len(seen) != len(files) { // the older one is counted
		t.Errorf("%d files of %d", len(seen), len(files))
	}
	for name, n := range seen {
		if n != 1 || files[name] == "" {
			t.Errorf("%s: %d times", name, n)
		}
	}
	text := strings.Join(read("read", map[string]any{"file": "C_LONG.1.def"}), "\n") + "\n"
	if got := strings.ReplaceAll(text, "C_LONG.1.def, "+strconv.Itoa(len(long))+" bytes\n", ""); got != long {
		t.Errorf("the text has %d bytes in parts, %d in all", len(got), len(long))
	}
}
