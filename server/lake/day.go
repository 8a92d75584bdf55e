package lake

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"wirebench/server/objects"
)

// Day is a day, UTC, as the number of days since 1970-01-01.
type Day int32

const dayForm = "2006-01-02"

// DayOf returns the day of a time.
func DayOf(t time.Time) Day {
	seconds := t.Unix()
	const day = 24 * 60 * 60
	if seconds < 0 {
		seconds -= day - 1
	}
	return Day(seconds / day)
}

func (d Day) String() string { return time.Unix(int64(d)*24*60*60, 0).UTC().Format(dayForm) }

// manifest is what a lake has of a day of a project. It is a small object, and the commit point of what is added to the day, changed and removed:
// files that no manifest lists are no part of the lake.
type manifest struct {
	Project  string           `json:"project"`
	Day      string           `json:"day"`
	Files    []Listed         `json:"files"`
	Captures map[string]Taken `json:"captures"` // by id

	tag string // of the object; "" if there is none
}

// Listed is a file of a lake.
type Listed struct {
	File
	Direction  string   `json:"direction,omitempty"` // of the message
	Group      string   `json:"group,omitempty"`
	Definition string   `json:"definition"` // a hash of the definition that the values were read by
	Columns    string   `json:"columns"`    // a hash of the names and types of the columns
	Captures   []string `json:"captures"`   // that its rows are of
}

// Taken is what a day has of a capture.
type Taken struct {
	Name      string `json:"name,omitempty"`      // when it was taken
	Next      uint64 `json:"next"`                // the frames of the day with smaller numbers are in the lake, or have no definition
	Undefined int    `json:"undefined,omitempty"` // those that had none
	Cut       string `json:"cut,omitempty"`       // a hash of what the numbers of frames depend on
	Size      int64  `json:"size,omitempty"`      // bytes of the capture when its end was taken; 0 if it was not, or not in this day

	changed bool // in a batch
}

const (
	mostManifest = 256 << 20 // bytes
	orphanAge    = time.Hour // of a file that no manifest lists, where it may be one that another process is just adding
	daysFolder   = "/_days/"
	jsonEnding   = ".json"
)

func (p *Project) dayName(d Day) string { return p.prefix + daysFolder + d.String() + jsonEnding }

// load reads the manifests, and removes what no manifest lists.
func (p *Project) load(ctx context.Context) error {
	listed := map[string]bool{}
	for info, err := range p.store.List(ctx, p.prefix+daysFolder) {
		if err != nil {
			return err
		}
		name, ok := strings.CutSuffix(strings.TrimPrefix(info.Name, p.prefix+daysFolder), jsonEnding)
		at, err := time.Parse(dayForm, name)
		if !ok || err != nil {
			continue // not of this program
		}
		m, err := p.read(ctx, DayOf(at))
		if err != nil {
			return err
		}
		p.days[DayOf(at)] = m
		for _, f := range m.Files {
			listed[f.Path] = true
		}
	}
	for info, err := range p.store.List(ctx, p.prefix+messageFolder) {
		if err != nil {
			return err
		}
		if strings.HasSuffix(info.Name, extension) && !listed[info.Name] && (p.store.Alone() || time.Since(info.At) > orphanAge) { // a crash came before its manifest, or before its removal
			if err := p.store.Remove(ctx, info.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads the manifest of a day.
func (p *Project) read(ctx context.Context, d Day) (*manifest, error) {
	data, tag, err := p.store.Read(ctx, p.dayName(d), mostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return &manifest{Project: p.name, Day: d.String()}, nil
	}
	if err != nil {
		return nil, err
	}
	m := &manifest{tag: tag}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", p.dayName(d), err)
	}
	for _, f := range m.Files {
		if !strings.HasPrefix(f.Path, p.prefix+messageFolder) {
			return nil, fmt.Errorf("%s: lists %q, which is not of this project", p.dayName(d), f.Path)
		}
	}
	return m, nil
}

// write writes a manifest in place of the present one.
func (p *Project) write(ctx context.Context, d Day, m *manifest) (err error) {
	slices.SortFunc(m.Files, func(a, b Listed) int {
		return cmp.Or(strings.Compare(a.kind(), b.kind()), strings.Compare(a.Path, b.Path))
	})
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(data) > mostManifest {
		return fmt.Errorf("%s: %w", p.dayName(d), objects.ErrLarge)
	}
	if m.tag, err = p.store.Write(ctx, p.dayName(d), append(data, '\n'), m.tag); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.days[d] = m
	return nil
}

// kind returns the name of the message for files.
func (l *Listed) kind() string {
	_, rest, _ := strings.Cut(l.Path, messageFolder)
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}
