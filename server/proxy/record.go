package proxy

import (
	"cmp"
	"encoding/binary"
	"fmt"
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
	flushTime  = 100 * time.Millisecond // what a crash of the program may lose
	flushBytes = 64 << 10
	maxWaiting = 256              // pieces of about flushBytes waiting for the disk
	maxRetry   = 30 * time.Second // between attempts to continue after an error of the disk
)

// recorder writes the data that the observer sees. The observer never waits: data that the disk has not accepted yet waits in memory. When
// that is too much, or the disk has failed, packets are dropped until it accepts data again, and recording continues in a new file. A nil
// recorder records nothing.
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
	begun   int64         // number of files shipped, those that the disk refused included
	stalled bool          // packets are dropped until the disk accepts data
	dropped int64         // number of packets dropped since then
	retry   time.Duration // between this attempt to continue and the next
	next    time.Time     // of the next attempt

	count int64           // packets
	first int64           // first packet of the file
	told  map[uint32]bool // connections known to the file, by index in the log
	moved func()          // called after the state has changed
	inBuf int64           // packets in buf

	missed atomic.Int64
	broken atomic.Int64 // the last file that the disk refused, as counted by begun

	mu      sync.Mutex
	files   []FileState
	bytes   int64
	packets int64 // packets on disk
	why     error // reason why packets are not recorded
	ended   bool  // why is final
	done    bool
}

func newRecorder(opts Record, name string, e *events, moved func()) *recorder {
	opts.FileBytes = cmp.Or(opts.FileBytes, 256<<20)
	opts.Bytes = cmp.Or(opts.Bytes, 64<<30)
	r := &recorder{opts: opts, name: name, events: e, moved: moved, live: map[*observed]struct{}{}, waiting: make(chan piece, maxWaiting)}
	r.broken.Store(-1)
	return r
}

// RecordInterface is the interface of the packets of a recording.
var RecordInterface = pcap.Interface{Name: "wirebench", Link: packet.LinkEthernet}

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
	if !r.stalled {
		r.drop()
		r.events.add(Warning, "the disk is too slow: packets are not recorded until it has caught up; traffic and log continue")
	}
}

// drop drops packets until resume.
func (r *recorder) drop() {
	r.stalled = true
	for o := range r.live {
		o.synthetic = nil
	}
}

func (r *recorder) miss(packets int64) {
	r.missed.Add(packets)
	r.dropped += packets
}

// resume continues in a new file after a stall, if the disk has caught up, or after an error when it is time to try again.
func (r *recorder) resume(at time.Time) {
	switch {
	case r.broken.Load() == r.begun:
		wait := time.Until(r.next)
		if len(r.waiting) > 0 || wait > 0 {
			return
		}
		if r.retry = min(max(2*r.retry, time.Second), maxRetry); wait < -maxRetry {
			r.retry = time.Second // this is another error
		}
		r.next = time.Now().Add(r.retry)
	case len(r.waiting) > maxWaiting/2:
		return
	}
	r.miss(r.inBuf)
	r.buf, r.inBuf, r.stalled = r.buf[:0], 0, false
	r.begin(at)
}

// halt ends the recording in the observer.
func (r *recorder) halt(err error) {
	if r.over {
		return
	}
	r.over = true
	if err != nil {
		r.stop(err)
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
	if !r.over && !r.stalled && r.broken.Load() == r.begun {
		r.drop()
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
	r.ship(piece{file: r.begun + 1, first: r.count + 1, dropped: r.dropped})
	if r.stalled {
		return
	}
	r.begun++
	r.dropped = 0
	r.all += r.file
	r.file = 0
	comments := []string{"session " + r.name}
	if n := r.missed.Load(); n > 0 {
		comments = append(comments, fmt.Sprintf("%d packets of the session before this file are not recorded", n))
	}
	r.w, _ = pcap.NewWriter(r, "wirebench", comments...) // Write never fails
	_, _ = r.w.Interface(RecordInterface)
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
			r.stop(errSlowDisk)
		}
		r.buf, r.inBuf = nil, 0
	}
	r.halt(nil)
}
