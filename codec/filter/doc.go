// Package filter is the language in which people say which frames they mean: in the list, for colours, on the command line and in the
// proxy.
//
// It is the display filter language of Wireshark where that has a word for it, typed by the definitions:
//
//	expr  = and { ("||" | "or") and }
//	and   = not { ("&&" | "and") not }
//	not   = { "!" | "not" } cmp
//	cmp   = ["any" | "all"] sum [ op sum | ["not"] "in" set | "contains" sum | ("matches" | "~") string ]
//	sum   = prod { ("+" | "-") prod }
//	prod  = unary { ("*" | "/" | "%" | "&") unary }
//	unary = ["-"] atom
//	atom  = literal | field | function "(" args ")" | "(" expr ")"
//	op    = == != > >= < <= | eq ne gt ge lt le
//	set   = "{" item { "," item } "}"        item = value | value ".." value
//	field = ["@"] path [ "[" i "]" | "[" i ":" n "]" | "[" i "-" j "]" | "[" i ":" "]" ]
//	path  = name { "." name | "[" n "]" | "[*]" } | "." name { ... }
//
// A regular expression is one of Go's. Over text its characters are code points; over bytes each is one byte, \xd0 is the byte d0 and "." is
// any byte, also a line's end. A letter that is no ASCII is its bytes in UTF-8 there, as it is for "contains".
//
// Literals are integers (decimal, 0x, 0b), floats, "text" with escapes, r"text" without, bytes (0a:1b:2c, x"de ?? be ef"), true and
// false, the names of enums, and $name for a value that the caller gives.
//
// # Fields
//
// A path is the name of a message and of a field in it (C_CHAT.message), the name of a group of messages and of a field (core.sequence,
// and core.type for the code), or a field of any message that has it (.message). Names of messages may be patterns: S_PARTY_*.
// A message's version may stand behind its name: S_CHAT.2.message. What is said of the frame itself has reserved names, such as len
// or dir: see Complete. $sel.path is the value in the frame that is selected.
//
// "@" is the bytes of the whole field: of a group those from its first field to its last, if they stand together, and of a list all of
// it, with what links its elements; @path[*] are those of each element.
//
// A code may be written as the name of its message: op == C_CHAT, core.type == cluster.
//
// # Layers
//
// What a frame was in is via, a text for each layer with the outermost first; depth is how many there are, and from are the packets that
// it came in. With a core protocol core.type are the codes of the frame, if it is a core packet, and of those it was in; core.reliable_id the
// numbers of the reliable packets among them, and core.ack_id these and what an ack is for. They are values of one field, so that
// core.type == 3 is what was sent reliably and core.type != 3 a core packet, or what came in one, that was not.
//
// A field in a list has several values. A comparison is true if any of them fits; "!=" and "not in" are true only if none is equal,
// as in Wireshark since version 4. "any" and "all" in front say it expressly. A comparison with what is not there is false, so that
// !(x == 1) also shows frames without x, and x != 1 does not.
//
// A field that stands alone is true if it is there, a truth value if it is true, and "flags & 4" if it is not 0.
//
// # Numbers
//
// Integers have 64 bits with and without a sign and compare exactly, also with floats. Arithmetic on integers stays integer and cuts
// towards zero; what does not fit becomes a float, and a division by zero has no value. A 32-bit float is compared with what a
// float written in the filter is as 32 bits, so that x == 0.1 finds what shows as 0.1.
//
// # Bounds
//
// A filter has at most MaxText bytes and is nested at most 64 deep. Evaluation takes time in proportion to the frame: comparing two
// lists sorts one of them, and arithmetic on two lists looks at the first 65,536 pairs. A regular expression takes time in proportion to
// its instructions times the bytes that it looks at: it has at most 2,500 instructions, and a frame that takes more than about two seconds
// does not match and is counted by [Filter.Unjudged]. An evaluation stops within a few hundred microseconds when Frame.Done is closed.
package filter
