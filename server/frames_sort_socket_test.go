package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirebench/server/admit"
	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// sortedBy waits until the list has an order; "null" is that of the capture.
func (c *listClient) sortedBy(seq int, want string) {
	c.Helper()
	for string(c.st["seq"]) != fmt.Sprint(seq) || string(c.st["sorted"]) != want {
		c.read()
	}
}

// numbers returns the numbers of the first frames.
func (c *listClient) numbers(seq, count int) (out []int) {
	c.Helper()
	var a frames.Rows
	text := c.ask("rows", "rows", fmt.Sprintf(`,"seq":%d,"from":0,"count":%d`, seq, count))
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		c.Fatalf("%v in %s", err, text)
	}
	if fmt.Sprint(a.Order) != string(c.st["order"]) {
		c.Errorf("rows of order %d, the list has %s", a.Order, c.st["order"])
	}
	for _, r := range a.Rows {
		out = append(out, r.N)
	}
	return out
}

// TestSortOverSocket sorts a list as a page does, with filters, queries and definitions that change.
func TestSortOverSocket(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 300))
	is := func(what string, got any, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
	has := func(what, got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s: %.300s", what, want, got)
		}
	}
	c.view(1, "")
	is("as they came", c.numbers(1, 3), "[1 2 3]")
	c.view(2, `,"sort":{"by":"len","desc":true}`)
	c.sortedBy(2, `{"by":"len","desc":true}`)
	is("the longest", c.numbers(2, 3), "[101 102 103]")
	has("where", c.ask("where", "found", `,"n":1`), `"pos":290,"n":1`)
	has("find", c.ask("find", "found", `,"text":".text == \"text 0\"","as":"filter","from":0`), `"pos":290`)
	has("step", c.ask("step", "found", `,"n":300,"by":"type"`), `"n":15`) // the last of the longest is followed by the first of the shorter ones
	has("step back", c.ask("step", "found", `,"n":15,"by":"type","back":true`), `"n":300`)
	has("the time since the frame before", c.ask("rows", "rows", `,"from":0,"count":1`), `"d":10000`)
	order := string(c.st["order"])

	// Changes of colors and columns keep the order.
	c.view(3, `,"sort":{"by":"len","desc":true},"colors":[{"filter":"C_SAY","hue":2}],"columns":[".text"]`)
	is("the order", string(c.st["order"]), order)
	is("the longest", c.numbers(3, 3), "[101 102 103]")
	has("the overview", c.ask("map", "map", `,"buckets":3`), `"total":300,"known":300,"done":true,"bad":[0,0,0],"unknown":[20,20,20]`)

	// A filter, by a field that some frames lack.
	c.view(4, `,"sort":{"by":"=C_SAY.text","desc":true},"filter":"n > 290"`)
	c.sortedBy(4, `{"by":"=C_SAY.text","desc":true}`)
	is("by a field", c.numbers(4, 20), "[299 298 297 296 294 293 292 291 295 300]")

	// With another definition the order changes: the draft reads the fourth character of the text.
	draft := `,"draft":{"name":"C_SAY.1","text":"uint16 at\nbyte[10] word\nbyte text\n"}`
	c.view(5, `,"sort":{"by":"=C_SAY.text","desc":true},"filter":"n > 290"`+draft)
	for fmt.Sprint(c.numbers(5, 20)) != "[291 292 293 294 296 297 298 299 295 300]" { // equal keys keep the order of the capture
		c.read()
	}
	c.view(6, `,"filter":"n > 290"`)
	c.sortedBy(6, "null")
	is("as they came", c.numbers(6, 3), "[291 292 293]")

	// A column that cannot be sorted is reported, and the list stays.
	c.view(7, `,"sort":{"by":"no such column"}`)
	for !strings.Contains(string(c.st["mistakes"]), `"in":"sort"`) {
		c.read()
	}
	is("as they came", c.numbers(7, 3), "[1 2 3]")

	// Many orders, of which only the last one counts.
	for seq := 8; seq < 60; seq++ {
		c.send(fmt.Sprintf(`{"view":{"seq":%d,"sort":{"by":%q,"desc":%v}}}`, seq, []string{"info", "len", "name", "=C_SAY.text"}[seq%4], seq%3 == 0))
	}
	c.view(60, `,"sort":{"by":"n","desc":true}`)
	c.sortedBy(60, `{"by":"n","desc":true}`)
	is("the last first", c.numbers(60, 3), "[300 299 298]")
}

// Steps find a mark that was just set.
func TestStepToNewMark(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 100))
	c.view(1, "")
	list, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	if code, got := servertest.Patch(t, s, list[0].ID, `{"mark":[40]}`); code != 200 {
		t.Fatal(code, got)
	}
	for !strings.Contains(string(c.st["noted"]), `"n":40`) {
		c.read()
	}
	if got := c.ask("step", "found", `,"n":3,"by":"mark"`); !strings.Contains(got, `"n":40`) {
		t.Error(got)
	}
}

// The order of running traffic covers the frames at its time; later ones are counted, and are in the next order.
func TestSortLive(t *testing.T) {
	r := newRolling(t, 16<<20)
	r.add(3000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := r.list(ctx)
	c.show(1, "", 3000)
	c.send(`{"view":{"seq":2,"sort":{"by":"n","desc":true}}}`)
	c.sortedBy(2, `{"by":"n","desc":true}`)
	if got := fmt.Sprint(c.numbers(2, 3)); got != "[3000 2999 2998]" || c.number("fit") != 3000 {
		t.Errorf("%s of %d", got, c.number("fit"))
	}
	r.add(500)
	for c.number("fresh") != 500 {
		c.read()
	}
	if got := fmt.Sprint(c.numbers(2, 3)); got != "[3000 2999 2998]" || c.number("fit") != 3000 || c.number("total") != 3500 {
		t.Errorf("%s of %d, %d in all", got, c.number("fit"), c.number("total"))
	}
	if got := c.ask("where", "found", `,"n":3200`); !strings.Contains(got, `"pos":-1`) {
		t.Errorf("a new frame is at %s", got)
	}
	c.send(`{"view":{"seq":3,"sort":{"by":"n","desc":true,"again":1}}}`)
	c.sortedBy(3, `{"by":"n","desc":true,"again":1}`)
	if got := fmt.Sprint(c.numbers(3, 3)); got != "[3500 3499 3498]" || c.number("fresh") != 0 {
		t.Errorf("anew: %s, %d new", got, c.number("fresh"))
	}
	c.send(`{"view":{"seq":4}}`)
	c.sortedBy(4, "null")
	if got := fmt.Sprint(c.numbers(4, 2)); got != "[1 2]" || c.number("fit") != 3500 {
		t.Errorf("as they came: %s of %d", got, c.number("fit"))
	}
}

// A list reserves memory before it is sorted and before all its frames are searched; showing rows needs none.
func TestListOfFramesBudget(t *testing.T) {
	t.Parallel() // it waits
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 300))
	c.view(1, "")
	taken, err := s.budget.Acquire(t.Context(), "another client", admit.Find, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	const busy = "the server is busy: no memory for another search or sort"
	if got := c.ask("types", "failed", ""); !strings.Contains(got, busy) {
		t.Error(got)
	}
	c.view(2, `,"sort":{"by":"len"}`)
	for !strings.Contains(string(c.st["mistakes"]), `"in":"sort"`) {
		c.read()
	}
	if got := string(c.st["mistakes"]); !strings.Contains(got, busy) {
		t.Error(got)
	}
	if got := fmt.Sprint(c.numbers(2, 3)); got != "[1 2 3]" {
		t.Error(got)
	}
	taken.Release()
	c.view(3, `,"sort":{"by":"len","desc":true,"again":1}`)
	c.sortedBy(3, `{"by":"len","desc":true,"again":1}`)
	if got := c.ask("types", "types", ""); !strings.Contains(got, `"total":300`) {
		t.Error(got)
	}
	for now, _ := s.budget.Used(); now != 0; now, _ = s.budget.Used() { // released just after the result
		if c.ctx.Err() != nil {
			t.Fatalf("%d bytes are taken after all", now)
		}
		time.Sleep(time.Millisecond)
	}
}
