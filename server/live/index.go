package live

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// IndexVersion changes when an index has another form, or when captures are read into other frames than by the program before.
const IndexVersion = 1

// An index of a log is its blocks of entries, its blocks of bytes, and a directory that says where they are. Numbers are little-endian.

const (
	recordBytes  = 71       // of an entry
	maxDirectory = 64 << 20 // bytes
	maxBlock     = 1 << 30  // bytes, of a block with one large frame
	sumBytes     = 16
)

// Directory is the directory of an index.
type Directory struct {
	Version int             `json:"version"`
	Frames  int             `json:"frames"`
	Began   int64           `json:"began,omitempty"` // Log.began
	Conns   []Conn          `json:"conns,omitempty"`
	Groups  []string        `json:"groups,omitempty"` // without the first
	Names   []string        `json:"names,omitempty"`  // without the first
	Bytes   []uint32        `json:"bytes,omitempty"`  // lengths of the blocks of bytes
	Sums    []byte          `json:"sums,omitempty"`   // of the blocks of entries, then of those of bytes
	About   json.RawMessage `json:"about,omitempty"`  // of the capture

	offsets []int64 // of the blocks of bytes
}

// blocks returns the number of blocks of entries.
func (d *Directory) blocks() int { return (d.Frames + blockFrames - 1) / blockFrames }

// ParseDirectory reads a directory.
func ParseDirectory(text []byte) (*Directory, error) {
	if len(text) > maxDirectory {
		return nil, errors.New("the directory is too large")
	}
	d := &Directory{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	switch {
	case d.Version != IndexVersion:
		return nil, fmt.Errorf("it has version %d instead of %d", d.Version, IndexVersion)
	case d.Frames < 0 || int64(d.Frames) > math.MaxUint32 || len(d.Conns) > 1<<24 || len(d.Groups) > maxNames || len(d.Names) > maxNames:
		return nil, errors.New("a number is out of bounds")
	case len(d.Sums)/sumBytes != d.blocks()+len(d.Bytes) || len(d.Sums)%sumBytes != 0:
		return nil, errors.New("it has not a sum for each block")
	}
	at := int64(d.Frames) * recordBytes
	for _, n := range d.Bytes {
		if n > maxBlock {
			return nil, errors.New("a block is too large")
		}
		d.offsets = append(d.offsets, at)
		at += int64(n)
	}
	return d, nil
}

// WriteIndex writes an index of a log to which nothing is added any more. sum returns the sum of a block. It returns the offset of the directory, and
// the directory.
func (l *Log) WriteIndex(w io.Writer, about json.RawMessage, sum func([]byte) [sumBytes]byte) (head int64, directory []byte, err error) {
	defer runtime.KeepAlive(l) // its blocks may be in a file
	l.mu.RLock()
	blocks, arena, used, spill := l.blocks, l.arena, l.used, l.spill
	d := Directory{Version: IndexVersion, Frames: l.Len(), Began: l.began.Load(), Conns: slices.Clone(l.conns), About: about}
	d.Groups, d.Names = slices.Clone(l.groups.all), slices.Clone(l.names.all)
	old := l.rolling || l.lazy.Load() != nil
	l.mu.RUnlock()
	if old {
		return 0, nil, errors.New("a log of running traffic, or of an index, has no index")
	}
	d.Groups, d.Names = d.Groups[min(1, len(d.Groups)):], d.Names[min(1, len(d.Names)):]
	write := func(block []byte) error {
		s := sum(block)
		d.Sums = append(d.Sums, s[:]...)
		head += int64(len(block))
		_, err := w.Write(block)
		return err
	}
	var records []byte
	for i, block := range blocks {
		records = records[:0]
		for k := range block {
			records = block[k].append(records)
		}
		if err := write(records); err != nil {
			return 0, nil, err
		}
		if spill != nil {
			spill.letGoThis(forEntries, i)
		}
	}
	for i, block := range arena {
		if i == len(arena)-1 {
			block = block[:used]
		}
		if len(block) > maxBlock {
			return 0, nil, errors.New("a frame is too large for an index")
		}
		d.Bytes = append(d.Bytes, uint32(len(block)))
		if err := write(block); err != nil {
			return 0, nil, err
		}
		if spill != nil {
			spill.letGoThis(forBytes, i)
		}
	}
	if directory, err = json.Marshal(d); err == nil && len(directory) > maxDirectory {
		err = errors.New("the directory is too large")
	}
	if err == nil {
		_, err = w.Write(directory)
	}
	return head, directory, err
}

// append appends the record of an entry.
func (e *Entry) append(b []byte) []byte {
	order := binary.LittleEndian
	b = order.AppendUint64(order.AppendUint64(b, uint64(e.At)), uint64(e.offset))
	for _, n := range [...]uint32{e.block, e.off, e.Len, e.Code, e.Conn, e.more, e.from.Packet, e.from.Off, e.from.Len, e.length, e.nth} {
		b = order.AppendUint32(b, n)
	}
	for _, n := range [...]uint16{e.group, e.name, e.turn} {
		b = order.AppendUint16(b, n)
	}
	bits := byte(0)
	if e.HasKey {
		bits |= 1
	}
	if e.sent {
		bits |= 2
	}
	return append(b, byte(e.shown), byte(e.Kind), byte(e.Dir), byte(e.Flags), bits)
}

// read sets an entry from its record.
func (e *Entry) read(b []byte) {
	order := binary.LittleEndian
	e.At, e.offset, b = int64(order.Uint64(b)), int64(order.Uint64(b[8:])), b[16:]
	for _, n := range [...]*uint32{&e.block, &e.off, &e.Len, &e.Code, &e.Conn, &e.more, &e.from.Packet, &e.from.Off, &e.from.Len, &e.length, &e.nth} {
		*n, b = order.Uint32(b), b[4:]
	}
	for _, n := range [...]*uint16{&e.group, &e.name, &e.turn} {
		*n, b = order.Uint16(b), b[2:]
	}
	e.shown, e.Kind, e.Dir, e.Flags = shown(b[0]), transport.Kind(b[1]), schema.Dir(b[2]), Flags(b[3])
	e.HasKey, e.sent = b[4]&1 != 0, b[4]&2 != 0
}

// valid reports whether an entry refers to what there is in an index.
func (d *Directory) valid(e *Entry) bool {
	return int(e.block) < len(d.Bytes) && uint64(e.off)+uint64(e.Len)+uint64(e.more) <= uint64(d.Bytes[e.block]) && int(e.Conn) < len(d.Conns) && e.turn == 0 &&
		int(e.group) <= len(d.Groups) && int(e.name) <= len(d.Names) && e.shown <= notShown && e.Kind <= transport.Packet && e.Dir <= schema.ToClient
}

// entries returns the entries of a block of an index.
func (d *Directory) entries(block []byte) ([]Entry, error) {
	if len(block)%recordBytes != 0 {
		return nil, errors.New("an entry is cut off")
	}
	out := make([]Entry, len(block)/recordBytes)
	for i := range out {
		out[i].read(block[i*recordBytes:])
		if !d.valid(&out[i]) {
			return nil, errors.New("an entry refers to something that is not there")
		}
	}
	return out, nil
}
