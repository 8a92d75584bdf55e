package filter_test

import (
	"strings"
	"testing"

	"wirebench/codec/filter"
)

// TestMistakes checks the mistakes of filters. « and » enclose the position.
func TestMistakes(t *testing.T) {
	w := fight(t)
	w.env.Values = map[string]string{"me": "5", "who": "Lann"}
	w.env.Selected = w.frame(t, "C_CHAT", 0, `{}`)
	for _, c := range []struct{ text, want string }{
		// Syntax errors.
		{"len >«»", "unexpected end of filter"},
		{"«(»len > 3", `a "(" without its ")"`},
		{"len > 3«)»", `unexpected ")"`},
		{"len «=» 3", `unexpected "=" (write "==" to compare)`},
		{"len > 3 «|» len < 2", `unexpected "|" (write "||" or "or" for either of two)`},
		{"1 < len «<» 5", "a second comparison (write it as two: 1 < x && x < 5)"},
		{"len > 3 «dir» == c2s", `unexpected "dir" (put "&&" or "||" between two conditions, and quotes around text)`},
		{"name == «\"C_CHAT»", "missing closing quote"},
		{`name ~ "«\d»"`, `unknown escape "\\d" (write \\ for a backslash, or put r before the text: r"...")`},
		{"bytes contains x\"0«g» 00\"", `"g" is not a hex digit (bytes look like x"de ?? be ef")`},
		{"bytes contains x\"01 «2» 00\"", "half a byte (write two digits for each byte)"},
		{"bytes contains «x\"\"»", `no bytes (bytes look like x"de ?? be ef")`},
		{"len > «12abc»", `"12abc" is not a number (put text in quotes)`},
		{"len > «0x1ffffffffffffffff»", "0x1ffffffffffffffff does not fit 64 bits"},
		{"len > «99999999999999999999»", "99999999999999999999 does not fit 64 bits"},
		{"op in «5»", `"in" needs a set (write {1, 2, 5..10})`},
		{"op in {5«»", `a set without its "}"`},
		{"op in {5 «)»}", `unexpected ")" (items of a set are separated by ",")`},
		{"op in {«9..5»}", "the end of the range is before its start"},
		{"any op == 3 and «any» (dir == c2s)", `"any" and "all" must precede a comparison or a field`},
		{"bytes«[x]» == 3", `not understood: "[x] == 3" (write [3], [*], [4:2] for two from offset 4, [4-5], [:2] for the first two, [-2:] for the last two, or several, [0,4:2])`},
		{"bytes«[3:0]» == 3", "a length of 0 (write [3], [*], [4:2] for two from offset 4, [4-5], [:2] for the first two, [-2:] for the last two, or several, [0,4:2])"},
		{"bytes«[3-2]» == 3", "the end is before the start (write [3], [*], [4:2] for two from offset 4, [4-5], [:2] for the first two, [-2:] for the last two, or several, [0,4:2])"},
		{"«~c»", `unknown "~c" (write op == 7 for the code of a message)`},
		{"«~b»", `no pattern after "~b"`},
		{"=«»", "nothing to search for (write a number or a text after =)"},
		{"= «-9999999999999999999»", "-9999999999999999999 does not fit 64 bits"},

		// Unknown names.
		{"«C_CHTA» && dir == c2s", `unknown name "C_CHTA" (did you mean "C_CHAT"?)`},
		{"«lenn» > 3", `unknown name "lenn" (did you mean "len"?)`},
		{"«C_CHTA».message", `unknown message "C_CHTA" (did you mean "C_CHAT"?)`},
		{"C_CHAT.«mesage» == \"x\"", `"C_CHAT" has no field "mesage" (did you mean "message"?)`},
		{"C_CHAT.«zzzzzzzzz» == 1", `"C_CHAT" has no field "zzzzzzzzz" (one of channel, shown_item, message)`},
		{"«.mesage» == \"x\"", `no message has a field "mesage" (did you mean "message"?)`},
		{"S_PARTY_LIST.members.«nam» == \"x\"", `"members" has no field "nam" (did you mean "name"?)`},
		{"S_PARTY_LIST.members[0].items.«idd» == 1", `"members[0].items" has no field "idd" (did you mean "id"?)`},
		{"S_FIGHT.skill.«idd» == 1", `"skill" has no field "idd" (did you mean "id"?)`},
		{"5 > «author»", `unknown name "author" (write ".author" for the field of any message, at any depth)`},
		{"«X_*»", `no message is called "X_*"`},
		{"«X_*».id == 3", `no message is called "X_*"`},
		{"«S_PARTY_LOST».id == 3", `"S_PARTY_LOST" has no definition (its fields are unknown)`},
		{"«dir».x == 3", `unknown message "dir" ("dir" has no fields)`},
		{"C_CHAT.message.«x» == 3", `"message" has no field "x"`},
		{"name == «C_CHTA»", `unknown name "C_CHTA" (did you mean "C_CHAT"?)`},
		{"«frobnicate»(len) > 3", `unknown function "frobnicate"`},
		{"«lowr»(name) == \"x\"", `unknown function "lowr" (did you mean "lower"?)`},
		{"op == «$mee»", `no value is given for "$mee" (did you mean "me"?)`},
		{"op == $sel.«chanel»", `"C_CHAT" has no field "chanel" (did you mean "channel"?)`},

		// Types.
		{"C_CHAT.message == «5»", `"message" is text (put the text in quotes)`},
		{"C_CHAT.channel == «\"5\"»", `"channel" is a number, and "5" is text (write the number without quotes)`},
		{"C_CHAT.channel == «\"near\"»", `"channel" is a number, and "near" is text (compare it with a number)`},
		{"«C_CHAT.channel» contains 5", `"channel" is a number (compare a number with "==" or "in"; of a list any element may fit)`},
		{"«len» ~ \"5\"", `"len" is a number (regular expressions match text and bytes)`},
		{"name ~ «5»", `a regular expression must be in quotes (write ~ "^S_")`},
		{"name ~ «\"(\"»", "not a valid regular expression: missing closing ): `(`"},
		{"dir == «c3s»", `"dir" is never "c3s" (did you mean "c2s"?)`},
		{"dir == «5»", `"dir" is a word (one of c2s, s2c)`},
		{"«dir > c2s»", `"dir" is a word, which has no order (compare it with "==" or "!=")`},
		{"state == «cleen»", `"state" is never "cleen" (did you mean "clean"?)`},
		{"S_FIGHT.crit == «2»", `"crit" is true or false (compare it with true or false)`},
		{"«S_FIGHT.crit > 0»", `"crit" is true or false, which has no order (compare it with "==" or "!=")`},
		{"«.members» == 3", `"members" is a list (name a field of its elements, or write count(...))`},
		{"«.at» == 3", `"at" is a group of fields (name one of its fields)`},
		{"«C_CHAT» == 3", `"C_CHAT" has no value (name one of its fields)`},
		{"C_CHAT.channel«[2]» == 3", `"channel" is a number (brackets take a part of text, bytes and lists; @ before the path means its bytes)`},
		{".members«[0:2]».level == 3", `a part of a list (write [3] for one element, or [*] for any)`},
		{"bytes == «5»", `"bytes" is bytes (write the bytes: u32le(5) or x"05 00")`},
		{"bytes contains u8(«300»)", "300 does not fit 1 byte"},
		{"bytes contains u16le(«1.5»)", "u16le takes an integer (f32 and f64 are for floats)"},
		{"lower(«len») == \"x\"", `"len" is a number (lower takes text)`},
		{"«count()» == 3", "count takes one value (number of occurrences of the field, or of elements of the list)"},
		{"count(«len») == 3", "count takes a field of a message, via or from"},
		{"«name» + 1 == 3", `"name" is text`},
		{"«.x» & 1", `"x" is a number with a fraction ("&" takes integers)`},
		{"«C_CHAT.channel == C_CHAT.message»", `"channel" is a number, and "message" is text`},
		{"«C_CHAT.channel == S_FIGHT.damage»", `no message has both "C_CHAT.channel" and "S_FIGHT.damage"`},
		{"time > «\"noon\"»", `"noon" is not a time (write "10:00:05" or "2026-11-20 10:00:05")`},
		{"time in {\"10:00\"..«\"2026-11-20\"»}", "a time of day and a date do not compare (write both the same way)"},
		{"delta > «\"soon\"»", `"soon" is not a duration (write seconds, or "20ms")`},
		{"len > «1 / 0»", "no value"},
		{"«1.5» and len > 3", "a value is not a condition (compare a field with it)"},
		{"«$me»", "a value is not a condition (compare a field with it)"},
		{"(«len > 3») + 1 == 2", "a condition where a value is needed"},
		{"op in {5, «\"x\"»}", `"op" is a number, and "x" is text (compare it with a number)`},

		// Two mistakes, both reported.
		{"«lenn» > 3 and «nme» == \"x\"", `unknown name "lenn" (did you mean "len"?); unknown name "nme" (did you mean "name"?)`},
	} {
		plain := strings.NewReplacer("«", "", "»", "").Replace(c.text)
		f, mistakes := filter.Compile(plain, w.env)
		if len(mistakes) == 0 {
			t.Errorf("%s: no mistake", plain)
			continue
		}
		if f == nil || f.Match(w.env.Selected, nil) || f.Index(w.env.Selected) != filter.No || f.Rewritten() != "" {
			t.Errorf("%s: matches with a mistake", plain)
		}
		marked, said := plain, ""
		for i := len(mistakes) - 1; i >= 0; i-- {
			m := mistakes[i]
			marked = marked[:m.Start] + "«" + marked[m.Start:m.End] + "»" + marked[m.End:]
		}
		for _, m := range mistakes {
			if said != "" {
				said += "; "
			}
			if said += m.Message; m.Help != "" {
				said += " (" + m.Help + ")"
			}
		}
		if marked != c.text || said != c.want {
			t.Errorf("%s\n got %s\n     %s\nwant %s\n     %s", plain, marked, said, c.text, c.want)
		}
	}
}

// TestEnumMistakes checks that the names of an enum are listed.
func TestEnumMistakes(t *testing.T) {
	w := libraryWorld(t, "muta")
	for _, c := range []struct{ text, want string }{
		{".race == elv", `"race" has no value "elv" (did you mean "elf"?)`},
		{".race == \"gnome\"", `"race" has no value "gnome" (one of human, elf, dwarf)`},
		{".race in {elf, gnome}", `"race" has no value "gnome" (one of human, elf, dwarf)`},
		{".race == 1.5 && login.race == elf", `"login" has no field "race" (one of account, password, build)`},
		{"clmsg.zzzzzzzzz == 1", `no message of "clmsg" has a field "zzzzzzzzz"`},
		{".race contains elf", `"race" is a number with names (compare a number with "==" or "in"; of a list any element may fit)`},
	} {
		_, mistakes := filter.Compile(c.text, w.env)
		var said []string
		for _, m := range mistakes {
			s := m.Message
			if m.Help != "" {
				s += " (" + m.Help + ")"
			}
			said = append(said, s)
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
