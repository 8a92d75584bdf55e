package subspace_test

import (
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// gameSizes are the sizes of game packets in bytes. Packets with one size have only that size; of others these are among the possible
// sizes.
var gameSizes = map[schema.Dir]map[uint32][]int{
	schema.ToClient: {
		0x01: {3}, 0x02: {1}, 0x03: {64, 128, 640}, 0x04: {3}, 0x05: {21, 23, 31}, 0x06: {10}, 0x07: {6, 250}, 0x08: {13}, 0x09: {15}, 0x0a: {36},
		0x0b: {7}, 0x0c: {3, 500}, 0x0d: {6}, 0x0e: {5}, 0x0f: {1428}, 0x10: {17, 19342}, 0x12: {9}, 0x13: {5}, 0x14: {7}, 0x15: {3}, 0x16: {3},
		0x18: {17}, 0x19: {273}, 0x1a: {3}, 0x1b: {1}, 0x1c: {2, 3}, 0x1d: {6}, 0x1e: {2}, 0x1f: {99}, 0x20: {5}, 0x21: {1, 17, 33}, 0x22: {1, 3, 21},
		0x23: {1, 5, 41}, 0x24: {38}, 0x25: {2}, 0x27: {1}, 0x28: {16, 18, 26}, 0x29: {21, 25, 49, 505}, 0x2a: {17, 2168}, 0x2b: {5}, 0x2c: {8},
		0x2d: {5}, 0x2e: {16}, 0x2f: {1, 4, 7}, 0x32: {5}, 0x33: {2, 30}, 0x34: {7}, 0x35: {1, 3, 11}, 0x36: {1, 12, 23}, 0x37: {2}, 0x38: {7, 16, 25},
		0x39: {1, 11, 21}, 0x3a: {1, 12, 23}, 0x3b: {29}, 0x3c: {2, 5, 8},
	},
	schema.ToServer: {
		0x01: {26, 27}, 0x02: {1}, 0x03: {22, 32}, 0x05: {5}, 0x06: {6, 250}, 0x07: {11}, 0x08: {3}, 0x09: {101}, 0x0a: {4, 40}, 0x0b: {1}, 0x0c: {1, 3},
		0x0d: {1}, 0x0e: {4, 500}, 0x0f: {3}, 0x10: {3}, 0x13: {3}, 0x14: {1}, 0x15: {1}, 0x16: {17, 5020}, 0x17: {766}, 0x18: {2}, 0x19: {97},
		0x1a: {40, 46}, 0x1b: {2}, 0x1c: {5}, 0x1d: {2, 20}, 0x1e: {1}, 0x1f: {16}, 0x20: {6}, 0x21: {6}, 0x24: {165}, 0x32: {5, 14, 23},
	},
}

// TestGameSizes checks which sizes of packets of zeros decode.
func TestGameSizes(t *testing.T) {
	s, all := shipped(t), programs{}
	for dir, sizes := range gameSizes {
		for code, want := range sizes {
			m := s.Lookup(schema.Key{Dir: dir, Group: "game", Code: code})
			if m == nil || m.Key.Dir != dir {
				t.Errorf("%s 0x%02X has no definition", dir, code)
				continue
			}
			p := all.of(t, m)
			var rec codec.Record
			for n := 1; n <= slices.Max(want)+40; n++ {
				data := make([]byte, n)
				data[0] = byte(code)
				if code == 0x03 && dir == schema.ToClient { // each player begins with the type
					for i := 64; i < n; i += 64 {
						data[i] = byte(code)
					}
				}
				if code == 0x06 && dir == schema.ToServer || code == 0x07 && dir == schema.ToClient || code == 0x33 { // zero-terminated text
					for i := 1; i < n-1; i++ {
						data[i] = 'x'
					}
				}
				p.Decode(&rec, data)
				fits := rec.Status() == codec.OK && rec.Unexplained() == 0
				switch listed := slices.Contains(want, n); {
				case listed && !fits:
					t.Errorf("%s of %d bytes does not decode\n%s", m.Name, n, view.Transcript(&rec))
				case !listed && fits && len(want) == 1:
					t.Errorf("%s may have %d bytes", m.Name, n)
				}
			}
		}
	}
	for _, m := range s.Messages {
		if _, listed := gameSizes[m.Key.Dir][m.Key.Code]; m.Key.Group == "game" && !listed && m.Key.Code != 0x30 && m.Key.Code != 0x31 {
			t.Errorf("the sizes of %s are not in the list", m.Name)
		}
	}
}
