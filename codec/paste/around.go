package paste

import (
	"slices"
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// maxWords bounds the words around a message that are read, in bytes.
const maxWords = 1000

// maxNoteText bounds the words around a message that become its note.
const maxNoteText = 200

// readAround reads the words around a message: its time, its direction, and the rest as its note.
func readAround(text string, m *Message) {
	words := strings.Fields(strings.ToValidUTF8(text[:min(len(text), maxWords)], ""))
	first := true // no word but times before
	for i := 0; i < len(words) && i < 40; i++ {
		if m.Time.Kind == scan.NoTime {
			if n := timeAt(words[i:], m); n > 0 {
				words = slices.Delete(words, i, i+n)
				i--
				continue
			}
		}
		between := i > 0 && i+1 < len(words) && arrows[words[i]] != schema.Both && isAddress(words[i-1]) && isAddress(words[i+1])
		if m.Dir == schema.Both && !between {
			m.Dir = dirAt(words[i:], first)
		}
		first = false
	}
	m.Note = strings.Trim(strings.Join(words, " "), " :=-|#*,;<>") // without what separates them from bytes
	if len(m.Note) > maxNoteText {
		m.Note = strings.ToValidUTF8(m.Note[:maxNoteText], "") + "…"
	}
}

// isAddress reports whether a word can be the address of an end.
func isAddress(w string) bool {
	return strings.ContainsAny(w, ".:") && strings.ContainsAny(w, "0123456789")
}

// timeAt reads a time of one word or two, and returns how many.
func timeAt(words []string, m *Message) int {
	for n := min(2, len(words)); n >= 1; n-- {
		s := strings.Trim(strings.Join(words[:n], " "), "[](){}<>,;|\"'")
		if len(s) < 7 || n == 1 && strings.IndexByte(s, ':') < 0 || n == 2 && (!strings.ContainsAny(words[0], "-/") || !strings.Contains(words[1], ":")) {
			continue
		}
		if st, ok := scan.ParseStamp(strings.TrimRight(strings.ReplaceAll(s, "/", "-"), ":")); ok {
			m.Time = st
			return n
		}
	}
	return 0
}

// arrows that stand for a direction on their own: towards the server, and from it.
var arrows = map[string]schema.Dir{
	"->": schema.ToServer, "-->": schema.ToServer, "=>": schema.ToServer, "==>": schema.ToServer, ">>": schema.ToServer, ">>>": schema.ToServer, ">": schema.ToServer, "→": schema.ToServer,
	"<-": schema.ToClient, "<--": schema.ToClient, "<=": schema.ToClient, "<==": schema.ToClient, "<<": schema.ToClient, "<<<": schema.ToClient, "<": schema.ToClient, "←": schema.ToClient,
}

// dirAt reads a direction of up to three words: send, [C->S], client -> server, from server.
//
// In the middle of a sentence a word such as "in" means nothing: there only a marked one, or one in capitals, is a direction.
func dirAt(words []string, start bool) schema.Dir {
	bare := func(i int) string {
		if i >= len(words) {
			return ""
		}
		return strings.Trim(words[i], "[](){}:;,|\"'")
	}
	first := bare(0)
	if first == "" {
		return schema.Both
	}
	if len(words) > 2 {
		if _, ok := arrows[words[1]]; ok {
			if strings.ContainsAny(words[1], ">→") {
				return DirOf("", first+">"+bare(2))
			}
			return schema.Both // a -> b
		}
	}
	if len(first) > 1 {
		switch strings.ToLower(first + " " + bare(1)) {
		case "to server", "from client":
			return schema.ToServer
		case "to client", "from server":
			return schema.ToClient
		}
	}
	if d, ok := arrows[first]; ok {
		return d
	}
	if !start && first == words[0] && first != strings.ToUpper(first) && len(first) < 7 {
		return schema.Both
	}
	return DirOf("", strings.Replace(strings.Replace(first, "->", ">", 1), "=>", ">", 1))
}
