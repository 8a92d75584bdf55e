package workspace

import (
	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Reading is a frame with its definition and its record. Each is computed once, on first use, so that a filter, a list and rules that read
// the same frame share the work. It is for one goroutine.
type Reading struct {
	snap    *Snapshot
	frame   *transport.Frame
	def     *definition // in recent, or other
	other   definition  // of a frame that recent has no place for
	found   bool        // def is valid for the frame
	decoded bool        // rec is valid for the frame
	rec     codec.Record
	recent  [64]definition // cache, by the low bits of the code
}

// definition is the cached result of looking up a key.
type definition struct {
	key       schema.Key
	alternate bool // has the alternative header
	known     bool
	message   *schema.Message // nil if there is none
	program   *codec.Program  // nil if it cannot be compiled
	header    *codec.Program  // of the header of a frame without a definition; nil if it has none
	code      string          // shown if there is no program
}

// NewReading returns a reading with the definitions of a snapshot, without a frame.
func NewReading(s *Snapshot) *Reading { return &Reading{snap: s} }

// Take sets the frame. It is not copied.
func (r *Reading) Take(x *transport.Frame) { r.frame, r.found, r.decoded = x, false, false }

// Message returns the definition of the frame, nil if it has none.
func (r *Reading) Message() *schema.Message {
	r.find()
	return r.def.message
}

// Record returns the frame decoded by its definition, nil if it has none. It is valid until the next Take.
func (r *Reading) Record() *codec.Record {
	r.find()
	if r.def.program == nil {
		return nil
	}
	return r.decode(r.def.program)
}

// Program returns the program of the frame's definition, and the bytes that it reads, which Record decodes; nil if it has none.
func (r *Reading) Program() (p *codec.Program, data []byte) {
	r.find()
	if r.def.program == nil {
		return nil, nil
	}
	return r.def.program, r.snap.Full(r.def.message, r.frame.Bytes)
}

// Shown returns Record, or the header of a frame without a definition, in whose record the contents are bytes of no field; nil if the frame has
// neither.
func (r *Reading) Shown() *codec.Record {
	if rec := r.Record(); rec != nil || r.def.header == nil {
		return rec
	}
	return r.decode(r.def.header)
}

func (r *Reading) decode(p *codec.Program) *codec.Record {
	if !r.decoded {
		r.decoded = true
		r.rec.Session = codec.Session{}
		p.Decode(&r.rec, r.snap.Full(p.Message, r.frame.Bytes))
	}
	return &r.rec
}

func (r *Reading) find() {
	if r.found {
		return
	}
	r.found = true
	x := r.frame
	if !x.HasKey || x.Name != "" || x.Kind != transport.Message && x.Kind != transport.Control ||
		r.snap.Envelope != nil && r.snap.Envelope.Forms { // the bytes decide
		r.other = r.snap.definition(x)
		r.def = &r.other
		return
	}
	d := &r.recent[x.Key.Code%uint32(len(r.recent))]
	if alternate := r.snap.HasAlternate(x); !d.known || d.key != x.Key || d.alternate != alternate {
		*d = r.snap.definition(x)
		d.key, d.alternate, d.known = x.Key, alternate, true
		if d.program == nil {
			d.code = codeName(x.Key.Code)
		}
	}
	r.def = d
}

func (s *Snapshot) definition(x *transport.Frame) (d definition) {
	if d.message = s.FrameMessage(x); d.message != nil {
		d.program, _ = s.Program(d.message)
	} else if m := s.FrameHeader(x); m != nil {
		d.header, _ = s.Program(m)
	}
	return d
}
