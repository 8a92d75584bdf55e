package proxy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
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

// Parameters of writing a recording.
const (
	flushTime  = time.Second
	flushBytes = 64 << 10
	maxWaiting = 256 // pieces of about flushBytes waiting for the disk
)

// Record configures the recording of a session: pcapng files, whose packets have generated headers of Ethernet, IP and TCP or UDP. The
// numbers in transport.Segment.Packet, and so in frames, count the packets of all files of the session; FileState.First is the number of
// the first packet of a file. With a single file they are the packet numbers of that file.
type Record struct {
	Create    func(n int) (name string, f io.WriteCloser, err error) // creates file n, from 1. Its methods Truncate and Sync are used, if it has them
	FileBytes int64                                                  // approximate maximum size of a file: 256 MiB
	Bytes     int64                                                  // maximum size of all files, at which recording stops: 64 GiB

	// Cut identifies the definitions that split the frames. If it is set, files also contain the frames as logged
	// (capture.Options.Recorded): in a session with a Rewriter, packets do not show dropped, injected and changed messages.
	Cut func() string
}

// RecordState is the state of a recording.
type RecordState struct {
	On      bool        `json:"on" doc:"packets are being recorded"`
	Why     string      `json:"why,omitempty" doc:"reason why recording has stopped"`
	Files   []FileState `json:"files,omitempty"`
	Packets int64       `json:"packets" doc:"packets on disk"`
	Bytes   int64       `json:"bytes" doc:"bytes on disk"`
	Missed  int64       `json:"missed,omitempty" doc:"packets not recorded, after the end of the recording or because the disk was too slow"`
}

// FileState is the state of one file of a recording.
type FileState struct {
	Name  string `json:"name"`
	First int64  `json:"first" doc:"number of its first packet among those of the session, from 1"`
	Bytes int64  `json:"bytes" doc:"bytes on disk"`
}

var (
	errSlowDisk = errors.New("the disk is too slow")
	errEnough   = errors.New("the maximum size is reached")
)

// piece is a sequence of whole blocks of a file; with file set it starts a new one.
type piece struct {
	data    []byte
	packets int64 // number of packets in data
	first   int64 // number of the first packet, with file
	file    bool
}

// recorder writes the data that the observer sees. The observer never waits: data that the disk has not accepted yet waits in memory. When
// that is too much, packets are dropped until the disk has caught up, and recording continues in a new file. A nil recorder records
// nothing.
type recorder struct {
	opts   Record
	name   string
	events *events

	// Used by the observer.
	w       *pcap.Writer
	buf     []byte
	file    int64 // bytes of the current file
	all     int64 // bytes of the previous files
	live    map[*observed]struct{}
	over    bool
	waiting chan piece
	begun   int   // number of files
	stalled bool  // packets are dropped until the disk has caught up
	dropped int64 // number of packets dropped since then

	count int64           // packets
	first int64           // first packet of the file
	told  map[uint32]bool // connections known to the file, by index in the log
	moved func()          // called after the state has changed
	inBuf int64           // packets in buf

	missed atomic.Int64

	mu      sync.Mutex
	files   []FileState
	bytes   int64
	packets int64 // packets on disk
	why     error // reason why recording ended before the session
	done    bool
}

func newRecorder(opts Record, name string, e *events, moved func()) *recorder {
	opts.FileBytes = cmp.Or(opts.FileBytes, 256<<20)
	opts.Bytes = cmp.Or(opts.Bytes, 64<<30)
	return &recorder{opts: opts, name: name, events: e, moved: moved, live: map[*observed]struct{}{}, waiting: make(chan piece, maxWaiting)}
}

// fail ends the recording. It may be called from both sides.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	first := r.why == nil
	if first {
		r.why = err
	}
	r.mu.Unlock()
	if first {
		r.events.add(Failure, "recording has stopped: %v; traffic and log continue", err)
	}
}

func (r *recorder) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why != nil
}

// Write receives one block of the file.
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

// flush passes the buffer to the disk writer.
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

// stall drops packets because the disk is too slow.
func (r *recorder) stall(packets int64) {
	r.miss(packets)
	if r.stalled {
		return
	}
	r.stalled = true
	for o := range r.live {
		o.synthetic = nil
	}
	r.events.add(Warning, "the disk is too slow: packets are not recorded until it has caught up; traffic and log continue")
}

func (r *recorder) miss(packets int64) {
	r.missed.Add(packets)
	r.dropped += packets
}

// resume continues in a new file after a stall, if the disk has caught up.
func (r *recorder) resume(at time.Time) {
	if len(r.waiting) > maxWaiting/2 {
		return
	}
	r.miss(r.inBuf)
	r.buf, r.inBuf, r.stalled = r.buf[:0], 0, false
	r.begin(at)
	if !r.stalled && !r.over {
		r.events.add(Warning, "recording continues in part %d; %d packets before it are missing", r.begun, r.dropped)
		r.dropped = 0
	}
}

// halt ends the recording in the observer.
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

// ready ensures that there is a file for the next packet, and reports whether there is.
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

// begin starts a file, and announces the open connections in it; their previous data is missing in it.
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
	r.w, _ = pcap.NewWriter(r, "wirebench", "session "+r.name) // Write never fails
	_, _ = r.w.Interface(pcap.Interface{Name: "wirebench", Link: packet.LinkEthernet})
	if r.first, r.told = r.count+1, map[uint32]bool{}; r.opts.Cut != nil {
		_ = r.w.RecordFrames(r.opts.Cut())
	}
	for o := range r.live {
		r.start(o, at)
	}
}

// frame records a frame as logged.
func (r *recorder) frame(o *observed, f *transport.Frame, flags live.Flags) {
	if r == nil || r.opts.Cut == nil || r.w == nil || r.over || r.stalled {
		return
	}
	if !r.told[o.index] {
		r.told[o.index] = true
		_ = r.w.RecordConn(o.index, o.Conn)
	}
	_ = r.w.RecordFrame(o.index, f, flags.Marks(), uint32(r.first)) // Write never fails
}

// forget reports that an index of the log now belongs to another connection.
func (r *recorder) forget(index uint32) {
	if r != nil {
		delete(r.told, index)
	}
}

// maxSkipped is the maximum number of missing bytes before the data of a stream in a file, such that readers still recognize it as the same
// stream.
const maxSkipped = 8 << 20

func (r *recorder) start(o *observed, at time.Time) {
	o.synthetic = pcap.NewSynthetic(r.w, 0, o.Conn)
	if o.Proto != transport.TCP || o.carried[0] > maxSkipped || o.carried[1] > maxSkipped {
		return // recorded from the middle
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

// data records bytes, at most maxPiece of a stream, and returns the number of their packet, 0 if they are not recorded.
func (r *recorder) data(o *observed, dir schema.Dir, at time.Time, data []byte) uint32 {
	if !r.ready(at) || o.synthetic == nil {
		return 0
	}
	if err := o.synthetic.Data(dir, at, data, o.comment(dir)); err != nil { // the datagram is too long
		r.missed.Add(1)
		return 0
	}
	return uint32(r.count)
}

// note adds a comment to the next packet of a direction.
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

// comment takes the comments for the next packet.
func (o *observed) comment(dir schema.Dir) string {
	text := o.comments[dir-schema.ToServer]
	o.comments[dir-schema.ToServer] = ""
	return text
}

// remark records comments not followed by a packet, on an empty segment of the stream. For datagrams they are lost, since an empty datagram
// would be an additional one.
func (r *recorder) remark(o *observed, dir schema.Dir, at time.Time) {
	if o.Proto == transport.TCP && o.comments[dir-schema.ToServer] != "" {
		_ = r.data(o, dir, at, nil)
	}
}

// lost records missing bytes.
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

// finishTime is the maximum time that the end of a session waits for the disk.
const finishTime = 5 * time.Second

// finish writes the remaining data.
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

// write writes pieces to the disk until there are no more.
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
		if broken { // pieces that were queued before the failure are still written
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
