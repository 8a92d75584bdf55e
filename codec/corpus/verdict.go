package corpus

import (
	"bytes"
	"fmt"

	"wirebench/codec"
)

// Verdict is how a definition explains a message. A message with several defects has the worst one, the last in this order but for Differ.
type Verdict uint8

// The verdicts.
const (
	Clean    Verdict = iota // every byte belongs to one field, and the values are encoded as the same bytes
	Leftover                // bytes belong to no field
	Over                    // fields extend past the end of the message
	Differ                  // values are other than the definition permits, or are encoded as other bytes
	Doubtful                // fields share bytes, or another warning
	Verdicts                // the number of verdicts
)

var verdictNames = [...]string{"clean", "leftover", "over", "differ", "doubtful"}

func (v Verdict) String() string { return verdictNames[v] }

// Judge gives verdicts. It is for one goroutine.
type Judge struct {
	out codec.Record
	odd []codec.Problem

	// Of the last message that is not clean.
	problem codec.Problem
	text    string // the reason, if there is no problem
}

// Of returns the verdict of a decoded message.
func (j *Judge) Of(rec *codec.Record) Verdict {
	j.text, j.problem = "", codec.Problem{}
	if rec.Status() != codec.OK {
		if j.problem = rec.Problems[0]; rec.PastEnd() {
			return Over
		}
		return Differ
	}
	same, why, session := true, "", rec.Program.HasSession()
	if !session { // values do not have the numbers of the session
		same, why = j.encodes(rec)
	}
	if same && !session && rec.Size() == rec.Used && !rec.Program.KeepsGaps() {
		j.odd = rec.AppendOddValues(j.odd[:0])
	} else {
		j.odd = rec.AppendWarnings(j.odd[:0])
	}
	verdict := Clean
	for _, p := range j.odd {
		switch p.Code {
		case codec.DefinitionErrors:
		case codec.LeftOver, codec.Unexplained:
			j.problem = p
			return Leftover
		default:
			if verdict == Clean {
				verdict, j.problem = Doubtful, p
			}
		}
	}
	if verdict == Clean && !same {
		j.text = why
		return Differ
	}
	return verdict
}

// encodes reports whether the values of a message are encoded as its bytes, and why not.
func (j *Judge) encodes(rec *codec.Record) (same bool, why string) {
	p := rec.Program
	if err := p.Encode(&j.out, rec); err != nil {
		return false, "the values cannot be encoded: " + err.Error()
	}
	if rec.PaddingSet() {
		return false, "bits of padding are set, which the values do not have"
	}
	a, b := rec.Data[:rec.Used], j.out.Message()
	if bytes.Equal(a, b) {
		return true, ""
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return false, fmt.Sprintf("the values are encoded as %d other bytes of %d, from byte %d on", len(b), len(a), at)
}

// Reason describes the defect of the message of the last verdict, which must be rec; "" if it is clean.
func (j *Judge) Reason(rec *codec.Record) string {
	if j.text != "" || j.problem.Code == codec.NoProblem {
		return j.text
	}
	return j.problem.Message(rec)
}

// Field returns the field of the defect of the last verdict, codec.NoField if it has none.
func (j *Judge) Field() uint16 {
	if j.problem.Code == codec.NoProblem {
		return codec.NoField
	}
	return j.problem.Field()
}
