// Package transporttest helps to test transports.
package transporttest

import (
	"errors"

	"wirebench/codec"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Codes are definitions of the messages with some codes, without fields.
type Codes func(schema.Key) bool

var some = &schema.Message{Name: "M", Body: &schema.Struct{}}

// Lookup returns a message for a code that is known.
func (c Codes) Lookup(key schema.Key) *schema.Message {
	if !c(key) {
		return nil
	}
	return some
}

var errNoProgram = errors.New("no program")

// Program returns an error.
func (Codes) Program(*schema.Message) (*codec.Program, error) { return nil, errNoProgram }

// Behind returns the message.
func (Codes) Behind(_ *envelope.Header, m *schema.Message) *schema.Message { return m }
