package codec

// DecodeFully is Decode by the walk that knows all cases, also for messages that are simple.
func (p *Program) DecodeFully(dst *Record, data []byte) { p.decode(dst, data) }

// EncodeFully is Encode likewise.
func (p *Program) EncodeFully(dst, src *Record) error { return p.encode(dst, src) }
