package replay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"wirebench/defs/schema"
)

// Version is the format version of scripts. Other versions are rejected.
const Version = 1

// Limits of a script.
const (
	MaxScript  = 16 << 20  // bytes of text
	MaxSteps   = 200_000   // as written
	MaxSends   = 100_000   // with loops unrolled
	MaxTurns   = 1_000_000 // steps executed, with loops unrolled
	MaxDepth   = 8         // loops in loops
	MaxVars    = 10_000    // values with a name
	MaxValue   = 64 << 10  // bytes of such a value
	MaxIgnore  = 1000
	MaxThen    = 1000 // successive answers of a keepalive
	MaxPattern = 256  // bytes
	MaxWait    = time.Hour
	MaxSpeed   = 1e6
)

// DefaultWithin is the default time limit for an expected message.
const DefaultWithin = 5 * time.Second

// Script is one side of a conversation.
type Script struct {
	Version   int                        `json:"version"`
	Note      string                     `json:"note,omitempty"`      // for display
	Protocol  string                     `json:"protocol,omitempty"`  // dialect of the definitions
	Play      string                     `json:"play,omitempty"`      // "client" or "server"; "" = from the first step, else client
	Speed     float64                    `json:"speed,omitempty"`     // divides waits before sends and pauses; 0 = 1
	Tolerance Tolerance                  `json:"tolerance,omitempty"` // "" = fields
	Ignore    []string                   `json:"ignore,omitempty"`    // NAME: messages; NAME.field, *.field: differences. * matches any text
	Keepalive []Keepalive                `json:"keepalive,omitempty"`
	Vars      map[string]json.RawMessage `json:"vars,omitempty"`  // values by name, before the first is lifted
	Lifts     []LiftNote                 `json:"lifts,omitempty"` // for people: why values are lifted
	Steps     []Step                     `json:"steps"`
}

// Step is one of: a message to send, an expected message, a pause, a loop.
type Step struct {
	Note   string   `json:"note,omitempty"`
	Send   *Send    `json:"send,omitempty"`
	Expect *Expect  `json:"expect,omitempty"`
	Pause  Duration `json:"pause,omitempty"`
	Repeat *Repeat  `json:"repeat,omitempty"`
}

// Send is a message to send.
type Send struct {
	Dir        string            `json:"dir,omitempty"`     // c2s or s2c; it must be the direction of the played side
	Message    string            `json:"message,omitempty"` // as [GROUP/]NAME[.VERSION]
	Value      json.RawMessage   `json:"value,omitempty"`   // its fields
	Hex        string            `json:"hex,omitempty"`     // its bytes, instead of value; spaces are ignored
	After      Duration          `json:"after,omitempty"`   // since the previous step
	Set        map[string]string `json:"set,omitempty"`     // path of a field: $name, $name+1, $name-1. With hex, message names the definition
	Unreliable bool              `json:"unreliable,omitempty"`
	Raw        bool              `json:"raw,omitempty"` // send the bytes of hex unchanged
}

// Expect is a step that waits for a message.
type Expect struct {
	Dir       string            `json:"dir,omitempty"`
	Message   string            `json:"message,omitempty"` // [GROUP/]NAME
	Match     string            `json:"match,omitempty"`   // a filter, in which $name is a value
	Value     json.RawMessage   `json:"value,omitempty"`   // the expected fields; or
	Hex       string            `json:"hex,omitempty"`     // the expected bytes
	Optional  bool              `json:"optional,omitempty"`
	Within    Duration          `json:"within,omitempty"`    // 0 = DefaultWithin; not changed by speed
	Lift      map[string]string `json:"lift,omitempty"`      // name: path of a field, optionally prefixed with the message name
	Tolerance Tolerance         `json:"tolerance,omitempty"` // "" = the script's
}

// Repeat is a loop.
type Repeat struct {
	Times int    `json:"times"`
	Count string `json:"count,omitempty"` // name of a value that counts the iterations, from 0
	Steps []Step `json:"steps"`
}

// Keepalive is a message sent independently of the steps: as the answer to another one, or at intervals.
type Keepalive struct {
	On    string            `json:"on,omitempty"`    // [GROUP/]NAME of the received message; steps do not see it
	Every Duration          `json:"every,omitempty"` // not changed by speed
	Lift  map[string]string `json:"lift,omitempty"`  // from the received message, as in Expect
	Send  Send              `json:"send"`
	Then  []Send            `json:"then,omitempty"` // with On, after Send: the following answers, in order; the last one repeats
	Why   string            `json:"why,omitempty"`
}

// LiftNote explains a lifted value: its source, its uses, and why it is lifted.
type LiftNote struct {
	Name string   `json:"name"`
	From string   `json:"from"` // step and path
	To   []string `json:"to"`
	Why  string   `json:"why"`
}

// Tolerance selects the differences that count.
type Tolerance string

// The tolerances.
const (
	Exact  Tolerance = "exact"  // every byte
	Fields Tolerance = "fields" // values of fields
	Shape  Tolerance = "shape"  // presence of fields outside lists
)

// Duration is a time in JSON: "20ms", "1m30s".
type Duration time.Duration

// MarshalJSON writes the format of time.ParseDuration.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON accepts durations from 0 to MaxWait.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("a time must be a string, such as %q", "20ms")
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 || v > MaxWait {
		return fmt.Errorf("%q is not a time from 0 to %s, such as %q", short(s), MaxWait, "20ms")
	}
	*d = Duration(v)
	return nil
}

// short truncates a text for an error message.
func short(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// ParseScript parses a script and checks everything but its definitions.
func ParseScript(text []byte) (*Script, error) {
	if len(text) > MaxScript {
		return nil, fmt.Errorf("the script has %d bytes; the limit is %d", len(text), MaxScript)
	}
	s := new(Script)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("not a script: %s%w", lineOf(text, err), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a script: data follows its end")
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// lineOf returns the line of an error in a text.
func lineOf(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(text[:at], []byte("\n")))
}

// Encode returns a script as indented JSON.
func (s *Script) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	if err == nil && b.Len() > MaxScript {
		b.Reset()
		enc.SetIndent("", "") // so that ParseScript accepts the result
		err = enc.Encode(s)
	}
	return b.Bytes(), err
}

// Sends returns the direction of the messages that the script sends.
func (s *Script) Sends() schema.Dir {
	switch s.Play {
	case "client":
		return schema.ToServer
	case "server":
		return schema.ToClient
	}
	if dir := firstDir(s.Steps, 0); dir != schema.Both {
		return dir
	}
	return schema.ToServer
}

// firstDir returns the direction of sent messages according to the first step that has one.
func firstDir(steps []Step, depth int) schema.Dir {
	for i := range steps {
		switch st := &steps[i]; {
		case st.Send != nil && st.Send.Dir != "":
			return schema.DirNamed(st.Send.Dir)
		case st.Expect != nil && st.Expect.Dir == "c2s":
			return schema.ToClient
		case st.Expect != nil && st.Expect.Dir == "s2c":
			return schema.ToServer
		case st.Repeat != nil && depth < MaxDepth:
			if dir := firstDir(st.Repeat.Steps, depth+1); dir != schema.Both {
				return dir
			}
		}
	}
	return schema.Both
}

// Check reports mistakes in a script, except in its definitions.
func (s *Script) Check() error {
	c := checker{own: s.Sends().String()}
	switch {
	case s.Version != Version:
		return fmt.Errorf("the script has version %d; this program reads version %d", s.Version, Version)
	case s.Play != "" && s.Play != "client" && s.Play != "server":
		return fmt.Errorf(`"play" is %q: it is client or server`, short(s.Play))
	case s.Speed != 0 && !(s.Speed > 0.001 && s.Speed <= MaxSpeed):
		return fmt.Errorf(`"speed" is %g: it is 0.001 to %g`, s.Speed, MaxSpeed)
	case len(s.Vars) > MaxVars:
		return fmt.Errorf("%d values; the limit is %d", len(s.Vars), MaxVars)
	case len(s.Ignore) > MaxIgnore || len(s.Keepalive) > MaxIgnore:
		return fmt.Errorf("more than %d patterns and keepalives", MaxIgnore)
	}
	for name, value := range s.Vars {
		if err := checkName(name); err != nil {
			return fmt.Errorf(`"vars": %w`, err)
		}
		if len(value) > MaxValue || !isValue(value) {
			return fmt.Errorf(`"vars": the value of %q is not a number, a string or a boolean`, name)
		}
	}
	for _, p := range s.Ignore {
		if p == "" || len(p) > MaxPattern {
			return fmt.Errorf(`"ignore": a pattern has 1 to %d bytes`, MaxPattern)
		}
	}
	if err := s.Tolerance.check(); err != nil {
		return err
	}
	for i := range s.Keepalive {
		k := &s.Keepalive[i]
		if (k.On == "") == (k.Every == 0) || k.Every != 0 && time.Duration(k.Every) < 10*time.Millisecond {
			return fmt.Errorf(`keepalive %d: either "on" or "every", of at least 10ms, is needed`, i+1)
		}
		err := checkLifts(k.Lift)
		if err == nil {
			err = c.send(&k.Send)
		}
		switch {
		case err != nil:
		case len(k.Then) > MaxThen:
			err = fmt.Errorf(`"then" has %d messages: at most %d are possible`, len(k.Then), MaxThen)
		case len(k.Then) > 0 && k.On == "":
			err = errors.New(`"then" is for answers, with "on"`)
		}
		for i := range k.Then {
			if err == nil {
				err = c.send(&k.Then[i])
			}
		}
		if err != nil {
			return fmt.Errorf("keepalive %d: %w", i+1, err)
		}
	}
	_, _, err := c.steps(s.Steps, "", 0)
	return err
}

func (t Tolerance) check() error {
	switch t {
	case "", Exact, Fields, Shape:
		return nil
	}
	return fmt.Errorf(`"tolerance" is %q: it is exact, fields or shape`, short(string(t)))
}

// checkName checks the name of a value, which must be a word of the filter language.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64
	for i, c := range []byte(name) {
		ok = ok && (c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9')
	}
	if !ok {
		return fmt.Errorf("%q is not the name of a value: up to 64 letters, digits and _", short(name))
	}
	return nil
}

// checker checks steps.
type checker struct {
	own     string
	written int
}

// steps counts the sends and steps executed.
func (c *checker) steps(steps []Step, path string, depth int) (sends, turns int, err error) {
	if depth > MaxDepth {
		return 0, 0, fmt.Errorf("step %s: loops nested more than %d deep", path, MaxDepth)
	}
	for i := range steps {
		st := &steps[i]
		here := stepPath(path, i)
		if c.written++; c.written > MaxSteps {
			return 0, 0, fmt.Errorf("more than %d steps", MaxSteps)
		}
		kinds := 0
		for _, is := range []bool{st.Send != nil, st.Expect != nil, st.Pause != 0, st.Repeat != nil} {
			if is {
				kinds++
			}
		}
		if kinds > 1 {
			return 0, 0, fmt.Errorf("step %s: must be one of send, expect, pause and repeat", here)
		}
		turns++
		switch {
		case st.Send != nil:
			sends++
			err = c.send(st.Send)
		case st.Expect != nil:
			err = c.expect(st.Expect)
		case st.Repeat != nil:
			r := st.Repeat
			if r.Times < 0 || r.Times > MaxTurns {
				err = fmt.Errorf("%d times: must be 0 to %d", r.Times, MaxTurns)
				break
			}
			if r.Count != "" {
				err = checkName(r.Count)
			}
			n, m, e := c.steps(r.Steps, here, depth+1)
			if e != nil {
				return 0, 0, e
			}
			sends += n * r.Times // both are at most MaxTurns
			turns += m*r.Times + r.Times
		}
		if err != nil {
			return 0, 0, fmt.Errorf("step %s: %w", here, err)
		}
		if sends > MaxSends || turns > MaxTurns {
			return 0, 0, fmt.Errorf("step %s: with loops unrolled, more than %d messages or %d steps", here, MaxSends, MaxTurns)
		}
	}
	return sends, turns, nil
}

// stepPath returns the name of a step: 3, and 3.1 for the first step of the loop there.
func stepPath(outer string, i int) string {
	if outer == "" {
		return fmt.Sprint(i + 1)
	}
	return fmt.Sprintf("%s.%d", outer, i+1)
}

func (c *checker) send(s *Send) error {
	switch {
	case s.Dir != "" && s.Dir != c.own:
		return fmt.Errorf("direction %s, but the played side sends %s", short(s.Dir), c.own)
	case s.Hex != "" && len(s.Value) > 0:
		return errors.New(`either "value" or "hex"`)
	case s.Hex == "" && s.Message == "":
		return errors.New(`"message" or "hex" is needed`)
	case s.Raw && (s.Hex == "" || len(s.Set) > 0):
		return errors.New(`"raw" needs "hex", and has no "set"`)
	case s.Hex != "" && s.Message == "" && len(s.Set) > 0:
		return errors.New(`"set" needs "message", to know the fields`)
	}
	if _, err := bytesOf(s.Hex); err != nil {
		return err
	}
	for path, x := range s.Set {
		if _, err := parsePath(path); err != nil {
			return err
		}
		if _, err := parseExpr(x); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) expect(x *Expect) error {
	switch {
	case x.Dir != "" && (x.Dir == c.own || schema.DirNamed(x.Dir) == schema.Both):
		return fmt.Errorf("expected with direction %s, but the played side sends %s", short(x.Dir), c.own)
	case x.Hex != "" && len(x.Value) > 0:
		return errors.New(`either "value" or "hex"`)
	case x.Message == "" && x.Match == "":
		return errors.New(`"message" or "match" is needed`)
	case len(x.Value) > 0 && x.Message == "":
		return errors.New(`"value" needs "message"`)
	}
	if _, err := bytesOf(x.Hex); err != nil {
		return err
	}
	if err := checkLifts(x.Lift); err != nil {
		return err
	}
	return x.Tolerance.check()
}

func checkLifts(lifts map[string]string) error {
	for name, path := range lifts {
		if err := checkName(name); err != nil {
			return err
		}
		if _, err := parsePath(path); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf reads hex with spaces.
func bytesOf(text string) ([]byte, error) {
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, fmt.Errorf(`"hex": %w`, err)
	}
	return data, nil
}
