package workspace

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/history"
	"wirebench/server/store"
)

// GivenCodes are codes for messages. Their definitions need not exist.
type GivenCodes struct {
	Codes []GivenCode
	Map   string // the code map to change; "": the one in use, or a new one if the library has none
	Who   []string
	Take  bool // take the codes from other messages that have them
}

// GivenCode is a code for a message.
type GivenCode struct {
	Message string `json:"message" minLength:"1" maxLength:"200" doc:"NAME or NAME.VERSION; all versions have one code, and the definition need not exist"`
	Code    uint32 `json:"code"`
}

// CodeError reports why a message cannot get a code.
type CodeError struct {
	Reason string
	Other  string // the message that has the code, if this is the reason
}

func (e *CodeError) Error() string { return e.Reason }

func badCode(format string, args ...any) error {
	return &CodeError{Reason: fmt.Sprintf(format, args...)}
}

// maxCodeTries limits the retries of GiveCodes after another program has written the map.
const maxCodeTries = 5

// GiveCodes gives messages codes: it changes their lines in a code map, adds lines, or makes a map. Everything else in the map stays as it
// is. It returns the name of the map, and the step that undoes it all, nil if nothing was changed. The error is a *CodeError, a *NameError,
// or one of the disk; then nothing was changed.
func (w *Workspace) GiveCodes(g GivenCodes) (codeMap string, step *history.Step, err error) {
	dialect := w.Now().Dialect
	if dialect.Codes == nil {
		return "", nil, badCode("the codes of this protocol are part of the definitions")
	}
	for _, c := range g.Codes {
		if name := MessageName(c.Message); !text.IsName(name) {
			return "", nil, badCode("%.100q is not the name of a message: letters, digits and _ are allowed", c.Message)
		}
		if c.Code > dialect.Codes.Max {
			return "", nil, badCode("the code %d is above %d", c.Code, dialect.Codes.Max)
		}
	}
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	for try := 1; ; try++ {
		if err := w.reload(false); err != nil {
			return "", nil, err
		}
		if codeMap, err = w.mapToChange(g.Map); err != nil {
			return "", nil, err
		}
		step, err = w.setCodes(codeMap, g)
		var moved *store.ConflictError
		if errors.As(err, &moved) && try < maxCodeTries { // another program was faster
			continue
		}
		if err != nil {
			return codeMap, step, err
		}
		return codeMap, step, w.reload(false)
	}
}

// MessageName returns the name of a message without its version.
func MessageName(full string) string {
	name, _, _ := strings.Cut(full, ".")
	return name
}

// MapForCodes returns the code map that gets the codes of messages: the one in use, or the name of a new one. It is "" if the map in use is
// not in the library, if none of several is in use, and for dialects without code maps.
func (s *Snapshot) MapForCodes() string {
	switch {
	case s.Dialect.Codes == nil:
	case s.Library.mapNamed(s.CodeMap) != nil:
		return s.CodeMap
	case s.CodeMap == "" && len(s.Library.Maps) == 0:
		return s.Dialect.Codes.New
	}
	return ""
}

// mapToChange returns the name of the code map that gets a code. The caller holds the lock.
func (w *Workspace) mapToChange(wanted string) (string, error) {
	snap := w.Now()
	maps := snap.Dialect.Codes
	switch {
	case wanted != "" && !maps.Is(wanted):
		return "", &NameError{wanted, "not the name of a code map, such as " + maps.New}
	case wanted != "":
		return wanted, store.CheckName(wanted)
	case snap.CodeMap == "" && len(snap.Library.Maps) == 0 && w.settings.Map != "": // chosen, but deleted
		return w.settings.Map, nil
	case snap.MapForCodes() != "":
		return snap.MapForCodes(), nil
	case snap.CodeMap != "":
		return "", badCode("the code map %s is not in the library: choose one of the library", snap.CodeMap)
	}
	return "", badCode("the library has %d code maps: choose one first", len(snap.Library.Maps))
}

// setCodes writes the map with the codes. The caller holds the lock.
func (w *Workspace) setCodes(codeMap string, g GivenCodes) (*history.Step, error) {
	snap := w.Now()
	f, c := snap.Library.mapNamed(codeMap), history.Change{Name: codeMap}
	if f != nil {
		c.Before = []byte(f.Text)
	}
	codes := make([]schema.GivenCode, len(g.Codes))
	for i, one := range g.Codes {
		codes[i] = schema.GivenCode{Name: MessageName(one.Message), Code: one.Code}
	}
	next, other := snap.Dialect.Codes.Set(source.New(codeMap, string(c.Before)), codes, g.Take)
	if other.Name != "" {
		return nil, &CodeError{Reason: fmt.Sprintf("%s has the code %d in %s", other.Name, other.Code, codeMap), Other: other.Name}
	}
	if next == string(c.Before) {
		return nil, nil
	}
	c.After = []byte(next)
	if err := w.checkName(codeMap, c.After); err != nil {
		return nil, err
	}
	if err := w.room(len(c.After)-len(c.Before), f == nil); err != nil {
		return nil, err
	}
	about := fmt.Sprintf("%d codes in %s", len(g.Codes), codeMap)
	if len(g.Codes) == 1 {
		about = fmt.Sprintf("the code of %s in %s", MessageName(g.Codes[0].Message), codeMap)
	}
	return w.History.Do(history.Act{About: about, Who: g.Who, Changes: []history.Change{c}})
}

// keepMap stores the choice of the code map in use when the library gets a second one: the only map of a library is used without a choice.
// The caller holds the lock.
func (w *Workspace) keepMap(lib *Library) {
	old := w.Now()
	if old == nil || w.settings.Map != "" || len(old.Library.Maps) != 1 || len(lib.Maps) < 2 || lib.mapNamed(old.CodeMap) == nil {
		return
	}
	w.settings.Map = old.CodeMap
	if w.Home == nil {
		return
	}
	if err := w.writeSettings(&w.settings); err != nil { // it is in force until the program ends
		w.Log.Error("store the choice of the code map", "project", w.Name, "map", old.CodeMap, "error", err)
	}
}

// MapOptions returns the values of options that go with a code map of the library: the version of the game.
func (w *Workspace) MapOptions(f *source.File) map[string]string {
	codes := w.Now().Dialect.Codes
	if codes == nil {
		return nil
	}
	var versions []byte
	for dir := path.Dir(f.Name); versions == nil; dir = path.Dir(dir) { // beside the map, or in a folder above
		if found, err := w.Files.Read(path.Join(dir, codes.Versions)); err == nil {
			versions = found.Text
		}
		if dir == "." {
			break
		}
	}
	return codes.Options(f, versions)
}
