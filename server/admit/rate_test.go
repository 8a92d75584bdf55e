package admit

import (
	"fmt"
	"testing"
	"time"
)

// Somebody who does too much has to wait, and others need not; the number of remembered persons is bounded.
func TestRate(t *testing.T) {
	now := time.Now()
	x := Rate{PerSecond: 200, AtOnce: 2000, Now: func() time.Time { return now }}
	ask := func(who string) time.Duration {
		wait := x.Wait(who)
		if wait == 0 {
			x.Spend(who, 1)
		}
		return wait
	}
	for i := range 2000 {
		if wait := ask("a"); wait > 0 {
			t.Fatalf("request %d waits %v", i, wait)
		}
	}
	if wait := ask("a"); wait <= 0 || wait > time.Second {
		t.Errorf("%v", wait)
	}
	if wait := ask("b"); wait > 0 {
		t.Errorf("another waits %v", wait)
	}
	now = now.Add(time.Second)
	done := 0
	for ask("a") == 0 {
		done++
	}
	if done != 200 {
		t.Errorf("%d requests after a second", done)
	}
	x.Spend("a", 600)
	if wait := x.Wait("a"); wait < 3*time.Second {
		t.Errorf("after work of three seconds the wait is %v", wait)
	}
	for i := range 2 * maxRated {
		ask(fmt.Sprint(i))
	}
	if len(x.of) > maxRated {
		t.Errorf("%d are remembered", len(x.of))
	}
}
