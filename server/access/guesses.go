package access

import (
	"crypto/sha256"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Bounds of wrong tokens. One that was wrong already tells nothing new and costs nothing: a program with an old token, or a browser with
// an old cookie, locks nobody out.
const (
	guessesOfOne  = 10               // wrong tokens that one address may send
	guessOfOneIn  = 30 * time.Second // it may send another one after so long
	guessesOfAll  = 100              // of all addresses; then each may send one
	guessOfAllIn  = 5 * time.Second
	maxGuessers   = 1 << 14 // addresses that are known
	maxWrongKnown = 2 * guessesOfOne
)

// guesses counts wrong tokens by the address that they come from, and in all. While an address has to wait its tokens are not even looked
// at, or waiting would be no bound; a right token from another address always is.
type guesses struct {
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	all   allowance
	of    map[string]*guesser
	swept time.Time
}

// guesser is an address that has sent wrong tokens.
type guesser struct {
	allowance
	wrong [][32]byte // the last ones
}

// allowance is how much may be done now; it grows with time.
type allowance struct {
	left float64
	at   time.Time
}

// grow adds what the time since the last look allows.
func (a *allowance) grow(now time.Time, most int, each time.Duration) {
	a.left = min(a.left+max(now.Sub(a.at), 0).Seconds()/each.Seconds(), float64(most))
	a.at = now
}

// until is how long it takes until so much is left.
func (a *allowance) until(want float64, each time.Duration) time.Duration {
	return time.Duration(max(want-a.left, 0) * float64(each))
}

func newGuesses(log *slog.Logger, now func() time.Time) *guesses {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &guesses{now: now, log: log, all: allowance{guessesOfAll, now()}, of: map[string]*guesser{}}
}

// try looks at tokens of an address: right reports whether one of them is right, and is not called when the address has to wait. Checks
// are made one after the other, so that no more are made at once than may be.
func (g *guesses) try(from string, tokens []string, right func() bool) (ok bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	one := g.of[from]
	if one != nil {
		one.grow(now, guessesOfOne, guessOfOneIn)
		g.all.grow(now, guessesOfAll, guessOfAllIn)
		if wait = g.wait(one); wait > 0 {
			return false, wait
		}
	}
	if right() {
		return true, 0
	}
	for _, token := range tokens {
		sum := sha256.Sum256([]byte(token))
		if one != nil && slices.Contains(one.wrong, sum) {
			continue
		}
		if one == nil {
			g.sweep(now)
			one = &guesser{allowance: allowance{guessesOfOne, now}}
			g.of[from] = one
			g.all.grow(now, guessesOfAll, guessOfAllIn)
		}
		if one.wrong = append(one.wrong, sum); len(one.wrong) > maxWrongKnown {
			one.wrong = slices.Delete(one.wrong, 0, 1)
		}
		one.left, g.all.left = one.left-1, max(g.all.left-1, 0)
		g.log.Warn("wrong token", "who", from, "may_try_in", g.wait(one).Round(time.Second).String())
	}
	return false, 0
}

// wait is how long an address that has sent wrong tokens waits. Under mu.
func (g *guesses) wait(one *guesser) time.Duration {
	wait := one.until(1, guessOfOneIn)
	if g.all.left < 1 && one.left < guessesOfOne { // those who have sent none may
		wait = max(wait, min(g.all.until(1, guessOfAllIn), one.until(guessesOfOne, guessOfOneIn)))
	}
	return wait
}

// sweep forgets addresses that may do what one may that never sent anything, and if there are too many still some of the others. Under mu.
func (g *guesses) sweep(now time.Time) {
	if len(g.of) < maxGuessers && now.Sub(g.swept) < time.Minute {
		return
	}
	g.swept = now
	for from, one := range g.of {
		if one.grow(now, guessesOfOne, guessOfOneIn); one.left >= guessesOfOne {
			delete(g.of, from)
		}
	}
	for from := range g.of {
		if len(g.of) < maxGuessers*15/16 { // so that not each new one has to look at all
			break
		}
		delete(g.of, from)
	}
}
