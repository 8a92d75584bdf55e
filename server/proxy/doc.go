// Package proxy relays TCP and UDP to fixed upstreams and shows what passes, without altering it.
//
//	client ── pump ── upstream          relay first: nothing here waits for what is below
//	           │ queue (bounded; what does not fit is counted, and becomes a gap)
//	           ▼
//	        Session ──► recording (a pcapng file), transport ──► live.Log ──► pages
//
// A Session is one listener, of one or more pairs of addresses, with its connections, recording, log and events. A Proxy holds the
// sessions and knows by its Upstreams where they may connect to.
//
// What is observed of bytes stands in the queue before the other side can have them, so that an answer never stands before its
// question; the place costs a lock that is held for a copy at most. Bytes that pass through a program cost two copies that a kernel
// can do without (splice, which io.Copy uses on Linux): they have to be seen.
//
// UDP has no handshake, so a sender's address proves nothing. Until a client address has sent another datagram after an answer, it gets
// at most three times the bytes that it has sent (the bound of QUIC, RFC 9000, section 8.1): an answer of 8 bytes to 4 passes, as short
// handshakes and pings have it, and a list of 512 bytes to a question of 8 passes only after an answer that was shorter. What is
// withheld is counted and shown. Clients on loopback are excepted, as nobody elsewhere can send in their name.
package proxy
