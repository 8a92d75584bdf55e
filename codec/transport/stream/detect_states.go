package stream

import (
	"fmt"
	"slices"
	"strconv"

	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// maxSwitches is the number of changes of the state that detection looks for.
const maxSwitches = 4

// states returns the texts that may follow the framing and the code: the lines of the compression, and with definitions the states.
func (d *detector) states(head, lines string) []string {
	if d.lib == nil {
		return []string{lines}
	}
	groups := d.lib.Groups()
	if len(groups) == 0 || len(groups) > 32 {
		return []string{lines}
	}
	messages := d.messages(head + lines)
	var out []string
	for _, g := range groups {
		out = append(out, d.named(lines, g)+fmt.Sprintf("group %s\n", envelope.Word(g)))
	}
	if len(groups) == 1 {
		return out
	}
	out = append(out, lines+d.byDirection(messages, groups))
	x := &search{j: judge{lib: d.lib}, messages: messages, groups: groups, fit: map[string][]bool{}}
	for _, g := range groups {
		out = append(out, d.follow(x, g, lines)...)
	}
	return out
}

// coded is a message with its code.
type coded struct {
	sample, way int
	code        uint32
	hasCode     bool
	message     []byte
}

// messages returns the messages of the samples as an envelope reads them.
func (d *detector) messages(text string) (out []coded) {
	e, diags := envelope.Parse(source.New("detected", text))
	if diags.HasErrors() {
		return nil
	}
	code := &e.States[0].Code[0]
	for _, f := range d.run(text, nil).frames {
		v, n := readNumber(&code.Number, f.message)
		out = append(out, coded{f.sample, f.way, uint32(v), n > 0 && v == uint64(uint32(v)), f.message})
	}
	return out[:min(len(out), maxTried)]
}

// fits reports whether a message is one of a group, exactly.
func (j *judge) fits(m *coded, group string) bool {
	_, exact := j.judge(schema.Key{Dir: dirs[m.way], Group: group, Code: m.code}, m.hasCode, m.message)
	return exact > 0
}

// byDirection returns lines that assign the best group to each direction.
func (d *detector) byDirection(messages []coded, groups []string) (text string) {
	j := judge{lib: d.lib}
	for way, dir := range [...]string{"to-server", "to-client"} {
		best, most := "", -1
		for _, g := range groups {
			n := 0
			for i := range messages {
				if messages[i].way == way && j.fits(&messages[i], g) {
					n++
				}
			}
			if n > most {
				best, most = g, n
			}
		}
		text += fmt.Sprintf("group %s %s\n", dir, envelope.Word(best))
	}
	return text
}

// step is a change of the state: after a message of a group.
type step struct {
	from, to string
	code     uint32
	way      int
}

// search looks for the states of a protocol.
type search struct {
	j        judge
	messages []coded
	groups   []string
	fit      map[string][]bool // by group, for each message
	best     []step
	most     int
}

// fits reports whether a message is one of a group.
func (x *search) fits(i int, group string) bool {
	fit := x.fit[group]
	if fit == nil {
		fit = make([]bool, len(x.messages))
		for k := range fit {
			fit[k] = x.j.fits(&x.messages[k], group)
		}
		x.fit[group] = fit
	}
	return fit[i]
}

// follow returns states from an initial group on: where messages no longer fit, a message before that place leads to the group that most of
// the following messages fit, or that the next messages fit. It returns nothing if there are no such changes, and otherwise the states, those
// with refined rules first.
func (d *detector) follow(x *search, initial, lines string) (out []string) {
	x.best, x.most = nil, -1
	x.extend(nil, initial)
	if len(x.best) == 0 {
		return nil
	}
	if text := d.refined(x, initial, lines); text != "" {
		out = append(out, text)
	}
	states := []string{initial}
	for _, s := range x.best {
		if !slices.Contains(states, s.to) {
			states = append(states, s.to)
		}
	}
	text := lines
	for _, g := range states {
		text += "\nstate " + envelope.Word(g) + "\n"
		for _, s := range x.best {
			if s.from != g {
				continue
			}
			name := strconv.FormatUint(uint64(s.code), 10)
			if m := d.lib.Lookup(schema.Key{Dir: dirs[s.way], Group: s.from, Code: s.code}); m != nil {
				name = envelope.Word(m.Name)
			}
			text += fmt.Sprintf("  %s %s -> %s\n", name, wayNames[s.way], envelope.Word(s.to))
		}
	}
	return append(out, text)
}

// extend tries the steps that may follow others.
func (x *search) extend(steps []step, initial string) {
	n, failed := x.count(steps, initial)
	if n > x.most || n == x.most && len(steps) < len(x.best) {
		x.best, x.most = steps, n
	}
	if failed < 0 || len(steps) == maxSwitches {
		return
	}
	group := x.groupAt(steps, initial, failed)
	var most, furthest step
	bestN, bestAt := -1, failed
	for k := failed - 1; k >= max(failed-4, 0) && x.messages[k].sample == x.messages[failed].sample; k-- {
		m := &x.messages[k]
		if !m.hasCode || x.groupAt(steps, initial, k) != group {
			continue
		}
		for _, to := range x.groups {
			if to == group {
				continue
			}
			s := step{group, to, m.code, m.way}
			n, at := x.count(append(steps[:len(steps):len(steps)], s), initial)
			if at < 0 {
				at = len(x.messages)
			}
			if n > bestN {
				most, bestN = s, n
			}
			if at > bestAt {
				furthest, bestAt = s, at
			}
		}
	}
	if bestN >= 0 {
		x.extend(append(steps[:len(steps):len(steps)], most), initial)
	}
	if furthest != (step{}) && furthest != most {
		x.extend(append(steps[:len(steps):len(steps)], furthest), initial)
	}
}

// next returns the group after a message.
func next(steps []step, group string, m *coded) string {
	for _, s := range steps {
		if s.from == group && s.way == m.way && m.hasCode && s.code == m.code {
			return s.to
		}
	}
	return group
}

// count returns the number of messages that fit, and the index of the first one that does not, or -1.
func (x *search) count(steps []step, initial string) (n, failed int) {
	group, sample := initial, -1
	failed = -1
	for i := range x.messages {
		m := &x.messages[i]
		if m.sample != sample {
			group, sample = initial, m.sample
		}
		if x.fits(i, group) {
			n++
		} else if failed < 0 {
			failed = i
		}
		group = next(steps, group, m)
	}
	return n, failed
}

// groupAt returns the group of a message.
func (x *search) groupAt(steps []step, initial string, at int) string {
	group, sample := initial, -1
	for i := range x.messages[:at] {
		m := &x.messages[i]
		if m.sample != sample {
			group, sample = initial, m.sample
		}
		group = next(steps, group, m)
	}
	if x.messages[at].sample != sample {
		return initial
	}
	return group
}
