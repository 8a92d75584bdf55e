package settings

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
)

// Bounds of what a project says about lists of frames. The scripts of the pages have the same.
const (
	maxColumns = 64
	maxColumn  = 500 // bytes
	maxNamed   = 100
	maxColors  = 50
	maxHue     = 8
	maxFilter  = 8192 // bytes
)

// List is what the people of a project share about lists of frames. People who have chosen other columns or colors see those.
type List struct {
	Columns []string `json:"columns,omitempty" maxItems:"64" doc:"the columns in their order: n, time, delta, src, dst, dir, code, name, ver, len, flags, info, conn, layers, or = and the path of a field, such as =S_CHAT.message"`
	Filters []Named  `json:"filters,omitempty" maxItems:"100" doc:"named filters: @NAME in a filter is replaced by its text"`
	Colors  []Color  `json:"colors,omitempty" maxItems:"50" doc:"rules; the first that matches colors a frame"`
}

// Named is a filter with a name.
type Named struct {
	Name string `json:"name" maxLength:"30" doc:"letters, digits and _, no digit first"`
	Text string `json:"text" maxLength:"8192"`
}

// Color is a rule that colors the frames that match a filter.
type Color struct {
	Filter string `json:"filter" maxLength:"8192"`
	Hue    int    `json:"hue" minimum:"1" maximum:"8"`
}

var filterName = regexp.MustCompile(`^[\p{L}_][\p{L}\d_]{0,29}$`)

// check returns why a list is not valid. Filters are not compiled: they may be about messages that are defined later.
func (l *List) check() error {
	if l == nil {
		return nil
	}
	if len(l.Columns) > maxColumns || len(l.Filters) > maxNamed || len(l.Colors) > maxColors {
		return fmt.Errorf("list: at most %d columns, %d filters and %d colors are allowed", maxColumns, maxNamed, maxColors)
	}
	for _, id := range l.Columns {
		if id == "" || len(id) > maxColumn {
			return fmt.Errorf("list: a column has 1 to %d bytes", maxColumn)
		}
	}
	had := map[string]bool{}
	for _, f := range l.Filters {
		switch {
		case !filterName.MatchString(f.Name):
			return fmt.Errorf("list: the name of a filter has up to 30 letters, digits and _, no digit first: %.100q", f.Name)
		case had[f.Name]:
			return fmt.Errorf("list: there are two filters %q", f.Name)
		case f.Text == "" || len(f.Text) > maxFilter:
			return fmt.Errorf("list: filter %q has 1 to %d bytes", f.Name, maxFilter)
		}
		had[f.Name] = true
	}
	for _, c := range l.Colors {
		if c.Filter == "" || len(c.Filter) > maxFilter || c.Hue < 1 || c.Hue > maxHue {
			return errors.New("list: a color has a filter, and a hue from 1 to 8")
		}
	}
	return nil
}

// SameReading reports whether two settings differ at most in what pages show, so that nothing is decoded differently.
func (s Settings) SameReading(other Settings) bool {
	s.List, other.List, s.Keep, other.Keep = nil, nil, nil, nil
	return reflect.DeepEqual(s.Clone(), other.Clone())
}
