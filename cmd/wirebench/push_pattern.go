package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"wirebench/codec/paste"
	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// patternLines reads a growing text by a pattern, a line at a time, and yields its messages as the lines of a hook. Lines without a message
// are counted, the first one is shown.
type patternLines struct {
	in      *bufio.Scanner
	pattern *paste.Pattern
	note    func(format string, args ...any)
	now     func() time.Time
	rest    []byte // of the lines to be yielded
	without int
}

func newPatternLines(in io.Reader, p *paste.Pattern, note func(format string, args ...any)) (*patternLines, error) {
	if !p.Has("dir") {
		return nil, errors.New("--pattern needs a group (?<dir>...) here: each frame that is pushed has a direction")
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxHookLine)
	return &patternLines{in: lines, pattern: p, note: note, now: time.Now}, nil
}

// Read waits for the next line with a message.
func (l *patternLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if !l.in.Scan() {
			if l.without > 1 {
				l.note("%d lines have no message with a direction", l.without)
			}
			if l.in.Err() != nil {
				return 0, l.in.Err()
			}
			return 0, io.EOF
		}
		if line := l.in.Text(); strings.TrimSpace(line) != "" && !l.take(line) {
			if l.without++; l.without == 1 {
				l.note("no message with a direction in %s", shown(line[:min(len(line), 80)]))
			}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// take adds the messages of a line. ok is false if some of it is not one. A message without a date has the time of its arrival.
func (l *patternLines) take(line string) (ok bool) {
	found, err := l.pattern.Read(line)
	if err != nil {
		return false
	}
	ok = true
	for _, m := range found.Messages {
		if m.Dir == schema.Both || len(m.Bytes) == 0 {
			ok = false
			continue
		}
		at := l.now()
		if m.Time.Kind == scan.Absolute {
			at = m.Time.At
		}
		object, _ := json.Marshal(struct { // of strings: cannot fail
			Dir  string `json:"dir"`
			Time string `json:"time"`
			Name string `json:"name,omitempty"`
			Note string `json:"note,omitempty"`
			Hex  string `json:"hex"`
		}{m.Dir.String(), at.UTC().Format(time.RFC3339Nano), m.Name, m.Note, hex.EncodeToString(m.Bytes)})
		l.rest = append(append(l.rest, object...), '\n')
	}
	return ok
}
