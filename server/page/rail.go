package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// maxRailNotes bounds the notes on a library.
const maxRailNotes = 50

// rail fills what is around the list of messages. For open pages that is missing if they have it.
func (p *work) rail() {
	r, snap := &p.view.Rail, p.ws.Snapshot
	r.Count = snap.Count()
	if p.live {
		if r.Had = p.railed == snap.ID; r.Had && p.told {
			return // unchanged
		}
		p.railed = snap.ID
	}
	r.Drawn = true
	r.Ext, r.Codes = snap.Dialect.Ext, snap.Dialect.Codes != nil
	r.Accept = strings.Join(append(snap.Dialect.Endings(), ".map", store.EnvelopeEnding, ".jsonl", ".zip"), ",")
	r.MapName = snap.CodeMap
	chosen := p.ws.UserSettings().Options
	for _, o := range snap.Dialect.Options {
		r.Options = append(r.Options, templates.Option{Name: o.Name, Title: o.Title, Doc: o.Doc, Choices: o.Choices(), Value: chosen[o.Name]})
	}
	for _, m := range snap.Library.Maps {
		r.Maps = append(r.Maps, m.Name)
	}
	r.SaveTyped = p.ws.UserSettings().SaveTyped
	if snap.Dialect.Constants != nil {
		r.Constants = &templates.Constants{Text: constantsText(p.ws.UserSettings().Constants), Missing: missingConstants(snap)}
	}
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
