package emit_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"wirebench/defs"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The messages of BenchmarkGo: with counts, and with offsets.
const (
	straightMuta = `group: g
	__id = uint16
struct: point
	x = int32
	y = int32
	z = float
packet: move
	__group = g
	id = uint32
	from = point
	to = point
	speed = uint16
	flags = uint8
	name = char {0, 60}
	path = point {0, 200}
	items = uint16 {0, 300}
`
	straightTera = `int32 id
vec3 at
angle w
int64 guid
bool alive
string name
array members
- int32 serverId
- int32 playerId
- string name
- byte level
- float ratio
array<int32> buffs
bytes data
`
)

var benchLine = regexp.MustCompile(`BenchmarkMessage/(\w+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)

// BenchmarkGo compares the generated code with code that was written by hand, in one run: the metrics are the ratios of their times.
func BenchmarkGo(b *testing.B) {
	x, _ := emit.Find("go")
	for name, file := range map[string]*source.File{"muta": source.New("m.def", straightMuta), "tera": source.New("S_PARTY.1.def", straightTera)} {
		b.Run(name, func(b *testing.B) {
			s, diags := defs.Load([]*source.File{file}, name, schema.Options{Codes: map[string]uint32{"S_PARTY": 7}})
			if diags.HasErrors() {
				b.Fatal(diags.Render())
			}
			dir := b.TempDir()
			write(b, dir, "go.mod", "module tried\n\ngo 1.24\n")
			files, _ := x.Emit(s, emit.Options{Name: name})
			write(b, dir, files[0].Name, files[0].Text)
			text, err := os.ReadFile("testdata/straight/" + name + ".go.txt")
			if err != nil {
				b.Fatal(err)
			}
			write(b, dir, "straight_test.go", string(text))
			cmd := exec.Command("go", "test", "-vet=off", "-bench=.", "-benchtime=200ms", ".")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			took := map[string]float64{}
			for _, m := range benchLine.FindAllSubmatch(out, -1) {
				took[string(m[1])], _ = strconv.ParseFloat(string(m[2]), 64)
			}
			if err != nil || len(took) != 4 {
				b.Fatalf("%v\n%s", err, out)
			}
			b.ReportMetric(took["read"]/took["readByHand"], "read-ratio")
			b.ReportMetric(took["write"]/took["writeByHand"], "write-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
