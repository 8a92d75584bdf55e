// Package tera reads TERA's connections: it follows the key exchange, deciphers both directions and cuts them into messages.
//
// # Wire format
//
// A message is a uint16 length (which includes its four header bytes), a uint16 code, and a body; all numbers are little-endian. Messages
// follow each other without separators. Most servers encrypt: the server starts with 01 00 00 00; then client, server, client and server
// each send a key of 128 bytes, in clear and without a length; from there on each direction is encrypted with a keystream of its own. Two
// sets of constants control how the keys are mixed. Client messages of later versions may have 8 more header bytes, a count and a checksum.
// Sources: the public code of tera-network-proxy, TERA Toolbox and Alkahest, which agree where they overlap.
//
// # Decisions
//
//   - Messages are cut, searched after losses and rewritten by package stream, which reads the words of the carrier tera. This package has
//     what stands in front, the key exchange and the choice of the cipher, the cipher itself, and the long header (link).
//   - A connection whose server starts with 01 00 00 00 is encrypted. Otherwise it is plain if both directions look like messages from
//     their first byte, or from a place found later where the capture starts in the middle. Otherwise it is opaque. Until that is
//     decided, data is kept (maxPending) and then read with its original times.
//   - The evidence that bytes are messages is measured in bits, see evidence: random bytes have long lengths.
//   - Of the two sets of constants, the one is used under which the client's first message is C_CHECK_VERSION, which has code 19900 in all
//     versions, or under which the streams look like messages. If neither fits, the connection is opaque.
//   - A client message has the long header if its count is the next one of its code and its checksum is right for the integrityIv that the
//     server has sent; the game version alone never decides. Such frames have ViaIntegrity.
//   - The key exchange is shown as Control frames with "handshake" in Via and the step in Note. Without all four keys the connection is
//     opaque.
//   - The keystream repeats after at most 181,830 words, the number of states of the three generators together. A gap of any size is
//     therefore skipped in bounded time, see Cipher.Skip. If the number of missing bytes is unknown, the rest is opaque.
//   - Offsets of a stream whose start was not captured count from the first captured byte.
package tera
