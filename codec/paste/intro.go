package paste

import (
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// intro is the introduction that text2pcap allows before a packet: a direction, I or O, and a time (text2pcap manual, "-D" and "-t").
type intro struct {
	set  bool
	dir  schema.Dir
	time scan.Stamp
}

// readIntro reads an intro from position at on. rest is the start of the rest of the line.
//
// I is inbound and O is outbound. Dumps are usually made on the machine of the game client, so inbound is from the server.
func readIntro(s string, at int) (in intro, rest int) {
	rest = at
	if word, next := wordAt(s, rest); word == "I" || word == "O" {
		in.set, in.dir = true, schema.ToServer
		if word == "I" {
			in.dir = schema.ToClient
		}
		rest = next
	}
	word, next := wordAt(s, rest)
	if more, after := wordAt(s, next); more != "" && strings.ContainsAny(word, "-/") && strings.Contains(more, ":") {
		if st, ok := scan.ParseStamp(word + " " + more); ok {
			in.set, in.time = true, st
			return in, after
		}
	}
	if strings.ContainsAny(word, ":.") {
		if st, ok := scan.ParseStamp(word); ok {
			in.set, in.time = true, st
			rest = next
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
