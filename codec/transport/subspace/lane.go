package subspace

// lane is one direction. It receives from the sending end through way, and sends to the other end through sender and packer.
type lane struct {
	*way
	base   int64 // lower numbers were relayed, and still are
	queue  queue
	after  pile // messages in parts that wait for the end of one that passes as it comes
	sender sender
	packer packer
}

// waiting returns the number of bytes that are accepted and not sent.
func (l *lane) waiting() int { return l.queue.bytes + l.sender.unsentBytes + l.after.bytes }

// full reports whether too much waits for a new packet to be accepted.
func (l *lane) full() bool { return l.sender.dead || l.waiting() > maxLane }

// passed reports whether the packet being read is inside one that was relayed: it has no decisions, and is not sent again.
func (l *lane) passed() bool { return l.order.busy && l.order.next <= l.base }

// inParts reports whether a message that passes in its parts is in progress. No other message may be sent in parts before its end.
func (l *lane) inParts() bool {
	return l.chunk.raw && l.chunk.busy() || l.stream.raw && l.stream.busy()
}
