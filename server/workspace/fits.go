package workspace

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Fit is a definition that explains a message, or most of it, without a problem, except perhaps its code.
type Fit struct {
	Name      string // as NameOf returns it
	Evidence  string // fields that support it: "2 texts, 3 offsets and counts"
	Explained int    // bytes of the message that fields explain

	bits  float64 // improbability of a match by random bytes, in bits
	zeros float64 // of them, those of counts and offsets that are 0
}

const (
	maxFitSize = 16 << 10              // bytes of a message
	maxFitTime = 50 * time.Millisecond // of one search
	leastPart  = 0.6                   // of a message that a definition must explain
)

// Fits returns the definitions that explain a message, at most n: first those that explain all of it, the one with most evidence first, then
// those that explain most of it, such as other versions. Definitions without any evidence are omitted: nearly any bytes of that size would
// fit. A message of more than 16 KiB has none. complete is false if the search stopped after 50 ms; the programs that it has compiled make
// the next one faster.
func (s *Snapshot) Fits(data []byte, req Request, n int) (fits []Fit, complete bool) {
	if len(data) == 0 || len(data) > maxFitSize {
		return nil, true
	}
	complete = true
	rec := &codec.Record{}
	until := time.Now().Add(maxFitTime)
	for m := range s.Messages() {
		if req.Dir != schema.Both && m.Key.Dir != schema.Both && m.Key.Dir != req.Dir || req.Group != "" && m.Key.Group != req.Group || m == req.Message {
			continue
		}
		p, err := s.Program(m)
		if err != nil {
			continue
		}
		rec.Session = req.Session
		p.Decode(rec, data)
		if left := explains(rec); left >= 0 && float64(len(data)-left) >= leastPart*float64(len(data)) {
			f := evidenceOf(rec)
			if f.Explained = len(data) - left; f.bits >= minEvidence && (left == 0 || f.bits-f.zeros >= minPartEvidence) {
				f.Name = s.NameOf(m)
				fits = append(fits, f)
			}
		}
		if time.Now().After(until) {
			complete = false
			break
		}
	}
	rank := func(f Fit) float64 { // each unexplained byte counts as much as a text of four characters
		return f.bits - 8*float64(len(data)-f.Explained)
	}
	slices.SortStableFunc(fits, func(a, b Fit) int {
		if (a.Explained == len(data)) != (b.Explained == len(data)) {
			return cmp.Compare(b.Explained, a.Explained)
		}
		return cmp.Compare(rank(b), rank(a))
	})
	return fits[:min(n, len(fits))], complete
}

// explains returns the number of bytes of a message that belong to no field, -1 if there is a problem other than these and its code.
func explains(rec *codec.Record) (left int) {
	if rec.Status() != codec.OK {
		return -1
	}
	for _, p := range rec.AppendWarnings(nil) {
		if p.Code != codec.WrongCode && p.Code != codec.Unexplained && p.Code != codec.LeftOver {
			return -1
		}
	}
	return rec.Unexplained()
}

// Wrong returns why a definition does not explain a message, with the path of the field; "" if it does. A wrong code is no reason.
func Wrong(rec *codec.Record) string {
	for _, p := range rec.AllProblems() {
		if p.Code != codec.WrongCode && p.Code != codec.DefinitionErrors {
			text, path := p.Message(rec), string(rec.AppendSpotPath(nil, p.Spot))
			if path != "" && !strings.Contains(text, path) {
				return path + ": " + text
			}
			return text
		}
	}
	return ""
}

// Least evidence of a definition that explains a message, and of one that explains a part of it, in bits.
const (
	minEvidence     = 4
	minPartEvidence = 16
)

// evidenceOf weighs the fields of a message in which random bytes would rarely be valid.
func evidenceOf(rec *codec.Record) (f Fit) {
	var texts, links, switches, floats, constants int
	for _, v := range view.Fields(rec) {
		switch {
		case v.Role == codec.RoleCount.String() || v.Role == codec.RoleOffset.String() || v.Role == codec.RoleHere.String() || v.Role == codec.RoleNext.String():
			links++
			f.bits += float64(v.BitLength) / 2
			if string(v.Value) == "0" {
				f.zeros += float64(v.BitLength) / 2
			}
		case v.Role == codec.RoleConst.String():
			constants++
			f.bits += float64(v.BitLength)
		case v.Role != codec.RoleValue.String():
		case v.Type == "bool":
			switches++
			f.bits += float64(v.BitLength) - 1
		case v.Family == view.FamilyFloat:
			if x, err := strconv.ParseFloat(string(v.Value), 64); err != nil || x != 0 && (math.Abs(x) < 1e-5 || math.Abs(x) > 1e7) {
				f.bits -= 8
			} else {
				floats++
				f.bits += 3
			}
		case v.Family == view.FamilyText && strings.HasPrefix(string(v.Value), `"`):
			text, err := strconv.Unquote(string(v.Value))
			if err != nil || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) {
				f.bits -= 16
			} else if text != "" {
				texts++
				f.bits += 2 * float64(min(len(text), 20))
			}
		}
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{texts, "text", "texts"}, {links, "offset or count", "offsets and counts"}, {constants, "constant", "constants"}, {switches, "bool", "bools"}, {floats, "float", "floats"}} {
		if part.n == 1 {
			parts = append(parts, "1 "+part.one)
		} else if part.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	f.Evidence = strings.Join(parts, ", ")
	return f
}

// OtherSetting returns a value of an option of the dialect with which a definition explains all bytes of a message that it does not explain
// with the current value, such as "patch 73"; "" if there is none, or none was found in 50 ms. What was found for the last messages is kept
// with the definition, since several pages may show both.
func (d *Definition) OtherSetting(data []byte, session codec.Session) (option, value string) {
	if d.Message == nil || len(data) > maxFitSize {
		return "", ""
	}
	s := d.searches.of(data, session, func() otherSetting { return d.searchSetting(data, session) })
	found := s.found()
	if !found.complete {
		d.searches.forget(s)
	}
	return found.option, found.value
}

// maxSearches is the number of messages for which a definition keeps what was found.
const maxSearches = 8

// searches are those for other settings of a definition, for the last messages, newest first.
type searches struct {
	mu   sync.Mutex // guards list; not held while one is searched
	list []*search
}

type search struct {
	data    []byte // not copied
	session codec.Session
	found   func() otherSetting // searches on the first call
}

type otherSetting struct {
	option, value string
	complete      bool // false: the search took too long
}

// of returns the search for a message, which others may have begun.
func (s *searches) of(data []byte, session codec.Session, find func() otherSetting) *search {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if x.session == session && bytes.Equal(x.data, data) {
			return x
		}
	}
	x := &search{data, session, sync.OnceValue(find)}
	s.list = slices.Insert(s.list[:min(len(s.list), maxSearches-1)], 0, x)
	return x
}

func (s *searches) forget(x *search) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(o *search) bool { return o == x })
}

// searchSetting implements OtherSetting.
func (d *Definition) searchSetting(data []byte, session codec.Session) otherSetting {
	s := d.Snap
	until := time.Now().Add(maxFitTime)
	for _, o := range s.Dialect.Options {
		values := o.Values
		if o.Tries != nil {
			values = o.Tries(d.File)
		}
		for _, value := range values {
			if s.Options.Values[o.Name] == value {
				continue
			}
			if time.Now().After(until) {
				return otherSetting{}
			}
			options := s.Options
			options.Values = map[string]string{}
			maps.Copy(options.Values, s.Options.Values)
			options.Values[o.Name] = value
			if explainedWith(s.Dialect, options, d, data, session) {
				return otherSetting{o.Name, value, true}
			}
		}
	}
	return otherSetting{complete: true}
}

func explainedWith(dialect defs.Dialect, options schema.Options, d *Definition, data []byte, session codec.Session) bool {
	set := build.New(dialect.Rules, []*source.File{d.File}, options)
	for _, m := range set.MessagesOf(d.File) {
		if m.Name != d.Message.Name || m.Version != d.Message.Version {
			continue
		}
		p, err := codec.Compile(m)
		if err != nil {
			return false
		}
		rec := &codec.Record{Session: session}
		p.Decode(rec, data)
		return explains(rec) == 0
	}
	return false
}
