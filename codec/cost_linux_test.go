package codec_test

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/benchtest"
	"wirebench/defs/build"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// What decoding one message of at most 64 KiB may cost, by whatever definition.
const (
	mostTime   = 200 * time.Millisecond // of one processor; 50 on an idle machine
	mostMemory = 64 << 20
)

// A definition of any language that somebody has changed in any way, and any bytes: decoding costs little.
func TestCostOfDecoding(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range defs.Dialects {
		d := &defs.Dialects[i]
		t.Run(d.Name, func(t *testing.T) {
			files, messages := definitionsOf(t, d), samplesOf(t, d)
			worst, tried := cost{}, 0
			for trial := range 150 {
				changed := slices.Clone(files)
				if k := rng.IntN(len(files)); trial > 20 {
					changed[k] = source.New(files[k].Name, mutated(files[k].Text, rng))
				}
				set := build.New(d.Rules, changed, schema.Options{}).Schema().Messages
				for range min(len(set), 4) {
					m := set[rng.IntN(len(set))]
					p, err := codec.Compile(m)
					if err != nil {
						continue
					}
					data := anyBytes(rng, messages)
					c := costOf(p, data)
					tried++
					for again := 0; again < 5 && (c.time > mostTime || c.memory > mostMemory); again++ { // by itself, or by other work
						x := costOf(p, data)
						c = cost{min(c.time, x.time), min(c.memory, x.memory)}
					}
					if c.time > mostTime || c.memory > mostMemory {
						t.Errorf("%s costs %v and %d bytes for %d bytes %.40x…\n%.2000s", m.Name, c.time, c.memory, len(data), data, m.Span.File.Text)
					}
					worst = cost{max(worst.time, c.time), max(worst.memory, c.memory)}
				}
			}
			t.Logf("%d messages, at most %v and %d KiB", tried, worst.time, worst.memory>>10)
			if tried < 100 {
				t.Errorf("only %d messages were tried", tried)
			}
		})
	}
}

// cost is the time of a processor, and bytes of memory.
type cost struct {
	time   time.Duration
	memory uint64
}

// costOf decodes a message once.
func costOf(p *codec.Program, data []byte) cost {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rec := &codec.Record{}
	var was, now unix.Rusage
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &was)
	p.Decode(rec, data)
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &now)
	runtime.ReadMemStats(&after)
	if benchtest.Raced {
		now = was // times mean nothing
	}
	return cost{time.Duration(now.Utime.Nano() + now.Stime.Nano() - was.Utime.Nano() - was.Stime.Nano()), after.TotalAlloc - before.TotalAlloc}
}

// definitionsOf returns the definitions of the library of a language, and its example.
func definitionsOf(t testing.TB, d *defs.Dialect) (files []*source.File) {
	t.Helper()
	files = append(files, d.Example)
	fsys, ok := library.Dialect(d.Name)
	if !ok {
		return files
	}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(name) == d.Example.Name || !defs.MayDefine(name) || !d.Rules.Reads(name) {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		files = append(files, source.New(name, string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// samplesOf returns the messages of the library of a language.
func samplesOf(t testing.TB, d *defs.Dialect) (out [][]byte) {
	t.Helper()
	for _, s := range library.Samples(d.Name) {
		data, err := hex.DecodeString(s.Hex)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// anyBytes returns up to 64 KiB: noise, the same byte, numbers that repeat, or a message with changes and repetitions.
func anyBytes(rng *rand.Rand, messages [][]byte) []byte {
	size := 1 << 16
	data := make([]byte, size)
	switch rng.IntN(5) {
	case 0:
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
	case 1:
		return bytes.Repeat([]byte{[]byte{0, 1, 2, 4, 0x0a, 0x12, 0x7f, 0x80, 0xff}[rng.IntN(9)]}, size)
	case 2:
		part := make([]byte, 1+rng.IntN(12))
		for i := range part {
			part[i] = byte(rng.IntN(24))
		}
		return bytes.Repeat(part, 1+size/len(part))
	default:
		if len(messages) == 0 {
			return data
		}
		m := slices.Clone(messages[rng.IntN(len(messages))])
		for range 1 + rng.IntN(6) {
			if len(m) > 0 {
				m[rng.IntN(len(m))] = byte(rng.Uint32() >> (rng.IntN(4) * 8))
			}
		}
		return bytes.Repeat(m, 1+rng.IntN(1+min(size, 1<<16)/max(len(m), 1)))
	}
	return data
}
