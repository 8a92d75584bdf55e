package page

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"wirebench/codec/view"
)

// alternated returns the bytes of the shown message with another of its alternatives: with the number that selects it, the values of the common
// fields, those of the present alternative that the other one has as well, and defaults for the rest.
func (p *work) alternated(res view.Result, value []byte, to int) ([]byte, error) {
	cases := view.FormOf(p.job.Rec.Program).Cases
	if to >= len(cases) {
		return nil, errors.New("the message has no such alternative")
	}
	for _, keep := range []bool{true, false} { // a field of the same name may have another type
		next, err := withCase(value, cases, to, keep)
		if err != nil {
			return nil, err
		}
		data, err := p.encoded(res, next)
		if err == nil || !keep {
			return data, err
		}
	}
	return nil, nil
}

// selectedBy returns the index of the alternative that changed values select by a number at a path. changed reports whether the number
// selects alternatives, and another one than before; the index is -1 if it selects none.
func selectedBy(cases []view.FormCase, path string, was, now []byte) (index int, changed bool) {
	if !slices.ContainsFunc(cases, func(c view.FormCase) bool { return c.Name == path }) {
		return -1, false
	}
	of := func(value []byte) int {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(value, &members)
		n := strings.Trim(string(members[path]), `"`)
		return slices.IndexFunc(cases, func(c view.FormCase) bool { return c.Name == path && c.Value == n })
	}
	index = of(now)
	return index, index != of(was)
}

// withCase returns the values of a message with the fields of an alternative; none for -1. With keep, values that both alternatives have
// stay.
func withCase(value []byte, cases []view.FormCase, to int, keep bool) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, err
	}
	had := map[string]json.RawMessage{}
	for _, c := range cases {
		for _, f := range c.Fields {
			if v, ok := members[f.Name]; ok {
				had[f.Name] = v
				delete(members, f.Name)
			}
		}
	}
	if to >= 0 {
		for _, f := range cases[to].Fields {
			members[f.Name] = json.RawMessage("null")
			if v, ok := had[f.Name]; ok && keep {
				members[f.Name] = v
			}
		}
		if cases[to].Name != "" {
			members[cases[to].Name] = json.RawMessage(cases[to].Value)
		}
	}
	return json.Marshal(members)
}
