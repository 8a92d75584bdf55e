package live

import "wirebench/codec/transport"

// FlagsOf converts the marks of a frame in a recording to flags.
func FlagsOf(m transport.Marks) (f Flags) {
	for _, x := range markFlags {
		if m&x.mark != 0 {
			f |= x.flag
		}
	}
	return f
}

// Marks converts flags to the marks that recordings store.
func (f Flags) Marks() (m transport.Marks) {
	for _, x := range markFlags {
		if f&x.flag != 0 {
			m |= x.mark
		}
	}
	return m
}

// Names returns the names of the flags in the filter language.
func (f Flags) Names() []string { return f.Marks().Flags() }

var markFlags = []struct {
	mark transport.Marks
	flag Flags
}{{transport.Fake, Injected}, {transport.Changed, Modified}, {transport.Silenced, Dropped}}
