package proxy

import (
	"errors"
	"io"
	"time"
)

// Record configures the recording of a session: pcapng files, whose packets have generated headers of Ethernet, IP and TCP or UDP. The
// numbers in transport.Segment.Packet, and so in frames, count the packets of all files of the session; FileState.First is the number of
// the first packet of a file. With a single file they are the packet numbers of that file.
//
// An error of Room, of Create or of a file does not end the recording: packets are dropped, and it continues in a new file when one can be
// written.
type Record struct {
	Create    func(n int) (name string, f io.WriteCloser, err error) // creates file n, from 1. Methods of RecordFile are used, if it has them
	FileBytes int64                                                  // approximate maximum size of a file: 256 MiB
	Bytes     int64                                                  // maximum size of all files, at which recording ends: 64 GiB

	// Room returns an error if the disk has no room for more, which must be a little more to resume than to go on. It may be nil.
	Room func(resume bool) error

	// Cut identifies the definitions that split the frames. If it is set, files also contain the frames as logged
	// (capture.Options.Recorded): in a session with a Rewriter, packets do not show dropped, injected and changed messages.
	Cut func() string
}

// RecordFile has the optional methods of the files of a recording.
type RecordFile interface {
	Truncate(size int64) error // as in os.File
	Sync() error               // as in os.File
	Gone() bool                // reports whether what is written cannot be found any more, because the file was deleted
	Discard()                  // closes and deletes a file without data
}

// RecordState is the state of a recording.
type RecordState struct {
	On      bool        `json:"on" doc:"packets are being recorded"`
	Paused  bool        `json:"paused,omitempty" doc:"packets are not recorded now; recording continues in a new file as soon as one can be written"`
	Why     string      `json:"why,omitempty" doc:"reason why packets are not recorded"`
	Files   []FileState `json:"files,omitempty"`
	Packets int64       `json:"packets" doc:"packets on disk"`
	Bytes   int64       `json:"bytes" doc:"bytes on disk"`
	Missed  int64       `json:"missed,omitempty" doc:"packets not recorded: the recording was paused or had ended, or the disk was too slow"`
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
	errDeleted  = errors.New("the file was deleted")
)

// goneTime is the time between two checks whether the file still exists.
const goneTime = time.Second

// piece is a sequence of whole blocks of a file; with file set it starts a new one.
type piece struct {
	data    []byte
	packets int64 // number of packets in data

	file    int64 // as counted by recorder.begun
	first   int64 // number of its first packet
	dropped int64 // number of packets dropped before it
}

// diskWriter writes the pieces of a recorder. Its methods run in one goroutine, which may wait for the disk.
type diskWriter struct {
	r       *recorder
	f       io.WriteCloser // nil: there is none
	file    int64          // as counted by recorder.begun
	parts   int            // number of files created
	name    string         // of f
	first   int64          // packet of f
	size    int64          // of f
	packets int64          // in f
	missing int64          // packets not recorded since the last one that was
	checked time.Time      // whether f is gone
}

// write writes pieces to the disk until there are no more.
func (r *recorder) write() {
	d := &diskWriter{r: r}
	for p := range r.waiting {
		if p.file == 0 {
			d.put(p)
			continue
		}
		d.close()
		d.file, d.first, d.missing = p.file, p.first, d.missing+p.dropped
		d.open()
	}
	d.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
}

// open creates the next file.
func (d *diskWriter) open() {
	err := d.room(d.r.pausedBy() != nil)
	if err == nil {
		d.name, d.f, err = d.r.opts.Create(d.parts + 1)
	}
	d.size, d.packets, d.checked = 0, 0, time.Now()
	if err != nil {
		d.f = nil
		d.fail(err)
		return
	}
	d.parts++
}

func (d *diskWriter) room(resume bool) error {
	if d.r.opts.Room == nil {
		return nil
	}
	return d.r.opts.Room(resume)
}

// put writes blocks to the current file, or drops them after an error.
func (d *diskWriter) put(p piece) {
	if d.f == nil {
		d.miss(p.packets)
		return
	}
	if err := d.writeAll(p.data); err != nil {
		if t, ok := d.f.(interface{ Truncate(size int64) error }); ok {
			_ = t.Truncate(d.size)
		}
		if errors.Is(err, errDeleted) {
			d.forget()
		}
		d.miss(p.packets)
		d.fail(err)
		d.close()
		return
	}
	d.wrote(p)
	if cap(p.data) <= 2*flushBytes {
		pieces.Put(&p.data)
	}
}

func (d *diskWriter) writeAll(data []byte) error {
	if err := d.room(false); err != nil {
		return err
	}
	if now := time.Now(); d.size > 0 && now.Sub(d.checked) >= goneTime {
		d.checked = now
		if g, ok := d.f.(interface{ Gone() bool }); ok && g.Gone() {
			return errDeleted
		}
	}
	n, err := d.f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// wrote counts blocks on disk.
func (d *diskWriter) wrote(p piece) {
	r := d.r
	resumed := false
	r.mu.Lock()
	if d.size == 0 {
		r.files = append(r.files, FileState{Name: d.name, First: d.first})
		if resumed = r.why != nil && !r.ended; resumed {
			r.why = nil
		}
	}
	d.size += int64(len(p.data))
	d.packets += p.packets
	r.files[len(r.files)-1].Bytes = d.size
	r.bytes += int64(len(p.data))
	r.packets += p.packets
	r.mu.Unlock()
	if resumed || d.missing > 0 {
		r.events.add(Warning, "recording continues in part %d; %d packets before it are missing", d.parts, d.missing)
		d.missing = 0
	}
	r.moved()
}

// forget subtracts a deleted file.
func (d *diskWriter) forget() {
	d.miss(d.packets)
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	d.r.files = d.r.files[:len(d.r.files)-1]
	d.r.bytes -= d.size
	d.r.packets -= d.packets
}

func (d *diskWriter) miss(packets int64) {
	d.missing += packets
	d.r.missed.Add(packets)
}

// fail reports an error, after which the observer starts a new file in time.
func (d *diskWriter) fail(err error) {
	d.r.pause(err)
	d.r.broken.Store(d.file)
	d.r.moved()
}

// close closes the file, so that its data survives a crash of the machine.
func (d *diskWriter) close() {
	f := d.f
	if d.f = nil; f == nil {
		return
	}
	if x, ok := f.(interface{ Discard() }); ok && d.size == 0 {
		d.parts--
		x.Discard()
		return
	}
	if s, ok := f.(interface{ Sync() error }); ok {
		_ = s.Sync()
	}
	if err := f.Close(); err != nil {
		d.r.events.add(Failure, "the recording %s is perhaps not whole: %v", d.name, err)
	}
}

// pause reports that packets are not recorded.
func (r *recorder) pause(err error) {
	r.mu.Lock()
	first := r.why == nil
	if first {
		r.why = err
	}
	r.mu.Unlock()
	if first {
		r.events.add(Failure, "recording is paused: %v; traffic and log continue, and recording resumes in a new file as soon as one can be written", err)
	}
}

func (r *recorder) pausedBy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// stop reports that the recording has ended before the session.
func (r *recorder) stop(err error) {
	r.mu.Lock()
	r.why, r.ended = err, true
	r.mu.Unlock()
	r.events.add(Failure, "recording has stopped: %v; traffic and log continue", err)
}

func (r *recorder) state() RecordState {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := RecordState{On: r.why == nil && !r.done, Packets: r.packets, Bytes: r.bytes, Missed: r.missed.Load()}
	x.Paused = r.why != nil && !r.ended && !r.done
	x.Files = append(x.Files, r.files...)
	if r.why != nil {
		x.Why = r.why.Error()
	}
	return x
}
