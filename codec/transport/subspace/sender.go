package subspace

import (
	"encoding/binary"
	"time"
)

// Timing of retransmission. Source: spec of the core protocol, section 3; asss.
const (
	sendWindow  = 32 // numbers from the lowest unacknowledged one: servers drop more
	firstRTT    = 200 * time.Millisecond
	firstSpread = 100 * time.Millisecond
	minTimeout  = 250 * time.Millisecond
	maxTimeout  = 2 * time.Second
	maxTries    = 15
	silence     = 30 * time.Second // an end is gone after this time without a datagram
	farewell    = 3 * time.Second  // maximum time that a disconnect waits for the packets before it
	maxByes     = 4                // maximum number of disconnects sent on
)

// sender sends numbered packets to one end, and disconnects after them. Packets get consecutive numbers in the order of push, and each is
// in unsent, or in flight until it is acknowledged.
type sender struct {
	number      int64 // of the next packet
	unsent      [][]byte
	unsentBytes int
	flight      []sending // ordered by number; the first is not acknowledged
	rtt, spread time.Duration
	dead        bool // the other end no longer acknowledges
	byes        int  // disconnects to send
	byeAt       time.Time
}

// sending is a packet in flight.
type sending struct {
	data  []byte
	at    time.Time // of the last try
	tries int
	done  bool
}

func newSender() sender { return sender{rtt: firstRTT, spread: firstSpread} }

// drop discards everything to be sent.
func (s *sender) drop() { s.unsent, s.unsentBytes, s.flight = nil, 0, nil }

// push queues a packet, which is numbered when the window has room for it.
func (s *sender) push(head []byte, body []byte) {
	if s.dead {
		return
	}
	data := make([]byte, reliableHeader, reliableHeader+len(head)+len(body))
	data[1] = coreReliable
	data = append(append(data, head...), body...)
	s.unsent = append(s.unsent, data)
	s.unsentBytes += len(data)
}

// pushCore queues a core packet. A part of a message that is too long for a datagram is split in two.
func (s *sender) pushCore(data []byte) {
	for len(data) > maxBody {
		switch data[1] {
		case coreChunk, coreChunkTail:
			s.push([]byte{0, coreChunk}, data[chunkHeader:chunkHeader+partSize])
			data = append([]byte{0, data[1]}, data[chunkHeader+partSize:]...)
			continue
		case coreStream:
			s.push(data[:streamHeader], data[streamHeader:streamHeader+partSize])
			data = append(append([]byte(nil), data[:streamHeader]...), data[streamHeader+partSize:]...)
			continue
		}
		break
	}
	s.push(nil, data)
}

// fill numbers queued packets and sends them, as far as the window has room.
func (s *sender) fill(at time.Time, send func([]byte)) {
	for len(s.unsent) > 0 && len(s.flight) < sendWindow && s.number <= maxNumber {
		data := s.unsent[0]
		s.unsent[0] = nil
		if s.unsent = s.unsent[1:]; len(s.unsent) == 0 {
			s.unsent = nil
		}
		s.unsentBytes -= len(data)
		binary.LittleEndian.PutUint32(data[sequenceAt:], uint32(s.number))
		s.number++
		s.flight = append(s.flight, sending{data: data, at: at, tries: 1})
		send(data)
	}
}

// acked records an acknowledgement.
func (s *sender) acked(n int32, at time.Time) {
	i := int64(n) - (s.number - int64(len(s.flight)))
	if i < 0 || i >= int64(len(s.flight)) || s.flight[i].done {
		return
	}
	p := &s.flight[i]
	if p.tries == 1 {
		took := max(at.Sub(p.at), 0)
		s.spread = (3*s.spread + (s.rtt - took).Abs()) / 4
		s.rtt = (7*s.rtt + took) / 8
	}
	p.done, p.data = true, nil
	k := 0
	for k < len(s.flight) && s.flight[k].done {
		k++
	}
	s.flight = s.flight[:copy(s.flight, s.flight[k:])]
}

// wait returns the time between a packet's last try and the next one.
func (s *sender) wait(p *sending) time.Duration {
	return min(max(s.rtt+4*s.spread, minTimeout), maxTimeout) * time.Duration(min(p.tries, maxTries))
}

// due retransmits packets whose timeout has passed, and reports whether the sender gives up now: an end that is silent is gone, but one
// that is still heard may be on a lossy line.
func (s *sender) due(now, heard time.Time, again func([]byte)) (over bool) {
	for i := range s.flight {
		p := &s.flight[i]
		if p.done || now.Sub(p.at) <= s.wait(p) {
			continue
		}
		if p.tries >= maxTries && now.Sub(heard) > silence {
			s.drop()
			s.dead = true
			return true
		}
		p.tries++
		p.at = now
		again(p.data)
	}
	return false
}

// next returns the time of the next retransmission or delayed disconnect, or the zero time.
func (s *sender) next() (next time.Time) {
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for i := range s.flight {
		if p := &s.flight[i]; !p.done {
			sooner(p.at.Add(s.wait(p) + 1))
		}
	}
	if s.byes > 0 {
		sooner(s.byeAt.Add(farewell))
	}
	return next
}

// bye queues a disconnect.
func (s *sender) bye(at time.Time) {
	if s.byes == 0 {
		s.byeAt = at
	}
	s.byes++
}

// byesNow returns the number of disconnects to send now: once the packets before them are acknowledged, or do not matter any more.
func (s *sender) byesNow(at time.Time) int {
	if s.byes == 0 || !s.dead && len(s.flight) > 0 && at.Before(s.byeAt.Add(farewell)) {
		return 0
	}
	n := min(s.byes, maxByes)
	s.byes = 0
	s.drop()
	return n
}
