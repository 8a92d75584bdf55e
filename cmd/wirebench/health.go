package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newHealth checks the health of a running server. Containers use it: the image has no shell or curl.
func newHealth(serve *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check the health of the server at --listen",
		Long: `Health asks the server of this machine whether it is well: whether it responds, and
can write in its data folder. If not, it prints why and exits with status 1. It has
the settings of serve: those of the environment and of --config, too.`,
		Args:        noArgs,
		Annotations: map[string]string{readsServe: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			listen, cert := cmd.Flag("listen").Value.String(), cmd.Flag("tls-cert").Value.String()
			host, port, err := splitAddress(listen)
			if err != nil {
				return fmt.Errorf("--listen %s: %w", listen, err)
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			client := http.Client{Timeout: 5 * time.Second}
			scheme := "http://"
			if cert != "" { // of another name than this address: it is this machine's own server
				scheme, client.Transport = "https://", &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			}
			res, err := client.Get(scheme + net.JoinHostPort(host, port) + "/healthz")
			if err != nil {
				note(cmd, "wirebench: %v", err)
				return errInput
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				why, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
				note(cmd, "wirebench: the server responded %s: %s", res.Status, shown(strings.TrimSpace(string(why))))
				return errInput
			}
			return nil
		},
	}
	for _, name := range []string{"listen", "tls-cert", "config"} {
		cmd.Flags().AddFlag(serve.Flags().Lookup(name))
	}
	return cmd
}
