package publish

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/a-h/templ"

	"wirebench/codec"
	"wirebench/codec/redact"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
	"wirebench/templates"
)

//go:embed site.css
var siteCSS []byte

//go:embed search.js
var searchJS []byte

// Site is a reference of the definitions of a project.
type Site struct {
	Title   string
	Snap    *workspace.Snapshot
	At      time.Time
	Secrets bool // values of fields marked @secret stay in the samples
}

// Bounds of a site.
const (
	maxName    = 120     // bytes of the name of a page
	maxSamples = 50      // of a version
	maxSample  = 1 << 16 // bytes of a sample
	maxWords   = 4000    // bytes of the names of fields by which a message is found
)

// entry is a message with its versions, newest first.
type entry struct {
	name     string // without a version
	file     string
	versions []*schema.Message
}

// Write calls put with each file of the site: its name, with slashes, and its content. It fails if two messages would have the same page.
func (s *Site) Write(put func(name string, data []byte) error) error {
	entries, err := s.entries()
	if err != nil {
		return err
	}
	site := templates.Site{Title: s.Title, Protocol: s.Snap.Dialect.Title, Made: s.At.Format(time.DateOnly), Messages: len(entries)}
	groups := map[string]*templates.SiteGroup{}
	var order []string
	hide := &hiding{Redactor: redact.New(), values: &redact.Values{}}
	if !s.Secrets && s.Snap.HasSecrets() {
		s.collect(entries, hide.values)
		if hide.values.Full() {
			return errors.New("the samples have too many secret values to look for their copies")
		}
		write := put
		put = func(name string, data []byte) error {
			if hide.values.Reads(data) {
				return fmt.Errorf("%s would show a value of a field that is marked %s: take it out of the definition, or out of the names of samples", name, redact.Mark)
			}
			return write(name, data)
		}
	}
	for _, e := range entries {
		page, row := s.message(e, hide)
		page.Site = &site
		if err := putPage(put, "messages/"+e.file, templates.SiteMessagePage(page)); err != nil {
			return err
		}
		where := page.Where
		if groups[where] == nil {
			groups[where] = &templates.SiteGroup{Title: where}
			order = append(order, where)
		}
		groups[where].Messages = append(groups[where].Messages, row)
	}
	slices.Sort(order)
	for _, where := range order {
		site.Groups = append(site.Groups, *groups[where])
	}
	if err := putPage(put, "index.html", templates.SiteIndex(site)); err != nil {
		return err
	}
	if err := put("site.css", siteCSS); err != nil {
		return err
	}
	return put("search.js", searchJS)
}

// hiding replaces secret values and overwrites their copies.
type hiding struct {
	*redact.Redactor
	values *redact.Values
}

// collect adds the secret values of all samples.
func (s *Site) collect(entries []*entry, values *redact.Values) {
	rec, secret := &codec.Record{}, redact.NewWith(nil, values)
	for _, e := range entries {
		for _, m := range e.versions {
			if p, err := s.Snap.Program(m); err == nil && secret.Has(p) {
				for x := range s.samplesOf(m) {
					p.Decode(rec, x.data)
					secret.Bytes(nil, rec)
				}
			}
		}
	}
}

// Suspects returns the fields of samples that look like secrets and are not marked, as MESSAGE.path.
func (s *Site) Suspects() (out []string) {
	entries, err := s.entries()
	if err != nil {
		return nil
	}
	rec, secret := &codec.Record{}, redact.New()
	for _, e := range entries {
		for _, m := range e.versions {
			p, err := s.Snap.Program(m)
			if err != nil {
				continue
			}
			for x := range s.samplesOf(m) {
				p.Decode(rec, x.data)
				for _, l := range rec.AppendLeaves(nil) {
					if l.Role != codec.RoleValue || l.Field == codec.NoField || secret.IsSecret(p, int(l.Field)) {
						continue
					}
					if key := keyOf(p, l.Field); !slices.Contains(out, key) && (redact.SuspectName(p.Fields[l.Field].Name) != "" || redact.SuspectValue(rec, &l) != "") {
						out = append(out, key)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// Check returns why the site cannot be written: two messages would have the same page, a page cannot be named after one, or a secret value would
// be in it.
func (s *Site) Check() error {
	return s.Write(func(string, []byte) error { return nil })
}

func putPage(put func(name string, data []byte) error, name string, c templ.Component) error {
	var out bytes.Buffer
	if err := c.Render(context.Background(), &out); err != nil {
		return err
	}
	return put(name, out.Bytes())
}

// entries returns the messages by name.
func (s *Site) entries() ([]*entry, error) {
	type key struct {
		name, group string
		dir         schema.Dir
	}
	byKey, pages := map[key]*entry{}, map[string]string{}
	var all []*entry
	for m := range s.Snap.Messages() {
		k := key{m.Name, m.Key.Group, m.Key.Dir}
		e := byKey[k]
		if e == nil {
			e = &entry{name: s.plain(m)}
			if e.file = pageName(e.name); e.file == "" {
				return nil, fmt.Errorf("a page cannot be named after the message %q", e.name)
			}
			// File systems that ignore case would have one page for both.
			if other, ok := pages[strings.ToLower(e.file)]; ok {
				return nil, fmt.Errorf("the messages %q and %q would have the same page, %s", other, e.name, e.file)
			}
			pages[strings.ToLower(e.file)] = e.name
			byKey[k] = e
			all = append(all, e)
		}
		e.versions = append(e.versions, m)
	}
	for _, e := range all {
		slices.SortStableFunc(e.versions, func(a, b *schema.Message) int { return cmp.Compare(b.Version, a.Version) })
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// plain is the name of a message without its version.
func (s *Site) plain(m *schema.Message) string {
	name := s.Snap.NameOf(m)
	if s.Snap.Dialect.Versions {
		name = strings.TrimSuffix(name, fmt.Sprintf(".%d", m.Version))
	}
	return name
}

// pageName is the name of the page of a message, "" if there is none. It has no characters that file systems or addresses treat specially.
func pageName(message string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '-'
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.'):
			return r
		}
		return '_'
	}, message)
	name = strings.TrimLeft(name, ".-")
	if name == "" || len(name) > maxName || reserved(name) {
		return ""
	}
	return name + ".html"
}

// reserved reports whether Windows does not have files of that name.
func reserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if base == "CON" || base == "PRN" || base == "AUX" || base == "NUL" {
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && base[3] >= '1' && base[3] <= '9'
}

// message returns the page of a message, and its row in the index.
func (s *Site) message(e *entry, secret *hiding) (templates.SiteMessage, templates.SiteRow) {
	newest := e.versions[0]
	page := templates.SiteMessage{Name: e.name, Where: whereOf(newest)}
	row := templates.SiteRow{Name: e.name, File: e.file}
	if newest.HasKey {
		page.Code = fmt.Sprintf("%d (0x%04X)", newest.Key.Code, newest.Key.Code)
		row.Code = page.Code
	}
	var words strings.Builder
	for i, m := range e.versions {
		v := templates.SiteVersion{Title: "Definition", ID: "definition", File: path.Base(m.Span.File.Name), Doc: m.Doc, Broken: m.Broken, Text: textOf(s.Snap, m)}
		if s.Snap.Dialect.Versions {
			v.Title, v.ID = fmt.Sprintf("Version %d", m.Version), fmt.Sprintf("v%d", m.Version)
		}
		if row.Doc == "" {
			row.Doc, _, _ = strings.Cut(strings.TrimSpace(m.Doc), "\n")
		}
		if p, err := s.Snap.Program(m); err == nil {
			l := view.Layout(p)
			v.Layout, v.SVG = &l, templates.LayoutSVG(e.name, &l)
			for _, r := range l.Rows {
				if i == 0 && words.Len() < maxWords {
					words.WriteString(r.Path + " ")
				}
			}
			if i == 0 {
				row.Size = l.Summary()
			}
			if i+1 < len(e.versions) {
				if before, err := s.Snap.Program(e.versions[i+1]); err == nil {
					c := view.ComparePrograms(before, p)
					v.Since, v.Before = &c, fmt.Sprintf("version %d", e.versions[i+1].Version)
					v.Kept, _ = c.Compat()
				}
			}
			v.Samples = s.samples(m, p, secret)
		}
		row.Samples += len(v.Samples)
		page.Versions = append(page.Versions, v)
	}
	row.Words = words.String()
	if s.Snap.Dialect.Versions {
		numbers := make([]string, len(e.versions))
		for i, m := range e.versions {
			numbers[i] = fmt.Sprint(m.Version)
		}
		row.Versions = strings.Join(numbers, ", ")
	}
	return page, row
}

// whereOf is the direction and the group of a message.
func whereOf(m *schema.Message) string {
	where := map[schema.Dir]string{schema.ToServer: "Client to server", schema.ToClient: "Server to client"}[m.Key.Dir]
	if where == "" {
		where = "Both directions"
	}
	if m.Key.Group != "" {
		where += ", group " + m.Key.Group
	}
	return where
}

// textOf is the text of a message: its file, or its part of a file with several.
func textOf(snap *workspace.Snapshot, m *schema.Message) string {
	beside := snap.Beside(m)
	text := m.Span.File.Text
	if len(beside) < 2 {
		return text
	}
	from, to := paragraph(text, m.Span.Start), len(text)
	for _, other := range beside {
		if at := paragraph(text, other.Span.Start); at > from && at < to {
			to = at
		}
	}
	return strings.TrimSpace(text[from:to]) + "\n"
}

// paragraph is the start of the lines around a place, up to an empty one: comments are above what they describe.
func paragraph(text string, at int) int {
	for at > 0 {
		line := strings.LastIndexByte(text[:at], '\n') + 1
		if line == 0 || line != at && strings.TrimSpace(text[line:at]) == "" && at < len(text) && text[at] == '\n' {
			return line
		}
		before := strings.LastIndexByte(text[:line-1], '\n') + 1
		if strings.TrimSpace(text[before:line]) == "" {
			return line
		}
		at = line - 1
	}
	return 0
}

// sample is a stored message of a definition.
type sample struct {
	about string
	data  []byte
}

// samplesOf yields the samples of a message that a page has.
func (s *Site) samplesOf(m *schema.Message) iter.Seq[sample] {
	return func(yield func(sample) bool) {
		name, n := s.Snap.NameOf(m), 0
		for _, x := range s.Snap.Samples(m.Span.File.Name) {
			data, err := hex.DecodeString(x.Hex)
			if err != nil || x.Message != name || len(data) > maxSample {
				continue
			}
			if n++; n > maxSamples || !yield(sample{x.About, data}) {
				return
			}
		}
	}
}

// samples decodes the samples of a message.
func (s *Site) samples(m *schema.Message, p *codec.Program, secret *hiding) (out []templates.SiteSample) {
	rec := &codec.Record{}
	for x := range s.samplesOf(m) {
		p.Decode(rec, x.data)
		if !s.Secrets {
			x.data, _ = secret.Bytes(nil, rec)
			p.Decode(rec, x.data)
			x.data, _ = secret.values.EraseIn(nil, rec)
			p.Decode(rec, x.data)
			if secret.values.In([]byte(x.about)) {
				x.about = "(a replaced value was in this text)"
			}
		}
		out = append(out, templates.SiteSample{About: x.about, Data: x.data, Result: view.Of(rec, true)})
	}
	return out
}
