// Package envelope parses envelopes. An envelope is a text that describes how the messages of a protocol travel: how streams are cut into
// frames, where the code of a message is, and how messages are compressed and encrypted. The messages themselves have definitions.
//
// # Lines
//
// A text consists of lines. A # at the start of a word begins a comment. Indented lines belong to the line above that is indented less. Words are
// separated by spaces; quotes, with the escapes of Go, make one word of any text, which is then never a keyword. A text has statements,
// states and rules.
//
//	carrier tcp                                   tcp, udp, websocket, tera or subspace; tcp if not stated
//	port 25565                                    of the server, for new listeners
//	frame [DIR] FRAMING                           how a stream is cut into frames; required
//	code [DIR] NUMBER [at N]                      the code of a message, after N bytes
//	code [DIR] none NAME                          messages have no code: all of them have this definition
//	field [DIR] NAME NUMBER at N [= VALUE]        a number around the contents of every message; = that it always has
//	field [DIR] NAME bytes SIZE at N              bytes there
//	field [DIR] NAME hex DIGITS at N              bytes that are always the same
//	checksum [DIR] NAME SUM [ORDER] at N [RANGE] [extra]
//	                                              a number that is computed from the message
//	group [DIR] NAME                              the group of the definitions, instead of the name of the state
//	compress [DIR] METHOD [HEADER] [WHEN]         messages are compressed from the start of the connection
//	cipher [DIR] CIPHER key SECRET [iv SECRET]    the stream is encrypted from its first byte
//	bundle [MESSAGE] [DIR] [at N] frame FRAMING   the contents of this message are messages in frames
//	state NAME                                    a state of the connection; the first one is the initial state
//	form NAME                                     one of the forms of messages, see below
//
// frame, code, field, checksum, group, bundle and rules may be indented below a state, and then apply in that state only. Otherwise they apply in every state
// that has none of its own. A text without states has one, named "".
//
//	DIR      to-server | to-client                both if not stated
//	NUMBER   u8 | u16 ORDER | u24 ... u64 ORDER   1 to 8 bytes; ORDER is le or be
//	         varint | zigzag                      7 bits a byte, the lowest first, as in LEB128; zigzag: signed, as in protobuf
//	         varint be                            7 bits a byte, the highest first, as in MIDI
//
// # Framing
//
//	FRAMING  length NUMBER {OPTION}               a length precedes the message
//	         delimiter HEX {HEX} [keep] [max N]   these bytes follow the message
//	         delimiter HEX {HEX} or end ...       the end of the stream, datagram or bundle ends a message, too
//	         fixed N                              all messages have N bytes
//	         codes NUMBER [at N] [max N]          the code determines the size; lines below: CODE = SIZE
//	         datagram [max N]                     each datagram, or WebSocket message, is a frame
//	         measured [max N]                     the definition determines the size
//	OPTION   including itself                     the length counts its own bytes
//	         including all                        and those before it
//	         times N, plus N, minus N             the number is multiplied, then increased, to get the length
//	         at N                                 N bytes precede the length; they are the start of the message
//	         keep                                 the length is part of the message
//	         zeros                                with keep: frames lack the zeros at the end of the contents, except for their first byte
//	         min N                                bytes of the smallest message
//	         max N                                bytes of the largest message; 16777216 if not stated
//	SIZE     N                                    bytes of the whole message, with its code
//	         length NUMBER {OPTION}               a length in the message, as above; it is part of the message
//	CODE     a number, or other
//
// # Header and tail
//
// The bytes of a message up to its code, and a length that is part of it, are its header; the definition begins behind them. So do the fields at
// N bytes from the start of the message; those at a negative N are in the tail, so many bytes before its end, where the contents end. Places do
// not count a length that is not kept. Bytes between fields are fields, too: byte0 is the one at 0, bytes_4 those from 4 before the end on. A
// message has them as header.NAME and tail.NAME (or header_ if its definition has a field of that name), beside those of its definition, which
// must not have the code elsewhere: a definition whose code is where the envelope has it has the whole header, and gets none.
//
//	SUM      crc8 | crc8-maxim | crc16 | crc16-modbus | crc16-ccitt | crc16-xmodem | crc16-kermit | crc16-mcrf4xx | crc16-x25
//	         | crc32 | crc32c | crc32-bzip2 | crc32-mpeg2 | adler32 | fletcher16 | fletcher32 | sum8 | sum16 | sum32 | xor8
//	         then {poly N | start N | final N | reflected}: other parameters than those of the CRC RevEng catalogue
//	RANGE    over FROM to TO | over FROM to end   the bytes between these places; without it those behind a checksum of the header, or
//	                                              before one of the tail. Its own bytes count as 0
//
// A checksum with the word extra then counts the bytes that the definition of the message adds, schema.Message.Extra. Without a definition it is
// neither checked nor computed.
//
// Lengths and checksums are computed when a message is sent, checksums in the order of their lines. In values that are encoded, constants, lengths and checksums may be missing.
//
// # Forms
//
// Messages may have one of several forms at any time: the first one whose header's constants, of the front, a message begins with. One without
// constants is that of all others, and stands last. The lines of a form are those of a state; a text has states and rules, or forms. The
// group of the messages of a form is not its name.
//
// # Carriers
//
// The carriers tera and subspace have what no line can say: key exchange, cipher and checksums; acknowledgements, clusters and chunks. Their framing
// and code are fixed and may be left out; a text with one has no states, rules, bundles, compression, cipher and fields. Definitions of other
// languages begin behind the code.
//
// # Bundles
//
// The messages of a bundle begin after its code, or at N bytes from its start, the code included, as other places do. The bytes between the code and
// that place are a header, which is kept when the messages are changed. Without a MESSAGE every frame is a bundle: it has no code of its own, and
// code, field and checksum are about the messages in it. A message that is sent alone becomes a bundle, with the header of the last bundle in its
// direction, or zeros if there was none.
//
// # Compression
//
//	METHOD   zlib | deflate | gzip | zstd | lz4 | lz4-block | snappy | snappy-frame
//	HEADER   size NUMBER                          the size before compression precedes the data; 0: not compressed
//	         flag NUMBER                          a number precedes the data; 0: not compressed
//	WHEN     from N                               messages of N bytes and more are compressed; off if N is negative
//	         from FIELD                           in a rule: the same, with N from a field of the message
//	         on | off                             on, the default, is from 0
//
// While compression is off, there is no HEADER either.
//
// # Ciphers
//
//	CIPHER   xor | rc4 | aes-cfb8 | aes-ctr | chacha20
//	SECRET   hex DIGITS | text WORD | given       given: by the user, for each connection
//	         FIELD | FIELD of MESSAGE             in a rule: a field of this message, or of the last message of that name
//
// A cipher applies to all bytes of a stream, framing included, and continues across messages. Over udp it starts anew with each datagram.
//
// # Rules
//
//	MESSAGE [DIR] [when FIELD = VALUE] [-> STATE [DIR]] [: ACTION {, ACTION}]
//
//	MESSAGE  the name of a definition, or its code
//	VALUE    a number, true, false, or a text; != instead of = inverts the condition
//	ACTION   compress [DIR] [METHOD [HEADER]] WHEN
//	         cipher [DIR] CIPHER key SECRET [iv SECRET]
//	         cipher [DIR] off
//
// A rule acts when a message has passed. In the direction of the message its actions apply from the next byte on; in the other direction from
// the next message on that has not begun to arrive. All rules of a message are tried, in order; a message is matched in the state in which it
// was sent. FIELD is the path of a field as in filters, for example "server.port".
//
// # Decisions
//
//   - A length that the definitions contain is part of the message (keep); otherwise framing and compression are not part of it: a message
//     starts with its code, or the bytes before it.
//   - A rule without a direction applies to both.
//   - A line with "->" or ":" is a rule, so a message may have the name of a statement. Other lines start with the name of a statement.
//   - Format writes one space between words and two for each level of indentation, and preserves comments and the order of lines.
package envelope
