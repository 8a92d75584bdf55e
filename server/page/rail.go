package page

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Bounds of the list of messages.
const (
	maxRailed    = 3000 // names with a definition
	maxUndefined = 300  // names without one
	maxRailNotes = 50
)

// rail fills the list of messages, grouped by direction, with one entry per name.
func (p *work) rail() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	r.Filter, r.Count = p.form.filter, snap.Count()
	r.State = snap.ID
	open := p.view.Message
	if p.live { // the script marks the open one and filters the list
		open, r.Filter = "", ""
		if p.railed == snap.ID {
			return // unchanged
		}
		p.railed = snap.ID
	}
	r.Drawn = true
	r.Ext = snap.Dialect.Ext
	r.Versions, r.Codes = snap.Dialect.Versions, snap.Dialect.Codes != nil
	r.MapName = snap.CodeMap
	chosen := p.ws.UserSettings().Options
	for _, o := range snap.Dialect.Options {
		r.Options = append(r.Options, templates.Option{Name: o.Name, Title: o.Title, Doc: o.Doc, Choices: o.Choices(), Value: chosen[o.Name]})
	}
	for _, m := range snap.Library.Maps {
		r.Maps = append(r.Maps, m.Name)
	}
	r.Names, r.SaveTyped = len(snap.Options.Codes), p.ws.UserSettings().SaveTyped
	if snap.Dialect.Constants != nil {
		r.Constants = &templates.Constants{Text: constantsText(p.ws.UserSettings().Constants), Missing: missingConstants(snap)}
	}
	worst := newWorst(snap)
	sampled := map[*schema.Message]bool{}
	for _, name := range snap.SampledFiles() {
		for _, x := range snap.Samples(name) {
			if m, err := snap.Find(x.Message); err == nil && m.Span.File.Name == name {
				sampled[m] = true
			}
		}
	}
	type set struct {
		group string
		dir   schema.Dir
	}
	groups := map[set]*templates.Group{}
	wanted := strings.Fields(strings.ToLower(r.Filter))
	listed := 0
	for _, versions := range byName(snap.Schema().Messages) {
		m := versions[0]
		if !workspace.HasWords(strings.ToLower(m.Name), wanted) {
			continue
		}
		if listed++; listed > maxRailed {
			r.More++
			continue
		}
		it := templates.Item{Name: m.Name, State: "ok", Unmapped: snap.CodeMap != "" && !m.HasKey}
		if m.HasKey {
			it.Code = codeText(m.Key.Code, snap.Dialect.Versions)
		}
		if len(worst.starts[m.Span.File]) > 1 {
			it.File = m.Span.File.Name
		}
		for _, v := range versions {
			full := snap.NameOf(v)
			x := templates.ItemVersion{Number: v.Version, Href: templates.ProjectPath(p.ws.Name, "definitions", full), Current: open == full, Sampled: sampled[v]}
			if s, ok := worst.of(v); ok {
				x.State = s.String()
				if it.State != "error" {
					it.State = x.State
				}
			}
			it.Current = it.Current || x.Current
			it.Versions = append(it.Versions, x)
		}
		g := groups[set{m.Key.Group, m.Key.Dir}]
		if g == nil {
			g = &templates.Group{Title: setTitle(m.Key.Group, m.Key.Dir)}
			groups[set{m.Key.Group, m.Key.Dir}] = g
		}
		g.Items = append(g.Items, it)
	}
	names := snap.Groups()
	if !slices.Contains(names, "") {
		names = append(names, "") // messages without a code have no group
	}
	for _, group := range names {
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient, schema.Both} {
			if g := groups[set{group, dir}]; g != nil {
				r.Groups = append(r.Groups, *g)
				delete(groups, set{group, dir})
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b set) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.dir, b.dir)) }) {
		r.Groups = append(r.Groups, *groups[key]) // groups without codes
	}
	p.railEnvelopes()
	p.undefined(wanted)
	p.railNotes()
}

// constantsText formats constants, one per line.
func constantsText(all map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s = %s\n", name, all[name])
	}
	return b.String()
}

// missingConstants returns the constants that definitions use and that have no value.
func missingConstants(snap *workspace.Snapshot) []string {
	found, seen := map[string]bool{}, map[*schema.Struct]bool{}
	limits := func(list ...*schema.Limit) {
		for _, l := range list {
			if l != nil && l.Const != "" {
				found[l.Const] = true
			}
		}
	}
	var walk func(s *schema.Struct)
	walk = func(s *schema.Struct) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.Fields {
			switch t := f.Type.(type) {
			case *schema.Number:
				limits(t.Min, t.Max)
			case *schema.Text:
				limits(t.Min, t.Max)
			case *schema.Blob:
				limits(t.Min, t.Max)
			case *schema.List:
				limits(t.Min, t.Max)
			}
			for _, in := range schema.Bodies(f.Type) {
				walk(in)
			}
		}
		for _, v := range s.Variants {
			walk(v.Body)
		}
	}
	for m := range snap.Messages() {
		walk(m.Body)
	}
	return slices.Sorted(maps.Keys(found))
}

// setTitle returns the heading of the messages of a group and a direction.
func setTitle(group string, dir schema.Dir) string {
	way := map[schema.Dir]string{schema.ToServer: "Client → server", schema.ToClient: "Server → client", schema.Both: "Both ways"}[dir]
	switch {
	case group == "":
		return way
	case dir == schema.Both:
		return group
	}
	return group + " · " + way
}

// codeText formats the code of a message in the width of the dialect.
func codeText(code uint32, wide bool) string {
	if wide || code > 0xFF {
		return fmt.Sprintf("0x%04X", code)
	}
	return fmt.Sprintf("0x%02X", code)
}

// worst finds the most severe diagnostic of each message: of its file, or, in a file with several messages, of its part.
type worst struct {
	byFile map[string]diag.Severity
	lines  map[*source.File][]diag.Diagnostic // for files with several messages
	starts map[*source.File][]int             // first lines of these messages
}

func newWorst(snap *workspace.Snapshot) *worst {
	w := &worst{map[string]diag.Severity{}, map[*source.File][]diag.Diagnostic{}, map[*source.File][]int{}}
	if !snap.Dialect.Versions {
		for m := range snap.Messages() {
			w.starts[m.Span.File] = append(w.starts[m.Span.File], m.Span.Start)
		}
	}
	for _, d := range snap.Diagnostics() {
		f := d.Span.File
		if f == nil {
			continue
		}
		if len(w.starts[f]) > 1 {
			w.lines[f] = append(w.lines[f], d)
		}
		if old, ok := w.byFile[f.Name]; !ok || d.Severity < old {
			w.byFile[f.Name] = d.Severity
		}
	}
	return w
}

func (w *worst) of(m *schema.Message) (diag.Severity, bool) {
	f := m.Span.File
	if len(w.starts[f]) < 2 {
		s, ok := w.byFile[f.Name]
		return s, ok
	}
	end := len(f.Text) + 1
	for _, start := range w.starts[f] {
		if start > m.Span.Start {
			end = min(end, start)
		}
	}
	found, any := diag.Severity(0), false
	for _, d := range w.lines[f] {
		if d.Span.Start >= m.Span.Start && d.Span.Start < end && (!any || d.Severity < found) {
			found, any = d.Severity, true
		}
	}
	return found, any
}

// byName groups the versions of each message, newest first, sorted by name.
func byName(all []*schema.Message) [][]*schema.Message {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Key.Group, b.Key.Group), cmp.Compare(a.Key.Dir, b.Key.Dir), cmp.Compare(b.Version, a.Version))
	})
	var out [][]*schema.Message
	for i, m := range list {
		if i > 0 && list[i-1].Name == m.Name && list[i-1].Key.Group == m.Key.Group && list[i-1].Key.Dir == m.Key.Dir {
			out[len(out)-1] = append(out[len(out)-1], m)
		} else {
			out = append(out, []*schema.Message{m})
		}
	}
	return out
}

// undefined lists the names of the code map that have no definition.
func (p *work) undefined(wanted []string) {
	r, snap := &p.view.Rail, p.ws.Snapshot
	defined := make(map[string]bool, snap.Count())
	for m := range snap.Messages() {
		defined[m.Name] = true
	}
	var names []string
	for name := range snap.Options.Codes {
		if !defined[name] && workspace.HasWords(strings.ToLower(name), wanted) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	r.UndefinedCount = len(names)
	for _, name := range names[:min(len(names), maxUndefined)] {
		r.Undefined = append(r.Undefined, templates.Undefined{Name: name, Code: fmt.Sprintf("0x%04X", snap.Options.Codes[name]), Href: templates.ProjectPath(p.ws.Name, "definitions") + "?" + url.Values{"new": {snap.FirstVersion(name)}}.Encode()})
	}
}

// railNotes adds notes on the library as a whole: its maps, and skipped files.
func (p *work) railNotes() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	note := func(text string) {
		if r.NoteCount++; len(r.Notes) < maxRailNotes {
			r.Notes = append(r.Notes, text)
		}
	}
	if why := snap.Library.Outdated; why != "" {
		note("The folder cannot be read, and changes in it are not shown: " + why)
	}
	for _, m := range slices.Concat(snap.Library.Maps, snap.Library.Envelopes, snap.Library.Valid) {
		for _, d := range snap.DiagnosticsOf(m) {
			note(d.String())
		}
	}
	if n := len(snap.Library.Maps); n > 1 && snap.CodeMap == "" {
		note(fmt.Sprintf("%d code maps: choose the one for your version of the game", n))
	}
	if chosen := p.ws.UserSettings().Map; chosen != "" && snap.CodeMap != chosen {
		note("the chosen code map " + chosen + " no longer exists")
	}
	for _, s := range snap.Library.Skipped {
		note(s)
	}
}
