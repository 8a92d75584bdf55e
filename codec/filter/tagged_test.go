package filter_test

import (
	"testing"

	"wirebench/codec/filter"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestTagged names fields of messages with tags as the manual does: a field that occurs once without an index.
func TestTagged(t *testing.T) {
	w := newWorld(t, "protobuf", schema.Options{Codes: map[string]uint32{"Ship": 1}}, source.New("ship.proto", `syntax = "proto3";
message Ship {
  string name = 1; repeated sint32 tides = 2; map<string, int32> stores = 3; Ship tug = 4; bytes seal = 5; Flag flag = 6; uint64 day = 7; repeated Ship boats = 8;
  enum Flag { NONE = 0; YELLOW = 1; }
}`))
	f := w.frame(t, "Ship", 0, `{"name":"Petrel","tides":[-3,5],"stores":[{"key":"bread","value":4}],"tug":{"name":"Jo","tug":{"name":"Bo"}},"seal":"00ff","flag":"YELLOW","day":["7","8123"],"boats":[{"name":"a"},{"day":"9"}],"unknown":[{"tag":152010,"value":"beef"}]}`)
	for text, want := range map[string]bool{
		`Ship.name == "Petrel"`: true, `Ship.name == "Jo"`: false, `Ship.tides == -3`: true, `Ship.tides[0] == 5`: false, `Ship.tides[1] == 5`: true,
		`Ship.tug.name == "Jo"`: true, `.name == "Bo"`: true, `Ship.stores.key == "bread"`: true, `Ship.seal == 00:ff`: true, `Ship.flag == YELLOW`: true,
		`Ship.day > 8000`: true, `Ship.day == 7`: true, `Ship.day[1] == 7`: false, `Ship.boats.day == 9`: true, `Ship.boats[0].day == 9`: false, `Ship.unknown.field == 19001`: true,
		`count(Ship.boats) == 2`: true, `Ship.tug`: true, `Ship.tug.seal`: false,
	} {
		x, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", text, mistakes)
			continue
		}
		if got := matching(t, w, map[string]*filter.Frame{"s": f}, "s", x) == "s"; got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}
