package runtime

// The ends of texts and bytes: bits of how.
const (
	endLax  = 1 << iota // where the contents around end, too
	endKeep             // before a unit that belongs to what follows
	endWith             // after the unit, which belongs to the value
	endTrim             // before padding
)

func trim(b []byte, pad byte) []byte {
	for len(b) > 0 && b[len(b)-1] == pad {
		b = b[:len(b)-1]
	}
	return b
}

// room returns the number of bytes up to the end of contents that are written, -1 if it is not known.
func (x *coder) room() int {
	if left := x.limit - x.at(); left <= unknownEnd/2 {
		return int(max(left, 0))
	}
	return -1
}

func (x *coder) pad(n int, pad byte) {
	for ; n > 0; n-- {
		x.b = append(x.b, pad)
	}
}

// open passes units up to one of the value end.
func (x *coder) open(value []byte, unit, how int, end, pad byte, field string) []byte {
	if x.err != nil {
		return nil
	}
	find := func(b []byte) int {
		for i := 0; i+unit <= len(b); i += unit {
			if b[i] == end && (unit == 1 || b[i+1] == 0) {
				return i
			}
		}
		return -1
	}
	if x.writing {
		i := find(value)
		switch {
		case i < 0 && how&(endWith|endLax) == endWith:
			x.illegal(field, "it does not end as it must")
		case i >= 0 && (how&endWith == 0 || i+unit != len(value)):
			x.illegal(field, "the text contains a terminator")
		}
		x.b = append(x.b, value...)
		if left := x.room(); how&(endKeep|endWith) == 0 && (how&endLax == 0 || left != 0) {
			x.b = append(x.b, make([]byte, unit)...)
			x.b[len(x.b)-unit] = end
		}
		if how&endTrim != 0 {
			x.pad(x.room(), pad)
		}
		return value
	}
	rest := x.b[x.pos:]
	if how&endTrim != 0 {
		rest = trim(rest, pad)
	}
	i, size := find(rest), 0
	switch {
	case i < 0 && how&endLax == 0:
		x.over(field)
		return nil
	case i < 0:
		i = len(rest) / unit * unit
		size = i
	case how&endKeep != 0:
		size = i
	case how&endWith != 0:
		i += unit
		size = i
	default:
		size = i + unit
	}
	if how&endTrim != 0 {
		size = len(x.b) - x.pos
	}
	x.spend(0, size, field)
	x.pos += size
	return rest[:i]
}

// openText passes a text, openBlob bytes that end with a unit, or where the contents around do.
func (x *coder) openText(p *string, set charset, how int, end, pad byte, field string) {
	var value []byte
	if x.writing {
		var wide rune
		value, wide = set.append(nil, *p)
		x.narrow(wide, field)
	}
	if value = x.open(value, set.unit(), how, end, pad, field); !x.writing {
		*p = set.decode(value)
	}
}

func (x *coder) openBlob(p *Hex, how int, end, pad byte, field string) {
	if value := x.open(*p, 1, how, end, pad, field); !x.writing {
		*p = append(Hex{}, value...)
	}
}

// padded passes n bytes, or those up to the end if n is -1, of which the value has those before the last run of pad bytes.
func (x *coder) padded(value []byte, n int, pad byte, field string) []byte {
	if !x.writing {
		return trim(x.content(n, 1, field), pad)
	}
	if x.err != nil {
		return nil
	}
	if len(value) > 0 && value[len(value)-1] == pad {
		x.illegal(field, "it ends with a byte that fills it up")
	}
	room := n
	if n == -1 {
		room = x.room()
	}
	from := len(x.b)
	x.b = append(x.b, value...)
	x.pad(room-len(value), pad)
	x.exactly(from, n, 1, field)
	if n == -1 {
		x.end()
	}
	return value
}

func (x *coder) paddedText(p *string, set charset, n int, pad byte, field string) {
	var value []byte
	if x.writing {
		var wide rune
		value, wide = set.append(nil, *p)
		x.narrow(wide, field)
	}
	if value = x.padded(value, n, pad, field); !x.writing {
		*p = set.decode(value)
	}
}

func (x *coder) paddedBlob(p *Hex, n int, pad byte, field string) {
	if value := x.padded(*p, n, pad, field); !x.writing {
		*p = append(Hex{}, value...)
	}
}
