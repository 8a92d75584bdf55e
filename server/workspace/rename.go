package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/history"
	"wirebench/server/store"
)

// Renames are new names, all or none of which are given.
type Renames struct {
	Files    []history.Renaming // from a file to a path
	Messages []history.Renaming // from a message to a name, in dialects whose texts name their messages
	Who      []string           // the people, for the history
	Codes    bool               // messages keep their codes: a name in a code map follows once no definition has it any more
}

// Renamed reports what a renaming has changed.
type Renamed struct {
	Files    []history.Renaming `json:"files" doc:"names with their folders"`
	Messages []history.Renaming `json:"messages" doc:"NAME.VERSION, if the file is named after its message"`
	Maps     []string           `json:"maps,omitempty" doc:"code maps whose names have followed"`
	Undo     *history.Step      `json:"undo,omitempty" doc:"the change of all these files, for undo"`
}

// RenameError reports why files cannot be renamed.
type RenameError struct {
	Reason string
	Taken  bool // the new name, or the code of it, belongs to something else
}

func (e *RenameError) Error() string { return e.Reason }

func noRename(format string, args ...any) error {
	return &RenameError{Reason: fmt.Sprintf(format, args...)}
}

func taken(format string, args ...any) error {
	return &RenameError{Reason: fmt.Sprintf(format, args...), Taken: true}
}

// maxRemembered bounds the renamings that open pages and old addresses can follow.
const maxRemembered = 2000

// Rename renames definitions with their samples, and messages in the texts of definitions; files that include them or list their versions of
// the game follow. The error is a *RenameError, a *NameError or one of the disk.
func (w *Workspace) Rename(r Renames) (*Renamed, error) {
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.reload(false); err != nil {
		return nil, err
	}
	x := &renaming{w: w, who: r.Who, snap: w.Now(), done: &Renamed{Files: []history.Renaming{}, Messages: []history.Renaming{}}, codes: map[string]string{}}
	err := x.plan(r.Files)
	x.keepNames()
	if err == nil && r.Codes {
		err = x.planMaps()
	}
	if err != nil {
		return nil, err
	}
	x.mentions()
	if err = x.planMessages(r.Messages); err != nil {
		return nil, err
	}
	if len(x.all) == 0 {
		return nil, noRename("nothing is to be renamed")
	}
	err = x.carryOut()
	return x.done, errors.Join(err, w.reload(false))
}

// renaming is the work of one Rename.
type renaming struct {
	w     *Workspace
	who   []string
	snap  *Snapshot
	done  *Renamed
	codes map[string]string // new names of messages by their old ones, without versions
	all   []history.Change
}

// plan checks the names.
func (x *renaming) plan(list []history.Renaming) error {
	leaves := map[string]bool{}
	for _, r := range list {
		leaves[r.From] = true
	}
	for _, r := range list {
		f := x.snap.File(r.From)
		switch {
		case f == nil:
			return NotFound(r.From, func() string { return "" })
		case defs.IsCodeMap(f.Name) || IsEnvelope(f.Name) || defs.IsValidity(f.Name):
			return noRename("%s is not a definition", f.Name)
		}
		to := r.To
		if to == f.Name {
			return noRename("%s has this name already", f.Name)
		}
		if err := x.check(f, to); err != nil {
			return err
		}
		if slices.ContainsFunc(x.done.Files, func(o history.Renaming) bool { return o.To == to || o.From == f.Name }) {
			return noRename("%s appears twice", to)
		}
		for _, o := range x.snap.Library.All() {
			switch sameBase := path.Base(o.Name) == path.Base(to) && x.named(to); {
			case leaves[o.Name] && o.Name != to:
			case o.Name == to, sameBase:
				return taken("%s exists already", o.Name)
			case strings.EqualFold(o.Name, to):
				return taken("%s exists already, and differs only in case", o.Name)
			}
		}
		x.done.Files = append(x.done.Files, history.Renaming{From: f.Name, To: to})
		x.move(f, to)
	}
	return nil
}

// named reports whether the name of a file determines the name of its message.
func (x *renaming) named(file string) bool {
	d := x.snap.Dialect
	return d.Versions && d.IsFile != nil && d.IsFile(file)
}

// check refuses names that the disk or the project cannot hold.
func (x *renaming) check(f *source.File, to string) error {
	if err := x.w.checkName(to, []byte(f.Text)); err != nil {
		return err
	}
	if x.named(f.Name) && (!x.named(to) || !text.IsName(MessageName(path.Base(to)))) {
		return &NameError{path.Base(to), "not NAME.VERSION.def: letters, digits and _, a dot and a number"}
	}
	return nil
}

// move plans the change of a file and its samples.
func (x *renaming) move(f *source.File, to string) {
	x.all = append(x.all, history.Change{Name: to, After: []byte(f.Text)}, history.Change{Name: f.Name, Before: []byte(f.Text)})
	was, is := strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name)), strings.TrimSuffix(path.Base(to), path.Ext(to))
	follows := x.named(f.Name)
	if follows {
		x.done.Messages = append(x.done.Messages, history.Renaming{From: was, To: is})
		if old, name := MessageName(was), MessageName(is); old != name {
			x.codes[old] = name
		}
	}
	samples := samplesFile(f.Name)
	old, ok := x.snap.Library.samples[samples]
	if !ok {
		return
	}
	next := old
	if follows {
		next = renameSamples(old, func(message string) string {
			switch message {
			case was:
				return is
			case MessageName(was):
				return MessageName(is)
			}
			return message
		})
	}
	x.all = append(x.all, history.Change{Name: samplesFile(to), After: []byte(next)}, history.Change{Name: samples, Before: []byte(old)})
}

var sampleMessage = regexp.MustCompile(`"message"\s*:\s*"([^"\\]*)"`)

// renameSamples gives the messages of samples other names. The rest of their lines stays, as do lines that are not samples.
func renameSamples(all string, rename func(message string) string) string {
	var b strings.Builder
	for line := range strings.Lines(all) {
		var s Sample
		if at := sampleMessage.FindStringSubmatchIndex(line); at != nil && json.Unmarshal([]byte(line), &s) == nil && line[at[2]:at[3]] == s.Message {
			line = line[:at[2]] + rename(s.Message) + line[at[3]:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// keepNames drops the new names of messages of which another version keeps the old one, and with it its code.
func (x *renaming) keepNames() {
	for old := range x.codes {
		for _, m := range x.snap.Named(old) {
			if !slices.ContainsFunc(x.done.Files, func(r history.Renaming) bool { return r.From == m.Span.File.Name }) {
				delete(x.codes, old)
			}
		}
	}
}

// planMaps plans the changes of code maps. A map that is not in use and has the new name already stays as it is.
func (x *renaming) planMaps() error {
	maps := x.snap.Dialect.Codes
	if maps == nil {
		return nil
	}
	for _, f := range x.snap.Library.Maps {
		next, has := f, map[string]uint32{}
		if len(x.codes) > 0 {
			has, _ = maps.Read(f)
		}
		for old, name := range x.codes {
			code, ok := has[old]
			if !ok {
				continue
			}
			if other, ok := has[name]; ok {
				if f.Name == x.snap.CodeMap && other != code {
					return taken("%s has the code %d in %s, so it cannot get the code %d of %s", name, other, f.Name, code, old)
				}
				continue
			}
			next = source.New(f.Name, maps.Rename(next, old, name))
		}
		if next != f {
			x.done.Maps = append(x.done.Maps, f.Name)
			x.all = append(x.all, history.Change{Name: f.Name, Before: []byte(f.Text), After: []byte(next.Text)})
		}
	}
	return nil
}

// mentions plans the changes of files that include renamed files, or list the versions of renamed messages.
func (x *renaming) mentions() {
	d := x.snap.Dialect
	if d.Edits != nil && d.Edits.Include != nil {
		for _, r := range x.done.Messages {
			for _, f := range x.snap.Library.Files {
				x.mention(f, r.From, r.To, d.Edits.Include)
			}
		}
	}
	if d.Validity != nil {
		for old, name := range x.codes {
			for _, f := range x.snap.Library.Valid {
				x.mention(f, old, name, d.Validity.Rename)
			}
		}
	}
}

// mention plans the change of one of these files, which may itself be renamed.
func (x *renaming) mention(f *source.File, from, to string, rename func(f *source.File, from, to string) string) {
	x.change(x.nameNow(f.Name), f, func(f *source.File) string { return rename(f, from, to) })
}

// nameNow returns the new name of a file.
func (x *renaming) nameNow(file string) string {
	if i := slices.IndexFunc(x.done.Files, func(r history.Renaming) bool { return r.From == file }); i >= 0 {
		return x.done.Files[i].To
	}
	return file
}

// change plans the change of a file whose new name is name. Changes of its text that are planned already come first.
func (x *renaming) change(name string, f *source.File, with func(f *source.File) string) {
	i := slices.IndexFunc(x.all, func(c history.Change) bool { return c.Name == name && c.After != nil })
	if i >= 0 {
		f = source.New(name, string(x.all[i].After))
	}
	next := with(f)
	switch {
	case next == f.Text:
	case i >= 0:
		x.all[i].After = []byte(next)
	default:
		x.all = append(x.all, history.Change{Name: name, Before: []byte(f.Text), After: []byte(next)})
	}
}

// planMessages plans the changes of texts that name messages, and of their samples.
func (x *renaming) planMessages(list []history.Renaming) error {
	seen := map[*source.File]bool{}
	for _, r := range list {
		m, err := x.snap.Find(r.From)
		if err != nil {
			return err
		}
		f := m.Span.File
		switch edits := x.snap.Dialect.Edits; {
		case edits == nil || edits.Name == nil:
			return noRename("the name of %s is that of its file: rename %s", m.Name, f.Name)
		case seen[f]:
			return noRename("rename one message of %s at a time", f.Name)
		case m.Name == r.To:
			return noRename("%s has this name already", m.Name)
		}
		seen[f] = true
		if !text.IsName(r.To) {
			return &NameError{r.To, "not the name of a message: letters, digits and _"}
		}
		next, ok := x.snap.Dialect.Edits.Name(f, m.Span, r.To)
		if !ok {
			return noRename("the text of %s does not name %s", f.Name, m.Name)
		}
		if err := x.judge(m, r.To, next); err != nil {
			return err
		}
		x.change(x.nameNow(f.Name), f, func(*source.File) string { return next })
		if samples, ok := x.snap.Library.samples[samplesFile(f.Name)]; ok {
			x.change(samplesFile(x.nameNow(f.Name)), source.New(samplesFile(f.Name), samples), func(s *source.File) string {
				return renameSamples(s.Text, func(message string) string {
					if of, err := x.snap.Find(message); err != nil || of != m {
						return message
					}
					start := strings.LastIndexByte(message, '/') + 1
					return message[:start] + r.To + strings.TrimPrefix(message[start:], m.Name)
				})
			})
		}
		from, to := x.snap.NameOf(m), r.To
		if q := x.snap.qualifier(m); q != "" {
			to = q + "/" + to
		}
		x.done.Messages = append(x.done.Messages, history.Renaming{From: from, To: to})
	}
	return nil
}

// judge refuses a text in which a message has another name, if the name is in use or the text has other messages or errors.
func (x *renaming) judge(m *schema.Message, name, next string) error {
	for _, o := range x.snap.set.Named(name) {
		if o.Key.Group == m.Key.Group && (o.Key.Dir == m.Key.Dir || o.Key.Dir == schema.Both || m.Key.Dir == schema.Both) {
			return taken("%s exists already, in %s", name, o.Span.File.Name)
		}
	}
	was := x.snap.set.MessagesOf(m.Span.File)
	now := x.snap.Try(m.Span.File.Name, next)
	i := slices.Index(was, m)
	if len(now.Messages) != len(was) || now.Messages[i].Name != name {
		return noRename("%s cannot be the name of a message in %s", name, m.Span.File.Name)
	}
	known := map[string]int{}
	for _, d := range x.snap.set.DiagnosticsOf(m.Span.File) {
		known[d.Message]++
	}
	for _, d := range now.Diagnostics {
		if known[d.Message]--; known[d.Message] < 0 && d.Severity == diag.Error {
			return noRename("%s cannot be the name: %s", name, d.Message)
		}
	}
	return nil
}

// carryOut changes the files.
func (x *renaming) carryOut() (err error) {
	more := 0
	for _, c := range x.all {
		more += len(c.After) - len(c.Before)
	}
	if err := x.w.room(more, false); err != nil {
		return err
	}
	names := x.done.Files
	if len(names) == 0 {
		names = x.done.Messages
	}
	about := fmt.Sprintf("%s renamed to %s", names[0].From, names[0].To)
	if len(names) > 1 {
		about += fmt.Sprintf(", and %d more", len(names)-1)
	}
	x.done.Undo, err = x.w.History.Do(history.Act{About: about, Who: x.who, Renamed: x.done.Messages, Changes: x.all})
	return err
}

// renames are the new names of messages, oldest first.
type renames struct {
	mu   sync.Mutex
	list []history.Renaming
	past int // forgotten ones
}

func (r *renames) add(list []history.Renaming) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, list...)
	forgotten := max(0, len(r.list)-maxRemembered)
	r.list, r.past = slices.Clone(r.list[forgotten:]), r.past+forgotten
}

// since returns the renamings after the first n, and their number.
func (r *renames) since(n int) ([]history.Renaming, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list[min(max(n-r.past, 0), len(r.list)):], r.past + len(r.list)
}

// NewName returns the present name of a message that has been renamed, "" if its name is in use, or it is gone.
func (w *Workspace) NewName(old string) string {
	list, _ := w.renamed.since(0)
	return w.Now().newName(old, list)
}

func (s *Snapshot) newName(old string, list []history.Renaming) string {
	if _, err := s.Find(old); err == nil {
		return ""
	}
	for i, last := range slices.Backward(list) { // the last one counts, if it is not gone: another program may have written the old file again
		if last.From != old {
			continue
		}
		name := last.To
		for _, r := range list[i+1:] {
			if r.From == name {
				name = r.To
			}
		}
		if m, err := s.Find(name); err == nil {
			return s.NameOf(m)
		}
	}
	return ""
}

// RenamedSince returns the present names of the messages that have been renamed after the first n renamings, and the number of all.
func (w *Workspace) RenamedSince(n int) (list []history.Renaming, next int) {
	all, next := w.renamed.since(n)
	snap := w.Now()
	for i, r := range all {
		if to := snap.newName(r.From, all[i:]); to != "" {
			list = append(list, history.Renaming{From: r.From, To: to})
		}
	}
	return list, next
}

// Sibling returns the name of a file beside another one, with its ending: "login", or "C_CHAT.2" for C_LOGIN.1.pc.def. A name with the ending
// is returned as it is.
func (s *Snapshot) Sibling(f *source.File, name string) string {
	ending := path.Ext(f.Name)
	if strings.HasSuffix(name, ending) || strings.Contains(name, "/") {
		return name
	}
	if list := s.MessagesOf(f); len(list) == 1 && s.Versioned(list[0]) {
		ending = strings.TrimPrefix(path.Base(f.Name), fullName(list[0].Name, list[0].Version))
	}
	return path.Join(path.Dir(f.Name), name+ending)
}

// Copy stores a copy of a definition, without its samples, under another name; "" chooses the next version, or an unused name.
// It returns the name of the copy.
func (w *Workspace) Copy(f *source.File, to string) (name string, rev store.Revision, err error) {
	x := &renaming{w: w, snap: w.Now()}
	if defs.IsCodeMap(f.Name) || IsEnvelope(f.Name) || defs.IsValidity(f.Name) {
		return "", "", noRename("%s is not a definition", f.Name)
	}
	if to == "" {
		if list := x.snap.MessagesOf(f); len(list) == 1 && x.snap.Versioned(list[0]) {
			return w.SaveVersion(list[0], []byte(f.Text))
		}
		to = x.snap.unusedName(f)
	}
	if err := x.check(f, to); err != nil {
		return "", "", err
	}
	for _, o := range x.snap.Library.All() {
		if o.Name == to || path.Base(o.Name) == path.Base(to) && x.named(to) {
			return "", "", taken("%s exists already", o.Name)
		}
	}
	none := store.Revision("")
	rev, err = w.Save(to, []byte(f.Text), &none)
	return to, rev, err
}

// unusedName returns a name for a copy of a file: login.def, login_2.def.
func (s *Snapshot) unusedName(f *source.File) string {
	ending := path.Ext(f.Name)
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s_%d%s", strings.TrimSuffix(f.Name, ending), n, ending); s.File(name) == nil {
			return name
		}
	}
}
