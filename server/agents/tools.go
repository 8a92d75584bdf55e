package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/server/api"
	"wirebench/server/scores"
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

type inProject struct {
	Project string `json:"project" jsonschema:"name"`
}

func (t tools) project(ctx context.Context, in inProject, out *answer) error {
	var of struct {
		Title, Dialect, Map string
		Maps                []string
	}
	var defs struct {
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
		t.get(ctx, "workspace", &of, "project", in.Project), t.get(ctx, "definitions", &defs, "project", in.Project),
		t.get(ctx, "captures", &caps, "project", in.Project, "brief", "true"), t.get(ctx, "threads", &threads, "project", in.Project),
	); err != nil {
		return err
	}
	out.more = "search finds definitions by words"
	out.recorded()
	out.line("%s: language %s, code map %s", of.Title, of.Dialect, cmp.Or(of.Map, "none"))
	for _, c := range caps.Captures {
		out.line("capture %s: %s, %d bytes", c.ID, c.Name, c.Size)
	}
	for _, x := range threads.Threads {
		if x.Suggestion != nil {
			out.line("suggestion %s for %s, by %s", x.ID, x.File, x.By)
		}
	}
	for _, d := range defs.Definitions {
		if d.Older {
			continue
		}
		mistakes := ""
		if d.Errors+d.Warnings > 0 {
			mistakes = fmt.Sprintf("; %d errors, %d warnings", d.Errors, d.Warnings)
		}
		out.line("definition %s: %s %s%s", d.File, strings.Join(d.Messages, " "), d.Code, mistakes)
	}
	return nil
}

type words struct {
	Project string `json:"project"`
	Words   string `json:"words"`
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
	File    string `json:"file" jsonschema:"its name, or the name of its message"`
	From    int    `json:"from,omitempty" jsonschema:"first line, from 1"`
}

func (t tools) read(ctx context.Context, in aFile, out *answer) error {
	var got api.DefinitionBody
	if err := t.get(ctx, "read", &got, "project", in.Project, "file", in.File); err != nil {
		return err
	}
	out.more = "give from"
	out.line("%s, %d bytes", got.File, len(got.Text))
	out.mistakes(got.Diagnostics)
	out.recorded()
	n := 0
	for line := range strings.Lines(got.Text) {
		if n++; n >= in.From {
			out.line("%s", strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
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

func (t tools) types(ctx context.Context, in inCapture, out *answer) error {
	var got struct {
		Total int
		Rows  []struct {
			Type, Name, Dir, Kind string
			Ver, Code             *int
			Count, Min, Max, Bad  int
			Defined               bool
		}
	}
	if err := t.get(ctx, "types", &got, "project", in.Project, "id", in.Capture, "filter", in.Filter); err != nil {
		return err
	}
	out.more = "give a filter"
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
			more += ", no definition"
		}
		out.line("%s: %s %s, %d times, %d to %d bytes%s%s", r.Type, r.Dir, r.Kind, r.Count, r.Min, r.Max, code, more)
	}
	return nil
}

type someFrames struct {
	inCapture
	From  int  `json:"from,omitempty" jsonschema:"number of the first frame"`
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
	out.more = "give from, a smaller count or a filter"
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

func (t tools) layout(ctx context.Context, in aMessage, out *answer) error {
	var got struct {
		view.LayoutInfo
		Diagnostics []diag.Info
	}
	if err := t.post(ctx, "layout", in.Project, given(map[string]any{"message": in.Message, "text": in.Text}), &got); err != nil {
		return err
	}
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

func (t tools) score(ctx context.Context, in aMessage, out *answer) error {
	var got scores.Score
	if err := t.post(ctx, "score", in.Project, given(map[string]any{"message": in.Message, "text": in.Text}), &got); err != nil {
		return err
	}
	out.line("%s: %d messages judged of %d, %d clean, %d with bytes left over, %d too short, %d that differ when encoded, %d doubtful", got.Message, got.Frames, got.Of, got.Clean, got.Leftover, got.Over, got.Differ, got.Doubtful)
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
	Project string `json:"project"`
	File    string `json:"file"`
	Text    string `json:"text" jsonschema:"the whole text"`
	Why     string `json:"why"`
}

func (t tools) suggest(ctx context.Context, in suggestion, out *answer) error {
	var old api.DefinitionBody
	if err := t.get(ctx, "read", &old, "project", in.Project, "file", in.File); err != nil {
		return err
	}
	var got struct{ ID string }
	body := map[string]any{"file": old.File, "text": in.Why, "suggest": map[string]string{"base": old.Text, "text": in.Text}}
	if err := t.post(ctx, "begin-thread", in.Project, body, &got); err != nil {
		return err
	}
	out.line("suggestion %s: people see it beside the definition, and accept or decline it", got.ID)
	return nil
}
