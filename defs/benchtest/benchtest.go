// Package benchtest compares the CPU time of jobs in one run, for benchmarks that fail if a ratio exceeds its limit. Other programs have
// little effect: jobs take turns, and the least time of each counts.
package benchtest

import (
	"runtime"
	"testing"
	"time"
)

// Job is a function to measure.
type Job struct {
	Name string
	Run  func()
}

// Least runs the jobs in turns, rounds times each, and returns the least CPU time of each.
func Least(rounds int, jobs ...Job) []time.Duration {
	best := make([]time.Duration, len(jobs))
	for range rounds {
		for i, j := range jobs {
			runtime.GC() // collect the garbage of the previous job
			before := CPU()
			j.Run()
			if took := CPU() - before; best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// Must fails the benchmark if job exceeds most times base. It reports both per operation, for n operations.
func Must(b *testing.B, n int, job, base time.Duration, most float64) {
	b.Helper()
	ratio := float64(job) / float64(base)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(job)/float64(n), "cpu-ns")
	b.ReportMetric(float64(base)/float64(n), "base-cpu-ns")
	b.ReportMetric(ratio, "times-base")
	if ratio > most {
		b.Fatalf("CPU time of %.1f ns is %.2f times %.1f ns; the limit is %.2f times", float64(job)/float64(n), ratio, float64(base)/float64(n), most)
	}
}
