package live

import "wirebench/codec/transport"

// FlagsOf are the flags of what a log, or an export of ours, says of a frame.
func FlagsOf(m transport.Marks) (f Flags) {
	for _, x := range markFlags {
		if m&x.mark != 0 {
			f |= x.flag
		}
	}
	return f
}

// Marks are the flags as captures keep them.
func (f Flags) Marks() (m transport.Marks) {
	for _, x := range markFlags {
		if f&x.flag != 0 {
			m |= x.mark
		}
	}
	return m
}

// Names are the names of flags as filters have them.
func (f Flags) Names() []string { return f.Marks().Flags() }

var markFlags = []struct {
	mark transport.Marks
	flag Flags
}{{transport.Fake, Injected}, {transport.Changed, Modified}, {transport.Silenced, Dropped}}
