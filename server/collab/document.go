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
	maxMappings    = 50_000  // of a message: its changes times the updates since its version
)

// Errors of Receive.
var (
	// ErrVersion reports a version that the authority does not know: of another document, or too old. The client has to start anew.
	ErrVersion = errors.New("the version of the text is not known here")
	// ErrChange reports changes that do not fit the text.
	ErrChange = errors.New("the changes do not fit the text")
	// ErrLarge reports a text that would become too large.
	ErrLarge = errors.New("the text would become too large")
)

// New returns a document with a text at a version.
func New(text Text, version int) *Document { return &Document{text: text, version: version} }

// Text returns the text. It must not be changed.
func (d *Document) Text() Text { return d.text }

// Version returns the number of updates since the beginning.
func (d *Document) Version() int { return d.version }

// Since returns the updates after a version; ok is false if the document does not have them.
func (d *Document) Since(version int) (updates []Update, ok bool) {
	n := d.version - version
	if n < 0 || n > len(d.recent) {
		return nil, false
	}
	return d.recent[len(d.recent)-n:], true
}

// Receive takes changes of a client that follow each other, the first one for the text of a version. It maps them over the updates since
// then, and returns those that it accepted; of changes that it has already they are left out. With an error nothing is accepted.
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
	if len(over)*len(changes) > maxMappings { // the client was away for long: it merges its text
		return nil, ErrVersion
	}
	if changes, err = rebase(changes, client, over); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChange, err)
	}
	text := d.text
	for _, c := range changes {
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
func rebase(changes []Change, client string, over []Update) ([]Change, error) {
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
