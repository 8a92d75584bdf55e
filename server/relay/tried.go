package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"wirebench/codec/view"
)

// Bounds of the check of a rule before it is accepted. Above them it is accepted unchecked.
const (
	maxRuleIndex = 64      // of an array element
	maxRuleTry   = 1 << 16 // bytes of the preceding elements
	maxRulePath  = 64      // names and indexes
)

// messageName matches words that are meant as message names, not as text to search for.
var messageName = regexp.MustCompile(`^[A-Za-z0-9]+(_[A-Za-z0-9]+)+$`)

// useless returns an error if no message can match the filter of a rule.
func (m *matcher) useless() error {
	snap := m.snap()
	f, _ := snap.Filter(m.text)
	if word := strings.TrimSpace(m.text); f.Rewritten() != "" && messageName.MatchString(word) {
		return fmt.Errorf("filter: no message is called %s; text to search for must be quoted", word)
	}
	if f.CanMatch(nil) {
		return nil
	}
	for message := range snap.Messages() {
		if f.CanMatch(message) {
			return nil
		}
	}
	return errors.New("filter: no message can match")
}

// takes returns an error if a field cannot be set to a value in any message that matches the filter. It encodes messages with only this
// field set, since a value may depend on other fields.
func (m *matcher) takes(path string, value json.RawMessage) error {
	body, err := nested(path, value)
	if err != nil {
		return err
	}
	if body == nil {
		return nil
	}
	snap := m.snap()
	f, _ := snap.Filter(m.text)
	var first error
	for message := range snap.Messages() {
		if message.Body == nil || !f.CanMatch(message) {
			continue
		}
		_, _, problems, err := snap.EncodeValue(message, nil, body)
		if err != nil {
			continue // it has no code, or its definition has errors
		}
		wrong := problemAt(problems, path)
		if wrong == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("%s in %s: %s", path, message.Name, wrong.Message)
		}
	}
	return first
}

// has returns an error if no message that can match the filter has the field; it says whether others have it.
func (m *matcher) has(path string) error {
	name := path
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		return fmt.Errorf("%q is not a field path", path)
	}
	snap := m.snap()
	f, _ := snap.Filter(m.text)
	some, other := false, ""
	for message := range snap.Messages() {
		if message.Body == nil {
			continue
		}
		there := false
		for x := range message.Body.Members() {
			there = there || x.Name == name
		}
		switch {
		case f.CanMatch(message):
			some = true
			if there || len(message.Body.Variants) > 0 {
				return nil
			}
		case there && other == "":
			other = message.Name
		}
	}
	switch {
	case !some:
		return nil
	case other != "":
		return fmt.Errorf("%s: no message that matches the filter has this field; %s has it", path, other)
	}
	return fmt.Errorf("%s: no message has this field with the settings of this listener", path)
}

// problemAt returns the first problem at a path, at a part of its value, or at a prefix of the path that does not exist.
func problemAt(problems []view.ProblemInfo, path string) *view.ProblemInfo {
	for i := range problems {
		if p := problems[i].Path; p == path || p != "" && (leads(p, path) || leads(path, p)) {
			return &problems[i]
		}
	}
	return nil
}

// leads reports whether a path is a continuation of start.
func leads(start, path string) bool {
	rest, ok := strings.CutPrefix(path, start)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// nested returns an object with a value at a path, such as members[1].name; nil if an index is too large to check.
func nested(path string, value json.RawMessage) (json.RawMessage, error) {
	var parts []string // names, and indexes with their opening bracket
	for rest := path; rest != ""; {
		if rest[0] == '[' {
			digits, after, ok := strings.Cut(rest[1:], "]")
			if _, err := strconv.ParseUint(digits, 10, 31); !ok || err != nil {
				return nil, fmt.Errorf("%q is not a field path", path)
			}
			parts, rest = append(parts, "["+digits), after
			continue
		}
		if len(parts) > 0 {
			if rest[0] != '.' {
				return nil, fmt.Errorf("%q is not a field path", path)
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("%q is not a field path", path)
		}
		parts, rest = append(parts, rest[:end]), rest[end:]
	}
	if len(parts) == 0 || parts[0][0] == '[' || len(parts) > maxRulePath {
		return nil, fmt.Errorf("%q is not a field path", path)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		digits, isIndex := strings.CutPrefix(parts[i], "[")
		if !isIndex {
			name, _ := json.Marshal(parts[i]) // never fails
			value = json.RawMessage(fmt.Sprintf("{%s:%s}", name, value))
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxRuleIndex {
			return nil, nil
		}
		like := "{}" // preceding elements, of the same kind
		if len(value) > 0 && value[0] != '{' {
			like = string(value)
		}
		if n*len(like) > maxRuleTry {
			return nil, nil
		}
		value = json.RawMessage("[" + strings.Repeat(like+",", n) + string(value) + "]")
	}
	return value, nil
}
