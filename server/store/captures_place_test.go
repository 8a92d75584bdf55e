package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/server/objects"
	"wirebench/server/objects/objectstest"
	"wirebench/server/store"
	"wirebench/server/store/storetest"
)

// noise returns bytes that no two blocks have in common.
func noise(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(out)
	return out
}

// packets returns a capture with some packets.
func packets(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Packet(&packet.Packet{Interface: iface, At: time.Unix(int64(i), 0), Data: bytes.Repeat([]byte{byte(i)}, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestAwayCaptures does each operation with two captures of the same bytes: one is in the folder, the other only in the place. They do not differ.
func TestAwayCaptures(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	data := packets(t, 3000) // of several blocks
	for name, act := range map[string]func(c *store.Captures, id string) (any, error){
		"list": func(c *store.Captures, id string) (any, error) {
			all, err := c.List()
			return len(all), err
		},
		"list since": func(c *store.Captures, id string) (any, error) {
			all, err := c.ListSince(id)
			return len(all), err
		},
		"get": func(c *store.Captures, id string) (any, error) {
			x, err := c.Get(id)
			x.ID, x.Away, x.Written = "", false, x.Written.UTC()
			return x, err
		},
		"usage": func(c *store.Captures, _ string) (any, error) { return c.Usage(), nil },
		"read": func(c *store.Captures, id string) (any, error) {
			f, err := c.Open(id)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			all, err := io.ReadAll(f)
			if !bytes.Equal(all, data) {
				return nil, fmt.Errorf("%d other bytes", len(all))
			}
			size, written, err2 := f.State()
			return fmt.Sprint(size, written.UTC()), errors.Join(err, err2)
		},
		"read parts": func(c *store.Captures, id string) (any, error) {
			f, err := c.Open(id)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			out := []any{}
			for _, at := range []int64{0, 1<<20 - 3, 2<<20 + 1, int64(len(data)) - 5, int64(len(data)), int64(len(data)) + 1} {
				part := make([]byte, 7)
				n, err := f.ReadAt(part, at)
				out = append(out, part[:n], err == nil, errors.Is(err, io.EOF))
			}
			at, err := f.Seek(-4, io.SeekEnd)
			rest, err2 := io.ReadAll(f)
			return append(out, at, rest), errors.Join(err, err2)
		},
		"packets": func(c *store.Captures, id string) (any, error) {
			var out []string
			err := c.Packets(context.Background(), id, []uint32{1, 2, 2900}, func(p *packet.Packet) bool {
				out = append(out, fmt.Sprintf("%d %x", p.N, p.Data[:3]))
				return true
			})
			return out, err
		},
		"note": func(c *store.Captures, id string) (any, error) {
			x, err := c.Note(id, func(n *store.Notes) { n.Text = "a note" })
			y, err2 := c.Get(id)
			return []string{x.Notes.Text, y.Notes.Text, y.Name}, errors.Join(err, err2)
		},
		"append": func(c *store.Captures, id string) (any, error) {
			x, err := c.Append(id, int64(len(data)), strings.NewReader("more"))
			if err != nil {
				return nil, err
			}
			f, err := c.Open(id)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			all, err := io.ReadAll(f)
			return []any{x.Size, bytes.Equal(all, append(slices.Clone(data), "more"...)), c.Due(id)}, err
		},
		"append elsewhere": func(c *store.Captures, id string) (any, error) {
			_, err := c.Append(id, 3, strings.NewReader("more"))
			return fmt.Sprint(err), nil
		},
		"refused deletion": func(c *store.Captures, id string) (any, error) {
			err := c.RemoveIf(id, func(x store.Capture) error { return fmt.Errorf("no: %d bytes", x.Size) })
			_, err2 := c.Get(id)
			return fmt.Sprint(err), err2
		},
		"delete": func(c *store.Captures, id string) (any, error) {
			err := c.Remove(id)
			_, got := c.Get(id)
			_, opened := c.Open(id)
			all, err2 := c.List()
			return []any{errors.Is(got, fs.ErrNotExist), errors.Is(opened, fs.ErrNotExist), errors.Is(c.Remove(id), fs.ErrNotExist), len(all), c.Usage()}, errors.Join(err, err2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []any
			for _, away := range []bool{false, true} {
				dir := t.TempDir()
				c, err := store.OpenCaptures(dir, store.Alone())
				if err != nil {
					t.Fatal(err)
				}
				place, _ := storetest.Place(t, 1<<30)
				c.In(place)
				x, err := c.Add("one.pcapng", now, bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(c.Path(x.ID), now, now); err != nil {
					t.Fatal(err)
				}
				if away {
					storetest.Away(t, c, x.ID)
					if y, err := c.Get(x.ID); err != nil || !y.Away {
						t.Fatal(y, err)
					}
				} else if !c.Due(x.ID) {
					t.Fatal("it is not due")
				}
				out, err := act(c, x.ID)
				if err != nil {
					t.Fatalf("away %v: %v", away, err)
				}
				got = append(got, out)
			}
			if !reflect.DeepEqual(got[0], got[1]) {
				t.Errorf("here:\n%v\naway:\n%v", got[0], got[1])
			}
		})
	}
}

// TestEveryStepOfPlace: killed before any step of any write here or in the place, no capture is lost and none differs, a deleted one does not come back,
// and after the next sweep the place has exactly the objects of the captures.
func TestEveryStepOfPlace(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	index := func(w io.Writer) (int64, store.Sum, error) {
		_, err := io.WriteString(w, "blocks directory")
		return 7, store.SumOf([]byte("directory")), err
	}
	for name, act := range map[string]func(ctx context.Context, c *store.Captures, here, away string) error{
		"deposit": func(ctx context.Context, c *store.Captures, here, _ string) error { return c.Deposit(ctx, here) },
		"evict": func(ctx context.Context, c *store.Captures, here, _ string) error {
			if err := c.Deposit(ctx, here); err != nil {
				return err
			}
			_, err := c.Evict(ctx, here)
			return err
		},
		"index": func(ctx context.Context, c *store.Captures, _, away string) error {
			return c.AddIndex(ctx, away, "reading", index)
		},
		"delete":      func(_ context.Context, c *store.Captures, _, away string) error { return c.Remove(away) },
		"delete here": func(_ context.Context, c *store.Captures, here, _ string) error { return c.Remove(here) },
		"delete both": func(ctx context.Context, c *store.Captures, here, _ string) error {
			if err := c.Deposit(ctx, here); err != nil {
				return err
			}
			return errors.Join(c.Remove(here), c.Tidy(ctx))
		},
		"append": func(ctx context.Context, c *store.Captures, _, away string) error {
			if _, err := c.Append(away, 4, strings.NewReader(" and more")); err != nil {
				return err
			}
			return errors.Join(c.Deposit(ctx, away), c.Tidy(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, there := t.TempDir(), t.TempDir()
			steps := storetest.New(t, dir, there)
			c, err := store.OpenCaptures(dir, store.Alone(), steps.Before())
			if err != nil {
				t.Fatal(err)
			}
			folder, err := objects.OpenFolder(there)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			in := storetest.Wrap(folder)
			c.In(storetest.PlaceIn(t, in, 1<<30))
			var ids []string
			for _, text := range []string{"here", "away"} {
				x, err := c.Add(text, now, strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, x.ID)
			}
			storetest.Away(t, c, ids[1])
			// Each operation of the place is a step, too: before it and after it the program may end.
			in.Fail(func(op, _ string) error { steps.Now("before " + op); return nil })
			look := func(t *testing.T, c *store.Captures) string {
				t.Helper()
				list, err := c.List()
				if err != nil {
					t.Fatal(err)
				}
				var out []string
				for _, x := range list {
					f, err := c.Open(x.ID)
					if err != nil {
						t.Fatal(err)
					}
					text, err := io.ReadAll(f)
					f.Close()
					out = append(out, fmt.Sprintf("%s %q %v", x.Name, text, err))
				}
				slices.Sort(out)
				return strings.Join(out, "\n")
			}
			before := look(t, c)
			states := steps.Of(func() {
				if err := act(t.Context(), c, ids[0], ids[1]); err != nil {
					t.Fatal(err)
				}
			})
			after := look(t, c)
			for i, l := range states {
				again, err := store.OpenCaptures(l.Dirs[0], store.Alone())
				if err != nil {
					t.Fatal(err)
				}
				folder, err := objects.OpenFolder(l.Dirs[1])
				if err != nil {
					t.Fatal(err)
				}
				in := storetest.Wrap(folder)
				again.In(storetest.PlaceIn(t, in, 1<<30))
				if is := look(t, again); is != after && (is != before || i == len(states)-1) {
					t.Errorf("killed at %s:\n%s\nwant\n%s\nor\n%s", l.At, is, before, after)
				}
				// The next sweeps.
				want := map[string]bool{}
				list, err := again.List()
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range list {
					if again.Due(x.ID) {
						if err := again.Deposit(t.Context(), x.ID); err != nil {
							t.Error(l.At, err)
						}
					}
					if name == "index" {
						if err := again.AddIndex(t.Context(), x.ID, "reading", index); err != nil {
							t.Error(l.At, err)
						}
						want[x.ID+".index"] = true
					}
					want[x.ID+".capture"] = true
				}
				for range 2 {
					if err := again.Tidy(t.Context()); err != nil {
						t.Error(l.At, err)
					}
				}
				have := map[string]bool{}
				for _, n := range in.Names(t, "") {
					id, ending := filepath.Base(n), filepath.Ext(n)
					id = id[:len(id)-len(ending)-9] + ending
					if have[id] {
						t.Errorf("killed at %s: two objects of %s", l.At, id)
					}
					have[id] = true
				}
				if !maps.Equal(have, want) {
					t.Errorf("killed at %s: the place has %v, want %v", l.At, have, want)
				}
				if stored, _ := again.Stored(); stored != again.Usage().Bytes {
					t.Errorf("killed at %s: %d bytes are stored of %d", l.At, stored, again.Usage().Bytes)
				}
				if err := folder.Close(); err != nil {
					t.Error(err)
				}
			}
			t.Logf("%d states", len(states))
		})
	}
}

// TestPlaceFaults: what the place does wrong is an error where the bytes are read, and never other bytes; the list goes on.
func TestPlaceFaults(t *testing.T) {
	data := noise(3<<20 + 5)
	busy := errors.New("503 Slow Down")
	for name, fault := range map[string]struct {
		do   func(t *testing.T, in *storetest.Objects, object string)
		says string
		lost bool
		here bool // the bytes of the first block come from those kept here
	}{
		"away when it is opened": {func(_ *testing.T, in *storetest.Objects, _ string) {
			in.Fail(func(op, _ string) error {
				if op == "open" {
					return busy
				}
				return nil
			})
		}, "503 Slow Down", false, false},
		"away when it is read": {func(_ *testing.T, in *storetest.Objects, _ string) {
			in.Fail(func(op, _ string) error {
				if op == "read" {
					return busy
				}
				return nil
			})
		}, "503 Slow Down", false, false},
		"gone": {func(t *testing.T, in *storetest.Objects, object string) {
			if err := in.Remove(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}, "there is no such object: another program has removed it", true, false},
		"replaced": {func(t *testing.T, in *storetest.Objects, object string) {
			other := slices.Clone(data)
			other[2<<20] ^= 1
			put(t, in, object, other)
		}, "another program has written it meanwhile: its bytes are not those that were stored", true, false},
		"cut off": {func(t *testing.T, in *storetest.Objects, object string) {
			put(t, in, object, data[:2<<20])
		}, "it has 2097152 bytes instead of 3145733", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := store.OpenCaptures(t.TempDir(), store.Alone())
			if err != nil {
				t.Fatal(err)
			}
			place, in := storetest.Place(t, 0) // without blocks here
			c.In(place)
			x, err := c.Add("one", time.Now(), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			storetest.Away(t, c, x.ID)
			object := in.Names(t, "")[0]
			fault.do(t, in, object)
			f, err := c.Open(x.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := io.ReadAll(f)
			if !errors.Is(err, store.ErrAway) || errors.Is(err, fs.ErrNotExist) || store.Lost(err) != fault.lost || !strings.Contains(err.Error(), fault.says) || !strings.Contains(err.Error(), object) {
				t.Errorf("%v", err)
			}
			if !bytes.HasPrefix(data, got) {
				t.Error("other bytes")
			}
			if list, err := c.List(); err != nil || len(list) != 1 || list[0].Size != int64(len(data)) || !list[0].Away {
				t.Error(list, err)
			}
			if n := place.Numbers(); n.Failures != 1 || n.Uploads != 1 {
				t.Errorf("%+v", n)
			}
		})
	}
}

// put replaces an object.
func put(t *testing.T, in objects.Store, name string, data []byte) {
	t.Helper()
	file := filepath.Join(in.Stage(), "replacing")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := in.Put(t.Context(), name, file); err != nil {
		t.Fatal(err)
	}
}

// TestEviction: a file stays here while it is open, is due, or while the place does not have it after all.
func TestEviction(t *testing.T) {
	c, err := store.OpenCaptures(t.TempDir(), store.Alone())
	if err != nil {
		t.Fatal(err)
	}
	place, in := storetest.Place(t, 1<<30)
	c.In(place)
	x, err := c.Add("one", time.Now(), strings.NewReader("one"))
	if err != nil {
		t.Fatal(err)
	}
	evict := func(want bool, says string) {
		t.Helper()
		gone, err := c.Evict(t.Context(), x.ID)
		if _, missing := os.Stat(c.Path(x.ID)); gone != want || (missing != nil) != want || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("gone: %v, %v", gone, err)
		}
	}
	evict(false, "")
	if err := c.Deposit(t.Context(), x.ID); err != nil || c.Due(x.ID) {
		t.Fatal(err)
	}
	f, err := c.Open(x.ID)
	if err != nil {
		t.Fatal(err)
	}
	evict(false, "")
	f.Close()
	f.Close() // once more
	if _, err := c.Append(x.ID, 3, strings.NewReader("more")); err != nil || !c.Due(x.ID) {
		t.Fatal(err)
	}
	evict(false, "")
	if err := c.Deposit(t.Context(), x.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := in.Names(t, "")
	if len(names) != 1 {
		t.Fatal(names)
	}
	// A copy of the folder has other times: nothing is stored again.
	copied := time.Now().Add(-time.Hour)
	if err := os.Chtimes(c.Path(x.ID), copied, copied); err != nil || !c.Due(x.ID) {
		t.Fatal(err)
	}
	if err := c.Deposit(t.Context(), x.ID); err != nil || c.Due(x.ID) || place.Numbers().Uploads != 2 {
		t.Error(err, place.Numbers())
	}
	if err := in.Remove(t.Context(), names[0]); err != nil {
		t.Fatal(err)
	}
	evict(false, "another program has removed it")
	put(t, in, names[0], []byte("onemore"))
	evict(true, "")
}

// TestBlocksKept: blocks that were read are kept here within their bounds, also for the next start, and are not taken if they are damaged.
func TestBlocksKept(t *testing.T) {
	data := noise(8 << 20)
	c, err := store.OpenCaptures(t.TempDir(), store.Alone())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	in, blocks := storetest.Wrap(folder), t.TempDir()
	start := func() *store.Place {
		p, err := store.OpenPlace(in, blocks, 8*4<<20, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.In(p)
		return p
	}
	p := start()
	x, err := c.Add("one", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Away(t, c, x.ID)
	read := func(from, to int64) (blocks int) {
		t.Helper()
		f, err := c.Open(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := io.ReadAll(io.NewSectionReader(f, from<<20, (to-from)<<20))
		if err != nil || !bytes.Equal(got, data[from<<20:to<<20]) {
			t.Fatal(len(got), err)
		}
		return len(in.Reads())
	}
	if n := read(0, 3); n != 3 {
		t.Error(n)
	}
	if n := read(0, 3); n != 0 {
		t.Error(n, "blocks again")
	}
	if n := p.Numbers(); n.Cached != 3<<20 || n.Most != 4<<20 || n.Read != 3<<20 {
		t.Errorf("%+v", n)
	}
	p = start() // of the next process
	if n := read(0, 3); n != 0 {
		t.Error(n, "blocks again")
	}
	if n := read(0, 8); n != 5 || p.Numbers().Cached != 4<<20 {
		t.Error(n, p.Numbers())
	}
	files := storetest.Files(t, blocks)
	if len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
	for name := range files {
		if err := os.WriteFile(filepath.Join(blocks, name), []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := read(0, 8); n != 8 {
		t.Error(n)
	}
}

// TestWithoutPlace: a server without the place lists captures that are only there, and says where they are.
func TestWithoutPlace(t *testing.T) {
	dir := t.TempDir()
	c, err := store.OpenCaptures(dir, store.Alone())
	if err != nil {
		t.Fatal(err)
	}
	place, in := storetest.Place(t, 1<<30)
	c.In(place)
	x, err := c.Add("one", time.Now(), strings.NewReader("one"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Away(t, c, x.ID)
	again, err := store.OpenCaptures(dir, store.Alone())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Open(x.ID); !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), in.Names(t, "")[0]+" in "+in.String()+", and the server was started without --captures") {
		t.Error(err)
	}
	if list, err := again.List(); err != nil || len(list) != 1 || list[0].Size != 3 {
		t.Error(list, err)
	}
	// A description that is damaged is listed, and is not another capture.
	if err := os.WriteFile(filepath.Join(dir, x.ID+".remote"), []byte(`{"object":"x","whole":true,"size":3,"sums":"AAAA"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(x.ID); !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), "its sums are not those of its size") {
		t.Error(err)
	}
	if list, err := c.List(); err != nil || len(list) != 1 || list[0].Name != "one" {
		t.Error(list, err)
	}
}

// TestToolPlaceInBucket: a capture goes to a bucket, is read from there by ranges, and is deleted there.
func TestToolPlaceInBucket(t *testing.T) {
	data := noise(20<<20 + 7)
	at := objectstest.Gateway(t)
	b, err := objects.OpenBucket("s3://kept/captures?region=us-east-1&endpoint="+url.QueryEscape(at), filepath.Join(t.TempDir(), "stage"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	in := storetest.Wrap(b)
	dir := t.TempDir()
	c, err := store.OpenCaptures(dir, store.Alone())
	if err != nil {
		t.Fatal(err)
	}
	c.In(storetest.PlaceIn(t, in, 0))
	x, err := c.Add("one", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Away(t, c, x.ID)
	f, err := c.Open(x.ID)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 10)
	if _, err := f.ReadAt(part, 15<<20-4); err != nil || !bytes.Equal(part, data[15<<20-4:15<<20+6]) {
		t.Error(part, err)
	}
	if got := in.Reads(); len(got) != 2 || got[0].Off != 14<<20 || got[0].N != 1<<20 || got[1].Off != 15<<20 || got[1].N != 1<<20 {
		t.Error(got)
	}
	all, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(all, data) {
		t.Error(len(all), err)
	}
	f.Close()
	if err := errors.Join(c.Remove(x.ID), c.Tidy(t.Context())); err != nil {
		t.Error(err)
	}
	if left := in.Names(t, ""); len(left) != 0 {
		t.Error(left)
	}
	if files := storetest.Files(t, dir); len(files) != 0 {
		t.Error(slices.Sorted(maps.Keys(files)))
	}
}
