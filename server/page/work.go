package page

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"

	"wirebench/codec"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	codecview "wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/access"
	"wirebench/server/frames"
	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// work is a page being built.
type work struct {
	ws     *space
	form   form
	view   *templates.Workbench
	def    *workspace.Definition            // the open definition, nil if none is
	use    *workspace.Definition            // definition for decoding: def or, while it has mistakes, the last one without
	text   *view.Text                       // what the page shows of the text, nil without a definition
	good   *workspace.Definition            // the last one without mistakes, from the previous work of the page; nil if there is none
	weight int                              // bytes of good
	pastes *workspace.PasteCache            // from the previous work of the page, or nil
	whole  whole                            // from the previous work of the page
	fitted *fitCache                        // from the previous work of the page, or nil
	half   bool                             // the last byte of the input has only one digit
	job    *workspace.Input                 // nil without input, or if it is unreadable
	export *Exports                         // requested files, sent instead of the page
	failed string                           // reason why a value or a field could not be changed
	line   int                              // of the changed field in the definition, 0 if none was
	who    []string                         // the person, for the history
	live   bool                             // for an open page
	former string                           // name of the open message before it was renamed, "" if it was not
	typed  func(file string) (string, bool) // the text of a file as people have typed it, if that is not saved; nil: none
	railed string                           // ID of the snapshot whose list of messages the page has
	told   bool                             // and it is known what the page has below the list
}

// Export is a file to save.
type Export struct{ Name, Type, Text string }

// Exports are files to save, with the features they lack.
type Exports struct {
	Title  string
	Files  []Export
	Losses []string
}

// oneExport returns a single file named after a message.
func oneExport(title, message, ending, kind, text string) *Exports {
	return &Exports{Title: title, Files: []Export{{strings.ReplaceAll(message, "/", "-") + ending, kind, text}}}
}

// send responds with the file, or a zip file of several.
func (e *Exports) send(w http.ResponseWriter) {
	name, kind, data := e.Files[0].Name, e.Files[0].Type, []byte(e.Files[0].Text)
	if len(e.Files) > 1 {
		packed, err := zipped(e.Files)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name, kind, data = strings.TrimSuffix(name, path.Ext(name))+".zip", "application/zip", packed
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	_, _ = w.Write(data)
}

// fill processes a form and fills the view.
func (ws *space) fill(v *templates.Workbench, f form, who []string, typed func(string) (string, bool)) *work {
	p := &work{ws: ws, form: f, view: v, who: who, typed: typed}
	if f.action == "" {
		p.openTyped()
	}
	p.work()
	v.First = first(p)
	return p
}

// work builds the whole page.
func (p *work) work() {
	if p.form.frame != nil && p.view.Capture == nil { // an open page does not send the capture, and nothing depends on it
		p.view.Capture = &templates.Capture{}
	}
	p.view.Empty = p.ws.Snapshot.Count() == 0
	p.rename()
	does := actions[p.form.action]
	if does.before != nil {
		does.before(p)
	}
	p.open()
	if does.after != nil {
		does.after(p)
	}
	p.show()
	p.view.Definition.Place = p.ws.Snapshot.FileName(cmp.Or(p.view.Message, p.form.message, p.view.Definition.New))
	p.noteWhole()
	p.values()
	p.samples()
	p.rail()
	p.uses()
	p.view.Form = templates.FormState{
		Show: p.form.show, Bytes: p.form.bytes, Edits: writeEdits(p.form.edits), Base: p.form.base,
	}
	if p.form.frame == nil { // the page of a capture is never posted as a form
		p.view.Form.From = sumOf(p.form.input)
	}
}

// maxUses bounds the settings that the status line names.
const maxUses = 3

// uses fills in the settings in force.
func (p *work) uses() {
	snap := p.ws.Snapshot
	u := &p.view.Uses
	u.Codes, u.Map, u.Own = snap.Dialect.Codes != nil, snap.CodeMap, !p.ws.of.Settings.IsZero()
	u.Secrets = snap.HasSecrets()
	for _, o := range snap.Dialect.Options {
		value := snap.Options.Values[o.Name]
		switch {
		case value == "" || value == o.Default || len(u.Other) == maxUses:
		case o.Kind == schema.SwitchOption:
			u.Other = append(u.Other, o.Name)
		default:
			u.Other = append(u.Other, o.Name+" "+value)
		}
	}
	if t := snap.Traffic; len(t.Rules) > 0 && len(u.Other) < maxUses {
		u.Other = append(u.Other, "groups chosen")
	}
}

func (p *work) notice(text string) {
	if p.view.Notice == "" {
		p.view.Notice = text
	}
}

// done adds a notice of success.
func (p *work) done(text string) {
	if p.view.Done == "" {
		p.view.Done = text
	}
}

// read reads the messages of the input, including changes. It returns nil if there are none; the input then has the reason.
func (p *work) read() *workspace.Input {
	in := &p.view.Input
	if pattern, ok := strings.CutPrefix(p.form.form, workspace.OwnPattern); ok {
		in.Pattern = pattern
	}
	in.Text, in.Form, in.Dir, in.ByCode, in.Forms, in.Error = p.form.input, p.form.form, p.form.dir, p.form.byCode, forms(), ""
	in.Guess = p.ws.Dialect.Edits != nil && p.ws.Dialect.Edits.Guess != nil
	j := &workspace.Input{Snap: p.ws.Snapshot}
	if p.use != nil {
		if j.Snap = p.use.Snap; !p.form.byCode {
			j.Use(p.use)
		} else {
			byCodes(j, p.use.Message)
		}
	}
	if c := p.form.chosen; c != nil {
		p.form.frame = c.frameForm(j.Snap)
	}
	if strings.TrimSpace(in.Text) != "" {
		if err := j.ReadPasteOnce(p.pastes, in.Text, in.Form); err != nil {
			in.Error = err.Error()
			return nil
		}
		if j.PasteErr != nil {
			p.readHalf(j)
		}
		if j.PasteErr != nil {
			in.Error = j.PasteErr.Error()
			return nil
		}
		if len(j.Messages) == 0 {
			in.Error = "no bytes found"
			return nil
		}
	} else if _, ok := p.form.edits[0]; ok { // built without input
		j.Messages = []workspace.Piece{{}}
	} else {
		return nil
	}
	if dir := schema.DirNamed(p.form.dir); dir != schema.Both {
		for i := range j.Messages {
			j.Messages[i].Dir = dir
		}
	}
	if f := p.form.frame; f != nil {
		p.readFrame(j, f)
	}
	for n, data := range p.form.edits {
		if n < len(j.Messages) {
			j.Messages[n].Was, j.Messages[n].Data, j.Messages[n].Edited = j.Messages[n].Data, data, true
		}
	}
	return j
}

// byCodes makes an input decode each message by its code. The open message, if any, determines group and direction.
func byCodes(j *workspace.Input, open *schema.Message) {
	if open == nil {
		return
	}
	j.Request.Near = open.Key
	if j.Likely = open.Key.Dir; len(j.Snap.Dialect.Frames) == 0 {
		j.Request.Group = open.Key.Group
	}
}

// readHalf reads hex whose last byte has only one digit, without this digit, so that the message stays visible while a byte is being typed.
func (p *work) readHalf(j *workspace.Input) {
	in := &p.view.Input
	text := strings.TrimRight(in.Text, " \t\r\n")
	if text == "" || !scan.IsHex(text[len(text)-1]) {
		return
	}
	half := &workspace.Input{Snap: p.ws.Snapshot}
	if err := half.ReadPaste(text[:len(text)-1], in.Form); err == nil && half.PasteErr == nil && strings.HasPrefix(half.Paste.Form, "hex") {
		j.Paste, j.PasteErr, j.Messages, p.half = half.Paste, nil, half.Messages, true
	}
}

// readFrame reads the input as a frame of a list.
func (p *work) readFrame(j *workspace.Input, f *FrameForm) {
	for i := range j.Messages {
		j.Messages[i].Dir = schema.DirNamed(f.Dir)
	}
	if j.Request.Headed = f.Alternate; f.Alternate {
		j.Request.Group = f.Group
	}
	if !p.form.byCode {
		return
	}
	j.Request.Group = f.Group
	if m, err := j.Snap.Find(f.Name); err == nil && f.Name != "" {
		if j.Request.Message = m; f.Alternate && len(j.Messages) > 0 {
			j.Request.Message = j.Snap.AlternateFor(m, j.Messages[0].Data)
		}
		return
	}
	switch f.Kind {
	case transport.Problem.String(): // as far as a definition explains them; see message
	case transport.Message.String(), "":
	default:
		j.Request.Unknown = true // key exchanges and undecipherable bytes are not messages
	}
}

// about adds the description of a frame that is not a message. For a problem of the transport it shows the part of the bytes that a
// definition explains, and why decoding ended there.
func (p *work) about(m *templates.Message, f *FrameForm) {
	m.What, m.Kind = f.About.What, f.Kind
	problem := f.Kind == transport.Problem.String()
	if problem && m.Message == "" && !p.job.Messages[m.Number].Edited {
		p.job.Request.Unknown = true
		m.Result = p.job.Decode(m.Number)
		p.job.Request.Unknown = false
	}
	for _, x := range f.About.Facts[:min(len(f.About.Facts), maxFacts)] {
		switch label, text := x[0], x[1]; {
		case problem && label == frames.AboutReason:
			m.Problems = withReason(m.Problems, text)
		case m.Message == "" || label == frames.AboutNote: // else the fields have more details
			m.Facts = append(m.Facts, x)
		}
	}
}

// withReason inserts the reason of a transport before the problems found by decoding, unless one has the same text with a position and a
// line.
func withReason(list []codecview.ProblemInfo, reason string) []codecview.ProblemInfo {
	for _, x := range list {
		if x.Message != "" && strings.HasSuffix(reason, x.Message) {
			return list
		}
	}
	return append([]codecview.ProblemInfo{{Severity: "error", Code: "stream", Message: reason}}, list...)
}

// show decodes the input by the open definition, or by the code of each message.
func (p *work) show() {
	j := p.read()
	if p.job = j; j == nil {
		if p.form.action == "paste" {
			p.failed = p.view.Input.Error
		}
		return
	}
	p.form.show = min(p.form.show, len(j.Messages)-1)
	p.verdict()
	if p.form.action == "paste" {
		j = p.readAnew()
	}
	j.Request.Fields = true
	shown := p.message(p.form.show)
	byCode := (p.form.byCode || p.def == nil) && !p.view.Definition.Envelope
	if byCode && shown.Message != "" && (p.def == nil || !p.def.Edited) {
		if name := shown.Name; name != p.view.Message {
			p.form.message, p.form.definition, p.form.base, p.form.made = name, "", "", sumOf(p.form.value)
			p.openTyped()
			p.open()
		}
	}
	shown.Linked = p.use != nil && p.use.Message != nil && shown.Message != "" && sameMessage(j.Rec.Program.Message, p.use.Message)
	shown.Stale = shown.Linked && p.view.Stale
	p.offer(shown)
	p.beginning(shown)
	p.view.Shown = shown
	if len(j.Messages) > 1 {
		p.list(p.form.show, shown.Status)
	}
}

// readAnew decides how a pasted text is read: by the open definition, unless that says nothing about it.
func (p *work) readAnew() *workspace.Input {
	if p.form.byCode {
		p.form.byCode = false
		p.job = p.read()
	}
	if p.otherCodes() {
		p.form.byCode = true
		p.job = p.read()
	}
	return p.job
}

// otherCodes reports whether a message has a code that no definition has, or none. Unless the open definition is being edited, it also reports
// whether the code belongs to another one, or the text names another one.
func (p *work) otherCodes() bool {
	if p.def == nil {
		return false
	}
	for i := range p.job.Messages[:min(len(p.job.Messages), maxListed)] {
		m, named := p.message(i), p.job.Named(i)
		if m.Stray || !p.def.Edited && (m.Other != "" || named != "" && p.def.Message != nil && named != p.def.Snap.NameOf(p.def.Message)) {
			return true
		}
	}
	return false
}

// maxFacts bounds the facts listed about a frame.
const maxFacts = 20

// message decodes the message that the page shows.
func (p *work) message(i int) *templates.Message {
	j := p.job
	m := &templates.Message{Result: j.Decode(i), Data: j.Messages[i].Data, Number: i, FirstByte: p.form.bytes}
	if f := p.form.frame; f != nil && f.About != nil && p.form.byCode {
		p.about(m, f)
	}
	m.Name = j.Name(m.Result)
	if j.Messages[i].Edited {
		m.Edited, m.Was = true, j.Messages[i].Was
	}
	if m.Status == "error" {
		return m
	}
	m.Types = fieldTypes(j.Rec.Program)
	if rest, ok := codecview.Rest(&j.Rec); ok && j.Request.Fields && (m.Message != "" || m.Status == "unknown") {
		m.Fields = append(m.Fields, rest)
	}
	if of := j.Request.Message; of != nil && (hasProblem(m.Problems, codec.WrongCode.String()) || of.HasKey && !j.Rec.HasCode()) {
		by := &workspace.Input{Snap: j.Snap, Messages: j.Messages} // as read after "Decode as"
		by.Request.Session = j.Request.Session
		byCodes(by, j.Request.Message)
		m.Other = by.Name(by.Decode(i))
		m.Stray = m.Other == ""
	}
	return m
}

// sameMessage reports whether two messages are the same, possibly in different states of the library.
func sameMessage(a, b *schema.Message) bool {
	return a.Name == b.Name && a.Version == b.Version && a.Key.Group == b.Key.Group && a.Key.Dir == b.Key.Dir
}

func hasProblem(list []codecview.ProblemInfo, code string) bool {
	for _, p := range list {
		if p.Code == code {
			return true
		}
	}
	return false
}

// fieldTypes returns the types of all fields as written, by path without indexes.
func fieldTypes(p *codec.Program) map[string]string {
	out := make(map[string]string, len(p.Fields))
	for i := range p.Fields {
		out[string(p.AppendFieldPath(nil, uint16(i)))] = p.Fields[i].Type
	}
	return out
}

// spaced formats bytes in hex, separated by spaces.
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

// authors returns the person of a request, for the history; nil without a name.
func authors(r *http.Request) []string {
	if name := access.Of(r).Name; name != "" {
		return []string{name}
	}
	return nil
}
