package stream

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Rules that were found by codes are refined by the definitions: they have the names of messages, are in the state in which they act, and
// refer to fields of the message. Each refinement is one more candidate, so that one that explains less is not chosen.

const (
	mostChoice  = 15 // the largest value of a field that chooses a state
	maxFollow   = 8  // messages after a change of the state that tell the next one
	maxSwitched = 64 // messages that are decoded for a rule
)

// switched is a line of a compression that a message turns on.
var switched = regexp.MustCompile(`^(\d+) (to-server|to-client): (compress .*) (from \d+|on)\n$`)

var wayNames = [...]string{"to-server", "to-client"}

// integer is a field with its value.
type integer struct {
	name  string
	value int64
}

// integers returns the fields of a message that are whole numbers, outside of groups and lists.
func (d *detector) integers(m *schema.Message, data []byte) (out []integer) {
	if m == nil || m.Body == nil {
		return nil
	}
	f := fields{lib: newCatalog(d.lib)}
	for _, x := range m.Body.Fields {
		if n, is := x.Type.(*schema.Number); !is || n.Kind == schema.Float || n.Scale != 0 || x.Name == "" {
			continue
		}
		if v, err := f.read(m, data, x.Name); err == nil && v.isNumber {
			out = append(out, integer{x.Name, v.number})
		}
	}
	return out
}

// named returns the line of a compression with the name of its message in a group, if there is one.
func (d *detector) named(line, group string) string {
	at := switched.FindStringSubmatch(line)
	if at == nil {
		return line
	}
	if m := d.switching(at, group); m != nil {
		return fmt.Sprintf("%s %s: %s %s\n", envelope.Word(m.Name), at[2], at[3], at[4])
	}
	return line
}

// switching returns the definition of the message of such a line in a group, nil if there is none.
func (d *detector) switching(at []string, group string) *schema.Message {
	code, err := strconv.ParseUint(at[1], 10, 32)
	if err != nil {
		return nil
	}
	return d.lib.Lookup(schema.Key{Dir: dirs[slices.Index(wayNames[:], at[2])], Group: group, Code: uint32(code)})
}

// refined returns the states of a search with refined rules, "" if nothing is refined.
func (d *detector) refined(x *search, initial, lines string) string {
	groups := x.groupsOf(x.best, initial)
	states := []string{initial}
	rules := map[string][]string{}
	better := false
	enter := func(state string) {
		if !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	if state, line := d.packingRule(x, groups, lines); line != "" {
		rules[state] = append(rules[state], line)
		lines, better = "", true
	}
	for _, s := range x.best {
		enter(s.to)
	}
	for _, s := range x.best {
		for _, r := range d.branches(x, s, groups, initial, states) {
			rules[s.from] = append(rules[s.from], r.line)
			enter(r.to)
			better = better || r.refined
		}
	}
	for state := range rules {
		if !slices.Contains(states, state) {
			return "" // the rule would never act
		}
	}
	if !better {
		return ""
	}
	text := lines
	for _, g := range states {
		text += "\nstate " + envelope.Word(g) + "\n"
		for _, r := range rules[g] {
			text += "  " + r + "\n"
		}
	}
	return text
}

// groupsOf returns the group of each message.
func (x *search) groupsOf(steps []step, initial string) []string {
	out := make([]string, len(x.messages))
	group, sample := initial, -1
	for i := range x.messages {
		m := &x.messages[i]
		if m.sample != sample {
			group, sample = initial, m.sample
		}
		out[i] = group
		group = next(steps, group, m)
	}
	return out
}

// packingRule returns the rule that turns the compression on, by the name of its message and the field with the least size, and its state.
func (d *detector) packingRule(x *search, groups []string, lines string) (state, line string) {
	at := switched.FindStringSubmatch(lines)
	if at == nil {
		return "", ""
	}
	way := slices.Index(wayNames[:], at[2])
	var m *schema.Message
	fits := map[string]bool{} // fields that may have the least size, until one message disagrees
	last := -1
	for i := range x.messages {
		c := &x.messages[i]
		if c.way != way || !c.hasCode || strconv.FormatUint(uint64(c.code), 10) != at[1] || c.sample == last {
			continue
		}
		found := d.switching(at, groups[i])
		if found == nil || m != nil && found != m {
			return "", "" // other messages have this code
		}
		values := map[string]bool{}
		for _, n := range d.integers(found, c.message) {
			if p := d.packing; p != nil && p.header != "" && n.value > int64(p.most) && n.value <= int64(p.least) {
				values[n.name] = m == nil || fits[n.name]
			}
		}
		m, state, fits, last = found, groups[i], values, c.sample
	}
	if m == nil {
		return "", ""
	}
	maps.DeleteFunc(fits, func(_ string, ok bool) bool { return !ok })
	when := at[4]
	if len(fits) == 1 {
		for name := range fits {
			when = "from " + envelope.FieldWord(name)
		}
	}
	return state, fmt.Sprintf("%s %s: %s %s", envelope.Word(m.Name), at[2], at[3], when)
}

// branch is a rule that leads to a state.
type branch struct {
	line, to string
	refined  bool
}

// branches returns the rules of a step: one, or one for each value of the field that chooses the state.
func (d *detector) branches(x *search, s step, groups []string, initial string, states []string) []branch {
	m := d.lib.Lookup(schema.Key{Dir: dirs[s.way], Group: s.from, Code: s.code})
	name := strconv.FormatUint(uint64(s.code), 10)
	if m != nil {
		name = envelope.Word(m.Name)
	}
	rule := func(when, to string) branch {
		return branch{fmt.Sprintf("%s %s%s -> %s", name, wayNames[s.way], when, envelope.Word(to)), to, when != ""}
	}
	plain := []branch{rule("", s.to)}
	at := map[string]map[int64][]int{} // messages by field and value
	all := 0
	for i := range x.messages {
		c := &x.messages[i]
		if groups[i] != s.from || c.way != s.way || !c.hasCode || c.code != s.code || all == maxSwitched {
			continue
		}
		all++
		for _, n := range d.integers(m, c.message) {
			if n.value < 0 || n.value > mostChoice {
				delete(at, n.name)
				continue
			}
			if all > 1 && at[n.name] == nil {
				continue
			}
			if at[n.name] == nil {
				at[n.name] = map[int64][]int{}
			}
			at[n.name][n.value] = append(at[n.name][n.value], i)
		}
	}
	names := slices.Sorted(maps.Keys(at))
	for _, field := range names {
		if len(at[field]) < 2 {
			continue
		}
		var out []branch
		differ := false
		for _, v := range slices.Sorted(maps.Keys(at[field])) {
			to := x.leadsTo(at[field][v], s)
			differ = differ || to != s.to
			out = append(out, rule(fmt.Sprintf(" when %s = %d", envelope.FieldWord(field), v), to))
		}
		if differ {
			return out
		}
	}
	// One value only: it is the condition if it may lead to another state, in other traffic.
	other := slices.ContainsFunc(x.groups, func(g string) bool { return g != "" && !slices.Contains(states, g) })
	if !other || len(names) != 1 || len(at[names[0]]) != 1 || s.from != initial && !suggestsState(names[0]) {
		return plain
	}
	for v := range at[names[0]] {
		return []branch{rule(fmt.Sprintf(" when %s = %d", envelope.FieldWord(names[0]), v), s.to)}
	}
	return plain
}

// suggestsState reports whether the name of a field suggests that it chooses a state.
func suggestsState(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "state") || strings.Contains(name, "next") || strings.Contains(name, "intent")
}

// leadsTo returns the group that the messages after some others fit best: that of the step, unless all of them fit another one better.
func (x *search) leadsTo(after []int, s step) string {
	best, most := s.to, 0
	for _, g := range append([]string{s.to}, x.groups...) {
		n, of := 0, 0
		for _, i := range after {
			for k := i + 1; k < len(x.messages) && k <= i+maxFollow && x.messages[k].sample == x.messages[i].sample; k++ {
				of++
				if x.fits(k, g) {
					n++
				}
			}
		}
		if n > most && (g == s.to || n == of) {
			best, most = g, n
		}
	}
	return best
}
