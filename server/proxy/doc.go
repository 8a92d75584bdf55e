// Package proxy relays TCP and UDP to fixed upstreams and shows what passes, without altering it unless somebody operates a session.
//
//	client ── pump ── upstream          relay first: nothing here waits for what is below
//	           │ queue (bounded; what does not fit is counted, and becomes a gap)
//	           ▼
//	        Session ──► recording (a pcapng file), transport ──► live.Log ──► pages
//
// A Session is one listener, of one or more pairs of addresses, with its connections, recording, log and events. A Proxy holds the
// sessions and knows by its Upstreams where they may connect to.
//
// The system keeps little of what comes by UDP, so who reads such a socket does nothing else: datagrams wait in an intake, of 4 MiB at most,
// for who relays them. What is dropped there, and what the system says that it has dropped itself (Linux does), is counted and shown.
//
// What is observed of bytes stands in the queue before the other side can have them, so that an answer never stands before its
// question; the place costs a lock that is held for a copy at most. Bytes that pass through a program cost two copies that a kernel
// can do without (splice, which io.Copy uses on Linux): they have to be seen.
//
// UDP has no handshake, so a sender's address proves nothing. Until a client address has sent another datagram after an answer, it gets
// at most three times the bytes that it has sent (the bound of QUIC, RFC 9000, section 8.1): an answer of 8 bytes to 4 passes, as short
// handshakes and pings have it, and a list of 512 bytes to a question of 8 passes only after an answer that was shorter. What is
// withheld is counted and shown. Clients on loopback are excepted, as nobody elsewhere can send in their name.
//
// # Operating
//
// A session with Config.Rewriter can be operated: messages are held, changed, dropped and injected, once Session.Operate has switched that
// on. Each of its connections has a goroutine that owns a transport.Rewriter, from the start on, since a cipher or numbers must have been
// seen from there. While the session is not operated it only looks on: readers send on what came, and then leave it for the rewriter.
// What it does not take in time is counted and missing for it, which may leave the connection impossible to operate.
//
//	client ── reader ──────────────────────────► writer ── upstream        not operated, and the same the other way
//	             └─► backlog (bounded) ─► Rewriter
//
//	client ── reader ─► goroutine with Rewriter ─► writer ── upstream      operated
//	                         │         ▲
//	                       queue   rules, intercept, Decide, Send
//
// When operating is switched on, the readers give their bytes to the goroutine from then on; it first takes what is in the backlog, and
// then asks about messages from the next safe point on: of a message of which a part went before, the rest goes, too. When it is
// switched off, a stream in which nothing was changed is relayed directly again. Where lengths, numbers or ciphers of the two legs
// differ, each byte goes through the rewriter until the end of the connection; so it is with numbered datagrams once they were operated.
//
// The queue, and all that is behind it, is that of observing sessions. But what a rule or the intercept's filter costs is paid by the
// connection's traffic. A stream is read no further while much of it waits, for a decision or for its receiver.
//
// A message is judged by the rules in their order, and then by the intercept. What is held waits here and not in a page: it passes if
// its time is over, if there is no room for more, when operating is switched off, and when the connection or the session ends; in a
// stream that is when both ends have ended, as the end of one may wait for an answer. That a client is gone for good does not show then
// until something is written to it.
//
// The log and the recording have the order of what is sent: a message that is held, and those that stand in line behind it, are shown when
// they go on, with the time of that; until then they are counted (Held.Behind, Operating.Behind). That something passes though it is
// meant to be held, because its connection is not operated yet, is an event and a line in the log. What came and was not sent is
// live.Dropped. What was changed is two frames: the one that came, Modified and Dropped, "sent as frame 42"; and behind it
// the one that was sent, Modified, "was frame 41". What is injected is Injected. The bytes of own messages are those that were sent,
// with the lengths, counts and checksums that the protocol has set; those of messages that pass are those that came, also where a count
// differs on the other leg.
//
// The recording has what was sent: to the server by the client or in its stead, and to the client by the server or in its stead. So
// each stream is one that its receiver could read, and opens as any other capture. What came and was not sent just so, and what was
// injected, stands with its bytes in a comment on the packet that follows; comments of datagrams behind which nothing follows are
// lost. Frames name packets of the recording as long as what came was sent in the same pieces.
package proxy
