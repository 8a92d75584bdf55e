package store

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// Quota bounds the bytes of captures, of each project and of all. The zero value of a bound is none.
type Quota struct {
	Each, All int64

	mu      sync.Mutex
	members map[string]*usage // by folder
}

// usage is what a folder of captures takes.
type usage struct {
	in    *Captures
	bytes int64
	at    time.Time // when they were counted
}

// usageTime is how long a count of bytes is used again.
const usageTime = time.Second

// QuotaError reports that captures would take more than they may. It is an ErrFull.
type QuotaError struct {
	Of        string // "this project" or "all projects"
	Used, Max int64
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("the captures of %s take %s of the %s allowed: delete some first", e.Of, sizeText(e.Used), sizeText(e.Max))
}

// noRoom reports that a capture is larger than what the quota leaves.
type noRoom struct{ left int64 }

func (e *noRoom) Error() string {
	return fmt.Sprintf("it does not fit into the %s that are left of the quota", sizeText(e.left))
}

func (e *noRoom) Is(target error) bool { return target == ErrFull }

// Is reports whether target is ErrFull.
func (e *QuotaError) Is(target error) bool { return target == ErrFull }

func sizeText(n int64) string {
	if n < 1<<30 {
		return megabytes(n)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// join makes a folder count.
func (q *Quota) join(c *Captures) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.members == nil {
		q.members = map[string]*usage{}
	}
	q.members[c.dir.path] = &usage{in: c}
	c.quota = q
}

// left returns the bytes that a folder may still take, at most most, and a *QuotaError if there are none.
func (q *Quota) left(c *Captures, most int64) (int64, error) {
	if q == nil || q.Each == 0 && q.All == 0 {
		return most, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	own, all := int64(0), int64(0)
	for folder, u := range q.members {
		if now := time.Now(); now.Sub(u.at) >= usageTime {
			u.bytes, u.at = u.in.bytes(), now
		}
		if all += u.bytes; folder == c.dir.path {
			own = u.bytes
		}
	}
	for _, b := range []struct {
		of        string
		used, max int64
	}{{"this project", own, q.Each}, {"all projects", all, q.All}} {
		if b.max == 0 {
			continue
		}
		if b.used >= b.max {
			return 0, &QuotaError{b.of, b.used, b.max}
		}
		most = min(most, b.max-b.used)
	}
	return most, nil
}

// took counts bytes that were just written.
func (q *Quota) took(c *Captures, n int64) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if u := q.members[c.dir.path]; u != nil {
		u.bytes += n
	}
}

// bytes returns the bytes of all captures; those of a folder that is gone are 0.
func (c *Captures) bytes() int64 {
	_, n := c.count()
	return n
}

// count returns the number of captures, and the bytes of all, wherever they are.
func (c *Captures) count() (captures int, n int64) {
	root, err := c.dir.root()
	if err != nil {
		return 0, 0
	}
	defer root.Close()
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && (strings.HasSuffix(e.Name(), captureEnding) || isTemporary(e.Name())) {
			n += info.Size()
			if strings.HasSuffix(e.Name(), captureEnding) {
				captures++
			}
		}
	}
	for _, id := range awayIn(entries) {
		if at, err := c.where(root, id); err == nil {
			captures++
			n += at.size
		}
	}
	return captures, n
}

// Usage is what the captures of a folder take, and may take.
type Usage struct {
	Captures int
	Bytes    int64 // those of files that are being written included
	Quota    struct{ Each, All int64 }
}

// Usage returns what the captures take.
func (c *Captures) Usage() (u Usage) {
	u.Captures, u.Bytes = c.count()
	if c.quota != nil {
		u.Quota.Each, u.Quota.All = c.quota.Each, c.quota.All
	}
	return u
}

// Quota returns the bytes that the captures may take, 0 for any number.
func (c *Captures) Quota() int64 {
	if c.quota == nil {
		return 0
	}
	return c.quota.Each
}

// Used returns the bytes of the captures, and how many there may be, 0 for any number.
func (c *Captures) Used() (used, most int64) {
	return c.bytes(), c.Quota()
}

// within copies a capture, up to what the quota leaves.
func (c *Captures) within(w io.Writer, r io.Reader) (n int64, err error) {
	most, err := c.quota.left(c, MaxCaptureBytes)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(w, io.LimitReader(r, most+1))
	if err == nil && n > most && most < MaxCaptureBytes {
		if _, err = c.quota.left(c, 0); err == nil { // it would be full
			err = &noRoom{most}
		}
	}
	if err == nil {
		c.quota.took(c, n)
	}
	return n, err
}
