// Package tera reads TERA's connections: it follows the key exchange, deciphers both directions and cuts them into messages.
//
// # The wire
//
// A message is uint16 length (with its own four header bytes), uint16 code, body; all numbers are little-endian. A stream is messages
// one behind the other. Most servers encipher: the server starts with 01 00 00 00, then client, server, client and server send a key of
// 128 bytes each, in clear and without a length, and from there on both streams are enciphered with a keystream each. Two sets of
// constants say how the keys are mixed. Client messages of later versions may have 8 more header bytes: a count and a checksum.
// Sources: the public code of tera-network-proxy, TERA Toolbox and Alkahest, which agree where they overlap.
//
// # Decisions
//
//   - A server that starts with 01 00 00 00 is enciphered. Else the connection is plain if both directions look like messages from
//     their first byte on, or from a place that is found where the capture starts in the middle. Else it is opaque. Until that is
//     clear, what comes is kept (maxPending), and then read as if it came now, with its own times.
//   - How much something looks like messages is counted in bits, see evidence: bytes that are no messages have long lengths.
//   - Of the two sets of constants the one is taken under which the client's first message is C_CHECK_VERSION, which has the code 19900
//     in all versions, or under which the streams look like messages. If neither fits the connection is opaque.
//   - A length below 4 is an error. What follows an error or a gap is searched for a place from which messages follow each other, and
//     all messages from there on are marked as resumed. Codes that are known or were seen before speak for a place; where they tell
//     nothing the lengths alone do. The first byte is the most likely place: a gap is often one of whole messages, and a capture often
//     begins with one. What is passed over is a Problem with its bytes. If the length of the message that a gap cuts leads behind the gap no search is
//     needed. The keystream of bytes that are missing is skipped; if nobody knows how many are missing the rest is opaque.
//   - A client message has the long header if its count is the next of its code and its checksum is right for the integrityIv that the
//     server has sent. Never by version alone. Its frames have ViaIntegrity.
//   - The exchange of keys is told in Control frames, whose Via is "handshake" and whose Note says which part of it they are. Without all
//     four keys the connection is opaque.
//   - The keystream repeats after at most 181,830 words, as that many states are all that the three generators have between them. So a
//     gap of any size is skipped in a bounded time, see Cipher.Skip.
//   - Offsets of a stream whose start was not captured count from the first byte that was.
//   - Flush may come in the middle: a message that it reports as incomplete is still emitted when the rest comes.
package tera
