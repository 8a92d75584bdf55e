package collab

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
)

// Update is an accepted change.
type Update struct {
	Client string `json:"clientID"`
	Change Change `json:"changes" ts:"unknown"` // as JSON of a ChangeSet
}

// Document is a text with its latest updates. It is not safe for concurrent use.
type Document struct {
	Limit int // maximum units of the text; 0 = 4 Mi
	Most  int // maximum steps of work of one Receive; 0 = any number, for what was accepted before

	work    int // steps of all calls of Receive
	text    Text
	version int      // number of updates since the beginning
	recent  []Update // the last ones
	units   int      // of recent, approximately
}

// Bounds of a document.
const (
	maxRecent      = 20_000  // updates that are kept for clients that were away
	maxRecentUnits = 1 << 19 // and the size of their texts
	maxClient      = 64      // bytes of the name of a client
	maxAtOnce      = 10_000  // updates in one message

	// MaxSteps bounds the work of a message, to about a seventh of a second. A page that types sends what takes a hundredth of it.
	MaxSteps = 2 << 20
)

// Errors of Receive.
var (
	// ErrVersion reports a version that the authority does not know: of another document, or too old. The client has to start anew.
	ErrVersion = errors.New("the version of the text is not known here")
	// ErrChange reports changes that do not fit the text.
	ErrChange = errors.New("the changes do not fit the text")
	// ErrWork reports changes whose mapping over what others have sent since costs too much. The client has to merge its text.
	ErrWork = errors.New("the changes are too many, or too old, to be taken one by one")
	// ErrLarge reports a text that would become too large.
	ErrLarge = errors.New("the text would become too large")
)

// New returns a document with a text at a version.
func New(text Text, version int) *Document { return &Document{text: text, version: version} }

// Text returns the text. It must not be changed.
func (d *Document) Text() Text { return d.text }

// Version returns the number of updates since the beginning.
func (d *Document) Version() int { return d.version }

// Work returns the steps of work of all calls of Receive.
func (d *Document) Work() int { return d.work }

// spend counts steps of work, and reports whether they are within the bound of a call that began when work was at start.
func (d *Document) spend(steps, start int) error {
	if d.Most > 0 && d.work+steps-start > d.Most {
		return ErrWork
	}
	d.work += steps
	return nil
}

// Since returns the updates after a version; ok is false if the document does not have them.
func (d *Document) Since(version int) (updates []Update, ok bool) {
	n := d.version - version
	if n < 0 || n > len(d.recent) {
		return nil, false
	}
	return d.recent[len(d.recent)-n:], true
}

// Has reports whether one of the latest updates is of a client.
func (d *Document) Has(client string) bool {
	return slices.ContainsFunc(d.recent, func(u Update) bool { return u.Client == client })
}

// FirstOf returns the first change of a client, if it is among the latest updates.
func (d *Document) FirstOf(client string) (c Change, ok bool) {
	i := slices.IndexFunc(d.recent, func(u Update) bool { return u.Client == client })
	if i < 0 {
		return nil, false
	}
	return d.recent[i].Change, true
}

// Receive takes changes of a client that follow each other, the first one for the text of a version. It maps them over the updates since
// then, and returns those that it accepted; of changes that it has already they are left out. With an error nothing is accepted.
//
// The work is linear in the spans of the changes and of the updates, times the number of either; what costs more than Most is ErrWork.
func (d *Document) Receive(version int, client string, changes []Change) (accepted []Update, err error) {
	over, ok := d.Since(version)
	switch {
	case !ok:
		return nil, ErrVersion
	case client == "" || len(client) > maxClient:
		return nil, fmt.Errorf("%w: no name of a client", ErrChange)
	case len(changes) > maxAtOnce:
		return nil, fmt.Errorf("%w: more than %d at once", ErrChange, maxAtOnce)
	}
	start := d.work
	if changes, err = d.rebase(changes, client, over); errors.Is(err, ErrWork) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChange, err)
	}
	text := d.text
	for _, c := range changes {
		if err := d.spend(c.applySteps(text), start); err != nil {
			return nil, err
		}
		if text, err = c.Apply(text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChange, err)
		}
		if len(text) > cmp.Or(d.Limit, maxUnits) {
			return nil, ErrLarge
		}
		accepted = append(accepted, Update{client, c})
	}
	d.text = text
	d.version += len(accepted)
	for _, u := range accepted {
		d.recent = append(d.recent, u)
		d.units += unitsOf(u.Change)
	}
	d.trim()
	return accepted, nil
}

// trim forgets the oldest updates above the bounds.
func (d *Document) trim() {
	if len(d.recent) < maxRecent*5/4 && d.units < maxRecentUnits*5/4 { // not with every update
		return
	}
	n := 0
	for len(d.recent)-n > maxRecent || d.units > maxRecentUnits && n < len(d.recent) {
		d.units -= unitsOf(d.recent[n].Change)
		n++
	}
	d.recent = slices.Clone(d.recent[n:])
}

func unitsOf(c Change) (n int) {
	for _, s := range c {
		n += 8 + len(s.Text)
	}
	return n
}

// rebase maps changes of a client over updates of the same text. The updates of the client itself among them are its first changes, which
// arrived earlier.
//
// The updates are taken one by one, as the client must take them while it has changes that are not confirmed: mapping over two updates that
// are joined may put text to the other side of an insertion, for a deletion and an insertion become one replacement.
//
// Each step of mapping makes the changes longer, so that their work is counted while it is done.
func (d *Document) rebase(changes []Change, client string, over []Update) ([]Change, error) {
	start := d.work
	changes = slices.Clone(changes)
	for _, u := range over {
		if len(changes) == 0 {
			break
		}
		if u.Client == client {
			changes = changes[1:]
			continue
		}
		other := u.Change
		for i, c := range changes {
			if err := d.spend(mapSteps(c, other), start); err != nil {
				return nil, err
			}
			mapped, err := c.Map(other, false)
			if err != nil {
				return nil, err
			}
			if other, err = other.Map(c, true); err != nil {
				return nil, err
			}
			changes[i] = mapped
		}
	}
	return changes, nil
}

// Hash returns a hash of a text, to detect copies that differ: FNV-1a of 32 bits over the code units, the low byte first.
func (t Text) Hash() uint32 {
	h := fnv.New32a()
	var unit [2]byte
	for _, u := range t {
		unit[0], unit[1] = byte(u), byte(u>>8)
		_, _ = h.Write(unit[:])
	}
	return h.Sum32()
}
