package schema

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/source"
)

// Options are the settings that the meaning of definitions depends on.
type Options struct {
	Values    map[string]string // of the dialect's options by name, as Option.Check returns them
	Constants map[string]string
	Codes     map[string]uint32 // opcode map, name to code

	// Validity is the versions of the game that definitions are valid for, by name and version. A definition without an entry is valid for
	// all of them.
	Validity map[string]map[int]Validity
}

// Validity is the versions of the game, by their major numbers, that a definition is valid for.
type Validity struct {
	Min      *int `json:"min"`      // first version, nil = no bound
	Max      *int `json:"max"`      // last version, nil = no bound
	Readable bool `json:"readable"` // for other versions messages can be decoded, but not encoded
}

// Option describes a setting that the meaning of one dialect's definitions depends on. Flags and settings are made from it.
type Option struct {
	Name    string // of the flag, and in settings
	Title   string // on the page
	Doc     string
	Kind    OptionKind
	Default string   // value if none is given
	Values  []string // valid values; nil: determined by Read

	// Read validates a value other than the default and returns its canonical form; nil: only Values are valid.
	Read func(value string) (string, error)

	// Tries returns one value for each meaning that a definition can have; nil: Values are tried.
	Tries func(f *source.File) []string
}

// OptionKind is the syntax of the values of an option.
type OptionKind uint8

// The kinds of options.
const (
	WordOption   OptionKind = iota
	NumberOption            // its default is 0
	SwitchOption            // true or false
)

// Choices returns all valid values; nil if they are determined by Read.
func (o *Option) Choices() []string {
	if o.Read != nil || o.Default == "" || slices.Contains(o.Values, o.Default) {
		return o.Values
	}
	return append([]string{o.Default}, o.Values...)
}

// Check validates a value and returns its canonical form. The error lists the valid values.
func (o *Option) Check(value string) (string, error) {
	switch {
	case value == o.Default || slices.Contains(o.Values, value):
		return value, nil
	case o.Read != nil:
		return o.Read(value)
	case len(o.Values) == 0:
		return "", fmt.Errorf("it takes no value")
	}
	last := len(o.Values) - 1
	return "", fmt.Errorf("it is %s", strings.Join([]string{strings.Join(o.Values[:last], ", "), o.Values[last]}, " or "))
}
