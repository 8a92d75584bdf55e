package paste

import (
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// intro is the introduction that text2pcap allows before a packet: a direction, I or O, and a time (text2pcap manual, "-D" and "-t").
type intro struct {
	dir  schema.Dir
	time scan.Stamp
}

// readIntro reads an intro from position at on. rest is the start of the rest of the line, at if there is none.
//
// I is inbound and O is outbound. Dumps are usually made on the machine of the game client, so inbound is from the server.
func readIntro(s string, at int) (in intro, rest int) {
	rest = at
	if word, next := wordAt(s, rest); word == "I" || word == "O" {
		in.dir, rest = DirOf("", word), next
	}
	word, next := wordAt(s, rest)
	if more, after := wordAt(s, next); more != "" && strings.ContainsAny(word, "-/") && strings.Contains(more, ":") {
		word, next = word+" "+more, after
	}
	if strings.ContainsAny(word, ":.") {
		if st, ok := scan.ParseStamp(word); ok {
			in.time, rest = st, next
		}
	}
	return in, rest
}

// wordAt returns the word at s[i:] and the start of the next one.
func wordAt(s string, i int) (word string, next int) {
	end := i
	for end < len(s) && !scan.IsSpace(s[end]) {
		end++
	}
	return s[i:end], skipSpaces(s, end)
}
