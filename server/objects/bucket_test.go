package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/objects/objectstest"
)

func openBucket(t *testing.T, at string) *Bucket {
	t.Helper()
	b, err := OpenBucket("s3://kept/some/lake?region=us-east-1&endpoint="+url.QueryEscape(at), filepath.Join(t.TempDir(), "stage"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestToolBucket(t *testing.T) { contract(t, openBucket(t, objectstest.Gateway(t))) }

// faults stands before a service, and does a part of the requests wrongly.
type faults struct {
	to    *httputil.ReverseProxy
	each  atomic.Int64 // every so many requests one of them; 0: none
	count atomic.Int64
	done  atomic.Int64
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.count.Add(1)
	each := f.each.Load()
	if each == 0 || n%each != 0 {
		f.to.ServeHTTP(w, r)
		return
	}
	f.done.Add(1)
	switch (n / each) % 4 {
	case 0: // the service is busy
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>`)
	case 1: // the answer is lost: the request was done
		record := httptest.NewRecorder()
		f.to.ServeHTTP(record, r)
		panic(http.ErrAbortHandler)
	case 2: // the answer is cut off
		record := httptest.NewRecorder()
		f.to.ServeHTTP(record, r)
		for name, values := range record.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(record.Code)
		body := record.Body.Bytes()
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case 3: // slow
		time.Sleep(300 * time.Millisecond)
		f.to.ServeHTTP(w, r)
	}
}

func faulty(t *testing.T, at string) (*faults, string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	f := &faults{to: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // signed
	}}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

// TestToolBucketFaults: with a service that is slow, busy, cuts off answers and loses them, all is done, once.
func TestToolBucketFaults(t *testing.T) {
	f, at := faulty(t, objectstest.Gateway(t))
	b := openBucket(t, at)
	f.each.Store(3)
	data := make([]byte, 20<<20)
	rng := rand.NewChaCha8([32]byte{2})
	_, _ = rng.Read(data)
	if err := b.Put(t.Context(), "large", staged(t, b, data)); err != nil {
		t.Fatal(err)
	}
	o, err := b.Open(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	if err != nil || !bytes.Equal(all, data) {
		t.Fatalf("%d bytes: %v", len(all), err)
	}
	tag := ""
	for i := range 40 {
		if tag, err = b.Write(t.Context(), "m/n", []byte(fmt.Sprint(i)), tag); err != nil {
			t.Fatal(i, err)
		}
		got, now, err := b.Read(t.Context(), "m/n", 100)
		if err != nil || string(got) != fmt.Sprint(i) || now != tag {
			t.Fatal(i, string(got), now, tag, err)
		}
	}
	if _, err := b.Write(t.Context(), "m/n", []byte("other"), `"0"`); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if err := b.Remove(t.Context(), "large"); err != nil {
		t.Error(err)
	}
	if got := listed(t, b, ""); len(got) != 1 || got["m/n"] != 2 {
		t.Errorf("%v", got)
	}
	if f.done.Load() < 20 {
		t.Errorf("%d faults", f.done.Load())
	}
}

// TestToolBucketChanges: an object that is replaced while it is open is not read as a mixture, and a service that does not answer ends.
func TestToolBucketChanges(t *testing.T) {
	f, at := faulty(t, objectstest.Gateway(t))
	b := openBucket(t, at)
	for i := range 2 {
		data := bytes.Repeat([]byte{byte(i)}, 3<<20)
		o, err := (*bucketObject)(nil), error(nil)
		if i > 0 {
			var opened Object
			if opened, err = b.Open(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			o = opened.(*bucketObject)
			if _, err := o.ReadAt(make([]byte, 10), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Put(t.Context(), "x", staged(t, b, data)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			part := make([]byte, 10)
			if n, err := o.ReadAt(part, 2<<20); !errors.Is(err, ErrChanged) || n != 0 {
				t.Errorf("%d bytes of another object, %v", n, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	held := make(chan struct{})
	f.to.ModifyResponse = func(*http.Response) error { <-held; return nil }
	defer close(held)
	if _, _, err := b.Read(ctx, "x", 4<<20); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestBucketPlaces(t *testing.T) {
	for _, place := range []string{"s3://", "s3:bucket", "http://bucket/x", "s3://user:secret@bucket", "s3://b/x?endpoint=ftp://h", "s3://b/x?endpoint=http://h/path", "s3://b/x?secret=1", "s3://b/../x?endpoint=http://127.0.0.1:1", "s3://b/x#y"} {
		if _, err := OpenBucket(place, t.TempDir()); err == nil || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestBucketReach tells a service that does not answer from one that refuses.
func TestBucketReach(t *testing.T) {
	listens, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := listens.Addr().String()
	listens.Close()
	silent := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer mute.Close()
	defer close(silent)
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	forbids := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer forbids.Close()
	for at, unreached := range map[string]bool{"http://" + away: true, mute.URL: true, none.URL: false, forbids.URL: false} {
		b, err := OpenBucket("s3://kept/x?region=us-east-1&endpoint="+url.QueryEscape(at), filepath.Join(t.TempDir(), "stage"))
		if err != nil {
			t.Fatal(err)
		}
		patience := time.Minute
		if unreached {
			patience = time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := b.Reach(ctx); err == nil || errors.Is(err, ErrUnreached) != unreached {
			t.Errorf("%s: %v", at, err)
		}
		cancel()
	}
}
