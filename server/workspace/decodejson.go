package workspace

import (
	"strconv"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
)

// AppendDecoded decodes a message as Decode does and appends its result as a line of JSON, as encoding/json writes it without HTML escapes.
// failed reports whether the result has an error.
func (s *Snapshot) AppendDecoded(dst []byte, rec *codec.Record, data []byte, req Request) (line []byte, failed bool) {
	m := req.Message
	if m == nil && !req.Unknown {
		m = s.ByCode(rec, data, req)
	}
	var p *codec.Program
	if m != nil && !req.Unknown && !m.Unreadable {
		if req.Message != nil {
			m = s.pick(rec, data, m, req)
		}
		p, _ = s.Program(m)
	}
	if p == nil {
		res := s.Decode(rec, data, req)
		return append(appendAny(dst, res), '\n'), Failed(res.Problems)
	}
	rec.Session = req.Session
	s.decodeFull(rec, p, data)
	dst = append(dst, `{"message":`...)
	dst = appendString(dst, m.Name)
	if m.Version != 0 {
		dst = append(dst, `,"version":`...)
		dst = strconv.AppendInt(dst, int64(m.Version), 10)
	}
	if rec.HasCode() {
		dst = append(dst, `,"code":`...)
		dst = strconv.AppendUint(dst, uint64(rec.Code), 10)
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, rec.Status().String()...)
	dst = append(dst, `","used":`...)
	dst = strconv.AppendInt(dst, int64(rec.Used), 10)
	if n := rec.Unexplained(); n > 0 {
		dst = append(dst, `,"leftover":`...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	dst = append(dst, `,"value":`...)
	dst = value.AppendJSON(dst, rec)
	dst = append(dst, `,"problems":`...)
	problems := view.Problems(rec)
	if len(problems) == 0 {
		dst = append(dst, '[', ']')
	} else {
		dst = appendAny(dst, problems)
	}
	if req.Fields {
		if all := view.Fields(rec); len(all) > 0 {
			dst = append(dst, `,"fields":`...)
			dst = appendAny(dst, all)
		}
	}
	return append(dst, '}', '\n'), Failed(problems)
}

// Failed reports whether one of the problems is an error.
func Failed(problems []view.ProblemInfo) bool {
	for i := range problems {
		if problems[i].Severity == "error" {
			return true
		}
	}
	return false
}
