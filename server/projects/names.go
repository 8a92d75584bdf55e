package projects

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"wirebench/server/store"
)

const maxName = 64

// reserved are the names that addresses use for other things.
var reserved = map[string]bool{"v1": true, "access": true, "docs": true, "openapi.json": true, "projects": true, "schemas": true}

// Short reports whether POST /api/v1/NAME is an operation of any project. Projects that have such a name keep it; other methods, and addresses
// below it, are of the project.
func Short(name string) bool { return name == "decode" || name == "encode" || name == "upload" }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// NameError reports a name that a project cannot have.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("project name %.80q: %s", e.Name, e.Reason) }

// checkName returns a *NameError for a name that no project can have.
func checkName(name string) error {
	switch {
	case name == "":
		return &NameError{name, "is empty"}
	case len(name) > maxName:
		return &NameError{name, fmt.Sprintf("has %d characters; at most %d are allowed", len(name), maxName)}
	case !nameForm.MatchString(name):
		return &NameError{name, "only lower-case letters, digits, - and _ are allowed, with a letter or digit first"}
	case reserved[name]:
		return &NameError{name, "is used for other addresses"}
	case name == store.SetAside:
		return &NameError{name, "is used for copies"}
	}
	if err := store.CheckName(name); err != nil { // device names
		return &NameError{name, err.Error()}
	}
	return nil
}

// NameFor returns a project name made of a title, "" if it has no letters or digits that names may have.
func NameFor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == maxName {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// freeName returns a name made of a title that no project has or had.
func (s *Set) freeName(title string) string {
	base := NameFor(title)
	if base == "" {
		base = "project"
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			end := fmt.Sprintf("-%d", n)
			name = base[:min(len(base), maxName-len(end))] + end
		}
		if s.checkFree(name) == nil {
			return name
		}
	}
}

// checkFree returns a *NameError for a name that a new project cannot have.
func (s *Set) checkFree(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if Short(name) {
		return &NameError{name, "is used for other addresses"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		switch {
		case p.name == name && p.State == Deleted:
			return &NameError{name, "a deleted project has this name: restore it, or remove it for good"}
		case p.name == name:
			return &NameError{name, "another project has this name"}
		}
	}
	return nil
}
