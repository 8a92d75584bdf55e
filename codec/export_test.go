package codec

// DecodeFully is Decode without the fast path for simple messages.
func (p *Program) DecodeFully(dst *Record, data []byte) { p.decode(dst, data, false) }

// EncodeFully is Encode without the fast path for simple messages.
func (p *Program) EncodeFully(dst, src *Record) error { return p.encode(dst, src, false, nil) }
