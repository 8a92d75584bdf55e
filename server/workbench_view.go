package server

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/capture"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Bounds of what a page lists.
const (
	maxListed   = 200  // messages of one input
	maxRailed   = 2000 // messages of the library
	maxNotes    = 5    // odd things about a pasted text
	maxValue    = 1 << 20
	maxProblems = 100
)

// pageWork is a page in the making.
type pageWork struct {
	ws   *Workspace
	form pageForm
	view *templates.Workbench
	def  *definition // the open one, nil if none is
	job  *decodeJob  // nil without input, or if nothing could be read from it
	was  []byte      // the message that stood there before values were encoded
}

// fill does what a form asks for and puts it into the view.
func (ws *Workspace) fill(v *templates.Workbench, f pageForm) {
	p := &pageWork{ws: ws, form: f, view: v}
	v.Message, v.Input.Text, v.Input.Form, v.Input.ByCode = f.message, f.input, f.form, f.byCode
	v.Input.Forms = forms()
	if f.action == "stored" {
		p.form.definition = ""
	}
	p.open()
	if f.action == "encode" {
		p.encode()
	}
	p.decode()
	p.values()
	p.rail()
}

func (p *pageWork) notice(text string) {
	if p.view.Notice == "" {
		p.view.Notice = text
	}
}

// open opens the definition that the form names or holds.
func (p *pageWork) open() {
	f, text := &p.form, p.form.definition
	p.def = nil
	p.view.Layout, p.view.Definition = nil, templates.Definition{Text: text}
	stored, err := p.ws.Snapshot.Find(f.message)
	switch {
	case strings.TrimSpace(text) == "":
		text = ""
		if f.message == "" {
			return
		}
		if err != nil {
			p.notice("There is " + err.Error())
			return
		}
	case err == nil && unixLines(stored.Span.File.Text) == text:
		text = ""
	}
	d, err := p.ws.open(f.message, text)
	if err != nil {
		p.notice("The definition cannot be read: " + err.Error() + ".")
		return
	}
	p.def = d
	p.view.Definition = templates.Definition{
		File: d.file.Name, Text: unixLines(d.file.Text), Edited: d.edited, Stored: stored != nil, Diagnostics: d.diagnostics,
	}
	info := d.layout()
	p.view.Layout = &info
	if d.message != nil {
		p.view.Message = fullName(d.message.Name, d.message.Version)
	}
}

func fullName(name string, version int) string { return fmt.Sprintf("%s.%d", name, version) }

// encode puts the bytes of the values in the place of the input.
func (p *pageWork) encode() {
	v := &p.view.Values
	if p.def == nil || p.def.program == nil {
		p.notice("Values are encoded by a definition: choose a message first.")
		return
	}
	value := cmp.Or(strings.TrimSpace(p.form.value), "{}")
	if where := notJSON(value); where != nil {
		v.Problems = []codec.ProblemInfo{*where}
		return
	}
	var code *uint32
	if p.form.code != "" {
		n, err := strconv.ParseUint(p.form.code, 0, 32)
		if err != nil {
			v.Problems = []codec.ProblemInfo{{Severity: "error", Code: "bad-code", Message: "the code is a number of 32 bits, decimal or 0x, not " + strconv.Quote(p.form.code)}}
			return
		}
		c := uint32(n)
		code = &c
	}
	data, _, problems, err := encodeValue(p.def.snap, p.def.message, code, []byte(value))
	switch {
	case errors.Is(err, workspace.ErrNoCode):
		v.Problems = []codec.ProblemInfo{{Severity: "error", Code: "no-code", Message: "neither the definition nor a code map says the code of this message: write it below"}}
	case err != nil:
		v.Problems = []codec.ProblemInfo{{Severity: "error", Code: "cannot-encode", Message: err.Error()}}
	case len(problems) > 0:
		v.Problems = problems[:min(len(problems), maxProblems)]
	default:
		if pasted, err := recognise(p.form.input, p.form.form); err == nil && p.form.show < len(pasted.Messages) {
			p.was = pasted.Messages[p.form.show].Bytes
		}
		v.Encoded = encodedNote(data, p.was)
		p.view.Input.Text, p.view.Input.Form, p.view.Input.ByCode = spaced(data), "", false
		p.form.show = 0
	}
}

// notJSON says where a text stops being JSON, nil if it does not. The codec counts bytes; people count lines.
func notJSON(text string) *codec.ProblemInfo {
	var any json.RawMessage
	var wrong *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &any); !errors.As(err, &wrong) {
		return nil
	}
	before := text[:max(0, min(int(wrong.Offset)-1, len(text)))]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return &codec.ProblemInfo{Severity: "error", Code: "not-json", Message: fmt.Sprintf("line %d, column %d: %v", line, column, wrong)}
}

// encodedNote says what came out, and how it differs from what was there.
func encodedNote(data, was []byte) string {
	note := fmt.Sprintf("Encoded: %d bytes", len(data))
	if was == nil {
		return note + "."
	}
	if bytes.Equal(data, was) {
		return note + ", the same as before."
	}
	first := 0
	for first < min(len(data), len(was)) && data[first] == was[first] {
		first++
	}
	if len(data) != len(was) {
		return fmt.Sprintf("%s (%+d), different from 0x%02x on.", note, len(data)-len(was), first)
	}
	n := 0
	for i := range data {
		if data[i] != was[i] {
			n++
		}
	}
	return fmt.Sprintf("%s, %d of them changed, the first at 0x%02x.", note, n, first)
}

func spaced(data []byte) string {
	var b strings.Builder
	for i := range data {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(hex.EncodeToString(data[i : i+1]))
	}
	return b.String()
}

// decode decodes the input: by the open definition, or by the code that each message carries.
func (p *pageWork) decode() {
	in := &p.view.Input
	if strings.TrimSpace(in.Text) == "" {
		return
	}
	byCode := in.ByCode || p.def == nil
	j := &decodeJob{snap: p.ws.Snapshot}
	if p.def != nil {
		if j.snap = p.def.snap; !byCode {
			j.use(p.def)
		}
	}
	if err := j.readPaste(in.Text, in.Form); err != nil {
		in.Error = err.Error()
		return
	}
	if j.pasteErr != nil {
		in.Error = j.pasteErr.Error()
		return
	}
	if len(j.messages) == 0 {
		in.Error = "there are no bytes in this"
		return
	}
	p.job = j
	p.verdict()
	show := min(p.form.show, len(j.messages)-1)
	j.request.Fields = true
	shown := p.message(show)
	if byCode && shown.Message != "" && (p.def == nil || !p.def.edited) {
		if name := fullName(shown.Message, shown.Version); name != p.view.Message {
			p.form.message, p.form.definition, p.form.made = name, "", sumOf(p.form.value)
			p.open()
		}
	}
	shown.Linked = p.def != nil && p.def.message != nil && shown.Message == p.def.message.Name && shown.Version == p.def.message.Version
	p.view.Shown = shown
	if len(j.messages) > 1 {
		p.list(show, shown.Status)
	}
}

// message decodes the message that the page shows.
func (p *pageWork) message(i int) *templates.Message {
	j := p.job
	m := &templates.Message{Result: j.decode(i), Data: j.messages[i].data, Number: i, FirstByte: p.form.bytes, FirstRow: p.form.rows}
	if m.Status == "error" {
		return m
	}
	m.Types = fieldTypes(j.rec.Program)
	if j.request.Message != nil && hasProblem(m.Problems, codec.WrongCode.String()) {
		by := j.request
		by.Message, by.Fields, by.Dir = nil, false, j.messages[i].dir
		if other := j.snap.Decode(&codec.Record{}, m.Data, by); other.Message != "" {
			m.Other = fullName(other.Message, other.Version)
		}
	}
	return m
}

func hasProblem(list []codec.ProblemInfo, code string) bool {
	for _, p := range list {
		if p.Code == code {
			return true
		}
	}
	return false
}

// fieldTypes are the types of all fields, as written, by their path without indexes.
func fieldTypes(p *codec.Program) map[string]string {
	out := make(map[string]string, len(p.Fields))
	for i := range p.Fields {
		out[string(p.AppendFieldPath(nil, uint16(i)))] = p.Fields[i].Type
	}
	return out
}

// verdict says what the input was taken for.
func (p *pageWork) verdict() {
	in, paste := &p.view.Input, p.job.paste
	in.Verdict = "Taken for " + paste.Title
	if paste.Why != "" {
		in.Verdict += ": " + paste.Why
	}
	if n := len(paste.Messages); n > 1 {
		in.Verdict += fmt.Sprintf("; %d messages", n)
	} else if n == 1 {
		in.Verdict += fmt.Sprintf("; %d bytes", len(paste.Messages[0].Bytes))
	}
	for i, n := range paste.Notes {
		if i == maxNotes {
			in.Notes = append(in.Notes, fmt.Sprintf("%d more notes", len(paste.Notes)-maxNotes))
			break
		}
		in.Notes = append(in.Notes, n.String())
	}
}

// list lists the messages of an input that has several.
func (p *pageWork) list(show int, status string) {
	j := p.job
	j.request.Fields = false
	for i, m := range j.paste.Messages {
		if i == maxListed {
			p.view.MoreMessages = len(j.messages) - maxListed
			break
		}
		row := templates.MessageRow{Number: i, Dir: m.Dir.String(), Time: m.Time.String(), Size: len(m.Bytes), Open: i == show}
		res := j.decode(i)
		if row.Status, row.Name = res.Status, res.Message; row.Name == "" && res.Code != nil {
			row.Name = fmt.Sprintf("code 0x%04X", *res.Code)
		}
		if i == show {
			row.Status = status
		}
		p.view.Messages = append(p.view.Messages, row)
	}
}

// values offers values to encode: those that a person changed, else those of the message, else empty ones.
func (p *pageWork) values() {
	v := &p.view.Values
	if p.def == nil || p.def.program == nil {
		return
	}
	v.Offered = true
	defer func() {
		v.Open = p.view.Shown == nil || v.Kept || p.form.action == "encode" || p.form.action == "values"
	}()
	shown := p.view.Shown
	ofShown := shown != nil && shown.Linked && len(shown.Value) > 0
	v.Code = p.form.code
	if v.Code == "" && !p.def.message.HasKey && p.def.program.NeedsCode() {
		v.Code = "0"
		if ofShown && shown.Code != nil {
			v.Code = fmt.Sprintf("0x%04X", *shown.Code)
		}
	}
	if p.def.message.HasKey {
		v.CodeHint = fmt.Sprintf("0x%04X", p.def.message.Key.Code)
	}
	changed := p.form.value != "" && sumOf(p.form.value) != p.form.made
	if p.form.action == "encode" || changed && p.form.action != "values" {
		v.Text, v.Made, v.Kept = p.form.value, p.form.made, changed && p.form.action != "encode"
		if p.form.action == "encode" && len(v.Problems) == 0 {
			v.Made = sumOf(v.Text) // they are the message's now
		}
		return
	}
	raw := p.emptyValue
	if ofShown {
		raw = func() []byte { return shown.Value }
	}
	if v.Text = templates.JSONText(raw()); len(v.Text) > maxValue {
		v.Text, v.TooLong = "", true
	}
	v.Made = sumOf(v.Text)
}

// emptyValue is the values of a message of which nothing is set: all names, to be filled in.
func (p *pageWork) emptyValue() []byte {
	code := p.def.message.Key.Code
	data, _, problems, err := encodeValue(p.def.snap, p.def.message, &code, []byte("{}"))
	if err != nil || len(problems) > 0 {
		return []byte("{}")
	}
	var rec codec.Record
	return p.def.snap.Decode(&rec, data, workspace.Request{Message: p.def.message}).Value
}

// rail fills the list of messages, grouped by direction.
func (p *pageWork) rail() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	r.Filter, r.Count, r.SamplesOpen = p.form.filter, len(snap.Schema.Messages), p.form.sample
	worst := map[string]diag.Severity{} // by file
	for _, d := range snap.Diagnostics {
		if f := d.Span.File; f != nil {
			if old, ok := worst[f.Name]; !ok || d.Severity < old {
				worst[f.Name] = d.Severity
			}
		}
	}
	groups := map[schema.Dir]*templates.Group{
		schema.ToServer: {Title: "Client → server"}, schema.ToClient: {Title: "Server → client"}, schema.Both: {Title: "Both ways"},
	}
	listed, wanted := 0, strings.Fields(strings.ToLower(r.Filter))
	for _, m := range snap.Schema.Messages {
		if !containsAll(strings.ToLower(m.Name), wanted) {
			continue
		}
		if listed++; listed > maxRailed {
			r.More++
			continue
		}
		full := fullName(m.Name, m.Version)
		it := templates.Item{Name: m.Name, Version: m.Version, State: "ok", Current: p.view.Message == full, Href: p.ws.address("message", full)}
		if s, ok := worst[m.Span.File.Name]; ok {
			it.State = s.String()
		}
		if m.HasKey {
			it.Code = fmt.Sprintf("0x%04X", m.Key.Code)
		}
		g := groups[m.Key.Dir]
		g.Items = append(g.Items, it)
	}
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient, schema.Both} {
		if g := groups[dir]; len(g.Items) > 0 {
			r.Groups = append(r.Groups, *g)
		}
	}
	bare := strings.Join(strings.Fields(p.view.Input.Text), "")
	for i, s := range p.ws.Samples {
		name, _, _ := strings.Cut(s.Message, ".")
		r.Samples = append(r.Samples, templates.SampleLink{
			Href: p.ws.address("sample", strconv.Itoa(i)), Message: name, About: s.About, Current: s.Hex == bare && s.Message == p.view.Message,
		})
	}
}

func containsAll(name string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// forms are the forms of pasted text under their headings, for a menu.
func forms() []templates.FormGroup {
	var out []templates.FormGroup
	for _, f := range capture.Forms() {
		if len(out) == 0 || out[len(out)-1].Title != f.Group {
			out = append(out, templates.FormGroup{Title: f.Group})
		}
		g := &out[len(out)-1]
		g.Forms = append(g.Forms, templates.FormChoice{ID: f.ID, Title: f.Title})
	}
	return out
}
