package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A line of text ends with a summary of the values, and -V adds the fields, of frames without a definition the bytes.
func TestFramesSummariesAndTrees(t *testing.T) {
	library, file := smallMessages(t, 3)
	out, errs, status := cli(t, "", "frames", "--library", library, file)
	if want := "S_MOVE                          32  gameId 1001, loc.x 256.00003, loc.y 384.00003, loc.z 2, hp 1, speed 1"; status != 0 || !strings.HasSuffix(lines(out)[1], want) {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	out, errs, status = cli(t, "", "frames", "-V", "--library", library, "--filter", "n == 2", file)
	if got := lines(out); status != 0 || len(got) != 11 || !strings.HasPrefix(got[1], "    offset  bytes ") || !strings.HasSuffix(got[4], "gameId    uint64  1001") || got[10] != "" {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	if err := os.Remove(library + "/S_MOVE.1.def"); err != nil {
		t.Fatal(err)
	}
	out, _, _ = cli(t, "", "frames", "--verbose", "--library", library, "--filter", "n == 1", file)
	if got := lines(out); len(got) != 4 || !strings.HasSuffix(got[1], "|") || !strings.HasPrefix(got[1], "    00000000  20 00 21 4e") {
		t.Errorf("%s", out)
	}
}

func TestFramesColumns(t *testing.T) {
	library, file := smallMessages(t, 6)
	out, errs, status := cli(t, "", "frames", "--library", library, "--columns", "n, t,dir,name,code,len,status,.gameId,S_MOVE.1.hp,C_OTHER.hp,hex", "--filter", "n > 4", file)
	const head = "n\tt\tdir\tname\tcode\tlen\tstatus\t.gameId\tS_MOVE.1.hp\tC_OTHER.hp\thex"
	if status != 0 || lines(out)[0] != head || len(lines(out)) != 3 || !strings.HasPrefix(lines(out)[1], "5\t0.002000\ts2c\tS_MOVE\t20001\t32\tok\t1004\t4\t\t2000214eec03") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--columns", "n,sum"}, `no column "sum"; the columns are n, time`},
		{[]string{"--columns", ""}, `no column ""`},
		{[]string{"--columns", "n", "--json"}, "--columns and --json cannot be combined"},
		{[]string{"-V", "--stats", "types"}, "--verbose and --stats cannot be combined"},
		{[]string{"--stats", "all"}, "--stats all: must be one of connections, fields, problems, types"},
	} {
		if _, errs, status := cli(t, "", append([]string{"frames", "--library", library, file}, test.args...)...); status != 2 || !strings.Contains(errs, test.want) {
			t.Errorf("%v: status %d: %s", test.args, status, errs)
		}
	}
}

func TestFramesStatistics(t *testing.T) {
	library, file := smallMessages(t, 600)
	stats := func(kind string, more ...string) []map[string]any {
		t.Helper()
		out, errs, status := cli(t, "", append([]string{"frames", "--library", library, "--json", "--stats", kind, file}, more...)...)
		if status != 0 {
			t.Fatalf("status %d\n%s", status, errs)
		}
		var all []map[string]any
		for _, line := range lines(out) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			all = append(all, row)
		}
		return all
	}
	if got := stats("types"); len(got) != 1 || got[0]["name"] != "S_MOVE.1" || got[0]["frames"] != 600.0 || got[0]["bytes"] != 600*32.0 || got[0]["s2c"] != 600.0 || got[0]["not_ok"] != 0.0 {
		t.Errorf("types: %v", got)
	}
	if got := stats("types", "--filter", ".hp > 589"); len(got) != 1 || got[0]["frames"] != 10.0 || got[0]["first"] != 591.0 {
		t.Errorf("types of a filter: %v", got)
	}
	if got := stats("connections"); len(got) != 1 || got[0]["conn"] != "10.0.0.2:4000-10.0.0.1:7801" || got[0]["s2c_bytes"] != 600*32.0 || got[0]["seconds"].(float64) < 0.59 {
		t.Errorf("connections: %v", got)
	}
	if got := stats("problems"); len(got) != 0 {
		t.Errorf("problems: %v", got)
	}
	fields := stats("fields")
	if i := slices.IndexFunc(fields, func(f map[string]any) bool { return f["path"] == "hp" }); i < 0 || fields[i]["min"] != "0" || fields[i]["max"] != "599" || fields[i]["distinct"] != 600.0 {
		t.Errorf("fields: %v", fields)
	}

	// A definition that is too short: every frame has the same problem.
	if err := os.WriteFile(library+"/S_MOVE.1.def", []byte("uint64 gameId\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := stats("problems"); len(got) != 1 || got[0]["frames"] != 600.0 || got[0]["first"] != 1.0 || got[0]["name"] != "S_MOVE" {
		t.Errorf("problems: %v", got)
	}
	out, _, _ := cli(t, "", "frames", "--library", library, "--stats", "problems", file)
	if got := lines(out); len(got) != 2 || !strings.HasPrefix(got[0], "frames  first  type    problem") || !strings.HasPrefix(got[1], "600     1      S_MOVE  ") {
		t.Errorf("%s", out)
	}
}

// The frames of a capture that is still written to a pipe are listed as they come.
func TestFramesOfPipe(t *testing.T) {
	data, err := os.ReadFile("../../defs/library/tera/demo.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := cli(t, string(data), "frames", "--protocol", "tera", "--columns", "n,name", "-")
	in, feed := io.Pipe()
	out, write := io.Pipe()
	defer out.Close() // ends the command, should the test fail
	var errs bytes.Buffer
	status := make(chan int, 1)
	go func() {
		s := run(context.Background(), []string{"frames", "--protocol", "tera", "--columns", "n,name", "-"}, in, write, &errs)
		write.Close()
		status <- s
	}()
	seen := make(chan struct{}) // frames of the first half
	go func() {
		feed.Write(data[:len(data)/2])
		select {
		case <-seen:
		case <-time.After(30 * time.Second):
		}
		feed.Write(data[len(data)/2:])
		feed.Close()
	}()
	got := make([]byte, 0, 1<<16)
	for bytes.Count(got, []byte("\n")) < 10 {
		n, err := out.Read(got[len(got):cap(got)])
		if got = got[:len(got)+n]; err != nil {
			t.Fatalf("%q, %v: %s", got, err, errs.String())
		}
	}
	if len(got) == len(all) {
		t.Error("all frames before the second half was written")
	}
	close(seen)
	rest, err := io.ReadAll(out)
	if got = append(got, rest...); err != nil || <-status != 0 || string(got) != all {
		t.Errorf("%q: %v, %s", got, err, errs.String())
	}
}
