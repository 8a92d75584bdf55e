// Package bus connects the programs of a group by NATS: its options, its connections and the tokens of its subjects. What is sent is up to
// the packages that use it.
package bus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Options say how to connect.
type Options struct {
	URL       string // nats://HOST:PORT or tls://HOST:PORT, several separated by commas
	Creds     string // file with a user's JWT and seed
	CA        string // PEM file of authorities for the certificates of servers; "" for those of the system
	Cert, Key string // PEM files of the client
}

// How a connection is kept.
const (
	dialTime  = 5 * time.Second
	pingEvery = 1500 * time.Millisecond
	pingsMost = 2 // without an answer when the next is due: the connection is made again, after 4.5 s, in which a node of a cluster leads without an answer
	retryTime = 500 * time.Millisecond
)

// Check returns an error for options that can never work: a URL of another kind, half a certificate, a file that cannot be read.
func (o *Options) Check() error {
	for one := range strings.SplitSeq(o.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil {
			return errors.New("the address is not a URL") // without the text, which may have a password
		}
		if u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
			return fmt.Errorf("%q must be nats://HOST:PORT or tls://HOST:PORT, several separated by commas", Redacted(one))
		}
	}
	if (o.Cert == "") != (o.Key == "") {
		return errors.New("a certificate of the client needs its key, and a key its certificate")
	}
	for _, name := range []string{o.Creds, o.CA, o.Cert, o.Key} {
		if name == "" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// Redacted returns URLs without passwords and tokens.
func Redacted(urls string) string {
	var all []string
	for one := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil:
			all = append(all, "…")
			continue
		case u.User != nil:
			u.User = url.User("…")
		}
		all = append(all, u.String())
	}
	return strings.Join(all, ",")
}

// Connect returns a connection, which is made again whenever it is lost. It returns before there is one: a server may come later. The log
// has what happens to it. name is shown by tools of NATS.
func Connect(o Options, name string, log *slog.Logger) (*nats.Conn, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name(name), nats.Timeout(dialTime), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsMost), nats.FlusherTimeout(dialTime), nats.MaxReconnects(-1), nats.ReconnectWait(retryTime),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectBufSize(-1), // what cannot be sent now is an error now: senders keep what is not acknowledged
		nats.NoEcho(),
		nats.ConnectHandler(func(c *nats.Conn) { log.Info("connected to NATS", "server", c.ConnectedUrlRedacted()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { log.Info("connected to NATS again", "server", c.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the connection to NATS is lost; connecting again", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "error", err) }),
	}
	if o.Creds != "" {
		options = append(options, nats.UserCredentials(o.Creds))
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		options = append(options, nats.ClientCert(o.Cert, o.Key))
	}
	return nats.Connect(o.URL, options...)
}

// Token returns a text as a token of a subject: letters, digits, "-" and "_" stand for themselves, other bytes are %XX.
func Token(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return cmp.Or(b.String(), "%")
}
