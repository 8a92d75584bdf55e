// Package filter implements the language that selects frames: in lists, for colours, on the command line and in the proxy.
//
// It follows the display filters of Wireshark and takes the types of fields from the definitions:
//
//	expr  = xor { ("||" | "or") xor }
//	xor   = and { ("^^" | "xor") and }
//	and   = not { ("&&" | "and") not }
//	not   = { "!" | "not" } cmp
//	cmp   = ["any" | "all"] sum [ op sum | ["not"] "in" set | "contains" sum | ("matches" | "~") string ]
//	sum   = prod { ("+" | "-") prod }
//	prod  = unary { ("*" | "/" | "%" | "&") unary }
//	unary = ["-"] atom
//	atom  = literal | field | function "(" args ")" [ part ] | "(" expr ")"
//	op    = == != > >= < <= | eq ne gt ge lt le | === !== any_eq all_eq any_ne all_ne
//	set   = "{" item { [","] item } "}"      item = value | value ".." value
//	field = ["@"] path [ part ]
//	part  = "[" range { "," range } "]"
//	range = i | i ":" n | i "-" j | i ":" | ":" n | ":"  (i and j may be negative: from the end)
//	path  = ( NAME | "*" | "" ) { "." name [ "#" n ] | "[" n "]" | "[*]" }
//
// Regular expressions have the syntax of Go. Their characters are code points in text and single bytes in bytes: there \xd0 matches the byte
// d0, and "." matches any byte, including newlines. A letter outside ASCII matches its UTF-8 bytes, as with "contains".
//
// Literals are integers (decimal, 0x, 0b), floats, "text" with escapes, r"text" without, bytes (0a:1b:2c, x"de ?? be ef"), true and
// false, names of enum values, and $name for a value supplied by the caller.
//
// # Fields
//
// A path that begins with a dot finds every occurrence at any depth, in all messages: .level is each field level, .members.level each level
// directly in a field members. Parts of bitfields are fields, too. A path that begins with a name is anchored at the top of a message:
// C_CHAT.message, *.level in any message, and core.sequence in those of a group, with core.type for the code. $sel.path is anchored in the
// selected frame, and reaches the first level of a group that contains itself; one that begins with a dot reaches all. What a path means never depends on other definitions. Names of messages may be patterns (S_PARTY_*) and may have a version (S_CHAT.2.message). Of fields with one name the plain name is the one read last; unk#1 is the first. Properties of the frame itself have reserved names, such as len or dir: see Complete. $sel.path is the value in
// the selected frame.
//
// "@" selects the bytes of a field: for a group of fields, from the first to the last if they are contiguous; for a list, the whole list with
// the links between its elements. @path[*] selects the bytes of each element.
//
// Words of Wireshark (tcp.port, frame.number) are replaced by what means exactly the same, or refused with the reason: see [Words]. Words of
// mitmproxy (~q), and capture filters (tcp port 7801), are understood and replaced, too: see [Filter.Translated].
//
// srcip, dstip and ip are addresses: they compare with one, with a network of any width, 10.8.0.0/13, and with ranges, in {10.0.0.1..10.0.0.9}.
//
// A code may be written as the name of its message: op == C_CHAT, core.type == cluster.
//
// t is the time of a frame in seconds since the first one, as lists show it. time is the time of day or the date: compared with a number below
// 100,000,000 or a duration ("90s") it is t, with a larger number it is seconds since 1970.
//
// # Layers
//
// via holds the layers around a frame, one text for each, outermost first; depth is their number, and from are the numbers of the frame's
// packets. In a protocol with core packets, core.type holds the code of the frame, if it is a core packet, and the codes of the core packets
// around it; core.reliable_id the numbers of the reliable packets among them, and core.ack_id these and the acknowledged numbers. Each is one
// field with several values: core.type == 3 selects what was sent reliably, and core.type != 3 core packets and their contents that were not.
//
// Occurrences of a path may have several types. Each is compared by its own type, and one that cannot have the value does not count: .id == 5
// looks at numbers, .id == "Lann" at texts.
//
// A field in a list has several values. A comparison is true if it holds for any of them; "!=" and "not in" are true only if no value is
// equal, as in Wireshark since version 4. A leading "any" or "all" makes this explicit: "===" and "all_eq" are "all" with "==", "!==", "~=" and
// "any_ne" are "any" with "!=". A comparison with a missing field is false: !(x == 1) also matches frames without x, and x != 1 does not.
//
// A part of a text counts characters, one of bytes counts bytes. Several are put together: .data[0,-2:] is the first and the last two. A part
// that is not complete has no value. max and min take the values of all arguments; one that has none does not count.
//
// A field on its own is true if it is present, a boolean if it is true, and "flags & 4" if it is not 0.
//
// # Numbers
//
// Integers are signed or unsigned with 64 bits and compare exactly, also with floats. Integer arithmetic truncates towards zero; a result
// that does not fit becomes a float, and a division by zero has no value. A 32-bit float is compared with the literal rounded to 32
// bits, so that x == 0.1 finds values displayed as 0.1.
//
// # Bounds
//
// A filter has at most MaxText bytes and is nested at most 64 deep. Evaluation takes time in proportion to the frame: comparing two
// lists sorts one of them, and arithmetic on two lists looks at the first 65,536 pairs. A regular expression takes time in proportion to
// its instructions times the bytes that it looks at: it has at most 2,500 instructions, and a frame that takes more than about two seconds
// does not match and is counted by [Filter.Unjudged]. An evaluation stops within a few hundred microseconds when Frame.Done is closed.
package filter
