package paste

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// MaxPattern bounds a pattern, in bytes.
const MaxPattern = 1000

// Pattern is a user's own form of text: a regular expression whose named groups are the parts of a message, as in Wireshark's import of
// texts. Its time is linear in the text, as for all expressions of package regexp. It is immutable.
type Pattern struct {
	re     *regexp.Regexp
	groups map[string]int
}

// patternGroups are the names of groups: the bytes in hex or base64, and what is said of them.
var patternGroups = []string{"data", "base64", "time", "dir", "name", "seqno"}

// ParsePattern parses a pattern. In it ^ and $ match at lines.
func ParsePattern(text string) (*Pattern, error) {
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("a pattern may have at most %d bytes", MaxPattern)
	}
	re, err := regexp.Compile("(?m)" + text)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "(?m)", ""))
	}
	p := &Pattern{re: re, groups: map[string]int{}}
	for i, name := range re.SubexpNames() {
		if name == "" {
			continue
		}
		if !slices.Contains(patternGroups, name) {
			return nil, fmt.Errorf("unknown group %s; the groups are %s", scan.Quote(name), strings.Join(patternGroups, ", "))
		}
		p.groups[name] = i
	}
	if (p.groups["data"] == 0) == (p.groups["base64"] == 0) {
		return nil, errors.New("a pattern has one group of bytes: (?<data>...) for hex, or (?<base64>...)")
	}
	return p, nil
}

// Has reports whether the pattern has a group of this name.
func (p *Pattern) Has(group string) bool { return p.groups[group] > 0 }

// Read reads a text: each match is a message, and what is between them is named in the notes. The error is an *Error.
func (p *Pattern) Read(text string) (*Paste, error) {
	return readText(text, func(t *pasted) (*builder, *Error) {
		b := &builder{form: "pattern", title: "Own pattern", why: "each match of the pattern is a message", strict: true}
		for at := 0; at <= len(t.s); {
			m := p.re.FindStringSubmatchIndex(t.s[at:])
			if m == nil {
				break
			}
			if e := p.match(t, b, at, m); e != nil {
				return nil, e
			}
			if at += m[1]; m[0] == m[1] {
				at++
			}
		}
		none := "the pattern matches no bytes in the text"
		if len(b.notes) > 0 {
			none += ": " + b.notes[0].Message
		}
		return b.whole(nil, none)
	})
}

// match makes a message of a match in the text from at on.
func (p *Pattern) match(t *pasted, b *builder, at int, m []int) *Error {
	group := func(name string) (s string, off int) {
		i := p.groups[name]
		if i == 0 || m[2*i] < 0 {
			return "", at + m[0]
		}
		return strings.TrimSpace(t.s[at+m[2*i] : at+m[2*i+1]]), at + m[2*i]
	}
	data, off := group("data")
	read := readHex
	if p.groups["base64"] > 0 {
		data, off = group("base64")
		read = readBase64
	}
	if data == "" {
		return nil
	}
	b.cover(span{at + m[0], at + m[1]})
	part, e := read(&pasted{data})
	if e != nil {
		b.note(off+max(e.off, 0), "this match was not read: %s", e.Message)
		return nil
	}
	var msg Message
	if s, _ := group("time"); s != "" && timeAt(strings.Fields(s), &msg) == 0 {
		var ok bool
		if msg.Time, ok = scan.ParseStamp(s); !ok {
			b.note(off, "%s is no time", scan.Quote(s[:min(len(s), 40)]))
		}
	}
	if s, _ := group("dir"); s != "" {
		msg.Dir = dirAt([]string{s}, true)
	}
	name, _ := group("name")
	msg.Name = strings.Clone(name)
	seqno, _ := group("seqno")
	if n, err := strconv.ParseUint(seqno, 10, 31); err == nil {
		msg.Number = int(n)
	}
	start := len(b.out)
	b.out = append(b.out, part.out...)
	return b.add(msg, start, at+m[0])
}
