package objects

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bounds of requests.
const (
	requestTime  = time.Minute // of a request without large contents, with what is tried again
	partBytes    = 16 << 20    // of an object that is sent in parts
	partTime     = time.Minute // for a part, so that a service that is slow and not dead is not given up
	requestTries = 6
	blockBytes   = 1 << 20 // read at once
	keptBlocks   = 32      // of an open object
)

// Bucket is a Store in a bucket of an S3 service, below a prefix. Its objects are whole or not there, by the service; Write needs conditional requests
// (If-Match), which Amazon S3, MinIO, Ceph, SeaweedFS, versitygw and others have.
type Bucket struct {
	client         *minio.Core
	bucket, prefix string
	stage          string
}

var _ Store = (*Bucket)(nil)

// OpenBucket opens a place such as s3://BUCKET/PREFIX?endpoint=https://s3.example.com&region=eu-1. Without an endpoint it is that of the variable
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, or Amazon's; credentials come from the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, the file of the AWS tools, or the machine's role. Stage is in a folder of this machine, whose contents are removed. Nothing is asked of the
// service.
func OpenBucket(place, stage string) (*Bucket, error) {
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("must be s3://BUCKET/PREFIX?endpoint=URL&region=REGION, without credentials")
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("unknown parameter %q: there are endpoint and region", name)
		}
	}
	at, err := url.Parse(cmp.Or(q.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com"))
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.User != nil {
		return nil, errors.New("the endpoint must be http://HOST:PORT or https://HOST")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout, transport.DisableCompression = requestTime, true
	client, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}},
		}),
		Secure: at.Scheme == "https", Transport: transport, MaxRetries: requestTries,
		Region: cmp.Or(q.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, err
	}
	b := &Bucket{client: client, bucket: u.Host, stage: stage}
	if p := strings.Trim(u.Path, "/"); p != "" {
		if err := checkName(p); err != nil {
			return nil, err
		}
		b.prefix = p + "/"
	}
	if err := os.RemoveAll(stage); err != nil {
		return nil, err
	}
	return b, os.MkdirAll(stage, 0o700)
}

// Reach asks the service for the bucket. The error is ErrUnreached if there was no answer: there may be one later.
func (b *Bucket) Reach(ctx context.Context) error {
	ok, err := b.client.BucketExists(ctx, b.bucket)
	var network net.Error
	switch {
	case err != nil && (errors.As(err, &network) || ctx.Err() != nil):
		return fmt.Errorf("%s: %w: %w", b, ErrUnreached, err)
	case err != nil:
		return problem(b.String(), err)
	case !ok:
		return fmt.Errorf("there is no bucket %s at %s", b.bucket, b.client.EndpointURL().Host)
	}
	return nil
}

// problem returns the error of a request, as one of this package where it is.
func problem(name string, err error) error {
	if err == nil {
		return nil
	}
	switch of := minio.ToErrorResponse(err); {
	case of.StatusCode == http.StatusNotFound && of.Code != minio.NoSuchBucket:
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case of.StatusCode == http.StatusPreconditionFailed, of.StatusCode == http.StatusConflict:
		return fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Close implements Store.
func (b *Bucket) Close() error { return os.RemoveAll(b.stage) }

// Alone implements Store.
func (b *Bucket) Alone() bool { return false }

func (b *Bucket) String() string { return "s3://" + b.bucket + "/" + b.prefix }

// Stage implements Store.
func (b *Bucket) Stage() string { return b.stage }

// Put implements Store.
func (b *Bucket) Put(ctx context.Context, name, file string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if filepath.Dir(file) != filepath.Clean(b.stage) {
		return fmt.Errorf("%s is not a file of %s", file, b.stage)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(2+info.Size()/partBytes)*partTime)
	defer cancel()
	if _, err := b.client.FPutObject(ctx, b.bucket, b.prefix+name, file, minio.PutObjectOptions{PartSize: partBytes, NumThreads: 2, ContentType: "application/octet-stream"}); err != nil {
		return problem(name, err)
	}
	return os.Remove(file)
}

// Read implements Store.
func (b *Bucket) Read(ctx context.Context, name string, limit int64) (data []byte, tag string, err error) {
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1+limit/partBytes)*requestTime)
	defer cancel()
	err = again(ctx, func() error {
		body, info, _, err := b.client.GetObject(ctx, b.bucket, b.prefix+name, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		if info.Size > limit {
			return fmt.Errorf("%w: %d bytes", ErrLarge, info.Size)
		}
		data, err = io.ReadAll(io.LimitReader(body, info.Size))
		if err == nil && int64(len(data)) != info.Size {
			err = io.ErrUnexpectedEOF
		}
		tag = info.ETag
		return err
	})
	if err != nil {
		return nil, "", problem(name, err)
	}
	return data, tag, nil
}

// again calls a request whose answer was cut off again. Requests that are refused or not answered are tried again by the library.
func again(ctx context.Context, request func() error) (err error) {
	for wait, try := 100*time.Millisecond, 0; try < requestTries; wait, try = 2*wait, try+1 {
		err = request()
		var refused minio.ErrorResponse
		if err == nil || ctx.Err() != nil || errors.As(err, &refused) || errors.Is(err, ErrLarge) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	return err
}

// Write implements Store.
func (b *Bucket) Write(ctx context.Context, name string, data []byte, tag string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1+len(data)/partBytes)*requestTime)
	defer cancel()
	options := minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true}
	if tag == "" {
		options.SetMatchETagExcept("*")
	} else {
		options.SetMatchETag(tag)
	}
	info, err := b.client.Client.PutObject(ctx, b.bucket, b.prefix+name, bytes.NewReader(data), int64(len(data)), options)
	if err == nil {
		return info.ETag, nil
	}
	err = problem(name, err)
	if errors.Is(err, ErrChanged) || errors.Is(err, fs.ErrNotExist) { // by an earlier try of this request, whose answer was lost?
		if now, tag, err := b.Read(ctx, name, int64(len(data))); err == nil && bytes.Equal(now, data) {
			return tag, nil
		}
		err = fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return "", err
}

// Open implements Store.
func (b *Bucket) Open(ctx context.Context, name string) (Object, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	asked, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	info, err := b.client.StatObject(asked, b.bucket, b.prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return nil, problem(name, err)
	}
	return &bucketObject{in: b, name: name, size: info.Size, tag: info.ETag, ctx: ctx, blocks: map[int64]*list.Element{}}, nil
}

// bucketObject is an open object of a bucket. It reads blocks, and keeps the last ones.
type bucketObject struct {
	in   *Bucket
	name string
	size int64
	tag  string
	ctx  context.Context // of reads

	mu     sync.Mutex // held while a block is read
	blocks map[int64]*list.Element
	used   list.List // of *block, the last one used first
}

type block struct {
	at   int64
	data []byte
}

func (o *bucketObject) Size() int64 { return o.size }

func (o *bucketObject) Close() error { return nil }

// ReadAt implements io.ReaderAt. The error is ErrChanged if the object is another one now.
func (o *bucketObject) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for n < len(p) {
		if off >= o.size {
			return n, io.EOF
		}
		data, err := o.block(off - off%blockBytes)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], data[off%blockBytes:])
		n, off = n+k, off+int64(k)
	}
	return n, nil
}

// block returns the bytes from a multiple of blockBytes on.
func (o *bucketObject) block(at int64) ([]byte, error) {
	if e := o.blocks[at]; e != nil {
		o.used.MoveToFront(e)
		return e.Value.(*block).data, nil
	}
	size := min(blockBytes, o.size-at)
	data := make([]byte, size)
	ctx, cancel := context.WithTimeout(o.ctx, requestTime)
	defer cancel()
	err := again(ctx, func() error {
		options := minio.GetObjectOptions{}
		if err := errors.Join(options.SetRange(at, at+size-1), options.SetMatchETag(o.tag)); err != nil {
			return err
		}
		body, info, _, err := o.in.client.GetObject(ctx, o.in.bucket, o.in.prefix+o.name, options)
		if err != nil {
			return err
		}
		defer body.Close()
		if info.ETag != o.tag {
			return ErrChanged
		}
		_, err = io.ReadFull(body, data)
		return err
	})
	if err != nil {
		return nil, problem(o.name, err)
	}
	for o.used.Len() >= keptBlocks {
		last := o.used.Back()
		delete(o.blocks, o.used.Remove(last).(*block).at)
	}
	o.blocks[at] = o.used.PushFront(&block{at, data})
	return data, nil
}

// List implements Store.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Info{}, problem(prefix, o.Err))
				return
			}
			name := strings.TrimPrefix(o.Key, b.prefix)
			if checkName(name) == nil && !yield(Info{name, o.Size, o.LastModified}, nil) {
				return
			}
		}
	}
}

// Remove implements Store.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	err := problem(name, b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
