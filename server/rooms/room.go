package rooms

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

const (
	restTime  = 300 * time.Millisecond // without typing, until the file is written
	writeTime = time.Second            // until it is written while typing goes on
	retryTime = 5 * time.Second        // until it is tried again after a failure

	// Many programs empty a file and then write it. The room merges their text after it has stayed the same for steadyTime, or at the latest
	// writeTime after the first change.
	steadyTime = 100 * time.Millisecond
	goneTime   = time.Second // without its file, until a room ends
	maxLog     = 1 << 20     // bytes of a log above which it begins anew
	maxText    = 512 << 10   // units of a text, so that its log fits into a file
)

// Room is the shared text of a file.
type Room struct {
	place
	id    string // of the line of versions
	log   *slog.Logger
	ended chan struct{}

	work, now chan struct{}               // there is something to log; the file is to be written
	spend     func(who string, n float64) // charges work; nil for a room that nobody joins

	// mu guards what follows. The changes of people are mapped and applied while it is held, for at most collab.MaxSteps a message; files are
	// read and written, and texts are compared, without it.
	mu         sync.Mutex
	doc        *collab.Document
	logged     int           // version that is on disk
	entries    []entry       // to be logged
	unsaved    collab.Change // from the text of the file to that of the room
	since      time.Time     // of the first unsaved change; zero if there is none
	latest     time.Time     // of the last one
	authors    []string      // of the unsaved changes
	marks      []mark        // whose they are
	late       []mark        // of those that have come since the file began to be written
	savers     []saver       // who wants the file to be written
	fileText   string        // raw with the line ends of the room
	members    map[*Member]struct{}
	watchers   map[*Watcher]struct{}
	lastID     int
	peopleNews int
	markNews   int
	shown      *Unsaved    // what was told last
	shownNews  int         // and which news it was
	remarked   bool        // what is not saved has changed since it was told
	moved      bool        // people have, since they were told
	told       time.Time   // when people were told last
	telling    *time.Timer // that tells them next; nil if there is nothing to tell
	state      FileState
	fileNews   int
	ending     bool
	forget     bool   // the log begins anew with the next line
	forgotten  int    // times that it has begun anew for forget
	failed     error  // why no change is accepted any more
	notice     string // for everyone who comes
	stop       chan struct{}
	begun      bool    // there is no file: nobody has saved the definition, or somebody has deleted what was saved
	former     *string // the text of the file before it was deleted
	saidFile   func()  // there is one now, or none any more; nil for a room that nobody joins
	suggested  func()  // there is a suggestion; nil if nobody is to be told
	movedTo    *Moved  // where the text is, of a room that ends with that
	moving     bool    // the room ends, as its file gets another name: members wait

	// Used by run only.
	raw     string // the file on disk, without the changes in outside
	outside outside
	wills   []fileText // texts that the file may have got, whose writing failed
	hasLog  bool       // lines may be appended to the log; otherwise it begins anew
	first   []entry    // how the log of a room without one begins: with the text before the first change
	tried   int        // version of the text that the library has refused, -1 for none
	retry   time.Time
	logSize int
}

// open opens the room of a file: with the text of its log, if that has changes that are not in the file, merged with the file. Without a file it
// is that of a definition that was begun and not saved, or, with begin, one that is begun now.
func open(at place, begin bool, log *slog.Logger) (*Room, error) {
	f := at.ws.Now().File(at.file)
	raw := ""
	if f != nil {
		raw = f.Text
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Room{
		place: at, id: rand.Text(), log: log.With("project", at.ws.Name, "file", at.file), ended: make(chan struct{}), stop: make(chan struct{}),
		work: make(chan struct{}, 1), now: make(chan struct{}, 1), members: map[*Member]struct{}{}, raw: raw, fileText: source.UnixLines(raw), tried: -1,
		begun: f == nil,
	}
	if err := r.recover(begin); err != nil {
		return nil, err
	}
	if len(r.doc.Text()) > maxText {
		return nil, ErrLarge
	}
	r.doc.Limit, r.doc.Most, r.logged = maxText, collab.MaxSteps, r.doc.Version()
	r.setState(r.state)
	if !r.hasLog && r.logSize == 0 {
		r.first = r.beginning(r.doc.Text().String(), r.logged, nil, r.fileEntry())
	}
	return r, nil
}

// recover makes the text: that of the file and, if there is a log, what it has and the file lacks.
func (r *Room) recover(begin bool) error {
	now := collab.NewText(source.UnixLines(r.raw))
	r.doc, r.unsaved = collab.New(now, 0), keep(len(now)) // the log begins with the first change
	f, err := r.readLog()
	if err != nil {
		return err
	}
	if r.begun && (f == nil || !isBegun(f.Text)) { // the log of a file that was deleted with all that people had typed
		if !begin {
			return ErrNoFile
		}
		f = nil
	}
	if f == nil {
		return nil
	}
	p, problems := readLog(f.Text, r.raw)
	r.logSize = p.size
	if len(problems) > 0 {
		r.log.Error("the log of a text is damaged", "lines", len(problems), "error", problems[0], "kept", r.asideFile())
		if err := r.setAside(f.Text); err != nil {
			return err
		}
	}
	r.hasLog = p.doc != nil && !p.plain && len(problems) == 0 && !p.gone && p.size < maxLog && bytes.HasSuffix(f.Text, []byte("\n"))
	if p.missing {
		r.notice = "A part of what was typed here cannot be read any more; the server has kept it aside in " + r.asideFile()
	}
	switch {
	case p.doc == nil:
	case r.begun:
		r.goOn(&p, nil)
		r.former = p.former
		if !p.begun { // the file was deleted while nobody had it open
			r.former, r.hasLog = &p.files[0].text, false
		}
	default:
		if err := r.join3(&p, now); err != nil {
			return fmt.Errorf("merge the file with its log: %w", err)
		}
	}
	if r.hasLog {
		return nil
	}
	if err := r.beginLog(r.doc.Text().String(), r.doc.Version(), r.marks, r.fileEntry()); err != nil {
		r.log.Error("the log of a text cannot be written", "error", err)
		r.id = rand.Text() // the next start does not know the versions of this one
	}
	return nil
}

// join3 joins the text of the log with that of the file.
func (r *Room) join3(p *past, now collab.Text) error {
	base, known := p.base(r.raw)
	if !known {
		// Nothing tells what of the text is in the file already: it is not merged, but kept.
		r.notice = "Changes that were not in the file could not be merged with it. They are a revision in its history"
		r.log.Error("a text could not be merged with its file: it is in the history")
		return r.ws.History.Keep(r.file, source.UnixLines(r.raw), p.doc.Text().String(), p.who)
	}
	// What was written outside since is a change of the text that the file had.
	change := collab.Between(p.doc.Text(), collab.Merge(collab.NewText(base), p.doc.Text(), now))
	if !change.IsEmpty() {
		if _, err := p.doc.Receive(p.doc.Version(), "outside "+rand.Text(), []collab.Change{change}); err != nil {
			return err
		}
		p.marks = marked(p.marks, change, history.Outside)
	}
	r.goOn(p, now)
	if !change.IsEmpty() {
		r.hasLog = false
		if err := r.ws.History.Keep(r.file, base, source.UnixLines(r.raw), []string{history.Outside}); err != nil {
			r.log.Error("what another program has written is not in the history", "error", err)
		}
	}
	return nil
}

// goOn goes on with the text of a log.
func (r *Room) goOn(p *past, file collab.Text) {
	r.id, r.doc, r.authors, r.marks = p.room, p.doc, p.who, p.marks
	if r.id == "" { // its line is damaged
		r.id = rand.Text()
	}
	r.unsaved = collab.Between(file, r.doc.Text())
	if r.unsaved.IsEmpty() {
		r.authors, r.marks = nil, nil
	} else {
		r.since = time.Now()
		r.latest = r.since
	}
}

// fileEntry is the entry for the present state of the file.
func (r *Room) fileEntry() entry {
	if r.begun {
		return entry{Version: r.doc.Version(), New: true, Text: r.former}
	}
	e := entry{Version: r.doc.Version(), File: string(store.RevisionOf([]byte(r.raw)))}
	if text := source.UnixLines(r.raw); collab.NewText(text).String() != r.doc.Text().String() {
		e.Text = &text
	}
	return e
}

// keep returns a change that changes nothing.
func keep(n int) collab.Change {
	if n == 0 {
		return collab.Change{}
	}
	return collab.Change{{Len: n, Keep: true}}
}

// receive takes changes. The caller holds the lock.
func (r *Room) receive(who, client string, version int, changes []collab.Change) error {
	accepted, err := r.doc.Receive(version, client, changes)
	if err != nil || len(accepted) == 0 {
		return err
	}
	e := entry{Version: r.doc.Version(), Who: who, Client: client, At: time.Now().UnixMilli()}
	for _, u := range accepted {
		e.Updates = append(e.Updates, u.Change)
		r.marks, r.late = marked(r.marks, u.Change, who), marked(r.late, u.Change, who)
	}
	if r.unsaved, err = r.after(r.unsaved, accepted, r.fileText); err != nil {
		return err
	}
	r.entries = append(r.entries, e)
	r.wakeWatchers()
	r.remark()
	if !slices.Contains(r.authors, who) {
		r.authors = append(r.authors, who)
	}
	r.latest = time.Now()
	if r.since.IsZero() {
		r.since = r.latest
	}
	r.kick(r.work)
	return nil
}

// after returns the change from a text to that of the room, given the one that was so before the last updates. Where those are too many to be
// joined, the texts are compared.
func (r *Room) after(c collab.Change, updates []collab.Update, from string) (collab.Change, error) {
	all, err := c.ThenAll(updates)
	if errors.Is(err, collab.ErrWork) {
		return collab.Between(collab.NewText(from), r.doc.Text()), nil
	}
	return all, err
}

func (r *Room) kick(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// peopleTime is the least time between two news of people, with few of them in the room. What changes meanwhile is told together, the latest
// of each: selections that move a thousand times a second cost no more than ten news, and never delay changes of the text.
const peopleTime = 100 * time.Millisecond

// tellPeople announces a change of the people, at once or with later ones. The caller holds the lock.
func (r *Room) tellPeople() {
	r.moved = true
	r.tell()
}

// remark announces a change of what is not saved, as tellPeople does. The caller holds the lock.
func (r *Room) remark() {
	r.remarked = true
	r.tell()
}

func (r *Room) tell() {
	if r.telling != nil {
		return
	}
	pause := peopleTime * time.Duration(1+len(r.members)/20) // each news is for all, and about all
	if wait := pause - time.Since(r.told); wait > 0 {
		r.telling = supervise.Later(wait, "news of people", func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.telling = nil; !r.ending {
				r.tellNow()
			}
		})
		return
	}
	r.tellNow()
}

func (r *Room) tellNow() {
	for m := range r.members {
		m.place()
	}
	r.told = time.Now()
	if r.moved {
		r.peopleNews++
	}
	if r.remarked {
		r.markNews++
	}
	r.moved, r.remarked = false, false
	r.wakeAll()
}

// confirm sets the version that is on disk. The selections are those in its text. The caller holds the lock.
func (r *Room) confirm(version int) {
	updates, ok := r.doc.Since(r.logged)
	var at []*int
	for m := range r.members {
		if m.place(); !ok {
			m.at = nowhere
		} else if m.at != nowhere {
			at = append(at, &m.at[0], &m.at[1])
		}
	}
	for i := 0; i < version-r.logged && len(at) > 0; i++ {
		updates[i].Change.Places(at)
	}
	r.logged = version
}

func (r *Room) wakeAll() {
	for m := range r.members {
		m.wakeUp()
	}
}

// setState announces the state of the file. The caller holds the lock, or nobody else has the room.
func (r *Room) setState(s FileState) {
	s.Revision = string(store.RevisionOf([]byte(source.UnixLines(r.raw))))
	s.Version = -1
	if r.unsaved.IsEmpty() {
		s.Version, s.Hash = r.doc.Version(), r.doc.Text().Hash()
	}
	if r.fileNews > 0 && s == r.state {
		return
	}
	r.state = s
	r.fileNews++
	r.remark()
	r.wakeAll()
}

// isSettled reports whether the file has the text, refuses it, or waits for somebody who saves it.
func (r *Room) isSettled() bool {
	var text string
	var done bool
	r.locked(func() {
		text, done = r.doc.Text().String(), r.ending || r.begun || r.unsaved.IsEmpty() || r.state.Problem != ""
	})
	return done || !r.ws.SavesTyped(r.file, text)
}

// isMoving reports whether the file gets another name.
func (r *Room) isMoving() (is bool) {
	r.locked(func() { is = r.moving })
	return is
}

// isEnding reports whether the room is ending. It does not wait for a room that is busy.
func (r *Room) isEnding() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// end ends the room; members are told why.
func (r *Room) end(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked(why)
}

func (r *Room) endLocked(why error) {
	if r.ending {
		return
	}
	r.ending = true
	if r.failed == nil {
		r.failed = why
	}
	if r.failed == nil {
		r.failed = ErrClosed
	}
	if r.telling != nil {
		r.telling.Stop()
	}
	close(r.stop)
	r.wakeAll()
}

// outside is a text that another program has written to the file and that is not merged yet.
type outside struct {
	gone  bool // there is no file
	text  string
	since time.Time // of the first change; zero if there is none
	same  time.Time // of the last change
}

// run logs changes, writes the file and follows it, until the room ends.
func (r *Room) run() {
	changed, stop := r.ws.Changed()
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ended := false; !ended; {
		now := false
		select {
		case <-r.stop:
			ended, now = true, true
		case <-r.work:
		case <-r.now:
			now = true
		case <-changed:
		case <-timer.C:
		}
		r.flush()
		if r.isMoving() {
			return
		}
		if !r.followFile(ended) {
			r.end(ErrClosed)
			r.flush()
			if err := r.removeLog(); err != nil {
				r.log.Error("the log of a deleted definition stays", "error", err)
			}
			return
		}
		if !r.outside.since.IsZero() && !ended {
			timer.Reset(steadyTime)
			continue
		}
		timer.Reset(r.writeFile(now))
	}
	r.flush()
	if r.isBegun() {
		r.endBegun()
	}
}

// flush writes the changes that have arrived to the log, and confirms them.
func (r *Room) flush() {
	var entries []entry
	var version int
	var text collab.Text
	var file entry
	var forget bool
	var marks []mark
	r.locked(func() {
		entries, version, text, marks, file, forget = r.entries, r.doc.Version(), r.doc.Text(), r.marks, r.fileEntry(), r.forget
		r.hasLog = r.hasLog && !r.forget
		r.entries, r.forget = nil, false
	})
	if len(entries) == 0 && !forget {
		return
	}
	var err error
	if r.ws.Home != nil && r.hasLog && r.logSize < maxLog {
		err = r.append(entries)
	}
	switch {
	case r.ws.Home == nil:
	case r.first != nil && !forget:
		err = r.writeLog(append(r.first, entries...))
	case !r.hasLog || r.logSize >= maxLog || errors.Is(err, store.ErrTooLarge):
		err = r.beginLog(text.String(), version, marks, file)
	}
	r.first = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		// What is not on disk is never confirmed: the people keep it, and the next room begins with what is.
		r.log.Error("the log of a text cannot be written", "error", err)
		r.endLocked(fmt.Errorf("your changes cannot be stored: %w", err))
		return
	}
	if forget {
		r.forgotten++
	}
	r.confirm(version)
	r.wakeAll()
}

// followFile merges what other programs have written, once it is steady or at once with now. It returns false if the file is gone, with all that
// people have typed: many programs remove a file before they write it, so that it is gone when it stays so.
func (r *Room) followFile(now bool) bool {
	if r.outside.steady() {
		if err := r.ws.Reload(); err != nil { // the file may have been written since the library was told
			r.log.Error("the library cannot be read", "error", err)
		}
	}
	f := r.ws.Now().File(r.file)
	there, text := f != nil, ""
	if there {
		text = f.Text
	} else if r.isBegun() {
		r.outside = outside{}
		return true
	}
	if there && text == r.raw {
		r.outside = outside{}
		return true
	}
	if r.outside.since.IsZero() {
		r.outside.since = time.Now()
	}
	if text != r.outside.text || there == r.outside.gone || r.outside.same.IsZero() {
		r.outside.text, r.outside.gone, r.outside.same = text, !there, time.Now()
	}
	if !there {
		return !now && time.Since(r.outside.since) < goneTime || r.keepGone()
	}
	for _, w := range r.wills {
		if w.raw == text { // it was written by this room, although that was said to have failed
			r.outside = outside{}
			r.locked(func() { r.late = r.marks })
			return r.wrote(w)
		}
	}
	if !now && !r.outside.steady() {
		return true
	}
	r.outside = outside{}
	return r.merge(text)
}

// steady reports whether the text can be merged.
func (o outside) steady() bool {
	return !o.since.IsZero() && (time.Since(o.same) >= steadyTime || time.Since(o.since) >= writeTime)
}

// maxMergeTries bounds the merges for which a text is compared while people may change it.
const maxMergeTries = 3

// merge merges the text that another program has written into the shared one.
func (r *Room) merge(text string) bool {
	base, theirs := collab.NewText(r.baseOf(text)), collab.NewText(source.UnixLines(text))
	var err error
	for done, tries := false, 0; !done && err == nil; tries++ {
		var now collab.Text
		var version int
		r.locked(func() {
			if now, version = r.doc.Text(), r.doc.Version(); tries == maxMergeTries { // people type all the time
				done, err = true, r.mergeLocked(text, theirs, collab.Merge(base, now, theirs))
			}
		})
		if done {
			break
		}
		merged := collab.Merge(base, now, theirs)
		r.locked(func() {
			if done = r.doc.Version() == version; done {
				err = r.mergeLocked(text, theirs, merged)
			}
		})
	}
	if err != nil {
		r.log.Error("the file cannot be merged", "error", err)
		r.end(fmt.Errorf("the file has changed on disk, and cannot be merged: %w", err))
		return true
	}
	r.flush()
	return true
}

// locked calls f with the lock held. A fault of f leaves it free: see supervise.
func (r *Room) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// mergeLocked makes the text what was merged of it and of the text of the file, raw.
func (r *Room) mergeLocked(raw string, file, merged collab.Text) error {
	if change := collab.Between(r.doc.Text(), merged); !change.IsEmpty() {
		client := "outside "
		if r.ws.History.WrittenHere(r.file, raw) {
			client = "here "
		}
		if err := r.receive(history.Outside, client+rand.Text(), r.doc.Version(), []collab.Change{change}); err != nil {
			return err
		}
	}
	r.raw, r.fileText, r.unsaved, r.tried, r.wills = raw, source.UnixLines(raw), collab.Between(file, merged), -1, nil
	r.hasFile()
	if r.unsaved.IsEmpty() {
		r.since, r.authors, r.marks = time.Time{}, nil, nil
	}
	r.authors = slices.DeleteFunc(r.authors, func(who string) bool { return who == history.Outside })
	r.entries = append(r.entries, r.fileEntry())
	r.setState(FileState{})
	return nil
}

// saver is somebody who wants the file to be written.
type saver struct {
	*Member
	name string
}

// writeFile writes the file if somebody wants it, or if it is saved as people type and it is time, or now. It returns the time until it is to
// be called again.
func (r *Room) writeFile(now bool) time.Duration {
	const never = time.Hour
	if !r.hasLog && r.ws.Home != nil { // what is announced needs a log
		r.mu.Lock()
		r.forget = !r.unsaved.IsEmpty()
		r.mu.Unlock()
		r.flush()
	}
	var text string
	var version int
	var since, latest time.Time
	var who []string
	var savers []saver
	var done bool
	r.locked(func() {
		text, version, since, latest, who, savers = r.doc.Text().String(), r.doc.Version(), r.since, r.latest, slices.Clone(r.authors), r.savers
		empty, failed := r.unsaved.IsEmpty(), r.logged < version
		if !failed && text == r.fileText { // again
			r.unsaved, r.since, r.authors, r.marks, r.tried = keep(len(r.doc.Text())), time.Time{}, nil, nil, -1
			r.setState(FileState{})
			r.saved(savers, Saved{Same: true})
			done = true
		}
		done = done || empty || r.since.IsZero() || failed
		r.late = nil
	})
	if done {
		if len(savers) > 0 { // the file has their text: what is typed later is another revision
			r.ws.History.End(r.file)
		}
		return never
	}
	if len(savers) == 0 {
		if r.isBegun() || !r.ws.SavesTyped(r.file, text) {
			return never
		}
		due := latest.Add(restTime)
		if most := since.Add(writeTime); most.Before(due) {
			due = most
		}
		if r.tried == version && r.retry.After(due) {
			due = r.retry
		}
		if wait := time.Until(due); !now && wait > 0 {
			return wait
		}
	}
	w, was := fileText{raw: edit.Restore(r.raw, text), text: text, version: version}, store.RevisionOf([]byte(r.raw))
	if r.isBegun() {
		w.raw, was = r.ws.LikeOthers(text), ""
	}
	err := r.announce(w)
	if err == nil {
		err = r.save(savers, who, w.raw, was)
	}
	var conflict *store.ConflictError
	switch {
	case err == nil:
		r.wrote(w)
	case errors.As(err, &conflict): // another program was faster: its text is merged, and then the file is written
		if err := r.ws.Reload(); err == nil {
			r.followFile(false)
			return steadyTime
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.tried, r.retry = version, time.Now().Add(retryTime)
		var older *workspace.OlderError
		if errors.As(err, &older) {
			r.retry = time.Now().Add(never)
		}
		r.setState(FileState{Problem: problemOf(err)})
		r.saved(savers, Saved{Problem: problemOf(err)})
		return retryTime
	}
	r.saved(savers, Saved{})
	r.tellAuthors(savers, who)
	if r.unsaved.IsEmpty() {
		return never
	}
	return restTime
}

// problemOf says why the file was not written.
func problemOf(err error) string {
	switch {
	case errors.Is(err, store.ErrFull):
		return "the disk is full. The text stays here and the file is unchanged: free some space and save again"
	case errors.Is(err, store.ErrReadOnly):
		return "the folder of the definitions cannot be written to. The text stays here"
	}
	return err.Error()
}

// save writes the file: as a revision of its own of those who want it, before the other authors, or as one that people type.
func (r *Room) save(savers []saver, who []string, raw string, was store.Revision) error {
	if len(savers) == 0 {
		_, err := r.ws.SaveTyped(who, r.file, []byte(raw), &was)
		return err
	}
	var all []string
	for _, s := range savers {
		if !slices.Contains(all, s.name) {
			all = append(all, s.name)
		}
	}
	for _, name := range who {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	_, err := r.ws.SaveBy(all, r.file, []byte(raw), &was)
	return err
}

// saved tells those who wanted the file to be written the outcome. The caller holds the lock.
func (r *Room) saved(list []saver, is Saved) {
	for _, s := range list {
		s.saved = &is
		s.wakeUp()
	}
	r.savers = r.savers[len(list):]
}

// tellAuthors tells the people whose lines others have saved. The caller holds the lock.
func (r *Room) tellAuthors(savers []saver, who []string) {
	for m := range r.members {
		if len(savers) == 0 || m.saved != nil || !slices.Contains(who, m.Name) || slices.ContainsFunc(savers, func(s saver) bool { return s.name == m.Name }) {
			continue
		}
		m.saved = &Saved{By: savers[0].name}
		m.wakeUp()
	}
}

// wrote takes that the file has a text of this room. It returns true.
func (r *Room) wrote(w fileText) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	later, ok := r.doc.Since(w.version)
	r.unsaved = keep(len(collab.NewText(w.text)))
	if !ok { // too many
		r.unsaved = collab.Between(collab.NewText(w.text), r.doc.Text())
	} else if next, err := r.after(r.unsaved, later, w.text); err == nil {
		r.unsaved = next
	}
	r.raw, r.fileText, r.tried, r.wills = w.raw, source.UnixLines(w.raw), -1, nil
	r.hasFile()
	r.since, r.authors, r.marks = time.Time{}, nil, nil
	if !r.unsaved.IsEmpty() {
		r.since, r.marks, r.authors = r.latest, r.late, authorsOf(r.late)
	}
	r.entries = append(r.entries, r.fileEntry())
	r.setState(FileState{})
	r.kick(r.work)
	return true
}
