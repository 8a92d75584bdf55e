package publish

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// capsuleFormat names the format of a capsule, and its version.
const capsuleFormat = "wirebench-capsule/1"

// Bounds of a capsule.
const (
	MaxCapsule       = 8 << 20 // bytes as JSON
	MaxCapsuleFrames = 5000
	maxCapsuleFiles  = 2000
	maxCapsuleText   = 4 << 20 // of all definitions
	maxTitle         = 200
	maxNote          = 20 << 10
)

// Capsule is a finding to be shared: messages with the definitions that explain them, as they are now. It opens later as it is, whatever has
// become of the project. Its identity is the hash of its content.
type Capsule struct {
	Format    string            `json:"format"`
	Title     string            `json:"title"`
	Note      string            `json:"note,omitempty"`
	Made      string            `json:"made"` // date
	By        string            `json:"by,omitempty"`
	Protocol  string            `json:"protocol"`
	Options   map[string]string `json:"options,omitempty"` // of the dialect
	Constants map[string]string `json:"constants,omitempty"`
	Codes     map[string]uint32 `json:"codes,omitempty"` // of the used messages
	Files     []CapsuleFile     `json:"files,omitempty"`
	Frames    []CapsuleFrame    `json:"frames"`
	Redacted  int               `json:"redacted,omitempty"` // replaced values
}

// CapsuleFile is a definition.
type CapsuleFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// CapsuleFrame is a message.
type CapsuleFrame struct {
	N         int     `json:"n,omitempty"` // number in its capture
	After     float64 `json:"after"`       // seconds since the first one
	Dir       string  `json:"dir,omitempty"`
	Kind      string  `json:"kind,omitempty"` // if it is no message
	Message   string  `json:"message,omitempty"`
	Code      *uint32 `json:"code,omitempty"`
	Group     string  `json:"group,omitempty"`
	Alternate bool    `json:"alternate,omitempty"` // it has the alternative header of the dialect
	Conn      string  `json:"conn,omitempty"`
	Note      string  `json:"note,omitempty"`
	Hex       string  `json:"hex"`
	Left      string  `json:"left,omitempty"` // why its bytes are not here
}

// CapsuleSpec says what is to be shared.
type CapsuleSpec struct {
	Title, Note, By string
	At              time.Time
	Rules           []redact.Rule
	Secrets         bool // values of fields marked @secret stay
	Addresses       bool // with the addresses of connections
	Notes           bool // with the notes on frames
}

// Frame is a message that is to be shared.
type Frame struct {
	*transport.Frame
	Conn   string // name of its connection, with the addresses
	Remark string // the note on it
}

// Went is a field whose values were replaced, or one whose values are in the capsule.
type Went struct {
	Field  string `json:"field" doc:"MESSAGE.path"`
	Type   string `json:"type"`
	Values int    `json:"values"`
	Stays  int    `json:"stays,omitempty" doc:"of the values to be replaced, those that stay: they select an alternative"`
	Why    string `json:"why,omitempty" doc:"why the values look like secrets: its name, or what they are"`
	Erased int    `json:"erased,omitempty" doc:"of the values that are there, those in which replaced values were found and overwritten"`
}

// Preview says what a capsule has.
type Preview struct {
	Frames      int      `json:"frames"`
	Bytes       int      `json:"bytes"`
	Size        int      `json:"size" doc:"of the page, in bytes"`
	Definitions []string `json:"definitions" doc:"files"`
	Gone        []Went   `json:"gone" doc:"fields whose values were replaced"`
	Kept        []Went   `json:"kept" doc:"fields whose values are there"`
	Erased      int      `json:"erased,omitempty" doc:"replaced values found elsewhere, which are overwritten there"`
	Left        int      `json:"left,omitempty" doc:"messages without their bytes, because replaced values were in other parts of them, or because they are no messages, such as key exchanges"`
	Unknown     int      `json:"unknown,omitempty" doc:"messages without a definition, whose bytes are there"`
}

// CapsuleError reports why something cannot be a capsule.
type CapsuleError struct{ Reason string }

func (e *CapsuleError) Error() string { return e.Reason }

// NewCapsule makes a capsule of messages.
func NewCapsule(snap *workspace.Snapshot, frames []Frame, spec CapsuleSpec) (*Capsule, *Preview, error) {
	if len(frames) == 0 {
		return nil, nil, &CapsuleError{"no messages are selected"}
	}
	if len(frames) > MaxCapsuleFrames {
		return nil, nil, &CapsuleError{fmt.Sprintf("%d messages; a capsule has at most %d", len(frames), MaxCapsuleFrames)}
	}
	c := &Capsule{
		Format: capsuleFormat, Title: line(spec.Title, maxTitle), Note: strings.ToValidUTF8(cut(spec.Note, maxNote), "�"), By: line(spec.By, maxTitle),
		Made: spec.At.UTC().Format(time.DateOnly), Protocol: snap.Dialect.Name, Options: snap.Options.Values, Constants: snap.Options.Constants, Codes: map[string]uint32{},
	}
	p := &packing{snap: snap, spec: spec, capsule: c, preview: &Preview{Frames: len(frames), Gone: []Went{}, Kept: []Went{}, Definitions: []string{}}, counts: map[string]*Went{}, gone: map[string]bool{}}
	var values *redact.Values
	if !spec.Secrets || len(spec.Rules) > 0 {
		values = &redact.Values{}
		p.redactor = redact.NewWith(spec.Rules, values)
		if spec.Secrets {
			p.redactor = redact.OnlyRules(spec.Rules, values)
		}
	}
	for i := range frames {
		p.add(&frames[i])
	}
	if values != nil {
		if values.Full() {
			return nil, nil, &CapsuleError{"too many values are to be replaced: select fewer messages"}
		}
		p.erase(values)
	}
	if err := p.files(); err != nil {
		return nil, nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(p.counts)) {
		if p.gone[key] || p.counts[key].Erased == p.counts[key].Values {
			p.preview.Gone = append(p.preview.Gone, *p.counts[key])
		} else {
			p.preview.Kept = append(p.preview.Kept, *p.counts[key])
		}
	}
	page, err := c.Page()
	if err != nil {
		return nil, nil, err
	}
	p.preview.Size = len(page)
	if !values.Empty() {
		err = c.conceals(page, values)
	}
	return c, p.preview, err
}

// conceals opens a finished page as a reader would, and returns an error if one of the replaced values can be read.
func (c *Capsule) conceals(page []byte, values *redact.Values) error {
	back, err := ReadCapsule(page)
	if err != nil {
		return err
	}
	for _, f := range back.Files {
		if values.Reads([]byte(f.Text)) {
			return &CapsuleError{"the definition " + f.Name + " has a value that is to be replaced: take it out of its text"}
		}
	}
	snap, err := back.snapshot()
	if err != nil {
		return err
	}
	var rec codec.Record
	for i := range back.Frames {
		f := &back.Frames[i]
		data, err := hex.DecodeString(f.Hex)
		if err != nil {
			return err
		}
		found := values.In(data) || values.In([]byte(f.Note)) || values.In([]byte(f.Conn))
		if m, err := snap.Find(f.Message); err == nil && f.Message != "" && !found {
			if f.Alternate {
				m = snap.AlternateFor(m, data)
			}
			if program, err := snap.Program(m); err == nil {
				program.Decode(&rec, data)
				found = values.ReadsIn(&rec)
			}
		}
		if found {
			return &CapsuleError{fmt.Sprintf("a replaced value could be read in message %d: leave it out", cmp.Or(f.N, i+1))}
		}
	}
	if values.Reads(page) {
		return &CapsuleError{"a replaced value could be read in the page: change its title and its note, or select other messages"}
	}
	return nil
}

// packing is the work of NewCapsule.
type packing struct {
	snap     *workspace.Snapshot
	spec     CapsuleSpec
	capsule  *Capsule
	preview  *Preview
	redactor *redact.Redactor // nil if nothing is replaced
	rec      codec.Record
	used     []*schema.Message
	programs []*codec.Program // of the frames; nil without a definition
	counts   map[string]*Went
	gone     map[string]bool
	first    time.Time
}

// add adds a message, without its secret values.
func (p *packing) add(x *Frame) {
	f := CapsuleFrame{N: int(x.N), Dir: x.Dir.String()}
	if p.first.IsZero() {
		p.first = x.At
	}
	if !x.At.IsZero() && !p.first.IsZero() {
		f.After = float64(x.At.Sub(p.first).Microseconds()) / 1e6
	}
	if x.Kind != transport.Message && x.Kind != transport.Control {
		f.Kind = x.Kind.String()
		if !p.spec.Secrets { // key exchanges, and parts of messages: they may have anything
			f.Left = "bytes that are no message are left out"
			p.preview.Left++
			p.programs = append(p.programs, nil)
			p.capsule.Frames = append(p.capsule.Frames, f)
			return
		}
	}
	if f.Group = x.Key.Group; x.HasKey {
		f.Code = &x.Key.Code
	}
	if p.spec.Addresses {
		f.Conn = x.Conn
	}
	if p.spec.Notes {
		f.Note = cut(x.Remark, maxNote)
	}
	data := x.Bytes
	var program *codec.Program
	if m := p.snap.FrameMessage(x.Frame); m != nil {
		program, _ = p.snap.Program(m)
		f.Alternate = m.AlternateOf != nil
		if f.Alternate {
			m = m.AlternateOf
		}
		f.Message = p.snap.NameOf(m)
		if !slices.Contains(p.used, m) {
			p.used = append(p.used, m)
			if m.HasKey && p.snap.Dialect.Codes != nil {
				p.capsule.Codes[m.Name] = m.Key.Code
			}
		}
	} else if x.Name != "" {
		f.Message = line(x.Name, maxTitle)
	}
	if program != nil {
		p.rec.Session = codec.Session{}
		program.Decode(&p.rec, data)
		p.count(program)
		if p.redactor != nil && p.redactor.Has(program) {
			var n int
			data, n = p.redactor.Bytes(nil, &p.rec)
			p.capsule.Redacted += n
			for _, field := range p.redactor.Stayed() {
				p.counts[keyOf(program, field)].Stays++
			}
		}
	} else {
		p.preview.Unknown++
	}
	f.Hex = hex.EncodeToString(data)
	p.preview.Bytes += len(data)
	p.programs = append(p.programs, program)
	p.capsule.Frames = append(p.capsule.Frames, f)
}

// count counts the values of a message by field.
func (p *packing) count(program *codec.Program) {
	for _, l := range p.rec.AppendLeaves(nil) {
		if l.Role != codec.RoleValue || l.Field == codec.NoField {
			continue
		}
		key := keyOf(program, l.Field)
		if p.counts[key] == nil {
			p.counts[key] = &Went{Field: key, Type: program.Fields[l.Field].Type, Why: redact.SuspectName(program.Fields[l.Field].Name)}
		}
		p.counts[key].Values++
		if p.counts[key].Why == "" {
			p.counts[key].Why = redact.SuspectValue(&p.rec, &l)
		}
		if p.redactor != nil && p.redactor.IsSecret(program, int(l.Field)) {
			p.gone[key] = true
		}
	}
}

// keyOf is the name of a field in a preview.
func keyOf(program *codec.Program, field uint16) string {
	return program.Message.Name + "." + strings.ReplaceAll(string(program.AppendFieldPath(nil, field)), "[]", "")
}

// erase removes the replaced values where they are elsewhere: in bytes without a definition, in other fields, in notes and names. A message
// that could be read before and cannot without them goes.
func (p *packing) erase(values *redact.Values) {
	var rec, now codec.Record
	for i := range p.capsule.Frames {
		f := &p.capsule.Frames[i]
		data, err := hex.DecodeString(f.Hex)
		if err != nil {
			continue
		}
		n := 0
		if program := p.programs[i]; program == nil {
			n = values.Erase(data)
		} else {
			program.Decode(&rec, data)
			if data, n = values.EraseIn(nil, &rec); n > 0 {
				program.Decode(&now, data)
				if p.erased(&rec, &now); rec.Status() == codec.OK && now.Status() != codec.OK {
					data, f.Left = nil, "replaced values were in other parts of this message"
					p.preview.Left++
				}
			}
		}
		if p.preview.Erased += n; n > 0 {
			f.Hex = hex.EncodeToString(data)
		}
		if values.In([]byte(f.Note)) {
			f.Note = ""
		}
		if values.In([]byte(f.Conn)) {
			f.Conn = ""
		}
	}
	for _, text := range []*string{&p.capsule.Title, &p.capsule.Note} {
		if values.In([]byte(*text)) {
			*text = "(a replaced value was in this text)"
		}
	}
}

// erased counts the values of a message that are other ones now.
func (p *packing) erased(was, now *codec.Record) {
	before, after := was.AppendLeaves(nil), now.AppendLeaves(nil)
	for i, l := range before {
		if l.Role != codec.RoleValue || l.Field == codec.NoField {
			continue
		}
		from, to := l.Off/8, (l.Off+l.Len+7)/8
		if i < len(after) && after[i].Field == l.Field && bytes.Equal(was.Data[from:to], now.Data[after[i].Off/8:(after[i].Off+after[i].Len+7)/8]) {
			continue
		}
		if key := keyOf(was.Program, l.Field); !p.gone[key] {
			p.counts[key].Erased++
		}
	}
}

// files adds the definitions that explain the messages: their files alone, if they mean the same without the others.
func (p *packing) files() error {
	var files []CapsuleFile
	for _, m := range p.used {
		if f := m.Span.File; !slices.ContainsFunc(files, func(x CapsuleFile) bool { return x.Name == f.Name }) {
			files = append(files, CapsuleFile{f.Name, f.Text})
		}
	}
	slices.SortFunc(files, func(a, b CapsuleFile) int { return strings.Compare(a.Name, b.Name) })
	p.capsule.Files = files
	if !p.same() {
		p.capsule.Files = nil
		for f := range p.snap.Files() {
			p.capsule.Files = append(p.capsule.Files, CapsuleFile{f.Name, f.Text})
		}
	}
	size := 0
	if f := p.snap.EnvelopeFile; p.snap.Envelope != nil && slices.ContainsFunc(p.capsule.Frames, func(f CapsuleFrame) bool { return f.Alternate }) {
		p.capsule.Files = append(p.capsule.Files, CapsuleFile{workspace.EnvelopeName, f.Text}) // their headers
	}
	for _, f := range p.capsule.Files {
		size += len(f.Text)
		p.preview.Definitions = append(p.preview.Definitions, f.Name)
	}
	if size > maxCapsuleText || len(p.capsule.Files) > maxCapsuleFiles {
		return &CapsuleError{fmt.Sprintf("the definitions are %d files of %d bytes; a capsule has at most %d of %d", len(p.capsule.Files), size, maxCapsuleFiles, maxCapsuleText)}
	}
	return nil
}

// same reports whether the files of the capsule give the used messages the layouts that they have in the project.
func (p *packing) same() bool {
	snap, err := p.capsule.snapshot()
	if err != nil {
		return false
	}
	for _, m := range p.used {
		other, err := snap.Find(p.snap.NameOf(m))
		if err != nil {
			return false
		}
		a, err1 := p.snap.Program(m)
		b, err2 := snap.Program(other)
		if (err1 == nil) != (err2 == nil) {
			return false
		}
		if err1 == nil {
			x, y := view.Layout(a), view.Layout(b)
			if x.Text() != y.Text() {
				return false
			}
		}
	}
	return true
}

// snapshot compiles the definitions of the capsule.
func (c *Capsule) snapshot() (*workspace.Snapshot, error) {
	files := make([]workspace.NewFile, len(c.Files))
	for i, f := range c.Files {
		files[i] = workspace.NewFile{Name: f.Name, Text: []byte(f.Text)}
	}
	lib, err := workspace.LibraryOf(files)
	if err != nil {
		return nil, err
	}
	return workspace.Build(lib, workspace.Settings{Dialect: c.Protocol, Options: schema.Options{Values: c.Options, Constants: c.Constants, Codes: c.Codes}})
}

// line is a text on one line.
func line(text string, most int) string {
	return cut(strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)), most)
}

func cut(text string, most int) string {
	for len(text) > most {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// JSON returns the capsule as it is stored. Its hash is the identity.
func (c *Capsule) JSON() ([]byte, error) {
	text, err := json.Marshal(c)
	if err == nil && len(text) > MaxCapsule {
		err = &CapsuleError{fmt.Sprintf("the capsule has %d bytes, at most %d: select fewer messages", len(text), MaxCapsule)}
	}
	return text, err
}

// ID returns the identity of a capsule in its stored form.
func ID(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

var (
	capsuleBegin = []byte(`<script type="application/json" id="capsule">`)
	capsuleEnd   = []byte(`</script>`)
)

// ReadCapsule reads a capsule: its JSON, or the page that has it. It is hostile input.
func ReadCapsule(text []byte) (*Capsule, error) {
	if i := bytes.Index(text, capsuleBegin); i >= 0 {
		text = text[i+len(capsuleBegin):]
		end := bytes.Index(text, capsuleEnd)
		if end < 0 {
			return nil, &CapsuleError{"the page is cut off"}
		}
		text = text[:end]
	}
	if len(text) > MaxCapsule {
		return nil, &CapsuleError{fmt.Sprintf("a capsule has at most %d bytes", MaxCapsule)}
	}
	c := &Capsule{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, &CapsuleError{"not a capsule: " + err.Error()}
	}
	return c, c.check()
}

// check refuses what NewCapsule would not make.
func (c *Capsule) check() error {
	size := 0
	for _, f := range c.Files {
		size += len(f.Text)
	}
	switch {
	case c.Format != capsuleFormat:
		return &CapsuleError{fmt.Sprintf("not a capsule of this version: %q", line(c.Format, 40))}
	case len(c.Frames) > MaxCapsuleFrames:
		return &CapsuleError{fmt.Sprintf("a capsule has at most %d messages", MaxCapsuleFrames)}
	case len(c.Files) > maxCapsuleFiles || size > maxCapsuleText:
		return &CapsuleError{"too many definitions"}
	case len(c.Title) > maxTitle || len(c.Note) > maxNote:
		return &CapsuleError{"its texts are too long"}
	}
	for i := range c.Frames {
		if _, err := hex.DecodeString(c.Frames[i].Hex); err != nil {
			return &CapsuleError{fmt.Sprintf("message %d is not hex", i+1)}
		}
	}
	return nil
}

//go:embed capsule.js
var capsuleJS string

// CapsulePolicy is the content security policy that a page has in itself, so that a saved file has it too. A server adds what cannot stand in a
// page: sandbox and frame-ancestors.
func CapsulePolicy() string {
	script := sha256.Sum256([]byte(capsuleJS))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(script[:]) + "'; base-uri 'none'; form-action 'none'"
}

// maxPageFields bounds the values listed on a page.
const maxPageFields = 100_000

// Page returns the capsule as a page that needs no server, with the capsule inside.
func (c *Capsule) Page() ([]byte, error) {
	text, err := c.JSON()
	if err != nil {
		return nil, err
	}
	snap, err := c.snapshot()
	if err != nil {
		return nil, &CapsuleError{"its definitions cannot be read: " + err.Error()}
	}
	page := templates.Capsule{
		Title: c.Title, Note: c.Note, Made: c.Made, By: c.By, Protocol: snap.Dialect.Title, ID: ID(text), Redacted: c.Redacted,
		Policy: CapsulePolicy(), Style: string(siteCSS), Script: capsuleJS, JSON: string(bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`))),
	}
	left := maxPageFields
	rec := &codec.Record{}
	for i := range c.Frames {
		f := &c.Frames[i]
		data, err := hex.DecodeString(f.Hex)
		if err != nil {
			return nil, err
		}
		row := templates.CapsuleFrame{N: f.N, Time: fmt.Sprintf("%.3f", f.After), Dir: f.Dir, Kind: f.Kind, Name: f.Message, Conn: f.Conn, Note: f.Note, Left: f.Left, Data: data}
		if m, err := snap.Find(f.Message); err == nil && f.Kind == "" && f.Message != "" {
			if f.Alternate {
				m = snap.AlternateFor(m, data)
			}
			row.Result = snap.Decode(rec, data, workspace.Request{Message: m, Fields: true})
			if left -= len(row.Result.Fields); left < 0 {
				row.Result.Fields = nil
			}
		}
		page.Frames = append(page.Frames, row)
	}
	for _, f := range c.Files {
		page.Files = append(page.Files, templates.CapsuleText{Name: f.Name, Text: f.Text})
	}
	var out bytes.Buffer
	err = templates.CapsulePage(page).Render(context.Background(), &out)
	return out.Bytes(), err
}

// errNoFrames reports that a capsule has nothing for a capture.
var errNoFrames = errors.New("the capsule has no messages")

// Log returns the messages as a log that Wirebench opens as a capture: JSON Lines.
func (c *Capsule) Log() ([]byte, error) {
	if len(c.Frames) == 0 {
		return nil, errNoFrames
	}
	var out bytes.Buffer
	at, err := time.Parse(time.DateOnly, c.Made)
	if err != nil {
		at = time.Unix(0, 0)
	}
	for i := range c.Frames {
		f := &c.Frames[i]
		conn := f.Conn
		if conn == "" {
			conn = "192.0.2.2:1024-192.0.2.1:1024" // addresses for documents
		}
		row, err := json.Marshal(struct { // the form of the package codec/logs
			N       int     `json:"n"`
			Time    string  `json:"time"`
			Conn    string  `json:"conn"`
			Dir     string  `json:"dir"`
			Kind    string  `json:"kind"`
			From    []int   `json:"from"`
			Code    *uint32 `json:"code,omitempty"`
			Message string  `json:"message,omitempty"`
			Note    string  `json:"note,omitempty"`
			Hex     string  `json:"hex"`
		}{i + 1, at.Add(time.Duration(f.After * 1e9)).UTC().Format(time.RFC3339Nano), conn, f.Dir, cmp.Or(f.Kind, "message"), []int{}, f.Code, f.Message, f.Note, f.Hex})
		if err != nil {
			return nil, err
		}
		out.Write(append(row, '\n'))
	}
	return out.Bytes(), nil
}

// CodeMapFile is the name of the file for CodeMap.
const CodeMapFile = "protocol.0.map"

// CodeMap returns the codes of the messages as a code map, nil if there are none.
func (c *Capsule) CodeMap() []byte {
	if len(c.Codes) == 0 {
		return nil
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(c.Codes)) {
		if !strings.ContainsAny(name, " \t\r\n#") {
			fmt.Fprintf(&out, "%s %d\n", name, c.Codes[name])
		}
	}
	return out.Bytes()
}
