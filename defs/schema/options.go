package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Options carry what the meaning of definitions depends on beside their text.
type Options struct {
	Values    map[string]string // of the dialect's options by name, as Option.Check returns them
	Constants map[string]string
	Codes     map[string]uint32 // opcode map, name to code
}

// Option is something that the meaning of one dialect's definitions depends on. Flags and settings are made of it.
type Option struct {
	Name    string // of its flag, and in settings
	Title   string // for people, on the page
	Doc     string
	Kind    OptionKind
	Default string   // what no value means
	Values  []string // what it can be; nil: Read says

	// Read checks a value that is not the default and returns its canonical form; nil: one of Values.
	Read func(value string) (string, error)
}

// OptionKind says how an option is written.
type OptionKind uint8

// The kinds of options.
const (
	WordOption   OptionKind = iota
	NumberOption            // its default is 0
	SwitchOption            // true or false
)

// Choices are all values; nil if Read says which there are.
func (o *Option) Choices() []string {
	if o.Read != nil || o.Default == "" || slices.Contains(o.Values, o.Default) {
		return o.Values
	}
	return append([]string{o.Default}, o.Values...)
}

// Check reads a value. The error says what may stand there.
func (o *Option) Check(value string) (string, error) {
	switch {
	case value == o.Default || slices.Contains(o.Values, value):
		return value, nil
	case o.Read != nil:
		return o.Read(value)
	case len(o.Values) == 0:
		return "", fmt.Errorf("it has no value")
	}
	last := len(o.Values) - 1
	return "", fmt.Errorf("it is %s", strings.Join([]string{strings.Join(o.Values[:last], ", "), o.Values[last]}, " or "))
}
