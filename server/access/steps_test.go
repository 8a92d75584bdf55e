package access

import "testing"

// disk has the two files of the accounts, and what they were before each write.
type disk struct {
	now  [2][]byte
	left [][2][]byte
}

// diskFile is one of the files.
type diskFile struct {
	d *disk
	i int
}

func (f diskFile) Read() ([]byte, error) { return f.d.now[f.i], nil }

func (f diskFile) Write(text []byte) error {
	f.d.left = append(f.d.left, f.d.now)
	f.d.now[f.i] = text
	return nil
}

// Killed before any write of the first invitation, the server starts, has the invitation only if it was confirmed, and is open to nobody once
// it has a mark.
func TestEveryStepOfAccounts(t *testing.T) {
	d := &disk{}
	a, err := OpenKept(diskFile{d, 0}, diskFile{d, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := a.Invite(Principal{Name: "x"}, "", Grants{"x": Viewer})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.left) < 2 {
		t.Fatalf("only %d states", len(d.left))
	}
	for i, files := range append(d.left, d.now) {
		at := &disk{now: files}
		a, err := OpenKept(diskFile{at, 0}, diskFile{at, 1}, nil)
		if err != nil {
			t.Errorf("killed before write %d: %v", i+1, err)
			continue
		}
		if _, err := a.Invited(text); (err == nil) != (i == len(d.left)) {
			t.Errorf("killed before write %d: the invitation: %v", i+1, err)
		}
		if a.Had() != (files[1] != nil) {
			t.Errorf("killed before write %d: had accounts: %v", i+1, a.Had())
		}
	}
}
