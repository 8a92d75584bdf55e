package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/templates"
)

// Bounds of the list of messages.
const (
	maxRailed    = 3000 // names with a definition
	maxUndefined = 300  // names without one
	maxRailNotes = 50
)

// rail fills the list of messages, grouped by direction, one entry a name.
func (p *pageWork) rail() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	r.Filter, r.Count = p.form.filter, len(snap.Schema.Messages)
	r.State = snap.ID
	open := p.view.Message
	if p.live { // the page marks the open one by itself, and narrows the list
		open, r.Filter = "", ""
		if p.railed == snap.ID {
			return // as it was drawn before
		}
		p.railed = snap.ID
	}
	r.Drawn = true
	r.MapName, r.Patch = snap.CodeMap, p.ws.UserSettings().Patch
	for _, m := range snap.Library.Maps {
		r.Maps = append(r.Maps, m.Name)
	}
	r.Names = len(snap.Options.Codes)
	worst := worstByFile(snap.Diagnostics)
	sampled := map[string]bool{}
	for _, name := range snap.SampledFiles() {
		sampled[name] = true
	}
	groups := map[schema.Dir]*templates.Group{
		schema.ToServer: {Title: "Client → server"}, schema.ToClient: {Title: "Server → client"}, schema.Both: {Title: "Both ways"},
	}
	wanted := strings.Fields(strings.ToLower(r.Filter))
	listed := 0
	for _, versions := range byName(snap.Schema.Messages) {
		m := versions[0]
		if !containsAll(strings.ToLower(m.Name), wanted) {
			continue
		}
		if listed++; listed > maxRailed {
			r.More++
			continue
		}
		it := templates.Item{Name: m.Name, State: "ok", Unmapped: snap.CodeMap != "" && !m.HasKey}
		if m.HasKey {
			it.Code = fmt.Sprintf("0x%04X", m.Key.Code)
		}
		for _, v := range versions {
			full := fullName(v.Name, v.Version)
			x := templates.ItemVersion{Number: v.Version, Href: p.ws.address("message", full), Current: open == full, Sampled: sampled[v.Span.File.Name]}
			if s, ok := worst[v.Span.File.Name]; ok {
				x.State = s.String()
				if it.State != "error" {
					it.State = x.State
				}
			}
			it.Current = it.Current || x.Current
			it.Versions = append(it.Versions, x)
		}
		g := groups[m.Key.Dir]
		g.Items = append(g.Items, it)
	}
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient, schema.Both} {
		if g := groups[dir]; len(g.Items) > 0 {
			r.Groups = append(r.Groups, *g)
		}
	}
	p.undefined(wanted)
	p.railNotes()
}

// worstByFile is the worst diagnostic of each file that has any.
func worstByFile(list diag.List) map[string]diag.Severity {
	worst := map[string]diag.Severity{}
	for _, d := range list {
		if f := d.Span.File; f != nil {
			if old, ok := worst[f.Name]; !ok || d.Severity < old {
				worst[f.Name] = d.Severity
			}
		}
	}
	return worst
}

// byName puts the versions of a message together, the newest first, in the order of names.
func byName(all []*schema.Message) [][]*schema.Message {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Key.Group, b.Key.Group), cmp.Compare(b.Version, a.Version))
	})
	var out [][]*schema.Message
	for i, m := range list {
		if i > 0 && list[i-1].Name == m.Name && list[i-1].Key.Group == m.Key.Group {
			out[len(out)-1] = append(out[len(out)-1], m)
		} else {
			out = append(out, []*schema.Message{m})
		}
	}
	return out
}

// undefined lists the names of the code map that have no definition.
func (p *pageWork) undefined(wanted []string) {
	r, snap := &p.view.Rail, p.ws.Snapshot
	defined := make(map[string]bool, len(snap.Schema.Messages))
	for _, m := range snap.Schema.Messages {
		defined[m.Name] = true
	}
	var names []string
	for name := range snap.Options.Codes {
		if !defined[name] && containsAll(strings.ToLower(name), wanted) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	r.UndefinedCount = len(names)
	for _, name := range names[:min(len(names), maxUndefined)] {
		r.Undefined = append(r.Undefined, templates.Undefined{Name: name, Code: fmt.Sprintf("0x%04X", snap.Options.Codes[name]), Href: p.ws.address("new", name+".1")})
	}
}

// railNotes are what is odd about the library as a whole: its maps, and files that are not read.
func (p *pageWork) railNotes() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	note := func(text string) {
		if r.NoteCount++; len(r.Notes) < maxRailNotes {
			r.Notes = append(r.Notes, text)
		}
	}
	for _, m := range snap.Library.Maps {
		for _, d := range snap.Diagnostics.Of(m) {
			note(d.String())
		}
	}
	if n := len(snap.Library.Maps); n > 1 && snap.CodeMap == "" {
		note(fmt.Sprintf("there are %d code maps: choose the one of your game's revision", n))
	}
	if chosen := p.ws.UserSettings().Map; chosen != "" && snap.CodeMap != chosen {
		note(chosen + " was chosen as code map and is not there any more")
	}
	for _, s := range snap.Library.Skipped {
		note(s)
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
