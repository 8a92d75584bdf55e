package api

import (
	"context"
	"strings"
	"unicode/utf8"

	"wirebench/codec/filter"
	"wirebench/server/admit"
)

type filterInput struct {
	Workspace string `path:"project"`
	Body      struct {
		Text    string `json:"text" doc:"the filter"`
		Caret   *int   `json:"caret,omitempty" minimum:"0" doc:"where to complete; default: nowhere"`
		Capture string `json:"capture,omitempty" maxLength:"100" doc:"id of a capture, whose settings apply"`
		Draft   *struct {
			Name string `json:"name" maxLength:"1000" doc:"NAME or NAME.VERSION"`
			Text string `json:"text" maxLength:"1048576"`
		} `json:"draft,omitempty" doc:"an unsaved definition, used instead of the stored one"`
	}
}

type filterOutput struct{ Body FilterInfo }

// FilterInfo describes a filter. Its offsets are in UTF-16 code units, as in JavaScript.
type FilterInfo struct {
	OK          bool              `json:"ok"`
	Mistakes    []filterMistake   `json:"mistakes" doc:"in text order"`
	Rewritten   string            `json:"rewritten" doc:"the long form of an abbreviated filter"`
	Translated  string            `json:"translated" doc:"the filter in the words of this language, if it has those of another program; put it in the place of the text"`
	Explain     string            `json:"explain" doc:"remarks on semantics that may surprise, in sentences"`
	Widened     []string          `json:"widened" doc:"parts that find more than in version 1 of the language, in sentences: for filters that were stored then"`
	Completions filterCompletions `json:"completions"`
}

type filterMistake struct {
	Start   int    `json:"start" doc:"UTF-16 code units of the text, counted from 0"`
	End     int    `json:"end" doc:"exclusive"`
	Message string `json:"message"`
	Help    string `json:"help" doc:"what to write instead"`
}

type filterCompletions struct {
	Start int            `json:"start" doc:"UTF-16 code units of the text, counted from 0"`
	End   int            `json:"end" doc:"end of the text that an item replaces, exclusive"`
	Path  string         `json:"path" doc:"the field compared here, so that its observed values can be offered"`
	Items []filterOption `json:"items"`
}

type filterOption struct {
	Text  string `json:"text" doc:"replaces the text from start to end"`
	Label string `json:"label" doc:"shown in the list"`
	Kind  string `json:"kind" enum:"frame,message,group,field,value,function,operator,word" doc:"what it is"`
	Doc   string `json:"doc" doc:"one line"`
}

// checkFilter explains, checks and completes a filter. A filter with mistakes is not an error: it may be half typed.
func (s *API) checkFilter(ctx context.Context, in *filterInput) (*filterOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	snap := ws.Snapshot
	if in.Body.Capture != "" {
		at, _, err := s.captureAt(CapturePath{in.Workspace, in.Body.Capture})
		if err != nil {
			return nil, err
		}
		snap = at.Snapshot
	}
	if d := in.Body.Draft; d != nil {
		if err := admitted(ctx, admit.Layout, len(d.Text), admit.PerCompiled); err != nil {
			return nil, err
		}
		if snap, err = snap.WithDraft(d.Name, d.Text); err != nil {
			return nil, asHTTP(err)
		}
	}
	out := &filterOutput{}
	b, text := &out.Body, in.Body.Text
	f, mistakes := snap.Filter(text)
	b.OK, b.Rewritten, b.Translated, b.Explain = len(mistakes) == 0, f.Rewritten(), f.Translated(), f.Explain()
	b.Widened = append([]string{}, f.Widened()...)
	b.Mistakes = make([]filterMistake, 0, len(mistakes))
	for _, m := range mistakes {
		b.Mistakes = append(b.Mistakes, filterMistake{unitsOf(text, m.Start), unitsOf(text, m.End), m.Message, m.Help})
	}
	b.Completions.Items = []filterOption{}
	if in.Body.Caret != nil {
		b.Completions = completions(text, byteOf(text, *in.Body.Caret), snap.FilterEnv())
	}
	return out, nil
}

// completions returns the possible continuations at a byte of a filter.
func completions(text string, caret int, env filter.Env) filterCompletions {
	start, options := filter.Complete(text, caret, env)
	path, from := filter.Compared(text, caret)
	if path != "" && len(options) == 0 {
		start = from
	}
	out := filterCompletions{
		Start: unitsOf(text, start), End: unitsOf(text, wordEnd(text, start, caret)), Path: path,
		Items: make([]filterOption, 0, len(options)),
	}
	for _, o := range options {
		out.Items = append(out.Items, filterOption{o.Text, labelOf(o), o.Kind, o.Doc})
	}
	return out
}

// wordEnd returns the end of the word at the caret, which is replaced as a whole; a string literal ends after its closing quote.
func wordEnd(text string, start, caret int) int {
	if start == caret {
		return caret
	}
	end := caret
	for end < len(text) && (text[end] >= 0x80 || text[end] == '_' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	if text[start] == '"' {
		if end < len(text) && text[end] == '"' {
			return end + 1
		}
		return caret
	}
	return end
}

// labelOf returns an option without the path that is already typed.
func labelOf(o filter.Option) string {
	switch o.Kind {
	case "function":
		return o.Text + "…)"
	case "field":
		if i := strings.LastIndexByte(o.Text, '.'); i > 0 {
			return o.Text[i+1:]
		}
	}
	return o.Text
}

// unitsOf converts a byte offset to UTF-16 code units.
func unitsOf(text string, at int) int {
	n := 0
	for _, c := range text[:min(max(at, 0), len(text))] {
		n++
		if c > 0xffff {
			n++
		}
	}
	return n
}

// byteOf converts an offset in UTF-16 code units to bytes; offsets past the end give the end.
func byteOf(text string, units int) int {
	for i, c := range text {
		if units <= 0 {
			return i
		}
		units--
		if c > 0xffff {
			units--
			if units < 0 {
				return i + utf8.RuneLen(c) // inside a surrogate pair
			}
		}
	}
	return len(text)
}
