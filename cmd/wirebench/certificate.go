package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the certificate that the server serves: that of its files, also after they were replaced. Connections that are open keep
// theirs.
type certificate struct {
	files [2]string // certificate chain and key
	log   *slog.Logger

	// mu guards what follows. It is held while the files are read, so that new connections wait for one of them to do it.
	mu     sync.Mutex
	now    *tls.Certificate
	of     [2]os.FileInfo // of the files that were read last, also in vain
	looked time.Time
}

// lookEvery is the time between two looks at the files of the certificate.
const lookEvery = time.Second

func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: [2]string{cert, key}, log: log}
	return c, c.read()
}

// read reads the files. Whoever calls it holds mu, or nobody else has the certificate.
func (c *certificate) read() error {
	var texts [2][]byte
	for i, name := range c.files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		c.of[i] = info
		if !info.Mode().IsRegular() { // reading a fifo would wait for somebody to write it
			return fmt.Errorf("%s is not a file", name)
		}
		if texts[i], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	now, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return fmt.Errorf("%s and %s: %w", c.files[0], c.files[1], err)
	}
	c.now = &now
	return nil
}

// get returns the certificate for a new connection. It looks at the files first, at most once in lookEvery.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		c.looked = time.Now()
		if c.changed() {
			c.again()
		}
	}
	return c.now, nil
}

// changed reports whether the files are others than those that were read.
func (c *certificate) changed() bool {
	for i, name := range c.files {
		info, err := os.Stat(name)
		if was := c.of[i]; err != nil || was == nil || !os.SameFile(was, info) || !was.ModTime().Equal(info.ModTime()) || was.Size() != info.Size() {
			return err == nil // a file that is missing is being replaced
		}
	}
	return false
}

// reload reads the files now, whether or not they have changed.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again()
}

// again reads the files again. If they are not a certificate and its key, the old one stays.
func (c *certificate) again() {
	if err := c.read(); err != nil {
		c.log.Warn("the replaced TLS certificate cannot be used: the old one is still served", "error", err)
		return
	}
	c.log.Info("the TLS certificate was read again", "ends", c.now.Leaf.NotAfter)
}
