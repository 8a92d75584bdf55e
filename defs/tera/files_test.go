package tera

import (
	"testing"

	"wirebench/defs/schema"
)

func TestParseFileName(t *testing.T) {
	for _, c := range []struct {
		path string
		want FileName
		ok   bool
	}{
		{"S_CHAT.1.def", FileName{"S_CHAT", 1, ""}, true},
		{"a/b/S_F2P_PremiumUser_Permission.12.def", FileName{"S_F2P_PremiumUser_Permission", 12, ""}, true},
		{"S_CHAT.0.console.def", FileName{"S_CHAT", 0, "console"}, true},
		{"S_CHAT.def", FileName{}, false},
		{"S_CHAT.1.js", FileName{}, false},
		{"S_CHAT.1..def", FileName{}, false},
		{"S_CHAT.-1.def", FileName{}, false},
		{"S_CHAT.2147483648.def", FileName{}, false},
		{".1.def", FileName{}, false},
		{"", FileName{}, false},
	} {
		got, ok := ParseFileName(c.path)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v", c.path, got, ok)
		}
		if again, _ := ParseFileName(got.String()); ok && again != got {
			t.Errorf("%s is formatted as %s", c.path, got)
		}
	}
}

func TestDirection(t *testing.T) {
	for name, want := range map[string]schema.Dir{
		"C_CHAT": schema.ToServer, "CU_X": schema.ToServer, "S_CHAT": schema.ToClient, "SU_X": schema.ToClient,
		"TTB_S_X": schema.ToClient, "I_X": schema.Both, "CHAT": schema.Both, "TTB_C_X": schema.Both, "c_chat": schema.Both,
	} {
		if got := Direction(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestParsePatch(t *testing.T) {
	for text, want := range map[string]int{
		"73": 7300, "0": 0, "98.02": 9802, "98.2": 9820, "98.20": 9820, "113.00": 11300, "9999.99": 999999,
	} {
		if got, err := ParsePatch(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "98.", ".5", "98.123", "-1", "+1", "1e2", "x", "10000", "98.-1", "98 ", "98.2.1"} {
		if got, err := ParsePatch(text); err == nil {
			t.Errorf("%q is parsed as %d", text, got)
		}
	}
	for _, patch := range []int{7300, 9802, 9820, 0, 5} {
		if got, err := ParsePatch(FormatPatch(patch)); err != nil || got != patch {
			t.Errorf("%d is formatted as %s", patch, FormatPatch(patch))
		}
	}
}

func TestIsType(t *testing.T) {
	for word, want := range map[string]bool{
		"int32": true, "array<int32>": true, "byte[5]": true, "ref": true, "Int32": false, "": false, "<int32>": false,
	} {
		if got := IsType(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
