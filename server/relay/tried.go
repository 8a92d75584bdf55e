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

// Bounds of what a rule is tried with before it is taken. Above them it is not tried.
const (
	maxRuleIndex = 64      // of an element of a list
	maxRuleTry   = 1 << 16 // bytes of the elements before
	maxRulePath  = 64      // names and indexes
)

// messageName is a word that people write for a message, and for no text that they look for.
var messageName = regexp.MustCompile(`^[A-Za-z0-9]+(_[A-Za-z0-9]+)+$`)

// useless says why no message can fit the filter of a rule.
func (m *matcher) useless() error {
	snap := m.ws.Now()
	f, _ := snap.Filter(m.text)
	if word := strings.TrimSpace(m.text); f.Rewritten() != "" && messageName.MatchString(word) {
		return fmt.Errorf("the filter: no message is called %s; text to look for stands in quotes", word)
	}
	if f.CanMatch(nil) {
		return nil
	}
	for message := range snap.Messages() {
		if f.CanMatch(message) {
			return nil
		}
	}
	return errors.New("the filter: no message can fit it")
}

// takes says why a field cannot be set to a value in any message that the filter fits. That is tried with messages of nothing but that
// field, so that what it takes can depend on others is no reason to refuse it.
func (m *matcher) takes(path string, value json.RawMessage) error {
	body, err := nested(path, value)
	if err != nil {
		return err
	}
	if body == nil {
		return nil
	}
	snap := m.ws.Now()
	f, _ := snap.Filter(m.text)
	var first error
	for message := range snap.Messages() {
		if message.Body == nil || !f.CanMatch(message) {
			continue
		}
		_, _, problems, err := snap.EncodeValue(message, nil, body)
		if err != nil {
			continue // it has no code, or a definition with mistakes
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

// problemAt is the first problem of a value at a path, of what is in it, or of a part of the path that is none.
func problemAt(problems []view.ProblemInfo, path string) *view.ProblemInfo {
	for i := range problems {
		if p := problems[i].Path; p == path || p != "" && (leads(p, path) || leads(path, p)) {
			return &problems[i]
		}
	}
	return nil
}

// leads reports whether a path goes on behind the start of it.
func leads(start, path string) bool {
	rest, ok := strings.CutPrefix(path, start)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// nested is an object with a value at a path, such as members[1].name; nil where an index is too large to try it.
func nested(path string, value json.RawMessage) (json.RawMessage, error) {
	var parts []string // names, and indexes with their bracket
	for rest := path; rest != ""; {
		if rest[0] == '[' {
			digits, after, ok := strings.Cut(rest[1:], "]")
			if _, err := strconv.ParseUint(digits, 10, 31); !ok || err != nil {
				return nil, fmt.Errorf("%q is no path of a field", path)
			}
			parts, rest = append(parts, "["+digits), after
			continue
		}
		if len(parts) > 0 {
			if rest[0] != '.' {
				return nil, fmt.Errorf("%q is no path of a field", path)
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("%q is no path of a field", path)
		}
		parts, rest = append(parts, rest[:end]), rest[end:]
	}
	if len(parts) == 0 || parts[0][0] == '[' || len(parts) > maxRulePath {
		return nil, fmt.Errorf("%q is no path of a field", path)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		digits, isIndex := strings.CutPrefix(parts[i], "[")
		if !isIndex {
			name, _ := json.Marshal(parts[i]) // a text always can be
			value = json.RawMessage(fmt.Sprintf("{%s:%s}", name, value))
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxRuleIndex {
			return nil, nil
		}
		like := "{}" // of the elements before, which are like this one
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
