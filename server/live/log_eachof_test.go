package live_test

import (
	"slices"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// EachOf calls f for the retained frames of a list, as Get returns them, while frames are added and discarded.
func TestEachOf(t *testing.T) {
	const n = 50_000
	for name, l := range map[string]*live.Log{"all kept": live.New(0), "rolling": live.NewRolling(2 << 20)} {
		t.Run(name, func(t *testing.T) {
			conn := l.Connection(live.Conn{})
			for i := range n {
				if err := l.Add(conn, frame(i)); err != nil {
					t.Fatal(err)
				}
			}
			asked := []int{-1, 0, 1}
			for i := 2; i < n+100; i += 1 + i%7 {
				asked = append(asked, i)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := range 1000 {
					_ = l.Add(conn, frame(n+200+i))
				}
			}()
			base := l.Base()
			var got []int
			l.EachOf(asked, func(i int, e live.Entry, block []byte) bool {
				_, off := e.Place()
				check(t, l, i, e, block[off:off+e.Len])
				got = append(got, i)
				return i < n-10
			})
			<-done
			want := slices.DeleteFunc(asked, func(i int) bool { return i < base || i > got[len(got)-1] })
			if first := slices.Index(want, got[0]); !slices.Equal(got, want[first:]) || first > 0 && l.Base() == base || got[len(got)-1] < n-10 {
				t.Errorf("%d frames from %d to %d, %d were asked for from %d", len(got), got[0], got[len(got)-1], len(want), want[0])
			}
		})
	}
}

func TestTypesOfFrames(t *testing.T) {
	l := live.New(0)
	conn := l.Connection(live.Conn{})
	type kind struct {
		code   uint32
		group  string
		kind   transport.Kind
		dir    schema.Dir
		hasKey bool
	}
	seen := map[uint64]kind{}
	for _, code := range []uint32{0, 1, 1 << 31, 1<<32 - 1} {
		for _, group := range []string{"", "game", "core"} {
			for _, k := range []transport.Kind{transport.Message, transport.Control, transport.Opaque, transport.Problem} {
				for _, dir := range []schema.Dir{schema.Both, schema.ToServer, schema.ToClient} {
					for _, hasKey := range []bool{false, true} {
						f := &transport.Frame{Kind: k, Dir: dir, HasKey: hasKey, Key: schema.Key{Group: group, Code: code}}
						for _, f.Name = range []string{"", "C_NAMED"} {
							if err := l.Add(conn, f); err != nil {
								t.Fatal(err)
							}
							e := l.Entry(l.Len() - 1)
							if is := (kind{code, group, k, dir, hasKey}); f.Name == "" {
								if other, ok := seen[e.Type()]; ok {
									t.Fatalf("%+v and %+v are one type", is, other)
								}
								seen[e.Type()] = is
							} else if seen[e.Type()] != is || e.Flags&live.Named == 0 {
								t.Fatalf("%+v with a name has another type, or is not Named", is)
							}
						}
					}
				}
			}
		}
	}
}
