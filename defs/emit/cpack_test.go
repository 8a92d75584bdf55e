package emit_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/tooltest"
)

// cPackMain passes contents in the support of C: "r method hex" reads compressed ones, "w method hex" writes plain ones. The answer is the result, 0 or
// not, and the bytes.
const cPackMain = `
static char line[1 << 22];
static uint8_t memory[1 << 20], made[1 << 20];

int main(void)
{
	char what;
	int method;
	while (scanf(" %c %d %4194303[^\n]", &what, &method, line) == 3) {
		char *text = line + strspn(line, " ");
		size_t n = strlen(text) / 2;
		uint8_t *data = (uint8_t *)malloc(n + 1);
		wb_mem mem = {memory, sizeof memory, 0};
		wb_in in = {data, n, 0, &mem};
		wb_out out = {made, sizeof made, 0};
		wb_coder coder = wb_reading_(&in, 0), *x = &coder;
		wb_bytes s;
		for (size_t i = 0; i < n; i++) {
			unsigned byte = 0;
			sscanf(text + 2 * i, "%2x", &byte);
			data[i] = (uint8_t)byte;
		}
		s.len = n;
		s.data = data;
		if (what == 'w')
			coder = wb_writing_(out.data, out.size);
		{
			wb_pack p = wb_pack_(x, method);
			if (p.some) {
				wb_blob_(x, &s, WB_REST_);
				wb_pack_end_(x, &p);
			}
		}
		if (what == 'w' && x->result == 0) {
			wb_coder measure = wb_writing_(NULL, SIZE_MAX);
			wb_pack p = wb_pack_(&measure, method);
			wb_blob_(&measure, &s, WB_REST_);
			wb_pack_end_(&measure, &p);
			if (measure.pos != x->pos)
				abort();
			s.data = made;
			s.len = x->pos;
		}
		printf("%d ", x->result != 0);
		for (size_t i = 0; x->result == 0 && i < s.len; i++)
			printf("%02x", s.data[i]);
		printf("\n");
		free(data);
	}
	return 0;
}
`

// TestToolCPack checks compressed contents of C: what Go compresses is read, what C writes is read by Go, and changed bytes are read as by Go.
func TestToolCPack(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "cc")
	dir := t.TempDir()
	source := "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	for _, name := range []string{"support_c_public", "support_c", "support_c_pack"} {
		text, err := os.ReadFile(name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		source += string(text) + "\n"
	}
	write(t, dir, "pack.c", source+cPackMain)
	compileC(t, dir, "-O1", "-o", "pack", "pack.c")
	if _, ok := tooltest.Look(t, "g++"); ok {
		compileCPP(t, dir, "-x", "c++", "-fsyntax-only", "pack.c")
	}

	rng := rand.New(rand.NewPCG(7, 8))
	inflate := func(method int, data []byte) ([]byte, error) {
		var r io.Reader
		var err error
		switch in := bytes.NewReader(data); method {
		case 1:
			r, err = zlib.NewReader(in)
		case 2:
			r = flate.NewReader(in)
		default:
			var g *gzip.Reader
			if g, err = gzip.NewReader(in); err == nil {
				g.Multistream(false)
			}
			r = g
		}
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	type question struct {
		method int
		data   []byte
		plain  []byte // nil: to be written
	}
	var asked []question
	var in strings.Builder
	ask := func(method int, data, plain []byte) {
		asked = append(asked, question{method, data, plain})
		fmt.Fprintf(&in, "%c %d  %x\n", map[bool]byte{true: 'w', false: 'r'}[plain == nil], method, data)
	}
	for _, plain := range [][]byte{{1}, []byte(strings.Repeat("to be or not to be, that is the question: ", 30)), noise, noise[:65535], bytes.Repeat(noise[:300], 200)} {
		for method := 1; method <= 3; method++ {
			ask(method, plain, nil)
			for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, flate.BestCompression} {
				var out bytes.Buffer
				var w io.WriteCloser
				switch method {
				case 1:
					w, _ = zlib.NewWriterLevel(&out, level)
				case 2:
					w, _ = flate.NewWriter(&out, level)
				default:
					w, _ = gzip.NewWriterLevel(&out, level)
				}
				w.Write(plain)
				w.Close()
				ask(method, out.Bytes(), plain)
				for range 60 {
					if out.Len() > 3000 {
						break
					}
					data := bytes.Clone(out.Bytes())
					data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
					data = data[:len(data)-rng.IntN(2)*rng.IntN(len(data))]
					ask(method, data, []byte{})
				}
			}
		}
	}
	cmd := exec.Command(filepath.Join(dir, "pack"))
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	lines := strings.Split(strings.TrimSuffix(string(run(t, cmd, []byte(in.String()))), "\n"), "\n")
	if len(lines) != len(asked) {
		t.Fatalf("%d answers to %d questions", len(lines), len(asked))
	}
	read := 0
	for i, q := range asked {
		result, text, _ := strings.Cut(lines[i], " ")
		got, _ := hex.DecodeString(text)
		want, err := q.data, error(nil)
		if q.plain == nil {
			got, err = inflate(q.method, got)
		} else {
			want, err = inflate(q.method, q.data)
		}
		switch {
		case (result == "0") == (err == nil) && (err != nil || bytes.Equal(got, want)):
			read++
		case q.method == 3 && len(q.plain) == 0: // the length in gzip, and the checksum of its head, are not checked
		default:
			t.Errorf("method %d, %d bytes %.40x: result %s with %d bytes, want %d, %v", q.method, len(q.data), q.data, result, len(got), len(want), err)
		}
	}
	t.Logf("%d of %d are as in Go", read, len(asked))
}
