package rooms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/defs/source"
	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// The log and the file are two places, and the log is where a change of both is decided:
//
//   - A change is confirmed when its line is synced.
//   - Before the file is written, a line names the revision that it will have. After a crash the file has that revision or the one of before;
//     its own bytes say whether it was written.
//   - A line has a checksum. A line that cannot be read is skipped, and with it what depends on it: an update fits one version only. The text
//     goes on at the next line that names the text of the file. What was skipped is kept aside and named.
//   - The log is removed when its file is, and all of its text was in that.

// entry is a part of a line of the log: the base, updates, or a state of the file. A line has what was synced at once, as an array.
type entry struct {
	Room    string          `json:"room,omitempty"` // of a base
	Version int             `json:"v"`              // after the updates
	Text    *string         `json:"text,omitempty"` // of a base; of a state of the file, if the room has another one
	File    string          `json:"file,omitempty"` // revision of the file
	Will    string          `json:"will,omitempty"` // revision of the file that is written next
	Marks   []mark          `json:"m,omitempty"`    // of a base: whose the parts are that are not in the file
	New     bool            `json:"new,omitempty"`  // a state of the file: there is none; Text is the one that it had, if there was one
	Gone    bool            `json:"gone,omitempty"` // of earlier programs: there is no file, and the history has what was not in it
	Who     string          `json:"who,omitempty"`
	Client  string          `json:"c,omitempty"`
	At      int64           `json:"at,omitempty"` // Unix time in ms
	Updates []collab.Change `json:"u,omitempty"`
}

func (p place) logFile() string { return logFolder + "/" + p.file + logEnding }

const (
	logFolder   = "texts"
	logEnding   = ".jsonl"
	asideEnding = ".damaged" + logEnding
)

// asideFile has what could not be read of logs.
func (p place) asideFile() string { return logFolder + "/" + p.file + asideEnding }

// readLog returns the log, nil if there is none.
func (p place) readLog() (*store.File, error) {
	if p.ws.Home == nil {
		return nil, nil
	}
	f, err := p.ws.Home.Read(p.logFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the log of a text: %w", err)
	}
	return &f, nil
}

// isBegun reports whether a log without a file is that of a definition that was begun and not saved, or of which lines were not saved.
func isBegun(log []byte) bool {
	p, _ := readLog(log, "")
	if p.doc == nil || p.gone || len(p.files) == 0 {
		return false
	}
	text := p.doc.Text().String()
	return p.begun || !slices.ContainsFunc(p.files, func(f fileText) bool { return f.text == text })
}

// removeLog removes the log, if there is one.
func (p place) removeLog() error { return p.remove(p.logFile()) }

func (p place) remove(name string) error {
	if p.ws.Home == nil {
		return nil
	}
	if err := p.ws.Home.Remove(name, nil); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// moveLog makes the log, if there is one, that of another file, which does not exist yet. A log of that name goes: its text is in the history.
func (p place) moveLog(to string) error {
	if p.ws.Home == nil || p.file == to {
		return nil
	}
	if err := p.ws.Home.Move(p.logFile(), (place{p.ws, to}).logFile()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sums is the table of the checksums.
var sums = crc32.MakeTable(crc32.Castagnoli)

const sumDigits = 8

// sealed returns a line of the log: the checksum of its JSON, a space and the JSON.
func sealed(entries []entry) ([]byte, error) {
	text, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, "%0*x ", sumDigits, crc32.Checksum(text, sums)), text...), nil
}

var errSum = errors.New("another checksum")

// unsealed returns the entries of a line. The logs of earlier programs have no checksums.
func unsealed(line []byte, plain bool) (out []entry, err error) {
	if !plain {
		sum, text, _ := bytes.Cut(line, []byte(" "))
		if string(sum) != fmt.Sprintf("%0*x", sumDigits, crc32.Checksum(text, sums)) {
			return nil, errSum
		}
		line = text
	}
	return out, json.Unmarshal(line, &out)
}

// mended returns the entries of the first line of a log in which one bit is wrong, and the length of the line.
func mended(log []byte) (out []entry, n int) {
	line, next, whole := bytes.Cut(log, []byte("\n"))
	if out = mendedLine(line); out != nil {
		return out, min(len(line)+1, len(log))
	}
	// The bit may be one of the end of the line, or have made one.
	for i, c := range line {
		if bits.OnesCount8(c^'\n') == 1 {
			if out, err := unsealed(line[:i], false); err == nil {
				return out, i + 1
			}
		}
	}
	if whole {
		second, _, _ := bytes.Cut(next, []byte("\n"))
		n = len(line) + 1 + len(second)
		line = slices.Clone(log[:n])
		for bit := range 8 {
			line[n-1-len(second)] = '\n' ^ 1<<bit
			if out, err := unsealed(line, false); err == nil {
				return out, min(n+1, len(log))
			}
		}
	}
	return nil, 0
}

func mendedLine(line []byte) []entry {
	if len(line) <= sumDigits+1 {
		return nil
	}
	sum, text := line[:sumDigits], line[sumDigits+1:]
	want := fmt.Appendf(nil, "%0*x ", sumDigits, crc32.Checksum(text, sums))
	wrong := 0
	for i, c := range want {
		wrong += bits.OnesCount8(c ^ line[i])
	}
	if wrong == 1 { // a bit of the checksum itself
		out, _ := unsealed(append(want, text...), false)
		return out
	}
	said, err := strconv.ParseUint(string(sum), 16, 32)
	if err != nil {
		return nil
	}
	// A checksum is linear: the difference tells which bit it is.
	differs := uint32(said) ^ crc32.Checksum(text, sums)
	var flips [8]uint32 // the differences for the bits of the byte at i
	for bit := range flips {
		flips[bit] = sums[1<<bit]
	}
	for i := len(text) - 1; i >= 0; i-- {
		if bit := slices.Index(flips[:], differs); bit >= 0 {
			line = slices.Clone(line)
			line[sumDigits+1+i] ^= 1 << bit
			out, _ := unsealed(line, false)
			return out
		}
		for bit, f := range flips {
			flips[bit] = sums[byte(f)] ^ f>>8
		}
	}
	return nil
}

// past is what a log says.
type past struct {
	room  string
	doc   *collab.Document
	files []fileText // what the file may have: what it had last, and then what was about to be written
	who   []string   // authors of what is not in the file
	marks []mark     // whose it is
	gone  bool
	begun bool // there was no file

	former *string // of one that was begun: the text of the file that was deleted

	size    int
	plain   bool // without checksums
	damaged bool // lines could not be read
	missing bool // and what follows them could not be used
}

// fileText is a text of the file.
type fileText struct {
	raw  string // empty if it is not known
	rev  store.Revision
	text string // with the line ends of the room

	version int // of text, in the room that wrote it
}

var errGap = errors.New("updates before it are missing")

// readLog reads a log. now is the text of the file.
func readLog(log []byte, now string) (p past, problems []error) {
	rev := store.RevisionOf([]byte(now))
	p.size, p.plain = len(log), bytes.HasPrefix(log, []byte("["))
	for n := 1; len(log) > 0; n++ {
		line, next, whole := bytes.Cut(log, []byte("\n"))
		entries, err := unsealed(line, p.plain)
		if err != nil {
			if out, size := mended(log); out != nil {
				problems, err = append(problems, fmt.Errorf("line %d: a bit was wrong, and is mended", n)), nil
				entries, next = out, log[size:]
			}
		}
		log = next
		if err != nil && !whole {
			break // it was never confirmed
		}
		for i := 0; i < len(entries) && err == nil; i++ {
			if err = p.replay(entries[i], rev, now); err == nil {
				p.missing = false
			}
		}
		if err != nil {
			p.damaged, p.missing = true, true
			problems = append(problems, fmt.Errorf("line %d: %w", n, err))
		}
	}
	return p, problems
}

// replay takes an entry. rev and now are those of the file: a later text goes on with it if an entry names it.
func (p *past) replay(e entry, rev store.Revision, now string) error {
	at := fileText{rev: store.Revision(e.File + e.Will)}
	switch {
	case e.Room != "" && e.Text != nil:
		p.room, p.doc, p.gone, p.begun = e.Room, collab.New(collab.NewText(*e.Text), e.Version), false, false
		p.files = []fileText{{text: p.doc.Text().String()}}
		p.marks, p.who = e.Marks, authorsOf(e.Marks)
		return nil
	case p.doc != nil && e.Version == p.doc.Version() && at.rev != "" && e.Text == nil:
		at.text = p.doc.Text().String()
	case at.rev != "" && e.Text != nil && p.doc != nil && e.Version == p.doc.Version():
		at.text = *e.Text
	case at.rev == rev && at.rev != "" && e.Text == nil: // after a gap: the text of the file is that of the room
		p.doc = collab.New(collab.NewText(source.UnixLines(now)), e.Version)
		at.text, e.File = p.doc.Text().String(), string(rev)
	case p.doc == nil:
		return errors.New("its base is missing")
	case e.New:
		p.begun, p.former, p.files = true, e.Text, []fileText{{rev: store.RevisionOf(nil)}}
		if e.Text != nil {
			p.files = append(p.files, fileText{text: *e.Text})
		}
		return nil
	case e.Version-len(e.Updates) != p.doc.Version():
		return errGap
	case e.Gone:
		p.gone = true
		return nil
	default:
		if e.Who != history.Outside && !slices.Contains(p.who, e.Who) {
			p.who = append(p.who, e.Who)
		}
		_, err := p.doc.Receive(p.doc.Version(), e.Client, e.Updates)
		for i := 0; i < len(e.Updates) && err == nil; i++ {
			p.marks = marked(p.marks, e.Updates[i], e.Who)
		}
		return err
	}
	if e.File != "" {
		p.files, p.begun, p.former = nil, false, nil
		if at.text == p.doc.Text().String() {
			p.who, p.marks = nil, nil
		}
	}
	p.files = append(p.files, at)
	return nil
}

// base returns the text that the file had for the room before others changed it; ok is false if that is not known.
func (p *past) base(now string) (base string, ok bool) {
	rev, text := store.RevisionOf([]byte(now)), source.UnixLines(now)
	for _, f := range slices.Backward(p.files) {
		if f.rev == rev || f.text == text {
			return f.text, true
		}
	}
	if text == p.doc.Text().String() {
		return text, true
	}
	if p.damaged || p.gone {
		return "", false
	}
	// Another program has changed the file since.
	return nearest(p.files, text), len(p.files) > 0
}

// nearest returns the text that differs least from a new text of the file: another program has most likely changed that one.
func nearest(files []fileText, text string) (base string) {
	best := -1
	for _, f := range files {
		n := 0
		for _, s := range collab.Between(collab.NewText(f.text), collab.NewText(text)) {
			if !s.Keep {
				n += s.Len + len(s.Text)
			}
		}
		if best < 0 || n <= best {
			base, best = f.text, n
		}
	}
	return base
}

// beginLog begins the log with the present text and the state of the file.
func (r *Room) beginLog(text string, version int, marks []mark, file entry) error {
	return r.writeLog(r.beginning(text, version, marks, file))
}

// beginning returns the entries with which a log begins.
func (r *Room) beginning(text string, version int, marks []mark, file entry) []entry {
	entries := []entry{{Room: r.id, Version: version, Text: &text, Marks: marks}, file}
	for _, w := range r.wills {
		entries = append(entries, entry{Version: version, Will: string(w.rev), Text: &w.text})
	}
	return entries
}

// writeLog replaces the log.
func (r *Room) writeLog(entries []entry) error {
	line, err := sealed(entries)
	if err != nil {
		return err
	}
	if _, err := r.ws.Home.Write(r.logFile(), append(line, '\n'), nil); err != nil {
		return err
	}
	r.hasLog, r.logSize = true, len(line)+1
	return nil
}

// append writes a line to the log, with one sync.
func (r *Room) append(entries []entry) error {
	line, err := sealed(entries)
	if err != nil {
		return err
	}
	r.logSize += len(line) + 1
	return r.ws.Home.Append(r.logFile(), line)
}

// announce stores which text the file gets next.
func (r *Room) announce(w fileText) error {
	w.rev = store.RevisionOf([]byte(w.raw))
	if r.ws.Home != nil {
		if err := r.append([]entry{{Version: w.version, Will: string(w.rev)}}); err != nil {
			return fmt.Errorf("the log of the text cannot be written: %w", err)
		}
	}
	r.wills = append(r.wills, w)
	return nil
}

// Check names the logs of a project that are damaged in the log of the server. What cannot be read of one is kept aside when its text is opened.
func (s *Set) Check(ws *workspace.Workspace) {
	if ws.Home == nil || s.Log == nil {
		return
	}
	files, err := logsOf(ws)
	if err != nil {
		s.Log.Error("the logs of texts cannot be read", "project", ws.Name, "error", err)
	}
	for _, file := range files {
		at := place{ws, file}
		raw := ""
		if f := ws.Now().File(file); f != nil {
			raw = f.Text
		}
		f, err := at.readLog()
		switch {
		case f == nil && err == nil: // its room has ended
			continue
		case err == nil && len(f.Text) == 0:
			err = errors.New("it is empty")
		case err == nil:
			p, problems := readLog(f.Text, raw)
			switch {
			case len(problems) > 0:
				err = problems[0]
			case p.doc == nil:
				err = errors.New("it has no text")
			}
		}
		if err != nil {
			s.Log.Error("damaged file: the log of a shared text; what can be read of it is used when the text is opened, and it is kept aside then", "file", ws.Home.Path(at.logFile()), "error", err)
		}
	}
}

// setAside keeps a log with lines that could not be read.
func (r *Room) setAside(log []byte) error {
	line, err := json.Marshal(struct {
		At  time.Time `json:"at"`
		Log string    `json:"log"`
	}{time.Now().UTC().Truncate(time.Second), strings.ToValidUTF8(string(log), "\ufffd")})
	if err == nil {
		err = r.ws.Home.Append(r.asideFile(), line)
	}
	if errors.Is(err, store.ErrTooLarge) { // earlier ones go
		_, err = r.ws.Home.Write(r.asideFile(), line, nil)
	}
	if err != nil {
		return fmt.Errorf("keep the damaged log of a text aside: %w", err)
	}
	return nil
}
