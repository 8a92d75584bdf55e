package filter

// Bounds of the work of an evaluation, in steps of a few nanoseconds: an instruction of a regular expression on one character, or a byte
// examined.
const (
	workSlice = 1 << 15 // between checks for cancellation
	maxWork   = 1 << 28 // for one frame
)

// meter counts the work of evaluations.
type meter struct {
	done    <-chan struct{}
	left    int // work until the next check, also of the next evaluation
	spent   int // by this evaluation, up to the last check
	stopped bool
	costly  bool // stopped by maxWork
}

func (t *meter) begin(done <-chan struct{}) {
	t.done, t.spent, t.stopped, t.costly = done, 0, false, false
}

// spend counts work before it is done. It returns false if the evaluation must stop.
func (t *meter) spend(n int) bool {
	t.left -= n
	return t.left > 0 && !t.stopped || t.look()
}

func (t *meter) look() bool {
	if t.stopped {
		return false
	}
	t.spent += workSlice - t.left
	t.left = workSlice
	select {
	case <-t.done:
		t.stopped, t.left = true, 0 // the next evaluation checks at once
		return false
	default:
	}
	if t.spent > maxWork {
		t.stopped, t.costly = true, true
	}
	return !t.stopped
}
