package frames

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Bytes without a definition are shown as the values that a user reads in them, with their statistics; filters of a column find its values.
func TestTableGroups(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := live.New(0)
	conn := log.Connection(live.Conn{Name: "a-b"})
	for i := range 100 {
		b := binary.LittleEndian.AppendUint16(nil, 0)
		b = binary.LittleEndian.AppendUint16(b, 0x7777)
		b = binary.BigEndian.AppendUint16(b, uint16(1000+i))                    // 4
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)/4)) // 6
		b = append(append(b, fmt.Sprintf("name%d", i%3)...), 0, 0, 0)           // 10
		b = append(b, 'h', 0, 'i', 0, 0, 0, byte(i))                            // 18, 24
		binary.LittleEndian.PutUint16(b, uint16(len(b)))
		if i == 7 {
			b = b[:5]
		}
		f := transport.Frame{Kind: transport.Message, Dir: schema.ToServer, At: time.Unix(int64(i), 0), Bytes: b, HasKey: true}
		f.Key = schema.Key{Dir: f.Dir, Code: 0x7777}
		if err := log.Add(conn, &f); err != nil {
			t.Fatal(err)
		}
	}
	l := oddList(t, snap, log, "")
	ask := func(groups ...string) (*Table, error) {
		return l.Table(context.Background(), TableQuery{Type: "op == 0x7777", Count: 3, Groups: groups, Sort: "0x04", Desc: true})
	}
	got, err := ask("18:utf16:6", "4:u16be", "6:f32", "10:text:8")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range got.Columns {
		paths = append(paths, c.Path+" "+c.Type)
	}
	if want := "0x00 hex, 0x01 hex, 0x02 hex, 0x03 hex, 0x04 u16be, 0x06 f32, 0x0A text:8, 0x12 utf16:6, 0x18 hex"; strings.Join(paths, ", ") != want {
		t.Fatalf("%s\nwant %s", strings.Join(paths, ", "), want)
	}
	if c := got.Columns[4]; c.Min != "1000" || c.Max != "1099" || c.Distinct != 99 || c.Trend == "" || c.Filter != "u16be(bytes[4:2])" || c.Present != 99 {
		t.Errorf("%+v", c)
	}
	if c := got.Columns[6]; c.Distinct != 3 || fmt.Sprint(c.Top[0][0]) == "" || c.Top[0][2] != "" {
		t.Errorf("%+v", c)
	}
	if row := fmt.Sprintf("%q", got.Rows[1].Cells[4:]); row != `["1099" "24.75" "name0" "hi" "63"]` {
		t.Error(row)
	}
	for column, want := range map[int]string{4: "1099", 5: "24.75"} {
		filter := got.Columns[column].Filter + " == " + want
		if fit, _ := oddList(t, snap, log, filter).View.State(); fit != 1 {
			t.Errorf("%s: %d frames", filter, fit)
		}
	}
	if fit, _ := oddList(t, snap, log, got.Columns[6].Filter+` contains "name1"`).View.State(); fit != 32 {
		t.Errorf("%d frames contain the text", fit)
	}
	got, err = ask("10:text", "4:u8")
	if err != nil || len(got.Columns) != 4+1+5+1 || got.Columns[10].Type != "text" {
		t.Errorf("%v %+v", err, got.Columns)
	}
	for groups, want := range map[string]string{
		"4:u16le 5:u8": "overlap", "4:text 4:u8": "overlap", "4:u16le 4:u8": "overlap", "x:u8": "offset", "-1:u8": "offset", "96:u8": "offset", "4:u17": "type", "4:text:0": "type", "4:text:65": "type",
		"4:utf16:3": "type", "4": "type", strings.Repeat("1:u8 ", 33): "at most",
	} {
		if _, err := ask(strings.Fields(groups)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", groups, err)
		}
	}
}
