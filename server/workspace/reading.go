package workspace

import (
	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Reading is a frame with its definition and its record. Each is found once, when it is first asked for, so that a filter, a list and rules
// that look at one frame share the work. It is for one goroutine.
type Reading struct {
	snap    *Snapshot
	frame   *transport.Frame
	def     definition
	found   bool // def is that of the frame
	decoded bool // rec is that of the frame
	rec     codec.Record
	recent  [64]definition // by the low bits of their codes
}

// definition is what a snapshot has for a key.
type definition struct {
	key       schema.Key
	alternate bool // has the alternative header
	known     bool
	message   *schema.Message // nil: none
	program   *codec.Program  // nil: it cannot be compiled
}

// NewReading makes a reading by the definitions of a snapshot, of no frame yet.
func NewReading(s *Snapshot) *Reading { return &Reading{snap: s} }

// Take makes the reading that of a frame, which is not copied.
func (r *Reading) Take(x *transport.Frame) { r.frame, r.found, r.decoded = x, false, false }

// Message is the definition of the frame, nil if it has none.
func (r *Reading) Message() *schema.Message {
	r.find()
	return r.def.message
}

// Record is the frame as its definition reads it, nil if it has none. It is valid until the next Take.
func (r *Reading) Record() *codec.Record {
	r.find()
	if r.def.program == nil {
		return nil
	}
	if !r.decoded {
		r.decoded = true
		r.rec.Session = codec.Session{}
		r.def.program.Decode(&r.rec, r.frame.Bytes)
	}
	return &r.rec
}

func (r *Reading) find() {
	if r.found {
		return
	}
	r.found = true
	x := r.frame
	if !x.HasKey || x.Name != "" || x.Kind != transport.Message && x.Kind != transport.Control {
		r.def = r.snap.definition(x)
		return
	}
	d := &r.recent[x.Key.Code%uint32(len(r.recent))]
	if alternate := r.snap.HasAlternate(x); !d.known || d.key != x.Key || d.alternate != alternate {
		*d = r.snap.definition(x)
		d.key, d.alternate, d.known = x.Key, alternate, true
	}
	r.def = *d
}

func (s *Snapshot) definition(x *transport.Frame) (d definition) {
	if d.message = s.FrameMessage(x); d.message != nil {
		d.program, _ = s.Program(d.message)
	}
	return d
}
