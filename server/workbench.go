package server

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"wirebench/templates"
)

// pageForm is what a person asks of the workbench page, as its controls send it.
type pageForm struct {
	action     string // of the button: decode, layout, encode, bytes, rows, show, values, stored
	number     int    // that belongs to the action: "rows:1000"
	message    string // NAME.VERSION of the open definition
	filter     string // of the list of messages
	definition string // its text, perhaps edited
	input      string // bytes in any form
	form       string // to read them as, "" = guess
	byCode     bool   // decode by the code that each message carries, not by the open definition
	value      string // JSON to encode
	made       string // what the page had put into value, as sumOf says it
	code       string // of the message to encode, "" = as the definition has it
	show       int    // which of several messages is open, from 0
	bytes      int    // first byte drawn
	rows       int    // first row of the tree drawn
	sample     bool   // a sample was chosen
}

// workbench draws the page of a workspace: plainly by its address, or what a form asks for. It keeps what was typed.
func (s *server) workbench(w http.ResponseWriter, r *http.Request) {
	ws := s.byName[chi.URLParam(r, "ws")]
	if ws == nil {
		s.notFound(w, r)
		return
	}
	view := templates.Workbench{Frame: s.frame("Wirebench: "+ws.Title, ws.Name)}
	if r.Method != http.MethodPost {
		ws.fill(&view, ws.addressForm(r.URL.Query()))
		s.render(w, r, http.StatusOK, templates.WorkbenchPage(view))
		return
	}
	status := http.StatusOK
	if err := r.ParseForm(); err != nil {
		var big *http.MaxBytesError
		status, view.Notice = http.StatusBadRequest, "The form could not be read: "+err.Error()+"."
		if errors.As(err, &big) {
			status, view.Notice = http.StatusRequestEntityTooLarge, fmt.Sprintf("That is more than %d bytes.", maxDecodeBody)
		}
		r.PostForm = url.Values{}
	}
	ws.fill(&view, postedForm(r.PostForm))
	s.render(w, r, status, templates.WorkbenchPage(view))
}

// postedForm reads what the page's form sends.
func postedForm(q url.Values) pageForm {
	f := pageForm{
		message: q.Get("message"), definition: unixLines(q.Get("definition")),
		input: unixLines(q.Get("input")), form: q.Get("form"), byCode: q.Get("bycode") != "",
		value: unixLines(q.Get("value")), made: q.Get("made"), code: strings.TrimSpace(q.Get("code")),
	}
	name, number, _ := strings.Cut(q.Get("action"), ":")
	f.action, f.number = name, atLeast0(number)
	switch f.action { // other actions begin anew
	case "encode":
		f.show = atLeast0(q.Get("show"))
	case "show":
		f.show = f.number
	case "bytes":
		f.show, f.bytes, f.rows = atLeast0(q.Get("show")), f.number, atLeast0(q.Get("rows"))
	case "rows":
		f.show, f.bytes, f.rows = atLeast0(q.Get("show")), atLeast0(q.Get("bytes")), f.number
	}
	return f
}

// atLeast0 reads a number that pages write; anything else is 0.
func atLeast0(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// unixLines undoes what browsers do to the text of forms.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// addressForm is what an address asks for: a sample, or a message and, if there is one, a sample of it. An address that asks for
// nothing gets the first sample.
func (ws *Workspace) addressForm(q url.Values) pageForm {
	f := pageForm{action: "decode", message: q.Get("message"), filter: q.Get("filter")}
	if f.message == "" && f.filter == "" && len(ws.Samples) > 0 {
		i, err := strconv.Atoi(q.Get("sample"))
		if f.sample = err == nil && i >= 0 && i < len(ws.Samples); !f.sample {
			i = 0
		}
		f.message, f.input = ws.Samples[i].Message, ws.Samples[i].Hex
		return f
	}
	if m, err := ws.Snapshot.Find(f.message); err == nil && f.message != "" {
		for _, sample := range ws.Samples {
			if of, err := ws.Snapshot.Find(sample.Message); err == nil && of == m {
				f.input = sample.Hex
				break
			}
		}
	}
	return f
}

// sumOf tells whether a text is still what the page had put there.
func sumOf(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}

// address is the page with one thing asked for.
func (ws *Workspace) address(key, value string) string {
	return "/w/" + url.PathEscape(ws.Name) + "?" + url.Values{key: {value}}.Encode()
}
