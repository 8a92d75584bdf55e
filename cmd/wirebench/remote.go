package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/server"
	"wirebench/server/api"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// serverFlags select a server whose operations are called.
type serverFlags struct{ data, to, token string }

// add adds the flags of a command that uses the data folder unless a server runs.
func (f *serverFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.data, "data", defaultData, "directory of the server's data")
	flags.StringVar(&f.to, "server", "", "a running server instead, http://HOST:PORT or https://HOST")
	flags.StringVar(&f.token, "token", "", "its access token; set it in the environment to keep it out of process lists")
}

// call calls an operation of the API.
func (f *serverFlags) call(ctx context.Context, operation string, given url.Values, body api.Body, v any) error {
	c, end, err := f.connect()
	if err != nil {
		return err
	}
	defer end()
	return c.Call(ctx, operation, given, body, v)
}

// formOf returns a form with fields and files.
func formOf(fields map[string]string, files []string) (api.Body, error) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range fields { // before the files: they say what is done with them
		if err := form.WriteField(name, value); err != nil {
			return api.Body{}, err
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return api.Body{}, err
		}
		w, err := form.CreateFormFile("files", filepath.Base(name))
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return api.Body{}, err
		}
	}
	return api.Body{Type: form.FormDataContentType(), Data: &out}, form.Close()
}

// connect returns a client of the server of --server, or of one in this process that uses --data, and how it ends.
func (f *serverFlags) connect() (c *api.Client, end func(), err error) {
	if f.to != "" {
		u, err := url.Parse(f.to)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, nil, fmt.Errorf("--server %s: must be http://HOST:PORT or https://HOST", shown(f.to))
		}
		return &api.Client{Base: strings.TrimSuffix(f.to, "/"), Token: f.token, HTTP: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for one host
		}}, func() {}, nil
	}
	log := slog.New(slog.DiscardHandler)
	data, err := store.OpenData(f.data, log)
	if err != nil {
		var used *store.InUseError
		if errors.As(err, &used) {
			err = fmt.Errorf("%w: name it with --server", err)
		}
		return nil, nil, fmt.Errorf("%w (--data)", err)
	}
	set, err := projects.OpenData(projects.Options{Data: data, Log: log, Allowed: []string{string(filepath.Separator)}}) // the user of the command line is the operator
	if err != nil {
		data.Close()
		return nil, nil, err
	}
	s, err := server.New(server.Config{Projects: set, Log: log})
	if err != nil {
		set.Close()
		data.Close()
		return nil, nil, err
	}
	return &api.Client{Base: "http://localhost", HTTP: &http.Client{Transport: api.InProcess(s)}}, func() {
		s.Close()
		data.Close()
	}, nil
}

// remoteLibrary is the library of a project of a running server, with the settings of the project.
type remoteLibrary struct {
	serverFlags
	project string
	inUse   api.SettingsInUse // once it is read
}

func (r *remoteLibrary) add(flags *pflag.FlagSet) {
	flags.StringVar(&r.to, "server", "", "use the definitions and settings of a project of this server: http://HOST:PORT or https://HOST")
	flags.StringVar(&r.token, "token", "", "with --server: its access token; set it in the environment to keep it out of process lists")
	flags.StringVar(&r.project, "project", "", "with --server: the name of the project")
}

// read reads the library from the server.
func (r *remoteLibrary) read(cmd *cobra.Command) (*workspace.Library, error) {
	if r.project == "" {
		return nil, errors.New("--server needs --project, the name of a project: wirebench project list --server URL lists them")
	}
	c, end, err := r.connect()
	if err != nil {
		return nil, err
	}
	defer end()
	of := url.Values{"project": {r.project}}
	if err := c.Call(cmd.Context(), "project-settings", of, api.Body{}, &r.inUse); err != nil {
		return nil, err
	}
	var files bytes.Buffer
	if err := c.Call(cmd.Context(), "definitions-zip", of, api.Body{}, &files); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(files.Bytes()), int64(files.Len()))
	if err != nil {
		return nil, fmt.Errorf("the definitions of project %s: %w", r.project, err)
	}
	return workspace.ReadFS(z)
}

// apply gives a library the settings of its project where the flags of the command have none.
func (r *remoteLibrary) apply(cmd *cobra.Command, lib *workspace.Library, set *workspace.Settings) {
	if set.Dialect == "" {
		set.Dialect = r.inUse.Protocol
	}
	r.options(cmd, &set.Options)
	for _, m := range lib.Maps {
		if m.Name == r.inUse.Map && set.Codes == nil {
			set.Codes = m
		}
	}
}

// options is apply for the options of the language and the constants.
func (r *remoteLibrary) options(cmd *cobra.Command, o *schema.Options) {
	defaults := map[string]string{}
	for _, known := range defs.Options() {
		defaults[known.Name] = known.Default
	}
	for _, is := range r.inUse.Options {
		if f := cmd.Flags().Lookup(is.Name); (f == nil || !f.Changed) && is.Value != defaults[is.Name] {
			o.Values[is.Name] = is.Value
		}
	}
	for name, value := range r.inUse.Constants {
		if o.Constants[name] == "" {
			o.Constants[name] = value
		}
	}
}
