package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Mask returns a mask of the lowest bits; bits is 1 to 64.
func Mask(bits int) uint64 { return math.MaxUint64 >> (64 - uint(bits)) }

// SignExtend reads the low bits of raw as two's complement.
func SignExtend(raw uint64, bits int) int64 {
	shift := 64 - uint(bits)
	return int64(raw<<shift) >> shift
}

// BitsFloat returns the IEEE 754 number of 16, 32 or 64 bits.
func BitsFloat(raw uint64, bits int) float64 {
	switch bits {
	case 32:
		return float64(math.Float32frombits(uint32(raw)))
	case 16:
		return halfFloat(raw)
	}
	return math.Float64frombits(raw)
}

// halfFloat returns the number of 16 bits: a sign, 5 bits of exponent, 10 bits of fraction.
func halfFloat(raw uint64) float64 {
	exponent, fraction := int(raw>>10&31), float64(raw&0x3ff)
	f := 0.0
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 31:
		if f = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		f = math.Ldexp(fraction+1024, exponent-25)
	}
	if raw>>15&1 == 1 {
		return -f
	}
	return f
}

// halfBits is the inverse of halfFloat; it rounds to the nearest number, and to even.
func halfBits(f float64) (raw uint64) {
	if math.Signbit(f) {
		raw, f = 1<<15, -f
	}
	if f >= 65520 { // half way to the number after the largest one
		return raw | 31<<10
	}
	exponent := 0
	if f >= 1.0/(1<<14) {
		_, exponent = math.Frexp(f)
		exponent += 14
	}
	// The units of the fraction; a carry into the exponent gives the right bits.
	units := uint64(math.RoundToEven(math.Ldexp(f, 25-max(exponent, 1))))
	if exponent == 0 {
		return raw | units
	}
	return raw | uint64(exponent)<<10 + units - 1024
}

// FloatBits returns the 16, 32 or 64 bits of a float, rounded to the nearest. All NaNs become the canonical NaN.
func FloatBits(f float64, bits int) uint64 {
	switch {
	case f != f:
		return usualNaN(bits)
	case bits == 32:
		return uint64(math.Float32bits(float32(f)))
	case bits == 16:
		return halfBits(f)
	}
	return math.Float64bits(f)
}

// usualNaN returns the canonical NaN: quiet, positive, without payload.
func usualNaN(bits int) uint64 {
	switch bits {
	case 32:
		return 0x7fc00000
	case 16:
		return 0x7e00
	}
	return 0x7ff8000000000000
}

// OddNaN reports whether the bits of a float are a NaN other than the canonical one. Its text is that of AppendNaN.
func OddNaN(raw uint64, bits int) bool {
	f := BitsFloat(raw, bits)
	return f != f && raw != usualNaN(bits)
}

// AppendNaN appends the text of a NaN other than the canonical one, which has all of its bits: NaN(0x7fc00001).
func AppendNaN(dst []byte, raw uint64, bits int) []byte {
	return fmt.Appendf(dst, "NaN(0x%0*x)", bits/4, raw)
}

// ParseNaN is the inverse of AppendNaN. ok is false if the text is not that of a NaN of so many bits.
func ParseNaN(text string, bits int) (raw uint64, ok bool) {
	digits, ok := strings.CutPrefix(text, "NaN(0x")
	digits, closed := strings.CutSuffix(digits, ")")
	raw, err := strconv.ParseUint(digits, 16, bits)
	f := BitsFloat(raw, bits)
	return raw, ok && closed && err == nil && f != f
}

// The methods of Number take the raw bits of a value, zero-extended from Number.Bits.

// Name returns a short name of the encoding: uint8, int16be, varint32, zigzag64.
func (n *Number) Name() string {
	name := n.Kind.String()
	switch n.Var {
	case LEB128:
		name = "varint"
	case SLEB128:
		name = "sleb"
	case ZigZag:
		name = "zigzag"
	case VLQ:
		name = "vlq"
	case Long:
		return "varint128"
	}
	if n.Kind == Bool && n.Bits == 8 && n.Var == Sized {
		return name
	}
	name += strconv.Itoa(n.Bits)
	if n.Order == Big && n.Bits > 8 {
		name += "be"
	}
	return name
}

// Int returns a signed number without its scale.
func (n *Number) Int(raw uint64) int64 { return SignExtend(raw, n.Bits) + n.Add }

// Units returns a number of units. It is negative if the number is, and for a number of 64 bits that is too large.
func (n *Number) Units(raw uint64) int64 {
	if n.Kind == Signed {
		return n.Int(raw)
	}
	return int64(raw) + n.Add
}

// RawUnits is the inverse of Units. ok is false if the bits do not hold the number.
func (n *Number) RawUnits(units int64) (raw uint64, ok bool) {
	raw = uint64(units-n.Add) & Mask(n.Bits)
	return raw, n.Units(raw) == units
}

// Unscaled returns the value as a float, without the scale. A boolean is 0 or 1.
func (n *Number) Unscaled(raw uint64) float64 {
	switch n.Kind {
	case Float:
		return BitsFloat(raw, n.Bits)
	case Signed:
		return float64(n.Int(raw))
	case Bool:
		return float64(min(raw, 1))
	}
	return float64(raw) + float64(n.Add)
}

// Float returns the value as a float, with the scale.
func (n *Number) Float(raw uint64) float64 {
	if n.Scale != 0 {
		return n.Unscaled(raw) * n.Scale
	}
	return n.Unscaled(raw)
}

// Decimal returns an integer in decimal, without its scale.
func (n *Number) Decimal(raw uint64) string {
	if n.Kind == Signed || n.Add != 0 && raw <= math.MaxInt64 {
		return strconv.FormatInt(n.Units(raw), 10)
	}
	return strconv.FormatUint(raw+uint64(n.Add), 10)
}

// AppendDecimal appends Decimal.
func (n *Number) AppendDecimal(dst []byte, raw uint64) []byte {
	if n.Kind == Signed || n.Add != 0 && raw <= math.MaxInt64 {
		return strconv.AppendInt(dst, n.Units(raw), 10)
	}
	return strconv.AppendUint(dst, raw+uint64(n.Add), 10)
}

// Bounds returns the smallest and the largest integer that the bits can hold, without Add.
func (n *Number) Bounds() (lo int64, hi uint64) {
	if hi = Mask(n.Bits); n.Kind == Signed {
		return -1 << (n.Bits - 1), hi >> 1
	}
	return 0, hi
}

// Legal reports whether a value is in the legal range. NaN is never legal.
func (n *Number) Legal(raw uint64) bool {
	switch n.Kind {
	case Float:
		f := BitsFloat(raw, n.Bits)
		return f == f && (n.Min == nil || f >= n.Min.Float) && (n.Max == nil || f <= n.Max.Float)
	case Signed:
		v := n.Int(raw)
		return (n.Min == nil || v >= n.Min.Int) && (n.Max == nil || v <= n.Max.Int)
	}
	return (n.Min == nil || raw >= n.Min.Uint) && (n.Max == nil || raw <= n.Max.Uint)
}

// Units returns the legal range of the number of units; most is math.MaxUint64 without a limit. A constant without a value is no limit.
func (e Extent) Units() (least, most uint64) {
	most = math.MaxUint64
	if e.Min != nil {
		least = e.Min.Uint
	}
	if e.Max != nil && e.Max.Const == "" {
		most = e.Max.Uint
	}
	return least, most
}

// NameOf returns the name of a value given in decimal, "" if it has none.
func (n *Number) NameOf(decimal string) string {
	if n.Enum == nil {
		return ""
	}
	for _, v := range n.Enum.Values {
		if n.Decimal(v.Value) == decimal {
			return v.Name
		}
	}
	return ""
}

// ShownName returns the name that stands for a value of an Enum that is shown by names: "" if it has none, or if a later value has the same one,
// which the name stands for. bare is true if the value without a name is the name of another one in decimal, so that it must not look like one.
func (n *Number) ShownName(raw uint64) (name string, bare bool) {
	name = n.Enum.NameOfBits(raw)
	values := n.Enum.Values
	if name != "" {
		for i := len(values) - 1; values[i].Value != raw; i-- {
			if values[i].Name == name {
				name = ""
				break
			}
		}
	}
	if name != "" || n.Bits <= 32 {
		return name, false
	}
	decimal := n.Decimal(raw)
	for i := range values {
		bare = bare || values[i].Name == decimal
	}
	return "", bare
}

// Form returns the form that applies to raw bits.
func (p *Bitfield) Form(raw uint64) *Form {
	last := len(p.Forms) - 1
	for i := range p.Forms[:last] {
		if f := &p.Forms[i]; raw&f.Mask == f.Match {
			return f
		}
	}
	return &p.Forms[last]
}

// Part returns the part of a name, nil if the form has none. If several parts have the name, the last one is returned.
func (f *Form) Part(name string) *Part {
	for i := len(f.Parts) - 1; i >= 0; i-- {
		if f.Parts[i].Name == name {
			return &f.Parts[i]
		}
	}
	return nil
}

// NameOfBits returns the name of a value given by its bits, "" if it has none.
func (e *Enum) NameOfBits(raw uint64) string {
	for i := range e.Values {
		if e.Values[i].Value == raw {
			return e.Values[i].Name
		}
	}
	return ""
}

// Of returns the bits of the part.
func (p *Part) Of(raw uint64) uint64 { return raw >> p.Shift & Mask(p.Bits) }

// Value returns the value of the part.
func (p *Part) Value(raw uint64) uint64 {
	if p.Mask != 0 {
		if raw&p.Mask == p.Mask {
			return 1
		}
		return 0
	}
	if v := p.Of(raw); v == 0 || p.Ones == 0 {
		return v
	}
	return Mask(p.Ones)
}

// In is Value for a number of up to 128 bits.
func (p *Part) In(high, low uint64) uint64 {
	if p.Shift < 64 {
		return p.Value(low)
	}
	return high >> (p.Shift - 64) & Mask(p.Bits)
}

// Pack returns the bits of a value, at their position. ok is false if they do not hold the value.
func (p *Part) Pack(value uint64) (raw uint64, ok bool) {
	if p.Mask != 0 {
		return p.Mask * min(value, 1), value <= 1
	}
	if p.Ones > 0 && value == Mask(p.Ones) {
		value = Mask(p.Bits)
	}
	return value & Mask(p.Bits) << p.Shift, value <= Mask(p.Bits)
}
