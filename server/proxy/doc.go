// Package proxy relays TCP and UDP to fixed upstreams and shows the traffic. It alters nothing unless a session is operated.
//
//	client ── pump ── upstream          the relay never waits for anything below it
//	           │ queue (bounded; an overflow is counted and becomes a gap)
//	           ▼
//	        Session ──► recording (a pcapng file), transport ──► live.Log ──► pages
//
// A Session is one listener on one or more pairs of addresses, with its connections, recording, log and events. A Proxy holds the
// sessions; its Upstreams restrict the addresses that they may connect to.
//
// Operating systems buffer few datagrams, so the goroutine that reads a UDP socket does nothing else: datagrams wait for the relay in an
// intake of at most 4 MiB. Datagrams dropped there, and those that the system reports as dropped (Linux does), are counted and shown.
//
// Data enters the queue before the other side can receive it, so an answer is never logged before its question. The price is a lock
// that is held for the time of a copy. Relaying through a program costs two copies that the kernel could avoid (splice, which io.Copy
// uses on Linux), because the data has to be observed.
//
// UDP has no handshake, so the source address of a datagram proves nothing. Until a client address has sent another datagram after an
// answer, it receives at most three times the bytes it has sent, the bound of QUIC (RFC 9000, section 8.1). An answer of 8 bytes to a
// request of 4 passes, as in short handshakes and pings; a list of 512 bytes in answer to 8 bytes passes only after a shorter answer.
// Withheld datagrams are counted and shown. Clients on loopback are exempt, since nobody else can use their addresses.
//
// # Associations
//
// A SOCKS5 listener of a UDP session accepts control connections by TCP. Each association has a UDP socket at the local address of its
// control connection, and serves the address and the port of its client alone; it ends with the control connection. Each destination is
// resolved once, judged as that of a TCP connection, and then relayed as a client of a UDP listener is: by a connected socket of its own, so
// that the system drops datagrams of other addresses. An association holds at most 4 MiB of waiting datagrams, and 64 KiB for each of at
// most 16 names that are being resolved.
//
//	client ── control connection (TCP) ─── association
//	       ── header and data (UDP) ─────► socket ──► connection ── destination
//	                                              └─► connection ── destination
//
// The amplification bound does not apply to them, since the control connection proves the address.
//
// # Operating
//
// A session with Config.Rewriter can be operated: after Session.Operate, messages are held, changed, dropped and injected. Each
// connection of such a session has a goroutine that owns a transport.Rewriter from the start, since ciphers and sequence numbers must be
// followed from there. While the session is not operated, readers forward data themselves and then pass it to the rewriter. Data that the
// rewriter does not take in time is counted and missing for it, which may make the connection impossible to operate.
//
//	client ── reader ──────────────────────────► writer ── upstream        not operated; the other direction likewise
//	             └─► backlog (bounded) ─► Rewriter
//
//	client ── reader ─► goroutine with Rewriter ─► writer ── upstream      operated
//	                         │         ▲
//	                       queue   rules, intercept, Decide, Send
//
// When operating is switched on, readers pass their data to the goroutine. It first takes the backlog, and asks for decisions from the
// next safe point on: a message that was partly forwarded is completed. When operating is switched off, a stream without changes is
// relayed directly again. Where lengths, numbers or ciphers of the two legs differ, all data goes through the rewriter until the end of
// the connection; numbered datagrams do so once they were operated.
//
// The queue and everything after it are the same as for observed sessions. The cost of rules and of the intercept filter is borne by the
// traffic of the connection. A stream is not read further while much of it waits for a decision or for its receiver.
//
// Rules judge a message in their order, then the intercept does. Held messages are kept here, not in a page. A held message passes when its time
// is over, when there is no room for more, when operating is switched off, and when the connection or the session ends. A stream ends when
// both ends have ended, since the end of one may wait for an answer; until then, a client that is gone is not noticed before data is
// written to it.
//
// The log and the recording follow the order of sending: a held message, and those that wait behind it, appear when they are sent, with
// the time of sending. Until then they are counted (Held.Behind, Operating.Behind). A message that should be held but passes, because its
// connection is not operated yet, is an event and a note in the log. A message that was received and not sent is live.Dropped. A change
// makes two frames: the one received, Modified and Dropped, "sent as frame 42"; and after it the one sent, Modified, "was frame 41".
// Injected messages are Injected. The log has the bytes of injected and changed messages as sent, with the lengths, counts and checksums
// set by the protocol; messages that pass are logged as received, even where a count differs on the other leg.
//
// The recording contains the data as sent, so each stream can be read by its receiver, and opens as any other capture. Messages that were
// received and not sent unchanged, and injected messages, are kept with their bytes in a comment on the next packet; comments on datagrams
// after which nothing follows are lost. Frames name packets of the recording as long as data is sent in the pieces in which it arrived.
package proxy
