package admit

import (
	"sync"
	"time"
)

// maxRated is the number of persons whose rate is remembered.
const maxRated = 1 << 14

// Rate bounds how much each person does in a time: requests, messages, steps of work. Set the fields before the first use.
type Rate struct {
	PerSecond, AtOnce float64
	Now               func() time.Time // nil: time.Now

	mu sync.Mutex // guards of and its buckets; held for a moment, never over work
	of map[string]*bucket
}

// bucket is a token bucket. It may be in debt: what work costs is known when it is done.
type bucket struct {
	left float64
	at   time.Time
}

// Wait returns how long a person has to wait until there is something left to spend, 0 if there is.
func (x *Rate) Wait(who string) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if left := x.bucket(who).left; left < 1 {
		return time.Duration((1 - left) / x.PerSecond * float64(time.Second))
	}
	return 0
}

// Spend takes n off what a person has left.
func (x *Rate) Spend(who string, n float64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bucket(who).left -= n
}

// bucket returns the bucket of a person as of now. The caller holds mu.
func (x *Rate) bucket(who string) *bucket {
	now := time.Now
	if x.Now != nil {
		now = x.Now
	}
	at := now()
	b := x.of[who]
	if b == nil {
		if x.of == nil {
			x.of = map[string]*bucket{}
		}
		if len(x.of) >= maxRated {
			x.forget(at)
		}
		b = &bucket{x.AtOnce, at}
		x.of[who] = b
	}
	b.left = min(b.left+at.Sub(b.at).Seconds()*x.PerSecond, x.AtOnce)
	b.at = at
	return b
}

// forget removes those whose allowance is full again, and a quarter of all if there are few of them: it looks at all, so it must not be needed
// again soon. The caller holds mu.
func (x *Rate) forget(at time.Time) {
	for who, b := range x.of {
		if b.left+at.Sub(b.at).Seconds()*x.PerSecond >= x.AtOnce || len(x.of) > maxRated*3/4 {
			delete(x.of, who)
		}
	}
}
