package access

import (
	"fmt"
	"testing"
	"time"
)

// slowed is guesses with a clock that sleeping moves on.
func slowed() (*guesses, *time.Time) {
	g, now := newGuesses(nil), time.Now()
	g.now = func() time.Time { return now }
	g.sleep = func(d time.Duration) { now = now.Add(d) }
	return g, &now
}

// Wrong guesses are delayed after the first ones, and the right one gets through: after the same delay at the same address, at once from
// another one.
func TestGuesses(t *testing.T) {
	g, now := slowed()
	wrong, right := func() bool { return false }, func() bool { return true }
	start := *now
	for range guessesAtOnce {
		g.try("a", []string{"a"}, wrong)
	}
	if *now != start {
		t.Errorf("the first ones are delayed by %v", now.Sub(start))
	}
	for range 5 {
		g.try("a", []string{"a"}, wrong)
	}
	if got := now.Sub(start); got < 5*guessDelay {
		t.Errorf("five more take %v", got)
	}
	before := *now
	if ok, wait := g.try("a", []string{"a"}, right); !ok || wait > 0 || now.Sub(before) > 2*guessDelay {
		t.Errorf("the right one: %v %v after %v", ok, wait, now.Sub(before))
	}
	before = *now
	if ok, _ := g.try("b", []string{"b"}, right); !ok || *now != before {
		t.Errorf("from another address: %v after %v", ok, now.Sub(before))
	}
	*now = now.Add(guessEach * guessesAtOnce)
	before = *now
	if g.try("a", []string{"a"}, wrong); *now != before {
		t.Errorf("later it is delayed by %v", now.Sub(before))
	}
}

// The number of delayed guesses is bounded: others are refused unseen.
func TestGuessesAtOnce(t *testing.T) {
	g, _ := slowed()
	for range guessesAtOnce {
		g.try("a", []string{"a"}, func() bool { return false })
	}
	for range maxDelayed {
		if _, ok := g.enter([]string{"a"}); !ok {
			t.Fatal("refused")
		}
	}
	if ok, wait := g.try("a", []string{"a"}, func() bool { t.Error("seen"); return true }); ok || wait <= 0 {
		t.Error(ok, wait)
	}
}

// An account is guarded against guesses from many addresses, and addresses are forgotten.
func TestGuessesOfAnAccount(t *testing.T) {
	g, now := slowed()
	start := *now
	for i := range 4 * guessesAtOnce {
		g.try("", []string{fmt.Sprint("address ", i), "account x"}, func() bool { return false })
	}
	if now.Sub(start) < 20*guessDelay {
		t.Errorf("40 guesses from 40 addresses take %v", now.Sub(start))
	}
	for i := range 3 * maxGuessers {
		g.try("", []string{fmt.Sprint(i)}, func() bool { return false })
	}
	if len(g.of) > maxGuessers {
		t.Errorf("%d are remembered", len(g.of))
	}
}
