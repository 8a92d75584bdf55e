package server

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// numberedFrame returns a frame that contains its number: each third one is from the server.
func numberedFrame(i int) *transport.Frame {
	f := &transport.Frame{Kind: transport.Message, At: time.UnixMilli(1_800_000_000_000 + int64(i)), HasKey: true, From: []transport.Source{{Packet: uint32(i + 1)}}}
	if i%3 == 2 {
		f.Dir, f.Key = schema.ToClient, schema.Key{Dir: schema.ToClient, Group: "svmsg", Code: 1}
		f.Bytes = binary.LittleEndian.AppendUint32([]byte{1}, uint32(i))
		return f
	}
	text := fmt.Sprintf("text %d", i)
	f.Dir, f.Key = schema.ToServer, schema.Key{Dir: schema.ToServer, Group: "clmsg", Code: 1}
	f.Bytes = append([]byte{1, byte(len(text)), 0}, text...)
	return f
}

// rolling is a capture of running traffic whose log the test fills.
type rolling struct {
	*testing.T
	s    *Server
	log  *live.Log
	conn uint32
	id   string
	url  string
}

func newRolling(t *testing.T, limit int64) *rolling {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	x, file, err := s.Projects.Find("one").Captures.Record(store.Capture{Name: "live"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	r := &rolling{T: t, s: s, log: live.NewRolling(limit), id: x.ID}
	r.conn = r.log.Connection(live.Conn{Name: "a-b", Proto: "tcp"})
	s.captures.Live("one", x.ID, r.log, make(chan struct{}))
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	r.url = "ws" + strings.TrimPrefix(srv.URL, "http")
	return r
}

func (r *rolling) add(n int) {
	for range n {
		if err := r.log.Add(r.conn, numberedFrame(r.log.Len())); err != nil {
			r.Error(err)
		}
	}
}

func (r *rolling) list(ctx context.Context) *listClient {
	r.Helper()
	return dialList(r.T, ctx, r.url, r.id)
}

// show requests a list and waits until all frames have been tested: the list of traffic is never done.
func (c *listClient) show(seq int, rest string, scanned int) (fit int) {
	c.Helper()
	c.send(fmt.Sprintf(`{"view":{"seq":%d%s}}`, seq, rest))
	for string(c.st["seq"]) != fmt.Sprint(seq) || c.number("scanned") < scanned {
		c.read()
	}
	if got := string(c.st["mistakes"]); got != "[]" {
		c.Fatalf("view %s: %s", rest, got)
	}
	return c.number("fit")
}

func (c *listClient) number(key string) (n int) {
	_ = json.Unmarshal(c.st[key], &n)
	return n
}

// into sends a query and decodes its result, or returns the error.
func (c *listClient) into(kind, answer, rest string, into any) (failed string) {
	c.Helper()
	text := c.ask(kind, answer, rest)
	if failed, ok := strings.CutPrefix(text, "failed: "); ok {
		return failed
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		c.Fatalf("%v: %.300s", err, text)
	}
	return ""
}

// rightRow checks that a row has the content of its number, or is marked as discarded.
func rightRow(t *testing.T, r frames.Row) (kept bool) {
	t.Helper()
	if strings.Contains(r.Info, "no longer in memory") {
		return false
	}
	i := r.N - 1
	want, name := fmt.Sprintf(`text %d`, i), "say"
	if i%3 == 2 {
		want, name = fmt.Sprint(i), "said"
	}
	if r.Name != name || !strings.Contains(r.Info, want) || r.Len != len(numberedFrame(i).Bytes) || r.T != numberedFrame(i).At.UnixMicro() || r.D < 0 || r.D > 3000 {
		t.Errorf("a wrong row: %+v", r)
	}
	return true
}

// A list of traffic whose oldest frames were discarded has the others right, in every kind of query.
func TestListOfARollingLog(t *testing.T) {
	r := newRolling(t, 1<<20)
	const n = 50_000
	r.add(n)
	base := r.log.Base()
	if base < n/3 || base > n-2000 {
		t.Fatalf("frames from %d on are kept", base)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := r.list(ctx)
	if fit := c.show(1, "", n); fit != n || c.number("total") != n {
		t.Errorf("%d of %d frames", fit, c.number("total"))
	}
	if got := c.number("start"); int64(got) != numberedFrame(0).At.UnixMicro() {
		t.Errorf("it starts at %d, and times in it must not move when frames are discarded", got)
	}
	var rows frames.Rows
	for _, from := range []int{0, base - 3, base, n - 10} {
		c.into("rows", "rows", fmt.Sprintf(`,"from":%d,"count":10`, from), &rows)
		if len(rows.Rows) != 10 {
			t.Fatalf("%d rows from %d on", len(rows.Rows), from)
		}
		for k, row := range rows.Rows {
			if kept := rightRow(t, row); row.N != from+k+1 || kept != (from+k >= base) || from+k == base && row.D != 0 || from+k > base && row.D != 1000 {
				t.Errorf("row %d: %+v", from+k, row)
			}
		}
	}
	kept := n - base
	var found frames.Found
	c.into("find", "found", `,"text":"bytes contains \"text\"","as":"filter","from":-1`, &found)
	if found.N != found.Pos+1 || found.N <= base || found.N > base+2 {
		t.Errorf("the first: %+v, base %d", found, base)
	}
	c.into("find", "found", `,"text":"text 7","as":"text","from":`+fmt.Sprint(base)+`,"back":true`, &found)
	if found.Pos >= 0 && (found.N <= base || !strings.HasPrefix(fmt.Sprint(found.N-1), "7")) {
		t.Errorf("before all: %+v", found)
	}
	c.into("find", "found", `,"text":"text 10 ","as":"text","from":-1`, &found)
	if found.Pos != -1 {
		t.Errorf("one that is gone: %+v", found)
	}
	for rest, want := range map[string]string{
		`,"n":5,"by":"type"`: "no longer in memory", `,"n":5,"by":"conn"`: "no longer in memory", `,"n":5,"by":"problem"`: "",
	} {
		if failed := c.into("step", "found", rest, &found); want == "" && (failed != "" || found.Pos != -1) || !strings.Contains(failed, want) {
			t.Errorf("step %s: %q, %+v", rest, failed, found)
		}
	}
	if failed := c.into("frame", "frame", `,"n":5`, nil); !strings.Contains(failed, "in memory") {
		t.Error(failed)
	}
	if failed := c.into("diff", "diff", fmt.Sprintf(`,"a":5,"b":%d`, n), nil); !strings.Contains(failed, "in memory") {
		t.Error(failed)
	}
	if failed := c.into("packet", "packet", `,"n":5,"near":5`, nil); failed == "" {
		t.Error("packets of a frame that is gone")
	}
	var types frames.Types
	c.into("types", "types", "", &types)
	if types.Total != kept || len(types.Rows) != 2 || types.Rows[0].Bad+types.Rows[1].Bad != 0 {
		t.Errorf("%d frames of %d types, want %d of 2", types.Total, len(types.Rows), kept)
	}
	var line frames.Timeline
	c.into("timeline", "timeline", `,"buckets":7`, &line)
	sum := 0
	for k := range line.C2S {
		sum += line.C2S[k] + line.S2C[k]
		if line.C2S[k] == 0 || line.Bad[k] != 0 {
			t.Errorf("timeline: %+v", line)
		}
	}
	if sum != kept || line.From != numberedFrame(base).At.UnixMicro() {
		t.Errorf("timeline of %d frames, want %d: %+v", sum, kept, line)
	}
	var table frames.Table
	c.into("table", "table", `,"type":"said","from":0,"count":1`, &table)
	if want := n/3 - base/3; table.Total != want || table.Bad != 0 || table.Rows[0].N <= base || table.Rows[0].Cells[0] != fmt.Sprint(table.Rows[0].N-1) {
		t.Errorf("a table of %d, want %d: %+v", table.Total, want, table.Rows)
	}
	// With a filter, and over HTTP: discarded frames were never tested.
	if fit := c.show(2, `,"filter":"said"`, n); fit != n/3-base/3 {
		t.Errorf("%d frames fit", fit)
	}
	c.into("where", "found", `,"n":5`, &found)
	if found.Pos != 0 || found.N <= base || found.N > base+3 {
		t.Errorf("%+v", found)
	}
	var got servertest.Frames
	for path, want := range map[string]int{"?from=0": 0, fmt.Sprintf("?from=%d", base): 100, "?filter=said": 100} {
		if code := servertest.Request(t, r.s, "GET", "/api/one/captures/"+r.id+"/frames"+path, nil, &got); code != 200 || len(got.Frames) != want {
			t.Errorf("%s: %d, %d frames", path, code, len(got.Frames))
		}
		for _, f := range got.Frames {
			if int(f.N) <= base || f.Message == "" {
				t.Errorf("%s: %+v", path, f)
			}
		}
	}
}

// While frames are added and discarded, no result is about the wrong frame, and nothing panics.
func TestListWhileRolling(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	r := newRolling(t, 1<<20)
	r.add(20_000)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	stop := make(chan struct{})
	var adding sync.WaitGroup
	adding.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				r.add(500)
				time.Sleep(time.Millisecond)
			}
		}
	})
	var pages sync.WaitGroup
	for page := range 2 {
		c := r.list(ctx)
		pages.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(page)))
			for seq, filter := range []string{"", "said", `.text contains \"7\"`, "delta > 0.5"} {
				if page == 1 {
					filter = "dir == c2s"
				}
				c.show(seq+1, fmt.Sprintf(`,"filter":"%s"`, filter), 1)
				for range rounds {
					fit := c.number("fit")
					if filter == "delta > 0.5" && fit != 0 {
						t.Errorf("%d frames come late", fit)
					}
					from := fit - rng.IntN(min(fit+1, 20_000))
					var rows frames.Rows
					c.into("rows", "rows", fmt.Sprintf(`,"from":%d,"count":200`, from), &rows)
					last := 0
					for _, row := range rows.Rows {
						if row.N != 0 && row.N <= last {
							t.Errorf("row %d after %d", row.N, last)
						}
						last = row.N
						if kept := rightRowOf(t, row, filter); kept && filter == "said" && row.Name != "said" {
							t.Errorf("it does not fit: %+v", row)
						}
					}
					var found frames.Found
					c.into("find", "found", fmt.Sprintf(`,"text":"said","as":"filter","from":%d`, from), &found)
					if filter != "delta > 0.5" && filter != "said" && filter != "" && found.Pos >= 0 {
						t.Errorf("%q has %+v", filter, found)
					}
					var types frames.Types
					c.into("types", "types", "", &types)
					for _, k := range types.Rows {
						if k.Name != "say" && k.Name != "said" || k.Bad != 0 {
							t.Errorf("%+v", k)
						}
					}
					var table frames.Table
					if failed := c.into("table", "table", `,"type":"said","from":0,"count":5`, &table); failed == "" {
						for _, row := range table.Rows {
							if row.T != 0 && row.Cells[0] != fmt.Sprint(row.N-1) {
								t.Errorf("%+v", row)
							}
						}
					}
					_ = c.ask("timeline", "timeline", `,"buckets":5`)
				}
			}
		})
	}
	pages.Wait()
	close(stop)
	adding.Wait()
	if r.log.Base() < 20_000 {
		t.Errorf("it has not rolled: %d", r.log.Base())
	}
}

// rightRowOf is rightRow for a filtered list, where time passes between rows.
func rightRowOf(t *testing.T, r frames.Row, filter string) bool {
	t.Helper()
	if filter != "" {
		r.D = 0
	}
	return rightRow(t, r)
}
