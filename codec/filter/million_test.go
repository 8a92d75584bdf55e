package filter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/filter"
)

// BenchmarkMillion finds frames among a million by a decoded field: as a capture is filtered, message by message, decoding only when
// necessary; and, for comparison, with a column of the field and a hand-written loop. The frames are as varied as those of a capture, and
// exceed the cache.
func BenchmarkMillion(b *testing.B) {
	const million = 1_000_000
	w := fight(b)
	r := rand.New(rand.NewPCG(1, 2))
	var kinds []filter.Frame
	for i := range 300 {
		ids := ""
		for k := range r.IntN(12) {
			if k > 0 {
				ids += ","
			}
			ids += fmt.Sprint(r.IntN(1000))
		}
		kinds = append(
			kinds,
			*w.frame(b, "S_FIGHT", 1, fmt.Sprintf(`{"damage":%d,"target":"%d","ids":[%s],"words":["a","bc"],"blob":"0102","message":%d}`, r.IntN(1000), r.Uint32(), ids, i)),
			*w.frame(b, "C_CHAT", 1, fmt.Sprintf(`{"channel":%d,"message":"looking for group %d, anyone there?"}`, r.IntN(8), r.IntN(1000))),
			*w.frame(b, "S_PARTY_LIST", 1, fmt.Sprintf(`{"members":[{"name":"Mew","level":%d,"items":[{"id":1}]},{"name":"Lann","level":%d}]}`, r.IntN(66), r.IntN(66))),
		)
	}
	var data []byte
	frames := make([]uint16, million) // index of the kind
	spans := make([]columns.Span, million)
	for i := range frames {
		k := r.IntN(len(kinds))
		frames[i] = uint16(k)
		spans[i] = columns.Span{Off: uint32(len(data)), Len: uint32(len(kinds[k].Bytes))}
		data = append(data, kinds[k].Bytes...)
	}
	for _, c := range []struct {
		what, text string
		message    string
		path       string
		judge      func(c *columns.Set, field uint16) int // number of matches
	}{
		{"in a block", "S_FIGHT.damage > 900", "S_FIGHT", "damage", func(c *columns.Set, field uint16) (n int) {
			for _, v := range c.Numbers(field) {
				if int32(v) > 900 {
					n++
				}
			}
			return n
		}},
		{"a text", `C_CHAT.message contains "group 77"`, "C_CHAT", "message", func(c *columns.Set, field uint16) (n int) {
			want := []byte("g\x00r\x00o\x00u\x00p\x00 \x007\x007\x00")
			for i := range c.Rows(field) {
				if s, ok := c.Bytes(field, i); ok && containsUnits(s, want) {
					n++
				}
			}
			return n
		}},
		{"in a list", "S_FIGHT.ids == 77", "S_FIGHT", "ids[]", func(c *columns.Set, field uint16) (n int) {
			last := -1
			for row, v := range c.Numbers(field) {
				if v == 77 {
					if m := c.Message(field, row); m != last {
						last = m
						n++
					}
				}
			}
			return n
		}},
		{"in a list of groups", "S_PARTY_LIST.members.level > 60", "S_PARTY_LIST", "members[].level", func(c *columns.Set, field uint16) (n int) {
			last := -1
			for row, v := range c.Numbers(field) {
				if int16(v) > 60 {
					if m := c.Message(field, row); m != last {
						last = m
						n++
					}
				}
			}
			return n
		}},
	} {
		b.Run(c.what, func(b *testing.B) {
			f, mistakes := filter.Compile(c.text, w.env)
			if len(mistakes) > 0 {
				b.Fatal(mistakes)
			}
			message := w.schema.Find(c.message, 1)
			p, err := w.program(message)
			if err != nil {
				b.Fatal(err)
			}
			field := fieldAt(b, p, c.path)
			var rec codec.Record
			byFrame, byFrameBytes := 0, func() (n int) {
				for i := range frames {
					x := kinds[frames[i]]
					x.Bytes = data[spans[i].Off:][:spans[i].Len]
					switch f.Index(&x) {
					case filter.Yes:
						n++
					case filter.NeedsRecord:
						p, _ := w.program(x.Message)
						p.Decode(&rec, x.Bytes)
						x.Status = rec.Status()
						if f.Match(&x, &rec) {
							n++
						}
					}
				}
				return n
			}
			var cols columns.Set
			cols.Select(p, field)
			some := make([]columns.Span, 0, 512)
			byColumn, byColumns := 0, func() (n int) {
				flush := func() {
					cols.Reset()
					cols.Append(p, data, some)
					n += c.judge(&cols, field)
					some = some[:0]
				}
				for i := range frames {
					if kinds[frames[i]].Message != message {
						continue
					}
					if some = append(some, spans[i]); len(some) == cap(some) {
						flush()
					}
				}
				flush()
				return n
			}
			frameTime, columnTime := math.Inf(1), math.Inf(1)
			for range 5 {
				start := time.Now()
				byFrame = byFrameBytes()
				frameTime = min(frameTime, time.Since(start).Seconds())
				start = time.Now()
				byColumn = byColumns()
				columnTime = min(columnTime, time.Since(start).Seconds())
			}
			if byFrame != byColumn || byFrame == 0 || byFrame == million {
				b.Fatalf("%d frames match one by one, %d by columns", byFrame, byColumn)
			}
			b.ReportMetric(frameTime*1000, "ms-frames")
			b.ReportMetric(columnTime*1000, "ms-columns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fieldAt returns the last field with a path: an element, if its list has the same path.
func fieldAt(b *testing.B, p *codec.Program, path string) uint16 {
	b.Helper()
	for i := len(p.Fields) - 1; i >= 0; i-- {
		if string(p.AppendFieldPath(nil, uint16(i))) == path {
			return uint16(i)
		}
	}
	b.Fatal("no field " + path)
	return 0
}

// containsUnits reports whether s contains the 16-bit units of part, consecutively.
func containsUnits(s, part []byte) bool {
	for ; len(s) >= len(part); s = s[2:] {
		if string(s[:len(part)]) == string(part) {
			return true
		}
	}
	return false
}
