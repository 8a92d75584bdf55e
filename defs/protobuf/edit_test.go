package protobuf

import (
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestNameMessage renames messages with what refers to them in the file, and nothing else.
func TestNameMessage(t *testing.T) {
	const text = `syntax = "proto2";
package a.b;
message Ship {
  optional Ship tug = 1; repeated .a.b.Ship fleet = 2; map<string, b.Ship> by = 3;
  optional Crate Ship = 4; // a Ship
  message Crate { optional Ship Crate = 1; optional Ship.Crate inside = 2; }
}
message Other { message Ship {} optional Ship own = 1; optional a.b.Ship far = 2; optional Ship.Crate none = 3; }
`
	for _, c := range [][3]string{
		{"Ship", "Boat", strings.NewReplacer("message Ship {\n", "message Boat {\n", "Ship tug", "Boat tug", ".a.b.Ship fleet", ".a.b.Boat fleet",
			"b.Ship>", "b.Boat>", "Ship Crate =", "Boat Crate =", "Ship.Crate inside", "Boat.Crate inside", "Ship.Crate none", "Boat.Crate none", "a.b.Ship far", "a.b.Boat far").Replace(text)},
		{"Ship_Crate", "Ship_Box", strings.NewReplacer("Crate Ship =", "Box Ship =", "message Crate", "message Box", "Ship.Crate inside", "Ship.Box inside", "Ship.Crate none", "Ship.Box none").Replace(text)},
		{"Ship_Crate", "Box", ""},
		{"Other_Ship", "Other_Boat", strings.NewReplacer("message Ship {}", "message Boat {}", "Ship own", "Boat own").Replace(text)},
	} {
		f := source.New("a.proto", text)
		s, _ := Parse([]*source.File{f}, schema.Options{})
		for _, m := range s.Messages {
			if m.Name != c[0] {
				continue
			}
			if got, ok := nameMessage(f, m.Span, c[1]); got != c[2] || ok != (c[2] != "") {
				t.Errorf("%s to %s:\n%s\nwant\n%s", c[0], c[1], got, c[2])
			}
		}
	}
}
