package api

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/filter"
	"wirebench/server/admit"
)

func (s *API) registerFilters(api huma.API) {
	add(api, "POST /api/{ws}/filter", "filter", "Say what a filter means, what is wrong with it and how it may go on", s.checkFilter, small, status(400, 413, 422))
}

type filterInput struct {
	Workspace string `path:"ws"`
	Body      struct {
		Text  string `json:"text" doc:"the filter"`
		Caret *int   `json:"caret,omitempty" minimum:"0" doc:"where something is to be completed; without it nothing is"`
		Draft *struct {
			Name string `json:"name" maxLength:"1000" doc:"NAME or NAME.VERSION"`
			Text string `json:"text" maxLength:"1048576"`
		} `json:"draft,omitempty" doc:"a definition that is not stored yet, to be used in the place of the stored one"`
	}
}

type filterOutput struct{ Body FilterInfo }

// FilterInfo is what a filter means. Its places are UTF-16 code units of the text, as scripts in a browser count.
type FilterInfo struct {
	OK          bool              `json:"ok"`
	Mistakes    []filterMistake   `json:"mistakes" doc:"in the order of the text"`
	Rewritten   string            `json:"rewritten" doc:"what it stands for, if it is written in short"`
	Explain     string            `json:"explain" doc:"what may surprise in it, in sentences"`
	Completions filterCompletions `json:"completions"`
}

type filterMistake struct {
	Start   int    `json:"start" doc:"UTF-16 code units of the text, counted from 0"`
	End     int    `json:"end" doc:"the first one after it"`
	Message string `json:"message"`
	Help    string `json:"help" doc:"what to write instead"`
}

type filterCompletions struct {
	Start int            `json:"start" doc:"UTF-16 code units of the text, counted from 0"`
	End   int            `json:"end" doc:"the first one after what an item replaces"`
	Path  string         `json:"path" doc:"what is compared with the value here, so that values which were seen of it can be offered"`
	Items []filterOption `json:"items"`
}

type filterOption struct {
	Text  string `json:"text" doc:"replaces what was written so far"`
	Label string `json:"label" doc:"how it is shown"`
	Kind  string `json:"kind" enum:"frame,message,group,field,value,function,operator,word" doc:"what it is"`
	Doc   string `json:"doc" doc:"one line"`
}

// checkFilter says whether a filter is one, what it means and what may be written next. A filter with mistakes is no error: it is what
// a person has typed half of.
func (s *API) checkFilter(ctx context.Context, in *filterInput) (*filterOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	snap := ws.Snapshot
	if d := in.Body.Draft; d != nil {
		if err := admitted(ctx, admit.Layout, len(d.Text), admit.PerCompiled); err != nil {
			return nil, err
		}
		if snap, err = ws.Snapshot.WithDraft(d.Name, d.Text); err != nil {
			return nil, asHTTP(err)
		}
	}
	out := &filterOutput{}
	b, text := &out.Body, in.Body.Text
	f, mistakes := snap.Filter(text)
	b.OK, b.Rewritten, b.Explain = len(mistakes) == 0, f.Rewritten(), f.Explain()
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

// completions are what may stand at a byte of a filter.
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

// wordEnd is where the word ends in which the caret stands: it is replaced as a whole, and a text with its closing quote.
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

// labelOf is an option without the path that is written already.
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

// unitsOf is a byte of a text as UTF-16 code units.
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

// byteOf is the byte of a text at which a UTF-16 code unit starts; the end for what is behind it.
func byteOf(text string, units int) int {
	for i, c := range text {
		if units <= 0 {
			return i
		}
		units--
		if c > 0xffff {
			units--
			if units < 0 {
				return i + utf8.RuneLen(c) // in the middle of a pair
			}
		}
	}
	return len(text)
}
