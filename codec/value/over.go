package value

import (
	"bytes"

	"wirebench/codec"
)

// Over encodes values over the messages that they come from. Its memory is reused.
type Over struct {
	same codec.Record
	text []byte
}

// Encode encodes a record of ParseJSON over a decoded message: see codec.Program.EncodeOver. base may have errors: what could not be read of it
// is kept only if nothing changes.
func (o *Over) Encode(dst, src, base *codec.Record) error {
	p := src.Program
	o.text = AppendJSON(o.text[:0], base)
	if err := ParseJSON(&o.same, p, o.text); err != nil {
		return p.Encode(dst, src)
	}
	o.same.Code, o.same.Session = base.Code, base.Session
	inPlace, err := p.EncodeOver(dst, src, &o.same, base)
	if err != nil || !inPlace {
		return err
	}
	o.text = AppendJSON(o.text[:0], src)
	if got := AppendJSON(nil, dst); bytes.Equal(got, o.text) || bytes.Equal(dst.Message(), base.Message()) {
		return nil
	}
	return p.Encode(dst, src) // bytes that several values share have only one of them
}
