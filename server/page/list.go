package page

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Bounds of the list of messages as HTML.
const (
	listDrawn  = 60 // rows: what is in view at first, and what pages without scripts have at once
	listBefore = 10 // of them before the row of the open message, which is then about in the middle of the view
)

// Rows answers with all rows of the list of messages, for scripts. They are large, so that a page has them beside its document: browsers keep
// them and ask whether they are the same.
func (b *Workbench) Rows(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	list := b.lists.Of(ws.Snapshot)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("ETag", `"`+list.State+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(list.JSON()))
}

// list fills the list of messages: the rows around the open message, or those that the address asks for.
func (b *Workbench) list(p *work, r *http.Request) {
	q := r.URL.Query()
	d := listDrawing{project: p.ws.Name, list: b.lists.Of(p.ws.Snapshot), open: p.view.Message, rail: &p.view.Rail}
	d.rail.State, d.rail.Versions, d.rail.Filter = d.list.State, d.list.Versions, q.Get("filter")
	d.sections = d.list.Narrowed(strings.Fields(strings.ToLower(d.rail.Filter)))
	if p.ws.HasEnvelopes() && len(p.ws.Library.Envelopes) == 0 {
		if x, ok := p.ws.foundEnvelope(); ok {
			d.rail.EnvelopeFrom = x.Name
		}
	}
	open := d.openAt()
	from := max(0, open-listBefore)
	if q.Has("list") {
		from = min(atLeast0(q.Get("list")), d.count())
	}
	d.draw(from)
	if open < 0 {
		d.open = ""
	}
	for _, file := range b.API.Rooms.Begun(p.ws.Workspace) {
		d.rail.Begun = append(d.rail.Begun, p.ws.Snapshot.NameOfNew(file))
	}
	if from > 0 {
		d.rail.Earlier = d.page(max(0, from-listDrawn))
	}
	if from+listDrawn < d.count() {
		d.rail.Later = d.page(from + listDrawn)
	}
}

// listDrawing draws rows of a list.
type listDrawing struct {
	project  string
	list     *view.List
	sections []view.ListSection // filtered
	open     string             // message; "" for none, and for one without a row
	rail     *templates.Rail
}

// page returns the address of the rows from a place on.
func (d *listDrawing) page(from int) string {
	q := url.Values{"list": {strconv.Itoa(from)}}
	if d.rail.Filter != "" {
		q.Set("filter", d.rail.Filter)
	}
	return d.href(d.open) + "?" + q.Encode()
}

// href returns the address of a definition, or that of all for "".
func (d *listDrawing) href(message string) string {
	if message == "" {
		return templates.ProjectPath(d.project, "definitions")
	}
	return templates.ProjectPath(d.project, "definitions", message)
}

func (d *listDrawing) count() (n int) {
	for _, s := range d.sections {
		n += len(s.Rows)
	}
	return n
}

// openAt returns the place of the open message among all rows, -1 if it is not there.
func (d *listDrawing) openAt() int {
	at := 0
	for _, s := range d.sections {
		for i := range s.Rows {
			if d.open != "" && s.ID != view.UndefinedSection && d.list.Has(&s.Rows[i], d.open) {
				return at + i
			}
		}
		at += len(s.Rows)
	}
	return -1
}

// draw fills in the rows from a place on.
func (d *listDrawing) draw(from int) {
	at := 0
	for _, s := range d.sections {
		first, last := max(0, from-at), min(len(s.Rows), from+listDrawn-at)
		if at += len(s.Rows); first >= last {
			continue
		}
		g := templates.Group{Title: s.Title, Count: len(s.Rows), Envelopes: s.ID == view.EnvelopeSection, Undefined: s.ID == view.UndefinedSection}
		for i := range s.Rows[first:last] {
			g.Items = append(g.Items, d.item(&g, &s.Rows[first+i]))
		}
		d.rail.Groups = append(d.rail.Groups, g)
	}
}

func (d *listDrawing) item(g *templates.Group, r *view.ListRow) templates.Item {
	it := templates.Item{Name: r.Name, Code: r.Code, State: r.State, Unmapped: r.Unmapped, Sampled: r.Sampled, File: r.File, Unused: r.Unused, New: r.New}
	add := func(v view.ListVersion) {
		name := d.list.NameOf(r, v)
		x := templates.ItemVersion{Number: v.Number, Href: d.href(name), Current: !g.Undefined && name == d.open}
		if g.Undefined {
			x.Href = d.href("") + "?" + url.Values{"new": {name}}.Encode()
		}
		it.Versions = append(it.Versions, x)
	}
	add(r.ListVersion)
	for _, v := range r.Older {
		add(v)
	}
	return it
}

// listed adds the change of the list of messages since the one that the page has. had: that is of this snapshot.
func (l *livePage) listed(out *Answer, snap *workspace.Snapshot, had bool) {
	if l.list != nil && l.list.State == snap.ID {
		return
	}
	now := l.bench.lists.Of(snap)
	if !had {
		out.List = now.Since(l.list)
	}
	l.list = now
}
