// Package benchtest compares the CPU time of jobs in one run, for benchmarks that fail if a ratio exceeds its limit. Other programs have
// little effect: jobs take turns, and the least time of each counts.
package benchtest

import (
	"math"
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

// A benchmark with a limit is named BenchmarkMust..., so that .ci/run finds it.

// Must fails the benchmark if job exceeds most times base. It reports both per operation, for n operations.
func Must(b *testing.B, n int, job, base time.Duration, most float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(job)/float64(n), "cpu-ns")
	b.ReportMetric(float64(base)/float64(n), "base-cpu-ns")
	Within(b, "times-base", float64(job)/float64(base), most)
}

// Within fails the benchmark if a ratio exceeds its limit. It reports the ratio as a metric.
func Within(b *testing.B, metric string, ratio, most float64) {
	b.Helper()
	b.ReportMetric(ratio, metric)
	if ratio > most {
		b.Errorf("%s: %.3g; the limit is %.3g", metric, ratio, most)
	}
}

// Cost returns the CPU time of a job and the bytes that it allocates. A job that takes longer than most is run up to five times, and the least
// counts: collecting garbage and other tests are counted too.
func Cost(most time.Duration, job func()) (took time.Duration, bytes uint64) {
	took = math.MaxInt64
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := CPU()
		job()
		used := CPU() - start
		runtime.ReadMemStats(&after)
		if used < took {
			took = used
		}
		bytes = after.TotalAlloc - before.TotalAlloc
		if took <= most {
			break
		}
	}
	return took, bytes
}
