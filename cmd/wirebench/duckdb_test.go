package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/defs"
	"wirebench/defs/tooltest"
)

// duckAnswer is what DuckDB answers to a statement.
type duckAnswer struct {
	Names, Types []string
	Rows         [][]any
}

// duckDB runs statements in a folder.
func duckDB(t *testing.T, dir string, statements ...string) []duckAnswer {
	t.Helper()
	folder := tooltest.Packages(t, "testdata/duckdb", "@duckdb/node-api")
	text, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tooltest.Path(t, "node"), filepath.Join(folder, "query.js"), dir)
	cmd.Stdin = bytes.NewReader(text)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var answers []duckAnswer
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	if err := d.Decode(&answers); err != nil || len(answers) != len(statements) {
		t.Fatal(len(answers), err)
	}
	return answers
}

// TestToolDuckDBManual runs the statements of the manual on the sample that it names, and an example of what they are said to find.
func TestToolDuckDBManual(t *testing.T) {
	text, err := os.ReadFile("../../web/docs/analysis.md")
	if err != nil {
		t.Fatal(err)
	}
	var statements, ofLake []string
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(text, -1) {
		if strings.Contains(string(m[1]), "_project=") {
			ofLake = append(ofLake, string(m[1]))
			continue
		}
		statements = append(statements, string(m[1]))
	}
	library := filepath.Join("..", "..", "defs", "library", "tera")
	dir := filepath.Join(t.TempDir(), "lake")
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, filepath.Join(library, "demo.pcapng")); status != exitOK {
		t.Fatal(errs)
	}
	for i, a := range duckDB(t, dir, statements...) {
		if len(a.Rows) == 0 && !strings.Contains(statements[i], "!= 'ok'") {
			t.Errorf("no rows:\n%s", statements[i])
		}
	}
	beside := t.TempDir()
	addr, _ := started(t, "--lake", filepath.Join(beside, "lake"))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, state := get(t, "http://"+addr+"/api/v1/projects/tera/lake")
		var of struct{ Rows, Pending int }
		if err := json.Unmarshal([]byte(state), &of); err != nil {
			t.Fatal(state, err)
		}
		if of.Rows > 0 && of.Pending == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal(state)
		}
	}
	for i, a := range duckDB(t, beside, ofLake...) {
		if len(a.Rows) == 0 && !strings.Contains(ofLake[i], "SET VARIABLE") {
			t.Errorf("no rows:\n%s", ofLake[i])
		}
	}
	if len(statements) < 5 || len(ofLake) < 3 {
		t.Errorf("%d and %d statements", len(statements), len(ofLake))
	}
}

// TestToolDuckDB exports the recordings of all languages, with changed and cut messages behind them, and compares what DuckDB reads with the values of
// the list: nulls, nesting, text, bytes, integers of 64 bits.
func TestToolDuckDB(t *testing.T) {
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			library := filepath.Join("..", "..", "defs", "library", d.Name)
			recording := filepath.Join(library, "demo.pcapng")
			dir := filepath.Join(t.TempDir(), "lake")
			if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, recording); status != exitOK {
				t.Fatal(errs)
			}
			text, errs, status := cli(t, "", "frames", "--library", library, "--json", "--value", recording)
			if status != exitOK {
				t.Fatal(errs)
			}
			want := map[string][]string{}
			for line := range strings.Lines(text) {
				var f struct {
					N     json.Number
					Value map[string]any
				}
				dec := json.NewDecoder(strings.NewReader(line))
				dec.UseNumber()
				if err := dec.Decode(&f); err != nil {
					t.Fatal(err)
				}
				if f.Value != nil {
					want[f.N.String()] = slices.Sorted(slices.Values(membersOf(f.Value)))
				}
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var statements []string
			for _, e := range entries {
				statements = append(statements, fmt.Sprintf("SELECT _n, to_json(t) FROM %s t", quoted(e.Name())))
			}
			seen := 0
			for i, a := range duckDB(t, dir, statements...) {
				for _, row := range a.Rows {
					var of map[string]any
					dec := json.NewDecoder(strings.NewReader(row[1].(string)))
					dec.UseNumber()
					if err := dec.Decode(&of); err != nil {
						t.Fatal(row[1], err)
					}
					for _, name := range []string{"_capture", "_conn", "_dir", "_time", "_n", "_code", "_length", "_status", "_resumed"} {
						if _, ok := of[name]; !ok {
							t.Fatalf("no column %s", name)
						}
						delete(of, name)
					}
					got := membersOf(of)
					slices.Sort(got)
					n := row[0].(string)
					if w, ok := want[n]; !ok || !slices.Equal(got, w) {
						t.Fatalf("%s, frame %s:\n got %q\nwant %q", statements[i], n, got, w)
					}
					seen++
				}
			}
			if seen != len(want) || seen == 0 {
				t.Errorf("%d of %d frames", seen, len(want))
			}
		})
	}
}

func quoted(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'" }

// membersOf returns the values inside those of a message.
func membersOf(of map[string]any) (out []string) {
	for _, v := range of {
		out = scalars(out, v)
	}
	return out
}

// scalars appends the values inside a JSON value, in one spelling for each.
func scalars(out []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			out = scalars(out, x)
		}
		if len(v) == 0 { // a column that says that it is there
			out = append(out, "true")
		}
	case []any:
		for _, x := range v {
			out = scalars(out, x)
		}
	case nil:
	case bool:
		out = append(out, strconv.FormatBool(v))
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil || !strings.ContainsAny(v.String(), ".eE") {
			return append(out, v.String())
		}
		x, _ := v.Float64()
		out = append(out, strconv.FormatFloat(float64(float32(x)), 'g', 6, 64))
	case string:
		if b, ok := blob(v); ok {
			v = hex.EncodeToString(b)
		}
		out = append(out, v)
	}
	return out
}

var blobText = regexp.MustCompile(`^(?:\\x[0-9A-F]{2}|[ -~])*\\x[0-9A-F]{2}(?:\\x[0-9A-F]{2}|[ -~])*$`)

// blob reads bytes as DuckDB writes them in JSON: \x00 where they are no characters.
func blob(text string) (b []byte, ok bool) {
	if !blobText.MatchString(text) {
		return nil, false
	}
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], `\x`) {
			x, _ := strconv.ParseUint(text[i+2:i+4], 16, 8)
			b = append(b, byte(x))
			i += 3
			continue
		}
		b = append(b, text[i])
	}
	return b, true
}
