package corpus

import (
	"cmp"
	"slices"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Type is a kind of frame.
type Type struct {
	Kind    transport.Kind
	Dir     schema.Dir
	Key     schema.Key
	HasKey  bool
	Name    string          // of the definition, or as the transport says
	Message *schema.Message // the definition, nil if there is none
}

// Stat is what is known of the frames of a type.
type Stat struct {
	Type    Type
	Count   uint64
	Bytes   uint64
	Min     int // bytes of the shortest frame
	Max     int
	Bad     uint64 // frames whose bytes are not right
	First   int64  // time of the earliest frame, microseconds since 1970
	Last    int64
	FirstAt uint64 // number of the first frame, from 1
	LastAt  uint64
}

// Average is the mean size of a frame in bytes.
func (s *Stat) Average() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Bytes) / float64(s.Count)
}

// maxTypes is how many types have figures of their own. What comes beyond is counted together.
const maxTypes = 1 << 16

// Stats counts frames by type. The zero value is empty. One goroutine at a time; several have one each, and Merge them.
type Stats struct {
	Total Stat // of all frames
	Other Stat // of types beyond the first 65,536; its Type says nothing

	types map[Type]*Stat
	last  *Stat // of the frame before
}

// Add takes frame n of a capture, from 1, which was sent at a time, in microseconds since 1970.
func (s *Stats) Add(t Type, n uint64, at int64, size int, bad bool) {
	one := Stat{Type: t, Count: 1, Bytes: uint64(max(size, 0)), Min: size, Max: size, First: at, Last: at, FirstAt: n, LastAt: n}
	if bad {
		one.Bad = 1
	}
	s.Total.add(&one)
	if s.last == nil || s.last == &s.Other || s.last.Type != t {
		s.last = s.of(t)
	}
	s.last.add(&one)
}

// of is where a type is counted.
func (s *Stats) of(t Type) *Stat {
	if x := s.types[t]; x != nil {
		return x
	}
	if len(s.types) >= maxTypes {
		return &s.Other
	}
	if s.types == nil {
		s.types = map[Type]*Stat{}
	}
	x := &Stat{Type: t}
	s.types[t] = x
	return x
}

func (s *Stat) add(x *Stat) {
	if x.Count == 0 {
		return
	}
	if s.Count == 0 {
		t := s.Type
		*s = *x
		s.Type = t
		return
	}
	s.Count += x.Count
	s.Bytes += x.Bytes
	s.Bad += x.Bad
	s.Min, s.Max = min(s.Min, x.Min), max(s.Max, x.Max)
	s.First, s.Last = min(s.First, x.First), max(s.Last, x.Last)
	s.FirstAt, s.LastAt = min(s.FirstAt, x.FirstAt), max(s.LastAt, x.LastAt)
}

// Merge adds what another one counted.
func (s *Stats) Merge(x *Stats) {
	s.Total.add(&x.Total)
	s.Other.add(&x.Other)
	for _, one := range x.Rows() { // in an order that is always the same: which types are beyond the bound depends on it
		s.of(one.Type).add(&one)
	}
	s.last = nil
}

// Rows are the types, those with codes by code.
func (s *Stats) Rows() []Stat {
	out := make([]Stat, 0, len(s.types))
	for _, x := range s.types {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Stat) int {
		x, y := &a.Type, &b.Type
		return cmp.Or(
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Key.Group, y.Key.Group), cmp.Compare(x.Key.Code, y.Key.Code), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Dir, y.Dir), cmp.Compare(x.Key.Dir, y.Key.Dir), cmp.Compare(a.FirstAt, b.FirstAt),
		)
	})
	return out
}
