package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// How a recording is pushed.
const (
	pushBytes    = 1 << 20 // in one request, about
	pushTimeout  = 30 * time.Second
	pushFirst    = 250 * time.Millisecond // wait after the first failure; doubled after each further one
	pushLongest  = 10 * time.Second
	pushAnswer   = 16 << 20 // bound of a response, in bytes: a list of all captures may be long
	pushFarewell = 10 * time.Second
)

// pusher uploads a recording to another workbench, as one capture per file: it creates a capture with the first bytes, then appends at an
// offset. After a lost response it continues from the offset that the workbench has, or finds the capture by its name.
type pusher struct {
	base   string // http://HOST/api/PROJECT/captures, which servers of all versions have
	token  string
	name   string // of the captures, followed by the number of the part; unique
	ending string // of the names
	client *http.Client
	spool  *spool
	note   func(format string, args ...any)

	part   int // the part being pushed; 0: none yet
	id     string
	offset int64
	maybe  bool // a request to create the capture was sent, and its response was lost
	away   bool // the last request failed
}

// errStop wraps an error that a retry cannot resolve.
type errStop struct{ error }

// newPusher returns a pusher. The error concerns the URL.
func newPusher(to, token, project string, now time.Time, s *spool, note func(string, ...any)) (*pusher, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be http://HOST:PORT or https://HOST")
	}
	if u.User != nil {
		return nil, errors.New("must not contain a user name or password; use --token")
	}
	if u.Scheme == "http" && token != "" && !loopback(u.Hostname()) {
		note("note: the token and the traffic are sent to %s unencrypted; https:// encrypts them", u.Host)
	}
	var mark [4]byte
	_, _ = rand.Read(mark[:]) // never fails
	return &pusher{
		base:  strings.TrimSuffix(u.String(), "/") + "/api/" + url.PathEscape(project) + "/captures",
		token: token, name: fmt.Sprintf("proxy %s %s", now.UTC().Format("2006-01-02 15.04.05"), hex.EncodeToString(mark[:])),
		spool: s, note: note,
		client: &http.Client{
			Timeout:       pushTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for one host
		},
	}, nil
}

// run pushes until the spool is closed and empty, the context ends, or an error is final. The rest of the spool is then discarded.
func (p *pusher) run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	defer p.spool.lose()
	wait := pushFirst
	for {
		part, data, err := p.spool.next(ctx, pushBytes)
		if err == nil && len(data) == 0 {
			return
		}
		if err == nil {
			err = p.push(ctx, part, data)
		} else {
			err = errStop{err}
		}
		var stop errStop
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &stop):
			p.note("pushing has stopped: %v", stop.error)
			return
		case err == nil:
			if p.away {
				p.note("pushing has resumed")
			}
			p.away, wait = false, pushFirst
			continue
		case !p.away:
			p.away = true
			p.note("pushing is interrupted: %v; retrying", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, pushLongest)
	}
}

// push appends bytes of a part to its capture, creating it for the first bytes.
func (p *pusher) push(ctx context.Context, part int, data []byte) error {
	if part != p.part {
		p.part, p.id, p.offset, p.maybe = part, "", 0, false
	}
	if p.id == "" {
		return p.create(ctx, data)
	}
	status, answer, err := p.call(ctx, "POST", fmt.Sprintf("/%s/append?offset=%d", url.PathEscape(p.id), p.offset), data)
	if err != nil {
		return err
	}
	switch status {
	case http.StatusOK:
		p.went(int64(len(data)))
		return nil
	case http.StatusConflict:
		var moved struct {
			Offset int64 `json:"offset"`
		}
		if err := json.Unmarshal(answer, &moved); err != nil {
			return fmt.Errorf("malformed response of %s", p.base)
		}
		if n := moved.Offset - p.offset; n > 0 && n <= int64(len(data)) { // the response to an earlier append was lost
			p.went(n)
			return nil
		}
		return errStop{fmt.Errorf("remote capture %s has %d bytes, and bytes %d to %d are next: another client has changed it", p.id, moved.Offset, p.offset, p.offset+int64(len(data)))}
	}
	return p.refused(status, answer)
}

func (p *pusher) went(n int64) {
	p.offset += n
	p.spool.release(n)
}

// create creates the capture of a part, or finds it if an earlier request created it.
func (p *pusher) create(ctx context.Context, data []byte) error {
	type capture struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	name := fmt.Sprintf("%s-%d%s", p.name, p.part, cmp.Or(p.ending, ".pcapng"))
	if p.maybe {
		status, answer, err := p.call(ctx, "GET", "", nil)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return p.refused(status, answer)
		}
		var all struct {
			Captures []capture `json:"captures"`
		}
		if err := json.Unmarshal(answer, &all); err != nil {
			return fmt.Errorf("malformed response of %s", p.base)
		}
		p.maybe = false
		for _, x := range all.Captures {
			if x.Name != name {
				continue
			}
			if x.Size > int64(len(data)) {
				return errStop{fmt.Errorf("remote capture %s already has %d bytes", x.ID, x.Size)}
			}
			p.made(x.ID, x.Size)
			return nil
		}
	}
	p.maybe = true
	status, answer, err := p.call(ctx, "POST", "?name="+url.QueryEscape(name), data)
	if err != nil {
		return err
	}
	if status != http.StatusCreated {
		return p.refused(status, answer)
	}
	var x capture
	if err := json.Unmarshal(answer, &x); err != nil || x.ID == "" || x.Size != int64(len(data)) {
		return fmt.Errorf("malformed response of %s", p.base)
	}
	p.maybe = false
	p.made(x.ID, x.Size)
	return nil
}

// made records a capture of size bytes.
func (p *pusher) made(id string, size int64) {
	p.id = id
	p.went(size)
	p.note("pushed to %s as capture %s", p.base, p.id)
}

// refused is the error of a status. It is an errStop unless a retry may succeed.
func (p *pusher) refused(status int, answer []byte) error {
	var said struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(answer, &said) // optional
	err := fmt.Errorf("%s responded %d %s", p.base, status, http.StatusText(status))
	if said.Detail != "" {
		err = fmt.Errorf("%w: %s", err, said.Detail)
	}
	if status == http.StatusUnauthorized {
		err = fmt.Errorf("%w (--token)", err)
	}
	if status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status == http.StatusTooEarly {
		return err
	}
	return errStop{err}
}

// call sends a request. The error concerns the connection; other failures are in the status.
func (p *pusher) call(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errStop{err}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		var in *net.OpError
		if errors.As(err, &in) {
			return 0, nil, in // without the URL
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, pushAnswer))
	return resp.StatusCode, answer, err
}
