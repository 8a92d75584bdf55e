// Package envelope frames the connections of any protocol that an envelope describes (package defs/envelope).
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
//   - Bytes are deciphered only as far as a frame certainly extends, so the cipher can change after any byte.
//   - An impossible length or code ends the reading of its direction: the start of the next message is unknown. This is reported as one Problem,
//     and the number of unread bytes at the end as another. Data that cannot be decompressed are a Problem of their frame only.
//   - After missing bytes, reading continues where the next start is certain: if the length of the cut message was received and its end
//     lies after the gap, in frames of fixed size, and after the next delimiter. The keystream of missing bytes is skipped.
//   - A capture that begins inside a connection is read from its first byte, in the initial state; frames are marked as resumed.
//   - If the key of a cipher is unknown, the direction is opaque from there on.
//   - A message must fit the limit of its framing before and after decompression. Memory grows with the data received, not with what lengths
//     and headers claim.
//   - What a connection has after decompression is bounded by a multiple of the bytes before it, so that hostile data cost little time.
//   - Bundles in bundles are not opened.
//   - WebSocket messages that an extension compresses are not read. A Rewriter takes over a WebSocket connection where no message is in
//     progress in either direction, and sends each frame of the envelope in a WebSocket message of its own.
//
// # Detection
//
// Detect tries framings on the bytes of connections and compares how many bytes they consume, how often a frame ends where a segment ends,
// how common their form is, and, with definitions, how many messages fit exactly. Compression is found by decompressing the last frames, back to
// the first one that is not compressed. States are found by the groups of definitions: where messages stop fitting a group, one of the last
// messages must lead to another one.
package envelope
