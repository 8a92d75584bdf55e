package settings

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a project shares about lists is checked, part by part, and no capture is read again for it.
func TestList(t *testing.T) {
	many := `"` + strings.Repeat(`n","`, maxColumns) + `n"`
	for patch, want := range map[string]string{
		`{"columns":["n","=C_SAY.text"],"filters":[{"name":"größe","text":"len > 9"}],"colors":[{"filter":"C_SAY","hue":8}]}`: "",
		`null`:                       "",
		`{}`:                         "",
		`{"columns":[` + many + `]}`: "at most 64 columns",
		`{"columns":[""]}`:           "1 to 500 bytes",
		`{"filters":[{"name":"a b","text":"x"}]}`:                       "letters, digits and _",
		`{"filters":[{"name":"9a","text":"x"}]}`:                        "no digit first",
		`{"filters":[{"name":"a","text":""}]}`:                          "1 to 8192 bytes",
		`{"filters":[{"name":"a","text":"x"},{"name":"a","text":"y"}]}`: "two filters",
		`{"colors":[{"filter":"x","hue":9}]}`:                           "a hue from 1 to 8",
		`{"colors":[{"filter":"","hue":1}]}`:                            "a color has a filter",
		`{"colors":"red"}`:                                              "cannot unmarshal",
	} {
		var list any
		if err := json.Unmarshal([]byte(patch), &list); err != nil {
			t.Fatal(err)
		}
		_, err := Settings{Map: "m"}.Patched(map[string]any{"list": list})
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%.60s: %s", patch, got)
			}
		} else if want != "" {
			t.Errorf("%.60s is taken", patch)
		}
	}
	one := Settings{Map: "m", Options: map[string]string{"patch": "92"}}
	other := one.Clone()
	other.List = &List{Columns: []string{"n"}}
	if !one.SameReading(other) || one.Key() == other.Key() {
		t.Error("columns change how captures are read, or are lost")
	}
	if other.Map = "n"; one.SameReading(other) {
		t.Error("another code map reads in the same way")
	}
}
