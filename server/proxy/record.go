package proxy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// How a recording gets to the disk.
const (
	flushTime  = time.Second
	flushBytes = 64 << 10
	maxWaiting = 256 // pieces of flushBytes or a little more that wait for the disk
)

// Record says how a session is recorded: as pcapng files, whose packets have the headers that Ethernet, IP and TCP or UDP would have had.
// The numbers in transport.Segment.Packet, and so in frames, count the packets of all files of the session; FileState.First says with
// which of them a file starts, so that in the only file they are those of the file.
type Record struct {
	Create    func(n int) (name string, f io.WriteCloser, err error) // makes the n-th file, from 1. A Truncate and a Sync of it are used
	FileBytes int64                                                  // about how large a file gets before the next one starts: 256 MiB
	Bytes     int64                                                  // of all files; recording stops then: 64 GiB

	// Cut says what frames are cut by now. With it files have the frames as the log has them, too (capture.Options.Recorded): of a session with a
	// Rewriter packets do not tell what was dropped, injected and changed.
	Cut func() string
}

// Folder makes the files of a recording in a folder: START-TIME-1.pcapng.
func Folder(dir, start string, now time.Time) func(n int) (string, io.WriteCloser, error) {
	stem := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, start[:min(len(start), 100)]) + now.UTC().Format("-20060102T150405.000-")
	return func(n int) (string, io.WriteCloser, error) {
		name := filepath.Join(dir, stem+itoa(n)+".pcapng")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return name, f, err
	}
}

// RecordState is how a recording is.
type RecordState struct {
	On      bool        `json:"on" doc:"packets are being recorded"`
	Why     string      `json:"why,omitempty" doc:"they are not any more"`
	Files   []FileState `json:"files,omitempty"`
	Packets int64       `json:"packets" doc:"on the disk"`
	Bytes   int64       `json:"bytes" doc:"on the disk"`
	Missed  int64       `json:"missed,omitempty" doc:"packets that are not recorded: they came after its end, or the disk did not take them"`
}

// FileState is one file of a recording.
type FileState struct {
	Name  string `json:"name"`
	First int64  `json:"first" doc:"number of its first packet among those of the session, from 1"`
	Bytes int64  `json:"bytes" doc:"on the disk"`
}

var (
	errSlowDisk = errors.New("the disk is too slow")
	errEnough   = errors.New("it has reached its size")
)

// piece is whole blocks of a file, or with file the start of the next one.
type piece struct {
	data    []byte
	packets int64 // in data
	first   int64 // packet, with file
	file    bool
}

// recorder writes what the observer sees. The observer's side never waits: what the disk has not taken waits in memory. When that is too
// much, packets are dropped until the disk has caught up, and the recording goes on in a new file. A nil recorder records nothing.
type recorder struct {
	opts   Record
	name   string
	events *events

	// Of the observer.
	w       *pcap.Writer
	buf     []byte
	file    int64 // bytes of the file
	all     int64 // bytes of the files before
	live    map[*observed]struct{}
	over    bool
	waiting chan piece
	begun   int   // files
	stalled bool  // packets are dropped until the disk has caught up
	dropped int64 // so many since then

	count int64           // packets
	first int64           // of the file
	told  map[uint32]bool // connections of frames, by their place in the log, that the file knows
	moved func()          // called after state is another one
	inBuf int64           // of them in buf

	missed atomic.Int64

	mu      sync.Mutex
	files   []FileState
	bytes   int64
	packets int64 // on the disk
	why     error // it has ended before the session did
	done    bool
}

func newRecorder(opts Record, name string, e *events, moved func()) *recorder {
	opts.FileBytes = cmp.Or(opts.FileBytes, 256<<20)
	opts.Bytes = cmp.Or(opts.Bytes, 64<<30)
	return &recorder{opts: opts, name: name, events: e, moved: moved, live: map[*observed]struct{}{}, waiting: make(chan piece, maxWaiting)}
}

// fail ends the recording, on either side.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	first := r.why == nil
	if first {
		r.why = err
	}
	r.mu.Unlock()
	if first {
		r.events.add(Failure, "recording has stopped: %v; traffic and log go on", err)
	}
}

func (r *recorder) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why != nil
}

// Write takes one block of the file.
func (r *recorder) Write(block []byte) (int, error) {
	const packetBlock = 6
	if binary.LittleEndian.Uint32(block) == packetBlock {
		r.count++
		r.inBuf++
	}
	r.buf = append(r.buf, block...)
	r.file += int64(len(block))
	if len(r.buf) >= flushBytes {
		r.flush()
	}
	return len(block), nil
}

// flush gives what there is to the disk.
func (r *recorder) flush() {
	if r == nil || len(r.buf) == 0 || r.over || r.stalled {
		return
	}
	r.ship(piece{data: r.buf, packets: r.inBuf})
	r.inBuf = 0
	r.buf = (*pieces.Get().(*[]byte))[:0]
}

var pieces = sync.Pool{New: func() any { b := make([]byte, 0, flushBytes*3/2); return &b }}

func (r *recorder) ship(p piece) {
	select {
	case r.waiting <- p:
	default:
		r.stall(p.packets)
	}
}

// stall drops packets that the disk has no time for.
func (r *recorder) stall(packets int64) {
	r.miss(packets)
	if r.stalled {
		return
	}
	r.stalled = true
	for o := range r.live {
		o.synthetic = nil
	}
	r.events.add(Warning, "the disk is too slow: packets are not recorded until it has caught up; traffic and log go on")
}

func (r *recorder) miss(packets int64) {
	r.missed.Add(packets)
	r.dropped += packets
}

// resume goes on in a new file after a stall, if the disk has caught up.
func (r *recorder) resume(at time.Time) {
	if len(r.waiting) > maxWaiting/2 {
		return
	}
	r.miss(r.inBuf)
	r.buf, r.inBuf, r.stalled = r.buf[:0], 0, false
	r.begin(at)
	if !r.stalled && !r.over {
		r.events.add(Warning, "recording goes on in part %d; %d packets before it are missing", r.begun, r.dropped)
		r.dropped = 0
	}
}

// halt ends the recording on the observer's side.
func (r *recorder) halt(err error) {
	if r.over {
		return
	}
	r.over = true
	if err != nil {
		r.fail(err)
	}
	close(r.waiting)
	for o := range r.live {
		o.synthetic = nil
	}
	r.live = nil
}

// ready makes sure that there is a file for the next packet, and reports whether there is.
func (r *recorder) ready(at time.Time) bool {
	if r == nil {
		return false
	}
	if !r.over && r.failed() {
		r.halt(nil)
	}
	if !r.over && r.w != nil && r.all+r.file >= r.opts.Bytes {
		r.flush()
		r.halt(errEnough)
	}
	switch {
	case r.over:
	case r.stalled:
		r.resume(at)
	case r.w == nil || r.file >= r.opts.FileBytes:
		r.begin(at)
	}
	if r.over || r.stalled {
		r.miss(1)
		return false
	}
	return true
}

// begin starts a file. Connections that are open are made known to it: what they have carried before is missing in it.
func (r *recorder) begin(at time.Time) {
	r.flush()
	if r.over || r.stalled {
		return
	}
	r.ship(piece{file: true, first: r.count + 1})
	if r.stalled {
		return
	}
	r.begun++
	r.all += r.file
	r.file = 0
	r.w, _ = pcap.NewWriter(r, "wirebench", "session "+r.name) // Write has no errors
	_, _ = r.w.Interface(pcap.Interface{Name: "wirebench", Link: packet.LinkEthernet})
	if r.first, r.told = r.count+1, map[uint32]bool{}; r.opts.Cut != nil {
		_ = r.w.RecordFrames(r.opts.Cut())
	}
	for o := range r.live {
		r.start(o, at)
	}
}

// frame records a frame as the log has it.
func (r *recorder) frame(o *observed, f *transport.Frame, flags live.Flags) {
	if r == nil || r.opts.Cut == nil || r.w == nil || r.over || r.stalled {
		return
	}
	if !r.told[o.index] {
		r.told[o.index] = true
		_ = r.w.RecordConn(o.index, o.Conn)
	}
	_ = r.w.RecordFrame(o.index, f, flags.Marks(), uint32(r.first)) // Write has no errors
}

// forget says that a place in the log is that of another connection now.
func (r *recorder) forget(index uint32) {
	if r != nil {
		delete(r.told, index)
	}
}

// maxSkipped is how many bytes of a stream may be missing before what is in a file, so that readers still take it for the same stream.
const maxSkipped = 8 << 20

func (r *recorder) start(o *observed, at time.Time) {
	o.synthetic = pcap.NewSynthetic(r.w, 0, o.Conn)
	if o.Proto != transport.TCP || o.carried[0] > maxSkipped || o.carried[1] > maxSkipped {
		return // from the middle
	}
	_ = o.synthetic.Open(at)
	for i, n := range o.carried {
		o.synthetic.Lost(schema.ToServer+schema.Dir(i), uint32(n))
		if o.over[i] {
			_ = o.synthetic.Close(schema.ToServer+schema.Dir(i), at)
		}
	}
}

// open records the start of a connection.
func (r *recorder) open(o *observed, at time.Time) {
	ready := r.ready(at)
	if r == nil || r.over {
		return
	}
	r.live[o] = struct{}{}
	if ready {
		r.start(o, at)
	}
}

// data records bytes, at most maxPiece of a stream, and returns the number of their packet; 0 if they are not recorded.
func (r *recorder) data(o *observed, dir schema.Dir, at time.Time, data []byte) uint32 {
	if !r.ready(at) || o.synthetic == nil {
		return 0
	}
	if err := o.synthetic.Data(dir, at, data, o.comment(dir)); err != nil { // a datagram that is longer than any can be
		r.missed.Add(1)
		return 0
	}
	return uint32(r.count)
}

// note puts a comment on the next packet of a direction.
func (r *recorder) note(o *observed, dir schema.Dir, text string) {
	if r == nil || o.synthetic == nil {
		return
	}
	way := dir - schema.ToServer
	if room := maxComment - len(o.comments[way]); room > 0 {
		if o.comments[way] != "" {
			text = "\n" + text
		}
		o.comments[way] += strings.ToValidUTF8(text[:min(len(text), room)], "")
	}
}

// comment takes what stands on the next packet.
func (o *observed) comment(dir schema.Dir) string {
	text := o.comments[dir-schema.ToServer]
	o.comments[dir-schema.ToServer] = ""
	return text
}

// remark records comments for which no packet came: on one without bytes in a stream. A datagram without bytes would be one more.
func (r *recorder) remark(o *observed, dir schema.Dir, at time.Time) {
	if o.Proto == transport.TCP && o.comments[dir-schema.ToServer] != "" {
		_ = r.data(o, dir, at, nil)
	}
}

// lost records that bytes are missing.
func (r *recorder) lost(o *observed, dir schema.Dir, n int64) {
	if o.synthetic != nil && o.Proto == transport.TCP {
		o.synthetic.Lost(dir, uint32(n))
	}
}

// end records the end of a direction and returns the number of its packet.
func (r *recorder) end(o *observed, dir schema.Dir, at time.Time) uint32 {
	r.remark(o, dir, at)
	if !r.ready(at) || o.synthetic == nil {
		return 0
	}
	_ = o.synthetic.Close(dir, at)
	return uint32(r.count)
}

// close records the end of a connection.
func (r *recorder) close(o *observed, at time.Time) {
	if r == nil {
		return
	}
	for i, over := range o.over {
		if over || o.synthetic == nil || o.Proto != transport.TCP {
			continue
		}
		if r.remark(o, schema.ToServer+schema.Dir(i), at); r.ready(at) && o.synthetic != nil {
			_ = o.synthetic.Close(schema.ToServer+schema.Dir(i), at)
		}
	}
	delete(r.live, o)
}

// finishTime is how long the end of a session waits for a disk that has not taken what came before.
const finishTime = 5 * time.Second

// finish writes the rest: nothing more comes.
func (r *recorder) finish() {
	if r == nil || r.over {
		return
	}
	if len(r.buf) > 0 && !r.stalled {
		timer := time.NewTimer(finishTime)
		defer timer.Stop()
		select {
		case r.waiting <- piece{data: r.buf, packets: r.inBuf}:
		case <-timer.C:
			r.missed.Add(r.inBuf)
			r.fail(errSlowDisk)
		}
		r.buf, r.inBuf = nil, 0
	}
	r.halt(nil)
}

// write takes what waits to the disk until there is no more.
func (r *recorder) write() {
	var f io.WriteCloser
	n, broken := 0, false
	shut := func() {
		if f == nil {
			return
		}
		if s, ok := f.(interface{ Sync() error }); ok {
			_ = s.Sync()
		}
		if err := f.Close(); err != nil {
			r.fail(err)
		}
		f = nil
	}
	for p := range r.waiting {
		if p.file {
			shut()
		}
		if broken { // what waited when the observer's side ended is still written
			r.missed.Add(p.packets)
			continue
		}
		if p.file {
			n++
			name, file, err := r.opts.Create(n)
			if err != nil {
				r.fail(err)
				broken = true
				continue
			}
			f = file
			r.mu.Lock()
			r.files = append(r.files, FileState{Name: name, First: p.first})
			r.mu.Unlock()
			continue
		}
		wrote, err := f.Write(p.data)
		if err == nil && wrote < len(p.data) {
			err = io.ErrShortWrite
		}
		r.mu.Lock()
		last := &r.files[len(r.files)-1]
		if err == nil {
			last.Bytes += int64(wrote)
			r.bytes += int64(wrote)
			r.packets += p.packets
		}
		whole := last.Bytes
		r.mu.Unlock()
		r.moved()
		if err != nil {
			if t, ok := f.(interface{ Truncate(size int64) error }); ok {
				_ = t.Truncate(whole)
			}
			r.missed.Add(p.packets)
			r.fail(err)
			broken = true
			shut()
			continue
		}
		if cap(p.data) <= 2*flushBytes {
			pieces.Put(&p.data)
		}
	}
	shut()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
}

func (r *recorder) state() RecordState {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := RecordState{On: r.why == nil && !r.done, Packets: r.packets, Bytes: r.bytes, Missed: r.missed.Load()}
	x.Files = append(x.Files, r.files...)
	if r.why != nil {
		x.Why = r.why.Error()
	}
	return x
}
