package value

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// JSONPlace is the location of a value in a JSON text.
type JSONPlace struct {
	From, To int  // bytes
	Element  bool // an element of an array
}

// FindJSON locates the value of a path such as members[0].name in a compact JSON text. The text must be valid. A field that shares the
// value of a later one of its name has that value: unk#1 is unk.
func FindJSON(text []byte, path string) (JSONPlace, error) {
	at := JSONPlace{0, len(text), false}
	for rest := path; rest != ""; {
		var ok bool
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			n, err := strconv.Atoi(rest[1:max(end, 1)])
			if end < 0 || err != nil {
				return at, fmt.Errorf("%q is not a path", path)
			}
			at, ok = elementOf(text, at, n)
			rest = rest[end+1:]
		} else {
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			in := at
			if at, ok = memberOf(text, in, rest[:end]); !ok {
				if name, shared := laterName(rest[:end]); shared {
					at, ok = memberOf(text, in, name)
				}
			}
			rest = rest[end:]
		}
		if !ok {
			return at, fmt.Errorf("the message has no value %s", path)
		}
	}
	return at, nil
}

// Unshare returns the text with a value of its own for each field of the path that shares the value of a later field of its name, so that
// the value of the path can be replaced alone.
func Unshare(text []byte, path string) []byte {
	for from := 0; from < len(path); {
		end := len(path)
		if i := strings.IndexAny(path[from:], ".["); i >= 0 {
			end = from + i
		}
		if name, shared := laterName(path[from:end]); shared {
			if in, err := FindJSON(text, strings.TrimSuffix(path[:from], ".")); err == nil {
				_, own := memberOf(text, in, path[from:end])
				if at, ok := memberOf(text, in, name); ok && !own {
					text = slices.Concat(text[:at.To], []byte(`,"`+path[from:end]+`":`), text[at.From:at.To], text[at.To:])
				}
			}
		}
		from = end + 1
	}
	return text
}

// laterName returns the name that a later field has alone: that of unk#1 is unk.
func laterName(name string) (later string, ok bool) {
	later, number, ok := strings.Cut(name, "#")
	return later, ok && number != ""
}

// elementOf finds element n of an array.
func elementOf(text []byte, in JSONPlace, n int) (JSONPlace, bool) {
	if in.To-in.From < 2 || text[in.From] != '[' {
		return in, false
	}
	for i := in.From + 1; i < in.To-1; {
		end := valueEnd(text, i)
		if n == 0 {
			return JSONPlace{i, end, true}, true
		}
		n--
		i = end + 1
	}
	return in, false
}

// memberOf finds the last member with that name, which takes precedence.
func memberOf(text []byte, in JSONPlace, name string) (found JSONPlace, ok bool) {
	if in.To-in.From < 2 || text[in.From] != '{' {
		return in, false
	}
	for i := in.From + 1; i < in.To-1; {
		colon := valueEnd(text, i)
		end := valueEnd(text, colon+1)
		var key string
		if json.Unmarshal(text[i:colon], &key) == nil && key == name {
			found, ok = JSONPlace{colon + 1, end, false}, true
		}
		i = end + 1
	}
	return found, ok
}

// valueEnd returns the end of the value that starts at i.
func valueEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		}
		i++
		if depth == 0 && i < len(text) && (text[i] == ',' || text[i] == ':' || text[i] == '}' || text[i] == ']') {
			return i
		}
	}
	return min(i, len(text))
}
