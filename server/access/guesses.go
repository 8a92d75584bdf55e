package access

import (
	"log/slog"
	"sync"
	"time"
)

// Bounds of wrong passwords and tokens, for each address and each account.
const (
	guessesAtOnce = 10               // wrong ones without a delay
	guessEach     = 30 * time.Second // time until one more is without a delay
	guessDelay    = time.Second      // between the others, one at a time
	maxDelayed    = 8                // others that wait at once
	maxGuessers   = 1 << 14          // addresses and accounts that are remembered
)

// guesses slows down clients that send wrong passwords and tokens. A delayed one is still checked, so that the right one of somebody at the
// same address, or for the same account, gets through. Secrets that this program made are random and too long to guess: they are not
// delayed.
type guesses struct {
	now   func() time.Time
	sleep func(time.Duration)
	log   *slog.Logger

	mu    sync.Mutex
	of    map[string]*guesser
	swept time.Time

	wrong, delayed, refused int64
}

// guesser is an address or account for which something wrong was sent.
type guesser struct {
	left    float64 // attempts without a delay, which grow with time
	at      time.Time
	waiting int
	next    time.Time // of the next delayed attempt
}

func (g *guesser) grow(now time.Time) {
	g.left = min(g.left+max(now.Sub(g.at), 0).Seconds()/guessEach.Seconds(), guessesAtOnce)
	g.at = now
}

func newGuesses(log *slog.Logger) *guesses {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &guesses{now: time.Now, sleep: time.Sleep, log: log, of: map[string]*guesser{}}
}

// try calls right, after a delay where keys have sent too much that is wrong. It returns how long to wait where too many wait already;
// right is not called then.
func (g *guesses) try(from string, keys []string, right func() bool) (ok bool, wait time.Duration) {
	delay, entered := g.enter(keys)
	if !entered {
		return false, maxDelayed * guessDelay
	}
	if delay > 0 {
		g.sleep(delay)
	}
	ok = right()
	g.leave(from, keys, delay > 0, !ok)
	return ok, 0
}

// enter returns the delay of an attempt; false if too many wait.
func (g *guesses) enter(keys []string) (delay time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	slow := false
	for _, key := range keys {
		if one := g.of[key]; one != nil {
			if one.grow(now); one.left < 1 {
				slow = true
				if one.waiting >= maxDelayed {
					g.refused++
					return 0, false
				}
			}
		}
	}
	if !slow {
		return 0, true
	}
	for _, key := range keys {
		if one := g.of[key]; one != nil {
			one.waiting++
			if one.left < 1 {
				if one.next.Before(now) {
					one.next = now
				}
				one.next = one.next.Add(guessDelay)
				delay = max(delay, one.next.Sub(now))
			}
		}
	}
	return delay, true
}

// leave ends an attempt.
func (g *guesses) leave(from string, keys []string, delayed, wrong bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for _, key := range keys {
		one := g.of[key]
		if one != nil && delayed {
			one.waiting = max(one.waiting-1, 0)
		}
		if !wrong {
			continue
		}
		if one == nil {
			g.sweep(now)
			one = &guesser{left: guessesAtOnce, at: now}
			g.of[key] = one
		}
		one.left = max(one.left-1, 0)
	}
	if delayed {
		g.delayed++
	}
	if wrong {
		g.wrong++
		g.log.Warn("wrong password or token", "client", from)
	}
}

// sweep forgets those whose allowance is full again and, if there are still too many, some of the others. The caller holds mu.
func (g *guesses) sweep(now time.Time) {
	if len(g.of) < maxGuessers && now.Sub(g.swept) < time.Minute {
		return
	}
	g.swept = now
	for key, one := range g.of {
		if one.grow(now); one.left >= guessesAtOnce && one.waiting == 0 {
			delete(g.of, key)
		}
	}
	for key, one := range g.of {
		if len(g.of) < maxGuessers*15/16 { // some reserve, so that not every new one scans all of them
			break
		}
		if one.waiting == 0 {
			delete(g.of, key)
		}
	}
}
