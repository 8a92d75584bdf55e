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
// on. Each of its connections is relayed by a goroutine that owns a transport.Rewriter, from the start on, since a cipher or numbers must
// have been seen from there:
//
//	client ── reader ─► goroutine with Rewriter ─► writer ── upstream      and the same the other way
//	                         │         ▲
//	                       queue   rules, intercept, Decide, Send
//
// The queue, and all that is behind it, is that of observing sessions. But what a rule or the intercept's filter costs is paid by the
// connection's traffic. A stream is read no further while much of it waits, for a decision or for its receiver.
//
// A message is judged by the rules in their order, and then by the intercept. What is held waits here and not in a page: it passes if
// its time is over, if there is no room for more, when operating is switched off, and when the connection or the session ends; in a
// stream that is when both ends have ended, as the end of one may wait for an answer. That a client is gone for good does not show then
// until something is written to it.
//
// The log shows a message where it is known what becomes of it, so one that was held stands where it was released. What came and was not
// sent is live.Dropped. What was changed is two frames: the one that came, Modified and Dropped, "sent as frame 42"; and behind it
// the one that was sent, Modified, "was frame 41". What is injected is Injected. The bytes of own messages are those that were asked for:
// lengths, counts and checksums are set on the wire.
//
// The recording has what was sent: to the server by the client or in its stead, and to the client by the server or in its stead. So
// each stream is one that its receiver could read, and opens as any other capture. What came and was not sent just so, and what was
// injected, stands with its bytes in a comment on the packet that follows; comments of datagrams behind which nothing follows are
// lost. Frames name packets of the recording as long as what came was sent in the same pieces.
package proxy
