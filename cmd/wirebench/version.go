package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What a build can be told, by -ldflags "-X main.released=1.2.3". The image has defaults of its own: variables of the environment would be
// those of everything that runs in the container.
var (
	released      string // the version
	defaultListen = "127.0.0.1:8080"
	defaultData   = "./wirebench-data"
	defaultPorts  string // of --listener-ports
)

// version returns the version that the build was told, or that of the module or of the commit of the build.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (v == "" || v == "(devel)") {
			v = s.Value[:12]
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}

// about is what wirebench version prints.
type about struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"` // such as linux/amd64
}

func newVersion() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := about{Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(a)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wirebench %s, %s, %s\n", a.Version, a.Go, a.System)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
