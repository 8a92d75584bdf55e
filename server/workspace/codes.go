package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
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
	if err := w.Now().checkCodes(g.Codes); err != nil {
		return "", nil, err
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

// checkCodes refuses codes that no code map of the language can have.
func (s *Snapshot) checkCodes(codes []GivenCode) error {
	if s.Dialect.Codes == nil {
		return badCode("the codes of this protocol are part of the definitions")
	}
	for _, c := range codes {
		if name := MessageName(c.Message); !text.IsName(name) {
			return badCode("%.100q is not the name of a message: letters, digits and _ are allowed", c.Message)
		}
		if c.Code > s.Dialect.Codes.Max {
			return badCode("the code %d is above %d", c.Code, s.Dialect.Codes.Max)
		}
	}
	return nil
}

// SuggestCodes returns the code map that GiveCodes would change, with its text and the text that it would get, for a suggestion.
func (w *Workspace) SuggestCodes(g GivenCodes) (codeMap string, s *Suggestion, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	snap := w.Now()
	if err := snap.checkCodes(g.Codes); err != nil {
		return "", nil, err
	}
	if codeMap, err = w.mapToChange(g.Map); err != nil {
		return "", nil, err
	}
	before, after, err := snap.withCodes(codeMap, g)
	return codeMap, &Suggestion{Base: before, Text: after}, err
}

// withCodes returns the text of a code map, "" if there is none, and the same with codes.
func (s *Snapshot) withCodes(codeMap string, g GivenCodes) (before, after string, err error) {
	if f := s.Library.mapNamed(codeMap); f != nil {
		before = f.Text
	}
	codes := make([]schema.GivenCode, len(g.Codes))
	for i, one := range g.Codes {
		codes[i] = schema.GivenCode{Name: MessageName(one.Message), Code: one.Code}
	}
	after, other := s.Dialect.Codes.Set(source.New(codeMap, before), codes, g.Take)
	if other.Name != "" {
		return before, "", &CodeError{Reason: fmt.Sprintf("%s has the code %d in %s", other.Name, other.Code, codeMap), Other: other.Name}
	}
	return before, after, nil
}

// WithCode returns the library as it is read if a message, which has no code, gets one: the given code or, if that is nil, the code that an open
// suggestion for a code map gives it. It returns nil if there is none. The result is cached as those of As are.
func (w *Workspace) WithCode(message string, code *uint32) (*Snapshot, uint32, error) {
	snap, name := w.Now(), MessageName(message)
	if code == nil {
		code = w.suggestedCode(name)
	}
	if code == nil || snap.Dialect.Codes == nil {
		return nil, 0, nil
	}
	given := []GivenCode{{name, *code}}
	if err := snap.checkCodes(given); err != nil {
		return nil, 0, err
	}
	codeMap := cmp.Or(snap.CodeMap, snap.Dialect.Codes.New)
	if snap.Library.mapNamed(codeMap) == nil { // it is from elsewhere, or there is none
		for name, code := range snap.Options.Codes {
			given = append(given, GivenCode{name, code})
		}
		slices.SortFunc(given[1:], func(a, b GivenCode) int { return strings.Compare(a.Message, b.Message) })
		slices.Reverse(given) // of two that have a code the last one gets it
	}
	_, text, err := snap.withCodes(codeMap, GivenCodes{Codes: given, Take: true})
	if err != nil {
		return nil, 0, err
	}
	next, err := w.variant(fmt.Sprintf("code %d of %s", *code, name), func(set *Settings, base *Snapshot) error {
		err := apply(base.chosen, set, base.Library)
		set.Codes = source.New(codeMap, text)
		return err
	})
	return next, *code, err
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
	before, next, err := w.Now().withCodes(codeMap, g)
	if err != nil || next == before {
		return nil, err
	}
	c, isNew := history.Change{Name: codeMap}, w.Now().Library.mapNamed(codeMap) == nil
	if !isNew {
		c.Before = []byte(before)
	}
	c.After = []byte(next)
	about := fmt.Sprintf("%d codes in %s", len(g.Codes), codeMap)
	if len(g.Codes) == 1 {
		about = fmt.Sprintf("the code of %s in %s", MessageName(g.Codes[0].Message), codeMap)
	}
	return w.changeMap(about, g.Who, c)
}

// changeMap writes a code map, in a step that can be undone. The caller holds the lock.
func (w *Workspace) changeMap(about string, who []string, c history.Change) (*history.Step, error) {
	if err := w.checkName(c.Name, c.After); err != nil {
		return nil, err
	}
	if err := w.room(len(c.After)-len(c.Before), c.Before == nil); err != nil {
		return nil, err
	}
	return w.History.Do(history.Act{About: about, Who: who, Changes: []history.Change{c}})
}

// acceptCodes writes the code map of a suggestion. Code maps have no revisions: the step names the people, and can be undone.
func (w *Workspace) acceptCodes(suggested, accepted string, who []string, c history.Change) error {
	if bytes.Equal(c.Before, c.After) {
		return nil
	}
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.changeMap(fmt.Sprintf("codes in %s, suggested by %s and accepted by %s", c.Name, cmp.Or(suggested, "somebody"), cmp.Or(accepted, "somebody")), who, c); err != nil {
		return err
	}
	return w.reload(false)
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
