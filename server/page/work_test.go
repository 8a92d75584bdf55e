package page

import (
	"testing"

	"wirebench/codec/view"
)

func TestWithReason(t *testing.T) {
	found := []view.ProblemInfo{{Code: "range", Message: `"level" is outside its legal range`}}
	if got := withReason(found, `heroes: "level" is outside its legal range`); len(got) != 1 {
		t.Errorf("it is said twice: %+v", got)
	}
	if got := withReason(found, "the stream ends inside a message"); len(got) != 2 || got[0].Message != "the stream ends inside a message" {
		t.Errorf("%+v", got)
	}
}
