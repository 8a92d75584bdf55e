package reshape

import (
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs"
)

// Renaming and splitting the fields of any message: an accepted change keeps the bytes of all other fields, and a renamed field has its bytes
// under the new name.
func TestRenameAndSplitHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	renamed, split, refused := 0, 0, map[string]string{}
	all := samples(t)
	for i := range all {
		s := &all[i]
		e := s.editor(t, s.text)
		seen := map[uint16]bool{}
		for range 4 {
			if len(e.slots) == 0 {
				break
			}
			sl := e.slots[rng.IntN(len(e.slots))]
			if sl.field == codec.NoField || seen[sl.field] || e.rec.Program.Fields[sl.field].Name == "" {
				continue
			}
			seen[sl.field] = true
			path := string(e.rec.Program.AppendFieldPath(nil, sl.field))
			done, err := e.Rename(path, "quite_new")
			if err != nil {
				refused[err.Error()] = s.file + " " + path
			} else {
				renamed++
				after := s.editor(t, done.Text)
				was, now := keysOf(e.rec), keysOf(after.rec)
				if len(was) != len(now) {
					t.Errorf("%s: renaming %s: %d leaves instead of %d", s.file, path, len(now), len(was))
					continue
				}
				for k := range was {
					if was[k].off != now[k].off || was[k].len != now[k].len || was[k].role != now[k].role {
						t.Errorf("%s: renaming %s moved %+v to %+v", s.file, path, was[k], now[k])
						break
					}
				}
				if !after.names["quite_new"] {
					t.Errorf("%s: renaming %s: no field has the new name:\n%s", s.file, path, done.Text)
				}
			}
			if at := (codec.Range{Off: sl.off, Len: sl.len}); sl.len%16 == 0 && sl.len > 0 && !sl.book {
				if done, err := e.Split(at, 2); err == nil {
					split++
					checkEdited(t, s, e, codec.Range{Off: at.Off, Len: at.Len}, Choice{Type: "split"}, done)
				}
			}
		}
	}
	t.Logf("%d renamed, %d split; refused: %d reasons", renamed, split, len(refused))
	for why, where := range refused {
		t.Logf("%s: %s", where, why)
	}
	if renamed < len(all) {
		t.Errorf("only %d fields of %d messages were renamed", renamed, len(all))
	}
}

// The number that counts the elements of a list, or has the length of a field, is renamed with the sentences that mention it.
func TestRenameCountRow(t *testing.T) {
	subspace, _ := defs.Find("subspace")
	const text = "0x31 users\noffset size comment\n1 1 u8 count (how many, count them)\n2 1 u8 size of it\n3 ? text name with size of it as above\n? 2 u16 id\nusers repeat from id, count times\n"
	s := sample{subspace, "game.def", text, "users", []byte{0x31, 2, 1, 'a', 1, 0, 2, 0}}
	e := s.editor(t, s.text)
	if e.rec.Unexplained() > 0 || e.rec.Status() != codec.OK {
		t.Fatalf("%d bytes left, %v", e.rec.Unexplained(), e.rec.Status())
	}
	done, err := e.Rename("count", "people")
	if err != nil || !strings.Contains(done.Text, "u8 people (how many, count them)") || !strings.Contains(done.Text, "users repeat from id, people times") {
		t.Errorf("%v\n%s", err, done.Text)
	}
}

// A row of a group keeps its group, unless the new name says another.
func TestRenameInGroup(t *testing.T) {
	subspace, _ := defs.Find("subspace")
	const text = "0x32 state\noffset size comment\n1 1 u8 status.cloak\n2 1 u8 status.radar\n3 1 u8 other\n"
	s := sample{subspace, "game.def", text, "state", []byte{0x32, 1, 2, 3}}
	for name, want := range map[string]string{"hidden": "u8 status.hidden", "status.hidden": "u8 status.hidden"} {
		done, err := s.editor(t, s.text).Rename("status.cloak", name)
		if err != nil || !strings.Contains(done.Text, want) {
			t.Errorf("%s: %v\n%s", name, err, done.Text)
		}
	}
}
