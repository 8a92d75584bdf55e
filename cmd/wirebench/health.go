package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// newHealth checks the health of a running server. Containers use it: the image has no shell or curl.
func newHealth() *cobra.Command {
	listen := ""
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check the health of the server at --listen",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, port, err := splitAddress(listen)
			if err != nil {
				return fmt.Errorf("--listen %s: %w", listen, err)
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			client := http.Client{Timeout: 5 * time.Second}
			res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/healthz")
			if err != nil {
				note(cmd, "wirebench: %v", err)
				return errInput
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				note(cmd, "wirebench: the server responded %s", res.Status)
				return errInput
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "address of the server")
	return cmd
}
