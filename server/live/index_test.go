package live

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

func sumOf(block []byte) [sumBytes]byte {
	sum := sha256.Sum256(block)
	return [sumBytes]byte(sum[:])
}

// various returns a log with frames of all kinds.
func various(t testing.TB, l *Log, n int) {
	t.Helper()
	conns := []uint32{l.Connection(Conn{Name: "a-b", Proto: "tcp"}), l.Connection(Conn{Name: "a-c", Session: 2, Stream: 1, Proto: "udp"})}
	for i := range n {
		f := &transport.Frame{
			Kind: transport.Kind(i % 5), Dir: schema.Dir(i % 3), HasKey: i%2 == 0, Bytes: bytes.Repeat([]byte{byte(i)}, i%300), Offset: int64(i) << 20, Length: int64(i)<<30 - 1,
			Resumed: i%7 == 0,
		}
		f.Key.Code, f.Key.Group = uint32(i), []string{"", "one", "two"}[i%3]
		if i%4 > 0 {
			f.At = time.Unix(int64(i), int64(i))
			f.From = slices.Repeat([]transport.Source{{Packet: uint32(i), Off: 3, Len: 4}}, i%4)
		}
		if i%11 == 0 {
			f.Note, f.Via, f.Name = fmt.Sprint("note ", i), []string{"wrapped", "twice"}, fmt.Sprint("Name", i%5)
		}
		if i%50_000 == 49_999 {
			f.Bytes = make([]byte, 3<<20)
		}
		if err := l.AddFlagged(conns[i%2], f, Flags(i%3)<<2); err != nil {
			t.Fatal(err)
		}
	}
}

// indexed returns a log of the index of another, and its index.
func indexed(t testing.TB, l *Log, in *Blocks, reading func(off int64, n int)) (*Log, []byte, *Directory) {
	t.Helper()
	var out bytes.Buffer
	head, directory, err := l.WriteIndex(&out, []byte(`{"it":1}`), sumOf)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes()[head:], directory) {
		t.Fatal("the directory is not at the end")
	}
	d, err := ParseDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	made := New(0)
	made.Adopt(d, in, func(off int64, n int, sum [sumBytes]byte) ([]byte, error) {
		reading(off, n)
		block := out.Bytes()[off : off+int64(n)]
		if sumOf(block) != sum {
			return nil, errors.New("another block")
		}
		return block, nil
	})
	return made, out.Bytes(), d
}

// TestIndex: a log that is made of an index has the frames of the other, by each way to read them.
func TestIndex(t *testing.T) {
	const n = 60_000
	for name, l := range map[string]*Log{"memory": New(1 << 30), "disk": NewOn(NewDisk(t.TempDir(), 1<<30), 1<<30), "empty": New(0)} {
		t.Run(name, func(t *testing.T) {
			if name != "empty" {
				various(t, l, n)
			}
			made, _, _ := indexed(t, l, NewBlocks(4<<20), func(int64, int) {})
			if made.Len() != l.Len() || made.Base() != 0 || !made.Began().Equal(l.Began()) || !reflect.DeepEqual(made.Conns(), cleared(l.Conns())) {
				t.Fatalf("%d frames, %v", made.Len(), made.Conns())
			}
			type frame struct {
				e    Entry
				data string
				f    transport.Frame
				id   transport.FrameID
			}
			of := func(l *Log, i int, e Entry, data []byte) frame {
				var f transport.Frame
				l.Frame(i, e, data, &f)
				x := frame{e, string(data), f, e.ID()}
				x.f.Bytes = nil
				if got := l.AppendFrom(nil, e); !slices.Equal(got, f.From) || l.Via(e, "twice") != (len(f.Via) > 0) || l.Via(e, "thrice") || l.Name(e) != f.Name || l.Group(e) != f.Key.Group {
					t.Fatalf("%d: %v", i, got)
				}
				return x
			}
			var want []frame
			l.Each(0, l.Len(), func(i int, e Entry, data []byte) bool {
				want = append(want, of(l, i, e, data))
				return true
			})
			got := 0
			made.Each(0, made.Len(), func(i int, e Entry, data []byte) bool {
				if x := of(made, i, e, data); i != got || !reflect.DeepEqual(x, want[i]) {
					t.Fatalf("%d: %+v\nwant %+v", i, x, want[i])
				}
				got++
				return true
			})
			if got != len(want) {
				t.Errorf("%d frames", got)
			}
			var some []int
			for i := 0; i < l.Len(); i += 777 {
				some = append(some, i)
				e, data, ok := made.Get(i)
				if x := of(made, i, e, data); !ok || !reflect.DeepEqual(x, want[i]) || made.Entry(i) != want[i].e || string(made.Data(e)) != want[i].data {
					t.Fatal(i, ok)
				}
			}
			k := 0
			made.EachOf(some, func(i int, e Entry, block []byte) bool {
				_, off := e.Place()
				if i != some[k] || string(block[off:off+e.Len]) != want[i].data {
					t.Fatal(i)
				}
				k++
				return true
			})
			if _, _, ok := made.Get(made.Len()); ok || k != len(some) || made.Err() != nil {
				t.Error(k, made.Err())
			}
			if _, _, err := made.WriteIndex(&bytes.Buffer{}, nil, sumOf); err == nil {
				t.Error("an index of an index")
			}
		})
	}
}

// cleared returns connections without what an index does not have.
func cleared(all []Conn) []Conn {
	for i := range all {
		all[i].kept = 0
	}
	return all
}

// TestRawIdentity: a frame of a raw file has its identity also beyond 4 GiB.
func TestRawIdentity(t *testing.T) {
	l := New(0)
	conn := l.Connection(Conn{})
	d := transport.Identifier{Raw: true}
	for i, offset := range []int64{0, 40, 1 << 32, 5<<32 + 40} {
		f := transport.Frame{Offset: offset}
		d.Identify(0, &f)
		if err := l.Add(conn, &f); err != nil || l.Entry(i).ID() != f.ID || f.ID.Packet != uint32(1+offset>>32) {
			t.Error(l.Entry(i).ID(), f.ID, err)
		}
	}
}

// TestEntryRecord: the record of an entry has all of its fields.
func TestEntryRecord(t *testing.T) {
	of := reflect.TypeFor[Entry]()
	for i := range of.NumField() {
		var e, got Entry
		b := e.append(nil)
		if len(b) != recordBytes {
			t.Fatalf("%d bytes", len(b))
		}
		for k := range b { // each bit of the record belongs to a field
			for bit := range 8 {
				changed := slices.Clone(b)
				changed[k] ^= 1 << bit
				got.read(changed)
				if again := got.append(nil); !slices.Equal(again, changed) && k != recordBytes-1 {
					t.Fatalf("byte %d, bit %d is lost", k, bit)
				}
			}
		}
		seen := false
		for k := range b {
			changed := slices.Clone(b)
			changed[k] = 1
			if k == recordBytes-1 {
				changed[k] = 3
			}
			got.read(changed)
			seen = seen || !reflect.DeepEqual(field(got, i), field(e, i))
		}
		if !seen {
			t.Errorf("no byte has %s", of.Field(i).Name)
		}
	}
}

func field(e Entry, i int) string { return fmt.Sprintf("%v", reflect.ValueOf(e).Field(i)) }

// TestIndexReads: the first rows need one block of entries and one of bytes, and what was read is not read again.
func TestIndexReads(t *testing.T) {
	l := New(1 << 30)
	various(t, l, 60_000)
	var reads []int
	made, index, d := indexed(t, l, NewBlocks(1<<30), func(_ int64, n int) { reads = append(reads, n) })
	rows := func(from, to int) {
		for i := from; i < to; i++ {
			if _, _, ok := made.Get(i); !ok {
				t.Fatal(i)
			}
		}
	}
	rows(0, 100)
	if want := []int{blockFrames * recordBytes, int(d.Bytes[0])}; !slices.Equal(reads, want) {
		t.Errorf("%v, want %v of %d", reads, want, len(index))
	}
	rows(0, 100)
	made.Each(0, 100, func(int, Entry, []byte) bool { return true })
	if len(reads) != 2 {
		t.Error(reads)
	}
	made.Each(0, made.Len(), func(int, Entry, []byte) bool { return true })
	if len(reads) != d.blocks()+len(d.Bytes) {
		t.Errorf("%d reads of %d blocks", len(reads), d.blocks()+len(d.Bytes))
	}
}

// TestIndexFault: frames that cannot be read are missing, and the log says why, once.
func TestIndexFault(t *testing.T) {
	l := New(1 << 30)
	various(t, l, 60_000)
	fails := false
	calls := 0
	var index bytes.Buffer
	_, directory, err := l.WriteIndex(&index, nil, sumOf)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	made := New(0)
	made.Adopt(d, NewBlocks(1<<30), func(off int64, n int, _ [sumBytes]byte) ([]byte, error) {
		calls++
		if fails {
			return nil, errors.New("503")
		}
		return index.Bytes()[off : off+int64(n)], nil
	})
	if _, _, ok := made.Get(0); !ok {
		t.Fatal("no frame")
	}
	fails = true
	changed := made.Changed()
	seen := 0
	made.Each(0, made.Len(), func(int, Entry, []byte) bool { seen++; return true })
	select {
	case <-changed:
	default:
		t.Error("nobody is told")
	}
	if made.Err() == nil || !strings.Contains(made.Err().Error(), "503") || seen == 0 || seen >= blockFrames {
		t.Errorf("%d frames, %v", seen, made.Err())
	}
	if e, data, ok := made.Get(50_000); ok || data != nil || e != (Entry{}) || calls != 3 {
		t.Errorf("%v %v, %d calls", ok, e, calls)
	}
	if _, _, ok := made.Get(0); !ok {
		t.Error("a frame that was read is missing")
	}
}

// FuzzIndexOfLog reads an index whose sums are right and whose contents are not.
func FuzzIndexOfLog(f *testing.F) {
	l := New(1 << 30)
	various(f, l, 40)
	var out bytes.Buffer
	head, directory, err := l.WriteIndex(&out, nil, sumOf)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(directory, out.Bytes()[:head])
	f.Add([]byte(`{"version":1,"frames":1,"bytes":[9],"sums":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","conns":[{}]}`), make([]byte, 80))
	f.Fuzz(func(t *testing.T, directory, blocks []byte) {
		d, err := ParseDirectory(directory)
		if err != nil || d.Frames > 1<<16 {
			return
		}
		made := New(0)
		made.Adopt(d, NewBlocks(1<<20), func(off int64, n int, _ [sumBytes]byte) ([]byte, error) {
			if off < 0 || n < 0 || off+int64(n) > int64(len(blocks)) {
				return nil, errors.New("beyond the end")
			}
			return blocks[off : off+int64(n)], nil
		})
		var x transport.Frame
		made.Each(0, made.Len(), func(i int, e Entry, data []byte) bool {
			made.Frame(i, e, data, &x)
			_ = fmt.Sprint(x, e.ID(), e.Type(), made.Via(e, "x"), made.Name(e), made.ConnReader().Of(e).Name, x.Kind, x.Dir)
			return true
		})
		_, _, _ = made.Get(made.Len() - 1)
	})
}
