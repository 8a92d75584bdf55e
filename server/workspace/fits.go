package workspace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Fit is a definition that explains all bytes of a message without a problem, except perhaps its code.
type Fit struct {
	Name     string // as NameOf returns it
	Evidence string // fields that support it: "2 texts, 3 offsets and counts"

	bits float64 // improbability of a match by random bytes, in bits
}

const (
	maxFitSize = 16 << 10              // bytes of a message
	maxFitTime = 50 * time.Millisecond // after which no more definitions are tried
)

// Fits returns the definitions that explain a message, the one with most evidence first, at most n. Definitions without any evidence are
// omitted: nearly any bytes of that size would fit. It does nothing for messages of more than 16 KiB and stops after 50 ms.
func (s *Snapshot) Fits(data []byte, req Request, n int) []Fit {
	if len(data) == 0 || len(data) > maxFitSize {
		return nil
	}
	var fits []Fit
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
		if p.Decode(rec, data); !explains(rec) {
			continue
		}
		if f := evidenceOf(rec); f.bits >= minEvidence {
			f.Name = s.NameOf(m)
			fits = append(fits, f)
		}
		if time.Now().After(until) {
			break
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(b.bits, a.bits) })
	return fits[:min(n, len(fits))]
}

// explains reports whether all bytes of a message belong to fields, without a problem except for its code.
func explains(rec *codec.Record) bool {
	if rec.Status() != codec.OK || rec.Used < len(rec.Data) || rec.Unexplained() > 0 {
		return false
	}
	return !slices.ContainsFunc(rec.AppendWarnings(nil), func(p codec.Problem) bool { return p.Code != codec.WrongCode })
}

const minEvidence = 4 // bits

// evidenceOf weighs the fields of a message in which random bytes would rarely be valid.
func evidenceOf(rec *codec.Record) (f Fit) {
	var texts, links, switches, floats, constants int
	for _, v := range view.Fields(rec) {
		switch {
		case v.Role == codec.RoleCount.String() || v.Role == codec.RoleOffset.String() || v.Role == codec.RoleHere.String() || v.Role == codec.RoleNext.String():
			links++
			f.bits += float64(v.BitLength) / 2
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
// with the current value, such as "patch 73"; "" if there is none. The text is that of the definition's file.
func (d *Definition) OtherSetting(data []byte, session codec.Session) (option, value string) {
	if d.Message == nil || len(data) > maxFitSize {
		return "", ""
	}
	s := d.Snap
	for _, o := range s.Dialect.Options {
		values := o.Values
		if o.Tries != nil {
			values = o.Tries(d.File)
		}
		for _, value := range values {
			if s.Options.Values[o.Name] == value {
				continue
			}
			options := s.Options
			options.Values = map[string]string{}
			for name, v := range s.Options.Values {
				options.Values[name] = v
			}
			options.Values[o.Name] = value
			if explainedWith(s.Dialect, options, d, data, session) {
				return o.Name, value
			}
		}
	}
	return "", ""
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
		return explains(rec)
	}
	return false
}
