package rooms

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"

	"wirebench/server/collab"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Person is somebody who has the text open.
type Person struct {
	Key     string // whose work it is: see Set.Wait
	Name    string
	Message string // the definition that the person has opened, of the messages of the file
	Account bool   // the name is that of an account; otherwise the person has chosen it
	Writes  bool
}

// Have is what a client has of the text already, from an earlier connection.
type Have struct {
	Room    string `json:"room,omitempty"`
	Version int    `json:"version,omitempty"`

	Begin  *string `json:"begin,omitempty"`  // the text of a definition that may not have been begun yet
	Client string  `json:"client,omitempty"` // identifies the copy of the text that begins it, as in Push
}

// Seen is a person as others see it.
type Seen struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Account bool   `json:"account,omitempty"`
	Message string `json:"message,omitempty"` // that the person has opened, of those of the file
	Color   int    `json:"color"`             // 0 to colors-1
	Writes  bool   `json:"writes,omitempty"`
	Anchor  int    `json:"anchor"` // the selection in the text that the client has after the updates; -1 if it is not known
	Head    int    `json:"head"`
	Look    *Look  `json:"look,omitempty"` // the frame that the person looks at, if it is one of a capture
}

// Look is a frame of a capture.
type Look struct {
	Capture string `json:"capture"`
	Frame   uint64 `json:"frame"` // 1 is the first
}

// maxCaptureID is the maximum length of Look.Capture in bytes.
const maxCaptureID = 200

// Message is what a client is told. Parts without news are missing.
type Message struct {
	Start   *Start          `json:"start,omitempty"`
	Updates []collab.Update `json:"updates,omitempty"` // the next ones
	People  []Seen          `json:"people,omitempty"`  // all others; Nobody if there are none
	Nobody  bool            `json:"nobody,omitempty"`
	File    *FileState      `json:"file,omitempty"`
	Unsaved *Unsaved        `json:"unsaved,omitempty"`
	Saved   *Saved          `json:"saved,omitempty"`   // the outcome of a wish to write the file
	Merged  string          `json:"merged,omitempty"`  // the outcome of a merge, after its updates: Merged, Suggested or NoCommon
	Moved   *Moved          `json:"moved,omitempty"`   // the last news of this room
	Refused string          `json:"refused,omitempty"` // why the definition does not get another name
}

// Refuse tells the client why its wish for another name has no effect.
func (m *Member) Refuse(why error) {
	m.room.locked(func() { m.refused = why.Error() })
	m.wakeUp()
}

// File returns the name of the file.
func (m *Member) File() string { return m.room.file }

// Moved is the new name of a file.
type Moved struct {
	File    string `json:"file"`
	Message string `json:"message,omitempty"` // the name in addresses, of a definition that was begun and not saved
}

// Start is the state of the text at the beginning. Text is missing if the client has it: then updates follow.
type Start struct {
	Room    string  `json:"room"`
	You     string  `json:"you"`
	Name    string  `json:"name"` // of the person, as others see it
	Version int     `json:"version"`
	Text    *string `json:"text,omitempty"`
	Why     string  `json:"why,omitempty"` // why the text is sent again
	Writes  bool    `json:"writes"`
	Account bool    `json:"account,omitempty"` // the name of the person is that of an account
	Notice  string  `json:"notice,omitempty"`  // what everyone has to know of the text
}

// Saved is the outcome of a wish to write the file: it has the text, unless there is a problem. It is also news for those whose lines are in it.
type Saved struct {
	Same    bool   `json:"same,omitempty"` // it had the text already
	Problem string `json:"problem,omitempty"`
	By      string `json:"by,omitempty"` // another person, who has saved lines of this one, who had no wish to
}

// FileState is the state of the file.
type FileState struct {
	Revision string `json:"revision"` // of the file, with the line ends of pages
	Version  int    `json:"version"`  // the file has the text of this version; -1 if it has not, which Problem explains
	Problem  string `json:"problem,omitempty"`
	Hash     uint32 `json:"hash"` // of the text of Version
}

// colors is the number of colors of people.
const colors = 8

// Member is a person in a room. Its methods are safe for concurrent use.
type Member struct {
	Person
	room  *Room
	id    string
	color int
	wake  chan struct{}
	left  func()

	// Guarded by the room.
	started bool
	fresh   bool // it needs the text
	moved   bool // it knows where the text is
	version int  // of the updates that were sent
	people  int  // news of people that were sent
	file    int  // news of the file that were sent
	marks   int  // news of what is not saved that were sent

	unsaved  *Unsaved // that was sent
	saved    *Saved   // the outcome that is to be sent
	merged   string   // the outcome of a merge that is to be sent once version mergedAt was
	mergedAt int

	refused string // why the definition does not get another name

	why   string // why the text is sent again
	at    [2]int // the selection in the text that is on disk
	point *point // the latest one that the client sent, which is not in at yet
	look  *Look
}

// nowhere is a selection that is not known.
var nowhere = [2]int{-1, -1}

// point is a selection in the text of a version.
type point struct{ version, anchor, head int }

// join adds a member. It returns nil if the room is ending.
func (r *Room) join(who Person, have Have) (*Member, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending {
		return nil, nil
	}
	if len(r.members) >= maxMembers {
		return nil, ErrFull
	}
	if have.Begin != nil && *have.Begin != "" && r.begun && r.doc.Version() == 0 {
		text := collab.NewText(*have.Begin)
		if err := r.receive(who.Name, begins+cmp.Or(have.Client, rand.Text()), 0, []collab.Change{collab.Between(nil, text)}); err != nil {
			if len(r.members) == 0 {
				r.endLocked(nil)
			}
			return nil, err
		}
	}
	r.lastID++
	m := &Member{Person: who, room: r, id: strconv.Itoa(r.lastID), wake: make(chan struct{}, 1), fresh: true, at: nowhere, people: -1, file: -1, marks: -1}
	used := [colors]int{}
	for o := range r.members {
		used[o.color]++
	}
	for c, n := range used {
		if n < used[m.color] {
			m.color = c
		}
	}
	if _, ok := r.doc.Since(have.Version); ok && have.Room == r.id {
		m.fresh, m.version = false, have.Version
	}
	r.members[m] = struct{}{}
	r.tellPeople()
	return m, nil
}

// Leave ends the membership. The last one who leaves ends the room.
func (m *Member) Leave() {
	if m.room.remove(m) {
		m.left()
	}
}

// remove reports whether the member was there.
func (r *Room) remove(m *Member) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.members[m]; !ok {
		return false
	}
	delete(r.members, m)
	r.tellPeople()
	if len(r.members) == 0 {
		r.endLocked(nil)
	}
	return true
}

// Next returns the next news, when there are some.
func (m *Member) Next(ctx context.Context) (Message, error) {
	for {
		out, some, err := m.news()
		if some || err != nil {
			return out, err
		}
		select {
		case <-m.wake:
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

func (m *Member) news() (out Message, some bool, err error) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moving {
		return out, false, nil
	}
	if r.failed != nil && r.movedTo != nil && !m.moved {
		m.moved = true
		return Message{Moved: r.movedTo}, true, nil
	}
	if r.failed != nil {
		return out, false, r.failed
	}
	if !m.started {
		if r.logged < r.doc.Version() { // the text is not on disk yet
			return out, false, nil
		}
		start := Start{Room: r.id, You: m.id, Name: m.Name, Version: m.version, Writes: m.Writes, Account: m.Account, Notice: r.notice, Why: m.why}
		if m.fresh {
			text := r.doc.Text().String()
			start.Version, start.Text = r.doc.Version(), &text
			m.version = r.doc.Version()
		}
		m.started, m.why, some = true, "", true
		out.Start = &start
	}
	if m.version < r.logged {
		updates, ok := r.doc.Since(m.version)
		if !ok { // too slow
			m.restart("")
			return out, false, nil
		}
		out.Updates = slices.Clone(updates[:r.logged-m.version])
		m.version, some = r.logged, true
	}
	if m.merged != "" && m.mergedAt <= m.version {
		out.Merged, m.merged, some = m.merged, "", true
	}
	if m.file < r.fileNews {
		state := r.state
		out.File = &state
		m.file, some = r.fileNews, true
	}
	if m.marks < r.markNews && r.logged == r.doc.Version() {
		u := r.unsavedNow()
		if m.marks = r.markNews; !u.same(m.unsaved) {
			out.Unsaved, m.unsaved, some = u, u, true
		}
	}
	if m.refused != "" {
		out.Refused, m.refused, some = m.refused, "", true
	}
	if m.saved != nil {
		out.Saved, m.saved, some = m.saved, nil, true
	}
	if m.people < r.peopleNews {
		out.People = r.others(m)
		out.Nobody = len(out.People) == 0
		m.people, some = r.peopleNews, true
	}
	return out, some, nil
}

// Restart sends the text again: the client has another one, or has changes that are not taken one by one, as why says. It merges its text.
func (m *Member) Restart(why string) {
	m.room.mu.Lock()
	defer m.room.mu.Unlock()
	m.room.spend(m.Key, float64(len(m.room.doc.Text())/textUnits))
	m.restart(why)
}

func (m *Member) restart(why string) {
	m.started, m.fresh, m.why = false, true, why
	m.wakeUp()
}

// textUnits is the number of units of a text whose comparison, or sending, is a step of work.
const textUnits = 4

func (m *Member) wakeUp() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// others returns the others as m sees them in the text that is on disk; all if m is nil. The caller holds the lock.
func (r *Room) others(m *Member) (out []Seen) {
	for o := range r.members {
		if o == m {
			continue
		}
		out = append(out, Seen{
			ID: o.id, Name: o.Name, Account: o.Account, Message: o.Message, Color: o.color, Writes: o.Writes, Anchor: o.at[0], Head: o.at[1], Look: o.look,
		})
	}
	slices.SortFunc(out, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID)) // numbers
	})
	return out
}

// mayWrite returns why the member cannot change the text. The caller holds the lock.
func (m *Member) mayWrite() error {
	if m.room.failed == nil && !m.Writes {
		return ErrReading
	}
	return m.room.failed
}

// Push takes changes of the member for the text of a version. Client identifies the copy of the text that they were made in, also over
// several connections. They are confirmed by Next.
func (m *Member) Push(client string, version int, changes []collab.Change) error {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := m.mayWrite(); err != nil {
		return err
	}
	if strings.Contains(client, " ") { // the room's own changes, which say what they are before a space
		return collab.ErrChange
	}
	before := r.doc.Work()
	err := r.receive(m.Name, client, version, changes)
	r.spend(m.Key, float64(r.doc.Work()-before))
	return err
}

// Outcomes of a merge.
const (
	Merged    = "done"      // it is in the text, and on disk
	Suggested = "suggested" // others have changed the same lines: it is a suggestion
	NoCommon  = "unknown"   // nothing knows the text that it was made of
)

// MergeOf is Merge for a text that was made of a revision of the file. If neither the file nor its history has it, nothing is merged, which
// the client is told.
func (m *Member) MergeOf(client, revision, text string) error {
	base, ok := m.room.ws.TextOf(m.room.file, revision)
	if ok {
		return m.Merge(client, base, text)
	}
	m.outcome(NoCommon, 0)
	return nil
}

// begins is the start of the client of a definition's first update; the copy of the text that began the definition follows.
const begins = "begin "

// BaseOf returns the base of a text of a copy: the text with which the copy began the definition, if that has arrived, else base.
func (m *Member) BaseOf(copyOf, base string) (text string) {
	m.room.locked(func() {
		text = base
		if c, ok := m.room.doc.FirstOf(begins + copyOf); ok && copyOf != "" {
			if begun, err := c.Apply(nil); err == nil {
				text = begun.String()
			}
		}
	})
	return text
}

// Merge takes a text that was made of an earlier one while there was no connection, when the updates since then are not known any more. The
// differences are merged into the present text, once for each client. Where others have changed the same lines in other ways, the text becomes a
// suggestion of the member.
func (m *Member) Merge(client, base, text string) error {
	what, err := m.merge(client, base, text)
	if err == nil {
		m.outcome(what, m.room.version())
	}
	return err
}

// outcome tells the client the outcome of a merge, once it has the updates up to a version.
func (m *Member) outcome(what string, version int) {
	m.room.mu.Lock()
	defer m.room.mu.Unlock()
	m.merged, m.mergedAt = what, version
	m.wakeUp()
}

func (r *Room) version() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doc.Version()
}

func (m *Member) merge(client, base, text string) (outcome string, err error) {
	r := m.room
	from, to := collab.NewText(base), collab.NewText(text)
	if len(from) > maxText || len(to) > maxText {
		return "", ErrLarge
	}
	client = "merge " + string(store.RevisionOf([]byte(client+"\x00"+base+"\x00"+text))) // not the one of other changes
	for {
		r.mu.Lock()
		now, version, has := r.doc.Text(), r.doc.Version(), r.doc.Has(client)
		r.mu.Unlock()
		if has { // the connection was lost before its confirmation
			return Merged, nil
		}
		r.spend(m.Key, float64((len(from)+len(to)+len(now))/textUnits))
		merged, isClear := collab.MergeClearly(from, to, now)
		if !isClear && m.suggest(base, text) {
			return Suggested, nil
		}
		change := collab.Between(now, merged)
		if change.IsEmpty() {
			return Merged, nil
		}
		if done, err := m.take(client, version, change); done || err != nil {
			return Merged, err
		}
	}
}

// suggest makes a text a suggestion of the member, unless it is one already. It returns false if that is not possible.
func (m *Member) suggest(base, text string) bool {
	r := m.room
	var may error
	r.locked(func() { may = m.mayWrite() })
	all, err := r.ws.Threads()
	if may != nil || err != nil {
		return false
	}
	for _, x := range all {
		if s := x.Suggestion; s != nil && x.File == r.file && s.Base == base && s.Text == text { // the connection was lost before this was told
			return true
		}
	}
	_, err = r.ws.Begin(m.Name, workspace.NewThread{
		File: r.file, Text: "Typed on an earlier text: others have changed the same lines since", Suggestion: &workspace.Suggestion{Base: base, Text: text},
	})
	if err == nil && r.suggested != nil {
		r.suggested()
	}
	return err == nil
}

// take takes a change of the text of a version, unless the text has changed since.
func (m *Member) take(client string, version int, c collab.Change) (done bool, err error) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := m.mayWrite(); err != nil || r.doc.Version() != version {
		return false, err
	}
	return true, r.receive(m.Name, client, version, []collab.Change{c})
}

// Point takes the selection of the member in the text of a version. Others are told the latest one.
func (m *Member) Point(version, anchor, head int) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	m.point = &point{version, max(anchor, 0), max(head, 0)}
	r.tellPeople()
}

// place maps the latest selection to the text that is on disk. The caller holds the lock.
func (m *Member) place() {
	p := m.point
	if m.point = nil; p == nil {
		return
	}
	since, ok := m.room.doc.Since(p.version)
	if !ok || p.version > m.room.logged {
		return
	}
	m.at = [2]int{p.anchor, p.head}
	for _, u := range since[:m.room.logged-p.version] {
		u.Change.Places([]*int{&m.at[0], &m.at[1]})
	}
}

// LookAt sets the frame that the member looks at. One without a capture or a number means none.
func (m *Member) LookAt(at Look) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.look = nil; at.Frame > 0 && at.Capture != "" && len(at.Capture) <= maxCaptureID {
		m.look = &at
	}
	r.tellPeople()
}

// Write writes the file now, as a revision of the member. The outcome is in a message.
func (m *Member) Write() error {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := m.mayWrite(); err != nil {
		return err
	}
	r.savers = append(r.savers, saver{m, m.Name})
	r.kick(r.now)
	return nil
}

// Revert gives the room the text of the file, for a text that the library refuses.
func (m *Member) Revert() error {
	r := m.room
	for {
		r.mu.Lock()
		now, version, file := r.doc.Text(), r.doc.Version(), collab.NewText(r.fileText)
		r.mu.Unlock()
		r.spend(m.Key, float64((len(now)+len(file))/textUnits))
		// The file is the text of the room without the unsaved changes.
		change := collab.Between(now, file)
		if change.IsEmpty() {
			return nil
		}
		if done, err := m.take("revert "+rand.Text(), version, change); done || err != nil {
			return err
		}
	}
}
