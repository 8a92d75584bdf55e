package access

import (
	"crypto/sha256"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Bounds of wrong tokens. Repeating the same wrong token gains nothing for an attacker and is free: a program with an old token, or a
// browser with an old cookie, locks nobody out.
const (
	guessesOfOne  = 10               // wrong tokens allowed at once per address
	guessOfOneIn  = 30 * time.Second // time until the address may send another one
	guessesOfAll  = 100              // wrong tokens allowed at once in total; after that each address may send one
	guessOfAllIn  = 5 * time.Second
	maxGuessers   = 1 << 14 // addresses that are remembered
	maxWrongKnown = 2 * guessesOfOne
)

// guesses counts wrong tokens by address and in total. The tokens of an address that has to wait are not checked at all, as otherwise
// waiting would be no limit; a correct token from another address always succeeds.
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
	wrong [][32]byte // the most recent ones
}

// allowance is a token bucket: the number of attempts left, which grows with time.
type allowance struct {
	left float64
	at   time.Time
}

// grow adds the attempts for the time since the last call.
func (a *allowance) grow(now time.Time, most int, each time.Duration) {
	a.left = min(a.left+max(now.Sub(a.at), 0).Seconds()/each.Seconds(), float64(most))
	a.at = now
}

// until returns the time until want attempts are left.
func (a *allowance) until(want float64, each time.Duration) time.Duration {
	return time.Duration(max(want-a.left, 0) * float64(each))
}

func newGuesses(log *slog.Logger, now func() time.Time) *guesses {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &guesses{now: now, log: log, all: allowance{guessesOfAll, now()}, of: map[string]*guesser{}}
}

// try checks the tokens of an address: right reports whether one of them is correct, and is not called when the address has to wait. Checks
// are serialized, so that concurrent requests cannot exceed the bounds.
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
		g.log.Warn("wrong token", "client", from, "may_try_in", g.wait(one).Round(time.Second).String())
	}
	return false, 0
}

// wait returns how long an address that has sent wrong tokens has to wait. The caller holds mu.
func (g *guesses) wait(one *guesser) time.Duration {
	wait := one.until(1, guessOfOneIn)
	if g.all.left < 1 && one.left < guessesOfOne { // an address without wrong tokens need not wait
		wait = max(wait, min(g.all.until(1, guessOfAllIn), one.until(guessesOfOne, guessOfOneIn)))
	}
	return wait
}

// sweep forgets addresses whose allowance is full again and, if there are still too many, some of the others. The caller holds mu.
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
		if len(g.of) < maxGuessers*15/16 { // some reserve, so that not every new address scans all of them
			break
		}
		delete(g.of, from)
	}
}
