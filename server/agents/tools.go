package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/scores"
	"wirebench/server/workspace"
)

// tools are the tasks, by operations of a caller.
type tools struct{ Caller }

// get calls an operation without a body.
func (t tools) get(ctx context.Context, operation string, v any, pairs ...string) error {
	return t.Call(ctx, operation, valuesOf(pairs), api.Body{}, v)
}

// post calls an operation with a JSON body.
func (t tools) post(ctx context.Context, operation, project string, body, v any) error {
	return t.Call(ctx, operation, url.Values{"project": {project}}, api.JSONBody(body), v)
}

// valuesOf returns pairs of names and values, without those that are empty.
func valuesOf(pairs []string) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

type nothing struct{}

func (t tools) projects(ctx context.Context, _ nothing, out *answer) error {
	var got struct {
		Projects []struct {
			Name, Title, Protocol, State string
			Definitions, Captures        int
		}
	}
	if err := t.get(ctx, "projects", &got); err != nil {
		return err
	}
	out.recorded()
	for _, p := range got.Projects {
		out.line("%s: %s; language %s, %d definitions, %d captures%s", p.Name, p.Title, p.Protocol, p.Definitions, p.Captures, unless(p.State, "open"))
	}
	return nil
}

// unless returns a text after a semicolon, unless it is the usual one.
func unless(text, usual string) string {
	if text == usual || text == "" {
		return ""
	}
	return "; " + text
}

// paged is a part of the parameters of tools whose answers are lists.
type paged struct {
	From int `json:"from,omitempty" jsonschema:"line of the answer to begin with"`
}

type inProject struct {
	Project string `json:"project" jsonschema:"name"`
	paged
}

func (t tools) project(ctx context.Context, in inProject, out *answer) error {
	var of struct {
		Title, Dialect, Map string
		Maps                []string
	}
	var files struct {
		Definitions []struct {
			File, Code       string
			Messages         []string
			Errors, Warnings int
			Older            bool
		}
	}
	var caps struct {
		Captures []struct {
			ID, Name string
			Size     int64
		}
	}
	var threads api.ThreadList
	if err := cmp.Or(
		t.get(ctx, "workspace", &of, "project", in.Project), t.get(ctx, "definitions", &files, "project", in.Project),
		t.get(ctx, "captures", &caps, "project", in.Project, "brief", "true"), t.get(ctx, "threads", &threads, "project", in.Project),
	); err != nil {
		return err
	}
	out.from = in.From
	out.recorded()
	out.line("%s: language %s, code map %s", of.Title, of.Dialect, cmp.Or(of.Map, "none"))
	if len(files.Definitions) == 0 {
		out.line("no definition: read without a file describes the language")
	}
	for _, c := range caps.Captures {
		out.line("capture %s: %s, %d bytes", c.ID, c.Name, c.Size)
	}
	for _, x := range threads.Threads {
		if x.Suggestion != nil {
			out.line("suggestion %s for %s%s, by %s", x.ID, map[bool]string{true: "a new file "}[x.New], x.File, x.By)
		}
	}
	older := 0
	for _, d := range files.Definitions {
		if d.Older {
			older++
			continue
		}
		mistakes := ""
		if d.Errors+d.Warnings > 0 {
			mistakes = fmt.Sprintf("; %d errors, %d warnings", d.Errors, d.Warnings)
		}
		out.line("definition %s: %s %s%s", d.File, strings.Join(d.Messages, " "), d.Code, mistakes)
	}
	if older > 0 {
		out.line("%d files of older versions are not listed: search finds them", older)
	}
	return nil
}

type words struct {
	Project string `json:"project"`
	Words   string `json:"words"`
	paged
}

func (t tools) search(ctx context.Context, in words, out *answer) error {
	var got struct {
		Found []struct {
			Kind, Title, Message, Hint string
			Line                       int
		}
	}
	if err := t.get(ctx, "search", &got, "project", in.Project, "q", in.Words, "limit", "100"); err != nil {
		return err
	}
	out.from = in.From
	out.recorded()
	for _, f := range got.Found {
		out.line("%s %s: %s, line %d; %s", f.Kind, f.Title, f.Message, f.Line, f.Hint)
	}
	if len(got.Found) == 0 {
		out.line("nothing")
	}
	return nil
}

type aFile struct {
	Project string `json:"project"`
	File    string `json:"file,omitempty" jsonschema:"its name, or the name of its message; none: about the language"`
	From    int    `json:"from,omitempty" jsonschema:"first line, from 1"`
}

func (t tools) read(ctx context.Context, in aFile, out *answer) error {
	if in.File == "" {
		return t.language(ctx, in, out)
	}
	var got api.DefinitionBody
	if err := t.get(ctx, "read", &got, "project", in.Project, "file", in.File); err != nil {
		return err
	}
	out.line("%s, %d bytes", got.File, len(got.Text))
	out.mistakes(got.Diagnostics)
	out.recorded()
	n := 0
	for line := range strings.Lines(got.Text) {
		if n++; n >= in.From {
			out.textLine(line)
		}
	}
	out.more = fmt.Sprintf("give from: %d", n-out.left+1)
	return nil
}

// textLine adds a line of a text.
func (a *answer) textLine(line string) {
	a.line("%s", strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
}

// language describes the language of a project: an example, and its words.
func (t tools) language(ctx context.Context, in aFile, out *answer) error {
	var of struct{ Dialect string }
	if err := t.get(ctx, "workspace", &of, "project", in.Project); err != nil {
		return err
	}
	d, ok := defs.Find(of.Dialect)
	if !ok {
		return fmt.Errorf("the language %q is not known here", of.Dialect)
	}
	out.from = in.From
	out.line("example of the language %s, %s:", d.Title, d.Example.Name)
	for line := range strings.Lines(d.Example.Text) {
		out.textLine(line)
	}
	out.line("its words:")
	for _, w := range d.Language.Words {
		if w.Kind != schema.OldWord {
			out.line("%s: %s%s%s", w.Name, w.Kind, unless(w.Size, ""), unless(w.Doc, ""))
		}
	}
	return nil
}

// mistakes adds the diagnostics of a text.
func (a *answer) mistakes(list []diag.Info) {
	for i, d := range list {
		if i == 20 {
			a.line("%d mistakes more", len(list)-i)
			return
		}
		a.line("%s: line %d, column %d: %s", d.Severity, d.Line, d.Column, d.Message)
	}
}

type inCapture struct {
	Project string `json:"project"`
	Capture string `json:"capture" jsonschema:"id"`
	Filter  string `json:"filter,omitempty" jsonschema:"like Wireshark's: code == 7 && len > 20, .level > 3, dir == c2s, bytes contains x\"e8 03\", = 48211 (a value of any width)"`
}

type someTypes struct {
	inCapture
	paged
}

func (t tools) types(ctx context.Context, in someTypes, out *answer) error {
	var got struct {
		Total int
		Rows  []struct {
			Type, Known, Dir, Kind string
			Ver, Code              *int
			Count, Min, Max, Bad   int
			Defined                bool
		}
	}
	if err := t.get(ctx, "types", &got, "project", in.Project, "id", in.Capture, "filter", in.Filter); err != nil {
		return err
	}
	out.from = in.From
	out.line("%d frames", got.Total)
	out.recorded()
	for _, r := range got.Rows {
		code, more := "", ""
		if r.Code != nil {
			code = fmt.Sprintf(", code %d", *r.Code)
		}
		if r.Bad > 0 {
			more = fmt.Sprintf(", %d not clean", r.Bad)
		}
		if !r.Defined && r.Kind == "message" {
			more += unless(r.Known, "") + ", no definition"
		}
		out.line("%s: %s %s, %d times, %d to %d bytes%s%s", r.Type, r.Dir, r.Kind, r.Count, r.Min, r.Max, code, more)
	}
	return nil
}

type someFrames struct {
	inCapture
	From  int  `json:"from,omitempty" jsonschema:"matching frames to skip"`
	Count int  `json:"count,omitempty" jsonschema:"at most 100"`
	Bytes bool `json:"bytes,omitempty" jsonschema:"bytes instead of values"`
}

func (t tools) frames(ctx context.Context, in someFrames, out *answer) error {
	var got struct {
		Frames []struct {
			N                                              int
			Time, Dir, Kind, Message, Status, Note, Remark string
			Code                                           *int
			Hex                                            string
			Value                                          json.RawMessage
		}
		Fit int
	}
	count := cmp.Or(in.Count, 20)
	if err := t.get(ctx, "frames", &got, "project", in.Project, "id", in.Capture, "filter", in.Filter, "from", number(in.From), "count", strconv.Itoa(min(count, 100)), "value", strconv.FormatBool(!in.Bytes)); err != nil {
		return err
	}
	out.line("%d frames match, %d are listed", got.Fit, len(got.Frames))
	out.recorded()
	for _, f := range got.Frames {
		name := f.Message
		if name == "" && f.Code != nil {
			name = fmt.Sprintf("code %d", *f.Code)
		}
		what := string(f.Value)
		if in.Bytes || what == "" {
			what = f.Hex
		}
		out.line("%d %s %s %s%s%s %d bytes: %s", f.N, f.Time, f.Dir, cmp.Or(name, f.Kind), unless(f.Status, "ok"), unless(cmp.Or(f.Remark, f.Note), ""), len(f.Hex)/2, what)
	}
	next := in.From + len(got.Frames) - out.left
	if out.more = fmt.Sprintf("give from: %d", next); out.left == 0 && next < got.Fit {
		out.line("%d frames more: %s", got.Fit-next, out.more)
	}
	return nil
}

// number returns a number that is given, or "".
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

type aType struct {
	inCapture
	Type string `json:"type" jsonschema:"as types lists it"`
	paged
}

func (t tools) fields(ctx context.Context, in aType, out *answer) error {
	var got struct {
		Total   int
		Columns []struct {
			Path, Type, Min, Max, Trend string
			Distinct, Present           int
			Constant                    bool
			Guess                       string
		}
		Note string
	}
	if err := t.get(ctx, "fields", &got, "project", in.Project, "id", in.Capture, "type", in.Type, "filter", in.Filter); err != nil {
		return err
	}
	out.from = in.From
	out.line("%d messages", got.Total)
	out.recorded()
	for _, c := range got.Columns {
		values := fmt.Sprintf("%d different, %s to %s", c.Distinct, c.Min, c.Max)
		if c.Constant {
			values = "always " + c.Min
		}
		out.line("%s %s: in %d; %s%s%s", c.Path, c.Type, c.Present, values, unless(c.Trend, ""), unless(c.Guess, ""))
	}
	if got.Note != "" {
		out.line("%s", got.Note)
	}
	return nil
}

type aMessage struct {
	Project string `json:"project"`
	Message string `json:"message,omitempty" jsonschema:"NAME or NAME.VERSION"`
	Text    string `json:"text,omitempty" jsonschema:"unsaved definition to use instead of the stored one"`
}

type someBytes struct {
	aMessage
	Hex string `json:"hex"`
	Dir string `json:"dir,omitempty" jsonschema:"c2s or s2c"`
}

func (t tools) decode(ctx context.Context, in someBytes, out *answer) error {
	var got struct {
		Results     []view.Result
		Diagnostics []diag.Info
	}
	body := map[string]any{"hex": in.Hex, "message": in.Message, "definition": in.Text, "dir": in.Dir}
	if err := t.post(ctx, "decode", in.Project, given(body), &got); err != nil {
		return err
	}
	out.mistakes(got.Diagnostics)
	for _, r := range got.Results {
		out.line("%s.%d: %s, %d bytes used, %d left over", r.Message, r.Version, r.Status, r.Used, r.Leftover)
		out.recorded()
		value, _ := json.Marshal(r.Value)
		out.line("%s", value)
		for _, p := range r.Problems {
			out.line("problem: %s", p.Message)
		}
	}
	return nil
}

// given removes the members of a body that are empty.
func given(body map[string]any) map[string]any {
	for name, v := range body {
		if v == "" {
			delete(body, name)
		}
	}
	return body
}

type someValues struct {
	aMessage
	Value map[string]any `json:"value" jsonschema:"the fields; missing ones are 0 or empty"`
}

func (t tools) encode(ctx context.Context, in someValues, out *answer) error {
	var got struct{ Hex string }
	if err := t.post(ctx, "encode", in.Project, given(map[string]any{"message": in.Message, "definition": in.Text, "value": in.Value}), &got); err != nil {
		return err
	}
	out.line("%s", got.Hex)
	return nil
}

type aLayout struct {
	aMessage
	paged
}

func (t tools) layout(ctx context.Context, in aLayout, out *answer) error {
	var got struct {
		view.LayoutInfo
		Diagnostics []diag.Info
	}
	if err := t.post(ctx, "layout", in.Project, given(map[string]any{"message": in.Message, "text": in.Text}), &got); err != nil {
		return err
	}
	out.from = in.From
	out.mistakes(got.Diagnostics)
	most := "no limit"
	if got.MaxSize != nil {
		most = fmt.Sprint(*got.MaxSize)
	}
	out.line("%s.%d: %d bytes or more, at most %s", got.Message, got.Version, got.MinSize, most)
	for _, r := range got.Rows {
		bits := fmt.Sprint(r.MinBits)
		if r.MaxBits == nil || *r.MaxBits != r.MinBits {
			bits += " or more"
		}
		out.line("%s%s at %s: %s, %s, %s bits%s", strings.Repeat("  ", r.Depth), r.Path, r.Offset, r.Type, r.Role, bits, unless(r.Note, ""))
	}
	return nil
}

type aScore struct {
	aMessage
	Code *uint32 `json:"code,omitempty" jsonschema:"of a message without one, to try it; default: that of an open suggestion"`
	paged
}

func (t tools) score(ctx context.Context, in aScore, out *answer) error {
	var got scores.Score
	body := given(map[string]any{"message": in.Message, "text": in.Text})
	if in.Code != nil {
		body["code"] = *in.Code
	}
	if err := t.post(ctx, "score", in.Project, body, &got); err != nil {
		return err
	}
	out.from = in.From
	out.line("%s: %d messages judged of %d, %d clean, %d with bytes left over, %d too short, %d that differ when encoded, %d doubtful", got.Message, got.Frames, got.Of, got.Clean, got.Leftover, got.Over, got.Differ, got.Doubtful)
	if got.Tried != nil {
		out.line("tried with code %d: the project does not give it to the message yet", *got.Tried)
	}
	if got.Mistakes {
		out.line("the text has mistakes: layout says which")
	}
	out.recorded()
	if d := got.First; d != nil {
		out.line("first: capture %s, frame %d: %s", d.Capture, d.Frame, d.Reason)
	}
	for _, l := range got.Lines {
		out.line("line %d: in %d messages, %d different values: %s", l.Line, l.Frames, l.Distinct, l.Values)
		if l.First != nil {
			out.line("  %d not clean here, the first is frame %d of capture %s: %s", l.Bad, l.First.Frame, l.First.Capture, l.First.Reason)
		}
	}
	return nil
}

type twoFrames struct {
	Project string `json:"project"`
	Capture string `json:"capture"`
	A       int    `json:"a" jsonschema:"number of a frame"`
	B       int    `json:"b"`
}

func (t tools) compare(ctx context.Context, in twoFrames, out *answer) error {
	var got struct {
		Note string
		Rows []struct {
			Path, Type, A, B string
			Same             bool
		}
	}
	if err := t.get(ctx, "compare", &got, "project", in.Project, "id", in.Capture, "a", number(in.A), "b", number(in.B)); err != nil {
		return err
	}
	same := 0
	out.recorded()
	for _, r := range got.Rows {
		if r.Same {
			same++
			continue
		}
		out.line("%s %s: %s, then %s", r.Path, r.Type, cmp.Or(r.A, "none"), cmp.Or(r.B, "none"))
	}
	out.line("%d fields are the same%s", same, unless(got.Note, ""))
	return nil
}

type suggestion struct {
	Project string            `json:"project"`
	File    string            `json:"file,omitempty" jsonschema:"of a definition, new or not; of a code map to change another than the one in use"`
	Text    string            `json:"text,omitempty" jsonschema:"the whole text"`
	Codes   map[string]uint32 `json:"codes,omitempty" jsonschema:"instead of a text: codes by message, for the code map"`
	Why     string            `json:"why"`
}

func (t tools) suggest(ctx context.Context, in suggestion, out *answer) error {
	suggest := api.SuggestBody{Text: in.Text}
	for _, name := range slices.Sorted(maps.Keys(in.Codes)) {
		suggest.Codes = append(suggest.Codes, workspace.GivenCode{Message: name, Code: in.Codes[name]})
	}
	if len(suggest.Codes) == 0 {
		var old api.DefinitionBody
		var refused *api.RefusedError
		switch err := t.get(ctx, "read", &old, "project", in.Project, "file", in.File); {
		case err == nil:
			in.File, suggest.Base = old.File, old.Text
		case !errors.As(err, &refused) || refused.Status != http.StatusNotFound:
			return err
		}
	}
	var got struct {
		ID, File string
		New      bool
	}
	if err := t.post(ctx, "begin-thread", in.Project, api.BeginBody{File: in.File, Text: in.Why, Suggest: &suggest}, &got); err != nil {
		return err
	}
	what := "changes " + got.File
	if got.New {
		what = "makes the file " + got.File
	}
	out.recorded()
	out.line("suggestion %s: it %s when somebody accepts it; people see it under Comments and suggestions", got.ID, what)
	return nil
}
