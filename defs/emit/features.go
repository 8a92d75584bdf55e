package emit

import (
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// features is a set of features of messages, see wire.Feature. A message with a feature that its target does not support is omitted.
type features uint32

func (f features) has(one wire.Feature) bool { return f>>one&1 == 1 }

const allFeatures features = 1<<32 - 1

// The features that targets support, beyond those that every target does.
const (
	goFeatures           = allFeatures
	tsFeatures           = allFeatures
	cFeatures            = allFeatures &^ (1 << wire.Positions)
	luaFeatures          = allFeatures
	ksyFeatures features = 0
)

// omitted has the formats of losses, by feature.
var omitted = func() (out [32]string) {
	for f := range wire.Features {
		out[f] = f.String() + "; messages with them are omitted"
	}
	return out
}()

// omission is a message that is omitted, for a feature or for another reason.
type omission struct {
	message, reason string
	feature         bool
}

// isOmitted ends the losses that omit a message for another reason than a feature.
const isOmitted = "; the message is omitted"

// addOmission adds the omission of a loss to those of its kind.
func (l *Loss) addOmission(x *loss) {
	i := slices.Index(omitted[:], x.kind)
	if i < 0 {
		if reason, ok := strings.CutSuffix(x.text, isOmitted); ok && x.m != nil {
			l.omitted = append(l.omitted, omission{messageName(x.m), reason, false})
		}
		return
	}
	reason := wire.Feature(i).String()
	if x.field != "" {
		reason += " (" + short(x.field) + ")"
	}
	l.omitted = append(l.omitted, omission{messageName(x.m), reason, true})
}

// omissions returns a line for each message that is omitted for its features, in the order of the losses.
func omissions(losses []Loss) []string {
	lines, _ := reasons(losses, true)
	return lines
}

// Nothing returns a line with the reason for each message of a schema if a target omits all of them, so that its output is empty.
func Nothing(s *schema.Schema, losses []Loss) []string {
	lines, of := reasons(losses, false)
	for _, m := range s.Messages {
		if _, ok := of[messageName(m)]; !ok {
			return nil
		}
	}
	return lines
}

// reasons returns a line for each omitted message, in the order of the losses, and their places by message.
func reasons(losses []Loss, features bool) (out []string, index map[string]int) {
	index = map[string]int{}
	for _, l := range losses {
		for _, o := range l.omitted {
			if features && !o.feature {
				continue
			}
			i, ok := index[o.message]
			if !ok {
				i = len(out)
				index[o.message] = i
				out = append(out, o.message+": "+o.reason)
				continue
			}
			out[i] += ", " + o.reason
		}
	}
	return out, index
}
