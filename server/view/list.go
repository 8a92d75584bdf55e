package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// Ids of the sections that are not for the messages of a group.
const (
	EnvelopeSection  = "envelope"
	UndefinedSection = "undefined" // names of the code map without a definition
)

// maxListRows bounds the rows that pages hold, all versions of a message in one row: browsers keep and search that many at once.
const maxListRows = 50_000

// List is the list of messages of a library. It is immutable, and safe for concurrent use.
type List struct {
	State    string // ID of the snapshot
	Versions bool   // messages have versions
	Sections []ListSection
	Count    int // rows of all sections
	More     int // rows at the end that open pages do not get

	whole   func() []byte // see JSON
	mu      sync.Mutex    // guards what follows
	earlier string        // the state from which change leads to this list
	change  *ListChange   // nil before the first one
}

// ListSection has the messages of a group in one direction, or other names. Its rows are in ascending order of their names, which are unique
// in it.
type ListSection struct {
	ID, Title string
	Rows      []ListRow
}

// ListRow is a message in all its versions, an envelope, or a name without a definition. The name identifies it in its section.
type ListRow struct {
	ListName
	Older []ListVersion `json:"older,omitempty"` // from new to old
}

// ListVersion is a version of a message.
type ListVersion struct {
	ID     string `json:"id,omitempty"`     // the name in addresses, if it is not NAME, or in a list with versions NAME.NUMBER
	Number int    `json:"number,omitempty"` // in a list with versions
}

// ListName is a row without older versions.
type ListName struct {
	Name        string `json:"name"`
	ListVersion        // the newest
	Code        string `json:"code,omitempty"`                       // "0x1234"
	State       string `json:"state,omitempty" enum:"error,warning"` // the worst severity in its files
	Unmapped    bool   `json:"unmapped,omitempty"`                   // the code map lacks the name
	Sampled     bool   `json:"sampled,omitempty"`                    // the newest version has samples
	File        string `json:"file,omitempty"`                       // of a file with several messages
	Unused      bool   `json:"unused,omitempty"`                     // envelope: another one applies
	New         bool   `json:"new,omitempty"`                        // envelope: there is none yet
}

func (r *ListRow) equal(o *ListRow) bool {
	return r.ListName == o.ListName && slices.Equal(r.Older, o.Older)
}

// NameOf returns the name of a version of the row in addresses.
func (l *List) NameOf(r *ListRow, v ListVersion) string {
	switch {
	case v.ID != "":
		return v.ID
	case l.Versions:
		return r.Name + "." + strconv.Itoa(v.Number)
	}
	return r.Name
}

// JSON returns all rows for a page, as a ListChange of an empty list. The result must not be changed.
func (l *List) JSON() []byte { return l.whole() }

// newList makes the list of a snapshot.
func newList(snap *workspace.Snapshot) *List {
	l := &List{State: snap.ID, Versions: snap.Dialect.Versions}
	if snap.HasEnvelopes() {
		l.Sections = append(l.Sections, ListSection{EnvelopeSection, "Envelope", envelopeRows(snap)})
	}
	l.Sections = append(l.Sections, messageSections(snap)...)
	if rows := undefinedRows(snap); len(rows) > 0 {
		l.Sections = append(l.Sections, ListSection{UndefinedSection, "No definition", rows})
	}
	for i := range l.Sections {
		l.Count += len(l.Sections[i].Rows)
	}
	l.More = max(0, l.Count-maxListRows)
	l.whole = sync.OnceValue(func() []byte {
		text, _ := json.Marshal(listChangeOf(nil, l)) // cannot fail: it has only strings, numbers and booleans
		return text
	})
	return l
}

// held returns the sections with the rows that pages hold.
func (l *List) held() []ListSection {
	if l == nil || l.More == 0 {
		return l.sections()
	}
	out, left := []ListSection{}, maxListRows
	for _, s := range l.Sections {
		s.Rows = s.Rows[:min(len(s.Rows), left)]
		if left -= len(s.Rows); len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (l *List) sections() []ListSection {
	if l == nil {
		return nil
	}
	return l.Sections
}

// envelopeRows lists the envelopes of a library, or offers to begin one.
func envelopeRows(snap *workspace.Snapshot) (rows []ListRow) {
	for _, f := range snap.Library.Envelopes {
		r := ListName{Name: f.Name, Unused: f != snap.EnvelopeFile}
		r.ID = listID(snap, r.Name, r.ListVersion, f.Name)
		for _, d := range snap.CheckEnvelope(f) {
			r.State = worseState(r.State, d.Severity)
		}
		rows = append(rows, ListRow{ListName: r})
	}
	slices.SortFunc(rows, byRowName)
	if len(rows) == 0 {
		r := ListName{Name: workspace.EnvelopeName, New: true}
		r.ID = listID(snap, r.Name, r.ListVersion, r.Name)
		rows = append(rows, ListRow{ListName: r})
	}
	return rows
}

func byRowName(a, b ListRow) int { return strings.Compare(a.Name, b.Name) }

// listID returns the id of a version with a full name.
func listID(snap *workspace.Snapshot, name string, v ListVersion, full string) string {
	l := List{Versions: snap.Dialect.Versions}
	if l.NameOf(&ListRow{ListName: ListName{Name: name}}, ListVersion{Number: v.Number}) == full {
		return ""
	}
	return full
}

// worseState returns the more severe of the state of a row and that of a diagnostic.
func worseState(state string, s diag.Severity) string {
	if s == diag.Error || state == "" {
		return s.String()
	}
	return state
}

// listSet is a group of messages in one direction.
type listSet struct {
	group string
	dir   schema.Dir
}

// messageSections lists the messages: groups as the library orders them, then those without codes.
func messageSections(snap *workspace.Snapshot) (out []ListSection) {
	rows := messageRows(snap)
	add := func(of listSet) {
		if len(rows[of]) > 0 {
			out = append(out, ListSection{of.group + "/" + of.dir.String(), SetTitle(of.group, of.dir), rows[of]})
			delete(rows, of)
		}
	}
	for _, group := range append(slices.Clone(snap.Groups()), "") { // messages without a code have no group
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient, schema.Both} {
			add(listSet{group, dir})
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(rows), func(a, b listSet) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.dir, b.dir)) }) {
		add(of)
	}
	return out
}

// SetTitle returns the heading of the messages of a group and a direction.
func SetTitle(group string, dir schema.Dir) string {
	way := map[schema.Dir]string{schema.ToServer: "Client → server", schema.ToClient: "Server → client", schema.Both: "Both ways"}[dir]
	switch {
	case group == "":
		return way
	case dir == schema.Both:
		return group
	}
	return group + " · " + way
}

// messageRows returns the rows of the messages.
func messageRows(snap *workspace.Snapshot) map[listSet][]ListRow {
	faults, sampled := newListFaults(snap), sampledIn(snap)
	rows := map[listSet][]ListRow{}
	for _, versions := range versionsByName(snap.Schema().Messages) {
		m := versions[0]
		r := ListRow{ListName: ListName{Name: m.Name, Unmapped: snap.CodeMap != "" && !m.HasKey, Sampled: sampled[m]}}
		if m.HasKey {
			r.Code = CodeText(m.Key.Code, snap.Dialect.Versions)
		}
		if len(faults.starts[m.Span.File.Name]) > 1 {
			r.File = m.Span.File.Name
		}
		for i, v := range versions {
			x := ListVersion{Number: v.Version}
			if !snap.Dialect.Versions {
				x.Number = 0
			}
			x.ID = listID(snap, m.Name, x, snap.NameOf(v))
			if s, ok := faults.of(v); ok {
				r.State = worseState(r.State, s)
			}
			if i == 0 {
				r.ListVersion = x
			} else {
				r.Older = append(r.Older, x)
			}
		}
		of := listSet{m.Key.Group, m.Key.Dir}
		rows[of] = append(rows[of], r)
	}
	return rows
}

// versionsByName groups the versions of each message, newest first, sorted by name.
func versionsByName(all []*schema.Message) [][]*schema.Message {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Key.Group, b.Key.Group), cmp.Compare(a.Key.Dir, b.Key.Dir), cmp.Compare(b.Version, a.Version))
	})
	var out [][]*schema.Message
	from := 0
	for i, m := range list {
		if first := list[from]; first.Name != m.Name || first.Key.Group != m.Key.Group || first.Key.Dir != m.Key.Dir {
			out = append(out, list[from:i])
			from = i
		}
	}
	if from < len(list) {
		out = append(out, list[from:])
	}
	return out
}

// sampledIn returns the messages that have samples.
func sampledIn(snap *workspace.Snapshot) map[*schema.Message]bool {
	sampled := map[*schema.Message]bool{}
	for _, name := range snap.SampledFiles() {
		for _, x := range snap.Samples(name) {
			if m, err := snap.Find(x.Message); err == nil && m.Span.File.Name == name {
				sampled[m] = true
			}
		}
	}
	return sampled
}

// CodeText formats the code of a message; wide: in two bytes at least.
func CodeText(code uint32, wide bool) string {
	if wide || code > 0xFF {
		return fmt.Sprintf("0x%04X", code)
	}
	return fmt.Sprintf("0x%02X", code)
}

// undefinedRows lists the names of the code map that have no definition.
func undefinedRows(snap *workspace.Snapshot) (rows []ListRow) {
	for name, code := range snap.Options.Codes {
		if len(snap.Named(name)) > 0 {
			continue
		}
		r := ListName{Name: name, Code: CodeText(code, true)}
		if snap.Dialect.Versions {
			r.Number = 1
		}
		r.ID = listID(snap, name, r.ListVersion, snap.FirstVersion(name))
		rows = append(rows, ListRow{ListName: r})
	}
	slices.SortFunc(rows, byRowName)
	return rows
}

// listFaults are the most severe diagnostics of the messages: of the file, or, in a file with several messages, of the part of each.
type listFaults struct {
	starts map[string][]int // places of the messages in their file, ascending, in languages that have several in one
	worst  map[listPlace]diag.Severity
}

// listPlace is a file, or in a file with several messages the part that begins with one of them.
type listPlace struct {
	file  string
	start int
}

func newListFaults(snap *workspace.Snapshot) *listFaults {
	f := &listFaults{map[string][]int{}, map[listPlace]diag.Severity{}}
	if !snap.Dialect.Versions {
		for m := range snap.Messages() {
			f.starts[m.Span.File.Name] = append(f.starts[m.Span.File.Name], m.Span.Start)
		}
	}
	for _, starts := range f.starts {
		slices.Sort(starts)
	}
	for _, d := range snap.Diagnostics() {
		if d.Span.File == nil {
			continue
		}
		at := f.at(d.Span.File.Name, d.Span.Start)
		if old, ok := f.worst[at]; !ok || d.Severity < old {
			f.worst[at] = d.Severity
		}
	}
	return f
}

// at returns the part of a file with an offset. What precedes the first message has a part of its own.
func (f *listFaults) at(file string, offset int) listPlace {
	starts := f.starts[file]
	if len(starts) < 2 {
		return listPlace{file, 0}
	}
	i, found := slices.BinarySearch(starts, offset)
	switch {
	case found:
		return listPlace{file, offset}
	case i == 0:
		return listPlace{file, -1}
	}
	return listPlace{file, starts[i-1]}
}

func (f *listFaults) of(m *schema.Message) (s diag.Severity, ok bool) {
	s, ok = f.worst[f.at(m.Span.File.Name, m.Span.Start)]
	return s, ok
}

// Narrowed returns the sections with the rows whose names have all words, which are in lower case; sections may have none.
func (l *List) Narrowed(words []string) []ListSection {
	if len(words) == 0 {
		return l.Sections
	}
	out := slices.Clone(l.Sections)
	for i := range out {
		var rows []ListRow
		for _, r := range out[i].Rows {
			if workspace.HasWords(strings.ToLower(r.Name), words) {
				rows = append(rows, r)
			}
		}
		out[i].Rows = rows
	}
	return out
}

// Has reports whether a row is about the message with a name in addresses, in any version.
func (l *List) Has(r *ListRow, message string) bool {
	return l.NameOf(r, r.ListVersion) == message || slices.ContainsFunc(r.Older, func(v ListVersion) bool { return l.NameOf(r, v) == message })
}
