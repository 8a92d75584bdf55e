package cluster

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"wirebench/server/answer"
)

// Headers between nodes. A client that sends them is not believed: it does not know the secret.
const (
	secretHeader = "Wirebench-Node"
	clientHeader = "Wirebench-Client"
	protoHeader  = "Wirebench-Proto"
)

// elsewhere says, in the first of these headers of an answer, that the node does not lead and has done nothing.
const elsewhere = "elsewhere"

var errElsewhere = errors.New("it does not lead")

const (
	waitTime    = 12 * time.Second // that a request waits for a node that leads
	forwardTime = time.Hour        // of a request; the node that leads has shorter times of its own
	dialTime    = 2 * time.Second
)

// Handler returns the handler of a node: what comes is served by local while this node leads, which must return nil when it does not, and forwarded otherwise.
// own answers what each node answers itself, if it returns true.
func (n *Node) Handler(local func() http.Handler, own func(http.ResponseWriter, *http.Request) bool) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = nil, 64, time.Minute
	transport.DisableCompression = true
	proxy := &httputil.ReverseProxy{
		Transport:     &patient{n, transport},
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			to, _ := url.Parse(leaderOf(r.In.Context()))
			r.SetURL(to)
			r.Out.Host = r.In.Host
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} { // the node that leads decides whom it believes
				if v, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = v
				}
			}
			r.Out.Header.Set(secretHeader, n.secret)
			r.Out.Header.Set(clientHeader, r.In.RemoteAddr)
			r.Out.Header.Set(protoHeader, "http")
			if r.In.TLS != nil {
				r.Out.Header.Set(protoHeader, "https")
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client has gone
			}
			n.Log.Info("a request was not answered by the node that leads", "node", leaderOf(r.Context()), "error", err)
			n.unanswered(w, r)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if own(w, r) {
			return
		}
		forwarded := n.restore(r)
		if forwarded && !n.mayLead() { // the other node does not know yet
			w.Header().Set(secretHeader, elsewhere)
			n.unanswered(w, r)
			return
		}
		to, err := n.wait(r.Context(), local)
		switch {
		case err != nil:
			n.unanswered(w, r)
		case to == n.URL:
			h := local()
			if h == nil { // it has just ended
				n.unanswered(w, r)
				return
			}
			h.ServeHTTP(w, r)
		case forwarded: // it has just ended
			w.Header().Set(secretHeader, elsewhere)
			n.unanswered(w, r)
		default:
			n.count.Forwarded.Add(1)
			control := http.NewResponseController(w)
			_, _ = control.SetReadDeadline(time.Now().Add(forwardTime)), control.SetWriteDeadline(time.Now().Add(forwardTime))
			proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), leaderKey{}, to)))
		}
	})
}

// patient sends a request that changes nothing to the next node that leads if the one that led is gone.
type patient struct {
	*Node
	of http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	for end := time.Now().Add(waitTime); ; {
		res, err := p.of.RoundTrip(r)
		if err == nil && res.StatusCode == http.StatusServiceUnavailable && res.Header.Get(secretHeader) == elsewhere {
			res.Body.Close()
			res, err = nil, errElsewhere
		}
		if err == nil || r.Method != http.MethodGet && r.Method != http.MethodHead || time.Now().After(end) {
			return res, err
		}
		select {
		case <-r.Context().Done():
			return nil, err
		case <-time.After(p.renewals(0.25)):
		}
		p.mu.Lock()
		to := p.leader()
		p.mu.Unlock()
		if u, wrong := url.Parse(to); wrong == nil && to != "" {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
		}
	}
}

type leaderKey struct{}

func leaderOf(ctx context.Context) string {
	to, _ := ctx.Value(leaderKey{}).(string)
	return to
}

// restore makes a request of another node what that has got, and reports whether it was one.
func (n *Node) restore(r *http.Request) bool {
	secret, client, proto := r.Header.Get(secretHeader), r.Header.Get(clientHeader), r.Header.Get(protoHeader)
	for _, name := range []string{secretHeader, clientHeader, protoHeader} {
		r.Header.Del(name)
	}
	if secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(n.secret)) != 1 {
		return false
	}
	r.RemoteAddr, r.TLS = client, nil
	if proto == "https" {
		r.TLS = &tls.ConnectionState{}
	}
	return true
}

// mayLead reports whether this node has the lease, as far as it knows.
func (n *Node) mayLead() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leader() == n.URL
}

// wait returns the URL of the node that leads, for which it waits.
func (n *Node) wait(ctx context.Context, local func() http.Handler) (string, error) {
	ctx, stop := context.WithTimeout(ctx, waitTime)
	defer stop()
	waits := false
	for {
		n.mu.Lock()
		to, changed := n.leader(), n.changed
		n.mu.Unlock()
		if to != "" && (to != n.URL || local() != nil) {
			return to, nil
		}
		if !waits {
			select {
			case n.waiting <- struct{}{}:
				waits = true
				defer func() { <-n.waiting }()
			default:
				return "", errors.New("too many requests wait for a node that leads")
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		case <-time.After(n.renewals(0.25)): // what leads here may be opening its projects
		}
	}
}

const (
	nobody = "no workbench of the cluster serves just now: another one takes over within seconds"

	// nobodyPage is for browsers, which ask again.
	nobodyPage = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\"><title>Wirebench</title>\n<p>No workbench of the cluster serves just now. Another one takes over within seconds: this page asks again.</p></html>\n"
)

// unanswered says that nobody serves now.
func (n *Node) unanswered(w http.ResponseWriter, r *http.Request) {
	n.count.Unanswered.Add(1)
	w.Header().Set("Retry-After", "2")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(nobodyPage))
		return
	}
	answer.Problem(w, http.StatusServiceUnavailable, nobody)
}
