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
	if err := ParseJSONOf(&o.same, p, o.text, untailed(p, base)); err != nil {
		return p.Encode(dst, src)
	}
	o.same.Code, o.same.Session = base.Code, base.Session
	patched, err := p.EncodeOver(dst, src, &o.same, base)
	if err != nil || !patched {
		return err
	}
	o.text = AppendJSON(o.text[:0], src)
	if bytes.Equal(AppendJSON(nil, dst), o.text) {
		return nil
	}
	return p.Encode(dst, src) // bytes that several values share have only one of them
}

// Values encodes a JSON object of values with a code, over the message that they come from; base is nil if there is none. src and dst are memory,
// dst has the message. Where values depend on the size of the message, it looks for the size that they give.
func (o *Over) Values(dst, src *codec.Record, p *codec.Program, text []byte, base *codec.Record, code uint32, session codec.Session) error {
	err := ParseJSON(src, p, text)
	if _, _, depends := p.Whole(); depends && base != nil && err == nil && ParseJSONOf(src, p, text, untailed(p, base)) != nil {
		err = ParseJSON(src, p, text) // of another size
	}
	if err != nil {
		return err
	}
	encode := func() error {
		src.Code, src.Session = code, session
		if base != nil {
			return o.Encode(dst, src, base)
		}
		return p.Encode(dst, src)
	}
	if _, _, depends := p.Whole(); !depends {
		return encode()
	}
	if base == nil { // contents at positions follow all others, if that fits
		closely := func() error {
			src.Code, src.Session = code, session
			return p.EncodeClose(dst, src)
		}
		if trySizes(dst, src, p, text, closely) == nil {
			return nil
		}
		if err := ParseJSON(src, p, text); err != nil {
			return err
		}
	}
	return trySizes(dst, src, p, text, encode)
}

// trySizes encodes values, each time as if the message had the size that it had before, until that is true; one byte more if it has that size, but
// contents do not fit. src has the values for the first time.
func trySizes(dst, src *codec.Record, p *codec.Program, text []byte, encode func() error) (err error) {
	size := -1
	for range maxSizes {
		if err = encode(); err == nil {
			return nil
		}
		size = max(dst.Laid(), size+1)
		if ParseJSONOf(src, p, text, size) != nil {
			return err
		}
	}
	return err
}

// maxSizes is the number of sizes of a message that are tried.
const maxSizes = 8

// untailed returns the size of a message without its tail.
func untailed(p *codec.Program, r *codec.Record) int {
	_, tail, _ := p.Whole()
	return max(0, r.Size()-int(tail))
}
