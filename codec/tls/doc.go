// Package tls decrypts the TLS connections of a capture, so that transports see the application data that TLS carried. It stands between the
// reassembly of TCP and the transport of a connection. It never negotiates, and verifies no certificate.
//
// # Keys
//
// Keys come from key logs in the format of NSS, which SSLKEYLOGFILE makes browsers and libraries write: from a pcapng that has them in a
// Decryption Secrets Block, or from the user. A line has a label, the random number of the ClientHello and a secret, both in hex. The secret
// of CLIENT_RANDOM is the master secret of TLS 1.2, which extended master secrets (RFC 7627) and resumed sessions do not change. TLS 1.3
// has four: CLIENT_HANDSHAKE_TRAFFIC_SECRET, SERVER_HANDSHAKE_TRAFFIC_SECRET, CLIENT_TRAFFIC_SECRET_0 and SERVER_TRAFFIC_SECRET_0.
// Blocks of a file must precede the packets that they decrypt, as the draft of pcapng demands.
//
// # What is read
//
// TLS 1.2 (RFC 5246) with AES-GCM, ChaCha20-Poly1305 and AES-CBC, also with encrypt-then-MAC (RFC 7366), and TLS 1.3 (RFC 8446) with
// AES-GCM and ChaCha20-Poly1305, with HelloRetryRequest and key updates. Early data (0-RTT), AES-CCM, compression and versions before 1.2
// are reported and not decrypted.
//
// # Decisions
//
//   - A connection is TLS if the data of one end starts with a record that holds a ClientHello. All others pass unchanged, as does one whose
//     start was not captured.
//   - A decrypted byte is attributed to the byte of ciphertext at its place: in all supported ciphers both have the same length and order. So
//     Segment.Packet and Off are exact, also for a record in several packets. Its time is that of the packet that completed the record,
//     because no byte of a record can be trusted before its last one has arrived.
//   - Handshakes, tickets and close_notify yield no frames. Other alerts are Control frames. Frames of this package have "tls" in Via.
//   - Without keys every record of application data is an Opaque frame; the note on the first one of a direction names the client random, by
//     which a key log can be searched.
//   - If all lost bytes belong to one record, the next record follows at a known place with a known sequence number. Otherwise the first
//     place is taken from which a record is authentic under one of the next sequence numbers (maxSequence). The number of lost bytes of
//     plaintext is known only if one record of application data of TLS 1.2 with an AEAD was hit; the transport is told Unknown otherwise.
//   - A record that fails authentication is a Problem and counts as lost; after some in a row (maxFailures) the direction is not decrypted
//     any further.
//   - close_notify, and a fatal alert, end the stream of their direction.
//
// All input is hostile. Memory is bounded for all connections of a capture together (maxHeld, maxOpen, MaxSecrets), and so is the work of
// resynchronisation (workPerByte).
package tls
