package transport

import (
	"time"

	"wirebench/defs/schema"
)

// WholeOptions describe messages that need no transport.
type WholeOptions struct {
	Dir   schema.Dir                                              // used where the text or file does not say
	Day   time.Time                                               // midnight before the first message, or the start, for texts that give only a time of day or an elapsed time
	Key   func(dir schema.Dir, message []byte) (schema.Key, bool) // reads the code of a message; may be nil
	Limit int                                                     // frames at most; 0 = all
}

// Whole makes frames of complete messages, which need no transport: the messages of logs, texts and raw files.
type Whole struct {
	Opts  WholeOptions
	Emit  func(*Frame)
	Conn  *Conn
	From  [1]Source // backing array for Frame.From of the next frame
	Marks Marks     // of the next frame
	IDs   Identifier

	n     uint32
	frame Frame
}

// Give emits a frame and reports whether more frames are wanted.
func (w *Whole) Give(f Frame) bool {
	w.n++
	if f.Dir == schema.Both {
		f.Dir = w.Opts.Dir
	}
	w.frame = f
	if f.Kind == Message && w.Opts.Key != nil {
		w.frame.Key, w.frame.HasKey = w.Opts.Key(f.Dir, f.Bytes)
	}
	w.frame.N, w.frame.Conn, w.frame.Marks = w.n, w.Conn, w.Marks
	conn := 0
	if w.Conn != nil {
		conn = w.Conn.ID
	}
	w.IDs.Identify(conn, &w.frame)
	w.Emit(&w.frame)
	w.Marks = 0
	return w.Opts.Limit <= 0 || int64(w.n) < int64(w.Opts.Limit)
}

// KindOf returns the kind with the given name, or Message.
func KindOf(name string) Kind {
	for k := Control; k <= Packet; k++ {
		if k.String() == name {
			return k
		}
	}
	return Message
}

// Join joins two notes with a semicolon; either may be empty.
func Join(note, more string) string {
	if note == "" || more == "" {
		return note + more
	}
	return note + "; " + more
}

// MaxName is the maximum length in bytes of a message's name in a log.
const MaxName = 256
