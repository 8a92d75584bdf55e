// Package stream frames the connections of any protocol that an envelope describes (package defs/envelope).
//
// # Frames
//
// The bytes of a message are those from its code on, or from the bytes before its code or length: without length, delimiter and compression
// header, and decompressed. Its sources are all bytes of its frame, as captured; Offset is that of the frame. A message of a bundle has the name of the
// bundle in Via and, unless the bundle is compressed, its own sources and offset. In WebSocket connections, offsets are those in the stream of
// payloads. The group of the key is that of the state in which the message was sent. A frame without bytes is a Control frame.
//
// # Decisions
//
//   - A change applies in the direction of its message from the next byte on, and in the other direction from the next frame on of which no
//     byte has arrived: the order of arrival decides, as nothing else is known.
//   - Bytes are deciphered only as far as a frame certainly extends, so the cipher can change after any byte. In envelopes without rules about
//     ciphers they are as they arrive.
//   - Data that cannot be decompressed are a Problem of their frame only.
//   - After missing bytes, reading continues where the next start is certain: if the length of the cut message was received and its end
//     lies after the gap, in frames of fixed size, and after the next delimiter, also behind a message that is too large. The keystream
//     of missing bytes is skipped. Otherwise, and after an impossible length or code, the next start is searched, see below. Where the position
//     in a keystream is unknown, the rest is opaque.
//   - In WebSocket connections the next WebSocket frame is searched first, after missing bytes and where the capture begins inside one: by headers
//     that lead from one to the next. While a Rewriter operates, the rest of the direction is not read: one Problem says so, and another one
//     has the number of bytes.
//   - Every byte of a direction is in one frame, or in one Problem with unread bytes.
//   - Over TCP, a stream whose framing is datagram is one message, which its end or missing bytes end. A text cannot state that; framings of raw
//     bytes do.
//   - If nothing of the other direction was seen, a message without a definition may show the state and compression of the following ones.
//   - What proxies and old clients send before the first message (PROXY protocol, policy requests) is a Control frame.
//   - If the key of a cipher is unknown, the direction is opaque from there on.
//   - A message must fit the limit of its framing before and after decompression. Memory grows with the data received, not with what lengths
//     and headers claim.
//   - What a connection has after decompression is bounded by a multiple of the bytes before it, so that hostile data cost little time.
//   - Bundles in bundles are not opened.
//   - WebSocket messages that an extension compresses are not read. A Rewriter takes over a WebSocket connection where no message is in
//     progress in either direction, and sends each frame of the envelope in a WebSocket message of its own.
//
// # Search
//
// Where the next start of a message is unknown, messages are read from every place on trial, in every state and compression that the envelope
// has: after missing bytes, after an impossible length, and in captures that begin inside a connection. Evidence is counted in bits, the
// improbability in random bytes: a length that is small for its number of bytes, a header of the compression, a code with a definition, a
// message that fits its definition exactly. Reading resumes at the first place where the messages in a row have 20 bits more than the number
// of places has, less at the start of a packet and where a message likely starts. The unread bytes are one Problem, which says where
// reading resumed and how many messages in a row fit; what follows is marked as resumed. A place with less evidence is not guessed: it waits for more
// bytes, and is unread after 128 KiB or at the end.
//
// Frames that lead from the most likely place to the found one are read, whatever they hold. Where no message with a definition is found, as
// definitions may be of another version, and where there are none, lengths count alone, with 16 bits more; codes of earlier messages are
// evidence then. Such a place is on trial for 16 messages: an incomplete one is left for others that start inside it.
//
// Frames that are cut without an error may be none, too, as most lengths are possible. One without a definition, although there are
// definitions, or an incomplete one, is left for messages that certainly start inside it, if these lead to others behind it and not to its end:
// a message may contain messages.
//
// A code without a size (framing codes) is skipped in this way, too. What lies between it and the next messages is the size of its message: once
// three messages in a row had the same one, those of the code are messages. Their notes propose the line of the envelope, with its support; if
// no message follows one, the size is forgotten.
//
// # Detection
//
// Detect tries framings on the bytes of connections and compares how many bytes they consume, how often a frame ends where a segment ends,
// how common their form is, and, with definitions, how many messages fit exactly. Compression is found by decompressing the last frames, back to
// the first one that is not compressed. States are found by the groups of definitions: where messages stop fitting a group, one of the last
// messages must lead to another one.
package stream
