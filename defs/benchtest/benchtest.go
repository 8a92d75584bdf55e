// Package benchtest compares jobs in one run by the time that they take of the processor, for benchmarks that fail when a ratio is over
// its limit. What other programs do at the same time counts little: jobs take turns, and the least time of each counts.
package benchtest

import (
	"runtime"
	"testing"
	"time"
)

// Job is something to be measured.
type Job struct {
	Name string
	Run  func()
}

// Least runs jobs in turns and returns the least time that each took of the processor.
func Least(rounds int, jobs ...Job) []time.Duration {
	best := make([]time.Duration, len(jobs))
	for range rounds {
		for i, j := range jobs {
			runtime.GC() // of what the job before has left
			before := CPU()
			j.Run()
			if took := CPU() - before; best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// Must fails the benchmark if a job took more than so many times what another did. It reports both, for each of n operations.
func Must(b *testing.B, n int, job, base time.Duration, most float64) {
	b.Helper()
	ratio := float64(job) / float64(base)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(job)/float64(n), "cpu-ns")
	b.ReportMetric(float64(base)/float64(n), "base-cpu-ns")
	b.ReportMetric(ratio, "times-base")
	if ratio > most {
		b.Fatalf("%.1f ns of the processor are %.2f times %.1f ns; at most %.2f times are allowed", float64(job)/float64(n), ratio, float64(base)/float64(n), most)
	}
}
