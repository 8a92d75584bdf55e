package workspace

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// Request selects the definition for decoding, by message or by the code in the bytes, and the parts of the result.
type Request struct {
	Message *schema.Message // nil selects it by code
	Dir     schema.Dir
	Group   string
	Near    schema.Key // preferred direction and group of a message that several definitions of different groups explain equally well
	Session codec.Session
	Fields  bool // with a list of all fields and their positions
	Brief   bool // without values
	Unknown bool // known to have no definition: the bytes are opaque
	Headed  bool // known to have the header of the envelope; otherwise the bytes decide
	Guess   bool // if nothing tells the definition, fields may be guessed from the bytes
}

// Decode decodes one message into rec and describes it. rec keeps the program that was used.
func (s *Snapshot) Decode(rec *codec.Record, data []byte, req Request) view.Result {
	m := req.Message
	if req.Unknown {
		return s.opaque(rec, data, req)
	}
	known := m != nil
	if !known {
		m = s.ByCode(rec, data, req)
		if m == nil {
			return s.unknown(rec, data, req)
		}
	}
	if m.Unreadable {
		return ErrorResult(Deprecated, m.ReadOnly)
	}
	if known {
		m = s.pick(rec, data, m, req)
	}
	p, err := s.Program(m)
	if err != nil {
		return ErrorResult("bad-definition", err.Error())
	}
	rec.Session = req.Session
	s.decodeFull(rec, p, data)
	if req.Brief {
		return view.Summary(rec)
	}
	return view.Of(rec, req.Fields)
}

// ByCode returns the definition for the code in a message, nil if there is none.
func (s *Snapshot) ByCode(rec *codec.Record, data []byte, req Request) *schema.Message {
	if m := s.byHeader(rec, data, req); m != nil {
		return m
	}
	if s.Dialect.Guess && req.Group == "" {
		return s.guess(rec, data, req)
	}
	frame := s.readFrame(rec, data, req.Group)
	if frame == nil || !rec.HasCode() {
		return nil
	}
	return s.set.Lookup(schema.Key{Dir: req.Dir, Group: frame.Key.Group, Code: rec.Code})
}

// guess returns the definition that explains a message best among those of all groups for its code; it uses rec. If possible, it is one that
// decodes all bytes without a problem. Of several, it returns one of req.Near, or of the group with the most messages.
func (s *Snapshot) guess(rec *codec.Record, data []byte, req Request) *schema.Message {
	dirs := []schema.Dir{req.Dir}
	if req.Dir == schema.Both {
		dirs = []schema.Dir{schema.ToServer, schema.ToClient}
	}
	session := rec.Session
	defer func() { rec.Session = session }()
	type fit struct {
		m    *schema.Message
		rank [6]int
	}
	var best fit
	for _, group := range s.Groups() {
		if s.readFrame(rec, data, group) == nil || !rec.HasCode() {
			continue
		}
		code := rec.Code
		for _, dir := range dirs {
			m := s.set.Lookup(schema.Key{Dir: dir, Group: group, Code: code})
			if m == nil || m == best.m {
				continue
			}
			p, err := s.Program(m)
			if err != nil {
				continue
			}
			rec.Session = req.Session
			p.Decode(rec, data)
			exact := rec.Status() == codec.OK && rec.Unexplained() == 0
			f := fit{m, [...]int{
				truth(exact && len(rec.Problems) == 0), truth(exact), truth(group == req.Near.Group), truth(dir == req.Near.Dir),
				truth(rec.Status() == codec.OK), s.set.InGroup(group),
			}}
			if best.m == nil || slices.Compare(f.rank[:], best.rank[:]) > 0 {
				best = f
			}
		}
	}
	return best.m
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readFrame decodes the common start of the messages of a group into rec, and returns its definition. Without a group it tries the starts
// of all groups and uses the first that fits. It returns nil if there is none.
func (s *Snapshot) readFrame(rec *codec.Record, data []byte, group string) *schema.Message {
	frames := s.framesOf(group)
	for i, f := range frames {
		p, err := s.Program(f)
		if err != nil {
			continue
		}
		p.Decode(rec, data)
		if rec.Status() != codec.Illegal || i == len(frames)-1 {
			return f
		}
	}
	return nil
}

// framesOf returns the common starts of messages: those of the dialect, or else the parts up to the code that the definitions of a group
// share. The starts of a dialect in which every group has its own are those of groups without messages.
func (s *Snapshot) framesOf(group string) []*schema.Message {
	if s.Dialect.Guess {
		return s.ownFrames(group)
	}
	if group == "" && len(s.Dialect.Frames) > 0 {
		return s.Dialect.Frames
	}
	for _, f := range s.Dialect.Frames {
		if f.Key.Group == group {
			return []*schema.Message{f}
		}
	}
	if groups := s.Groups(); group == "" && len(groups) == 1 {
		group = groups[0]
	}
	if f := s.commonFrame(group); f != nil {
		return []*schema.Message{f}
	}
	return nil
}

// ownFrames returns the common start of the messages of a group, or without a group those of all groups.
func (s *Snapshot) ownFrames(group string) (out []*schema.Message) {
	groups := []string{group}
	if group == "" && s.set.InGroup("") == 0 {
		groups = s.Groups()
	}
	for _, g := range groups {
		if f := s.commonFrame(g); f != nil {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return s.Dialect.Frames
	}
	return out
}

// Groups returns the names of the groups, sets of messages with codes of their own: those of the dialect first, then the others in the
// order of the definitions.
func (s *Snapshot) Groups() []string {
	var out []string
	all := s.set.Groups()
	for _, f := range s.Dialect.Frames { // the groups of the protocol itself come first
		if slices.Contains(all, f.Key.Group) {
			out = append(out, f.Key.Group)
		}
	}
	for _, group := range all {
		if !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

func (s *Snapshot) commonFrame(group string) *schema.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.frames[group]; ok {
		return f
	}
	if s.frames == nil {
		s.frames = map[string]*schema.Message{}
	}
	s.frames[group] = nil
	for m := range s.set.Keyed(group) {
		if m.Body == nil {
			continue
		}
		if start, ok := m.Start(); ok {
			s.frames[group] = &schema.Message{Key: schema.Key{Group: group}, Body: &schema.Struct{Wire: start}, Measured: m.Measured}
			break
		}
	}
	return s.frames[group]
}

// unknown describes a message without a definition by the common start of messages.
func (s *Snapshot) unknown(rec *codec.Record, data []byte, req Request) view.Result {
	frame := s.headerIn(rec, data, req)
	if frame == nil {
		frame = s.readFrame(rec, data, req.Group)
	}
	if frame == nil {
		if res, ok := s.guessed(rec, data, req); ok {
			return res
		}
		return s.cannotTell(req.Group)
	}
	res := view.Of(rec, req.Fields)
	if res.Message, res.Version = "", 0; len(frame.Body.Fields) == 0 {
		res.Value = nil
	}
	if res.Status != codec.OK.String() {
		return res // even the start is incomplete or illegal
	}
	res.Status = "unknown"
	kept := res.Problems[:0]
	for _, pr := range res.Problems {
		if pr.Code != codec.Unexplained.String() { // without a definition all remaining bytes are unexplained
			kept = append(kept, pr)
		}
	}
	problem := view.ProblemInfo{Severity: "warning", Code: "unknown-message", Message: s.whyUnknown(rec), BitOffset: 0, BitLength: uint32(res.Used) * 8}
	if frame.Measured { // the start of the next message is unknown
		res.Status, res.Used, problem.Severity = codec.Illegal.String(), 0, "error"
	}
	res.Problems = append(kept, problem)
	return res
}

// nothing returns the program of a message without fields.
var nothing = sync.OnceValue(func() *codec.Program {
	p, _ := codec.Compile(&schema.Message{Body: &schema.Struct{}}) // cannot be too large
	return p
})

// opaque describes bytes that are not a message.
func (s *Snapshot) opaque(rec *codec.Record, data []byte, req Request) view.Result {
	nothing().Decode(rec, data)
	rec.Used = len(data) // makes all bytes a gap
	res := view.Of(rec, req.Fields)
	res.Value, res.Problems, res.Status = nil, []view.ProblemInfo{}, "unknown"
	return res
}

// cannotTell returns the result for a message whose definition is neither named nor identified by its bytes.
func (s *Snapshot) cannotTell(group string) view.Result {
	groups := s.Groups()
	switch {
	case group != "" && !slices.Contains(groups, group):
		return ErrorResult("no-group", fmt.Sprintf("no group %q; the definitions have: %s", group, strings.Join(groups, ", ")))
	case group == "" && len(groups) > 1:
		return ErrorResult("no-message", "each group has its own codes: name the group ("+strings.Join(groups, ", ")+") or the message")
	}
	return ErrorResult("no-message", "the bytes do not identify the message: name its definition")
}

// whyUnknown says which part is missing: a name for the code, or a definition for the name.
func (s *Snapshot) whyUnknown(rec *codec.Record) string {
	if !rec.HasCode() {
		return "the message has no code, and no definition is named"
	}
	code := rec.Code
	if name, ok := s.codeNames.of(code); ok {
		for _, m := range s.set.Named(name) {
			if m.Unreadable {
				return m.ReadOnly
			}
		}
		return fmt.Sprintf("code %d (0x%04X) is %s, which has no definition", code, code, name)
	}
	if len(s.Options.Codes) == 0 && len(s.set.Groups()) == 0 {
		return fmt.Sprintf("no definition for code %d (0x%04X): without a code map, name the message", code, code)
	}
	return fmt.Sprintf("no definition for code %d (0x%04X)", code, code)
}

// ErrorResult returns the result for a message that could not be decoded at all.
func ErrorResult(code, message string) view.Result {
	return view.Result{Status: "error", Problems: []view.ProblemInfo{{Severity: "error", Code: code, Message: message}}}
}

// Frame returns the common start of the messages of a group, up to the code; nil if there is none.
func (s *Snapshot) Frame(group string) *schema.Message {
	if f := s.framesOf(group); len(f) > 0 {
		return f[0]
	}
	return nil
}

// Lookup returns the definition of a frame with this key, or nil.
func (s *Snapshot) Lookup(key schema.Key) *schema.Message { return s.set.Lookup(key) }
