package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/store"
)

// projectFlags select the server whose projects are changed.
type projectFlags struct {
	data, to, token string
	json            bool
}

func newProject() *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{
		Use:   "project",
		Short: "List, make, rename, archive and delete projects",
		Long: `Project changes the projects in --data, while no server uses that directory, or
those of the running server at --server.`,
		Args: commandOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := cmd.PersistentFlags()
	f.StringVar(&p.data, "data", defaultData, "directory of the server's data")
	f.StringVar(&p.to, "server", "", "a running server instead, http://HOST:PORT or https://HOST")
	f.StringVar(&p.token, "token", "", "its access token; set it in the environment to keep it out of process lists")
	f.BoolVar(&p.json, "json", false, "print JSON Lines instead of text")
	cmd.AddCommand(p.list(), p.make(), p.rename(),
		p.state("archive", "Close a project, which keeps its files", http.MethodPatch, "", `{"state":"archived"}`),
		p.state("open", "Open an archived or deleted project again", http.MethodPatch, "", `{"state":"open"}`),
		p.state("delete", "Delete a project; open brings it back", http.MethodDelete, "", ""),
		p.state("remove", "Remove the files of a deleted project for good", http.MethodDelete, "?forever=true", ""))
	return cmd
}

// request sends a request below /api/v1/projects and decodes the answer into v, if it is not nil. The error of a refusal is its reason.
func (p *projectFlags) request(cmd *cobra.Command, method, path, kind string, body io.Reader, v any) error {
	base, client, end, err := p.connect()
	if err != nil {
		return err
	}
	defer end()
	req, err := http.NewRequestWithContext(cmd.Context(), method, base+"/api/v1/projects"+path, body)
	if err != nil {
		return err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, pushAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		var problem struct {
			Detail string
			Files  []struct{ File, Reason string }
		}
		if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
			return fmt.Errorf("the server responded %s", res.Status)
		}
		for _, f := range problem.Files {
			note(cmd, "%s: %s", f.File, f.Reason)
		}
		return errors.New(problem.Detail)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(answer, v)
}

// connect returns the server of --server, or one in this process that uses --data.
func (p *projectFlags) connect() (base string, client *http.Client, end func(), err error) {
	if p.to != "" {
		u, err := url.Parse(p.to)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return "", nil, nil, fmt.Errorf("--server %s: must be http://HOST:PORT or https://HOST", shown(p.to))
		}
		return strings.TrimSuffix(p.to, "/"), &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for one host
		}, func() {}, nil
	}
	log := slog.New(slog.DiscardHandler)
	data, err := store.OpenData(p.data, log)
	if err != nil {
		var used *store.InUseError
		if errors.As(err, &used) {
			err = fmt.Errorf("%w: name it with --server", err)
		}
		return "", nil, nil, fmt.Errorf("%w (--data)", err)
	}
	set, err := projects.OpenData(projects.Options{Data: data, Log: log, Allowed: []string{string(filepath.Separator)}}) // the user of the command line is the operator
	if err != nil {
		data.Close()
		return "", nil, nil, err
	}
	s, err := server.New(server.Config{Projects: set, Log: log})
	if err != nil {
		set.Close()
		data.Close()
		return "", nil, nil, err
	}
	return "http://localhost", &http.Client{Transport: inProcess{s}}, func() {
		s.Close()
		data.Close()
	}, nil
}

// inProcess sends requests to a handler, without a network.
type inProcess struct{ h http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &kept{header: http.Header{}, status: http.StatusOK}
	p.h.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(w.body.Len()),
	}, nil
}

// kept is a response in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

// show prints projects.
func (p *projectFlags) show(cmd *cobra.Command, list ...projects.Info) error {
	if p.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		for _, i := range list {
			if err := e.Encode(i); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttitle\tprotocol\tstate\tmessages\tcaptures\tdefinitions in")
	for _, i := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", i.Name, printable(i.Title), i.Protocol, i.State, i.Messages, i.Captures, printable(i.Library))
		if i.Trouble != "" {
			note(cmd, "%s cannot be opened: %s", i.Name, i.Trouble)
		}
	}
	return w.Flush()
}

func (p *projectFlags) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all struct{ Projects []projects.Info }
			if err := p.request(cmd, http.MethodGet, "", "", nil, &all); err != nil {
				return err
			}
			return p.show(cmd, all.Projects...)
		},
	}
}

func (p *projectFlags) make() *cobra.Command {
	config := map[string]*string{"name": new(string), "protocol": new(string), "library": new(string), "copy": new(string)}
	captures := false
	cmd := &cobra.Command{
		Use:   "new TITLE [FILE...]",
		Short: "Make a project: empty, of files or zips, of a directory, or as a copy",
		Example: `  wirebench project new 'My game' --protocol tera
  wirebench project new 'My game' library.zip protocol.376012.map
  wirebench project new 'My game' --library /srv/definitions
  wirebench project new 'My game, next patch' --copy my-game`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return see(cmd, errors.New("a project needs a title"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, body, err := projectForm(args[0], config, captures, args[1:])
			if err != nil {
				return err
			}
			var made struct {
				projects.Info
				Files []struct{ File, Result, Reason string }
			}
			if err := p.request(cmd, http.MethodPost, "", kind, body, &made); err != nil {
				return err
			}
			for _, f := range made.Files {
				if f.Reason != "" {
					note(cmd, "%s: %s: %s", f.File, f.Result, f.Reason)
				}
			}
			return p.show(cmd, made.Info)
		},
	}
	f := cmd.Flags()
	f.StringVar(config["name"], "name", "", "name in addresses: lower-case letters, digits, - and _ (default: made of the title)")
	f.StringVar(config["protocol"], "protocol", "", "protocol: "+dialectNames()+" (default: that of the definitions)")
	f.StringVar(config["library"], "library", "", "directory on the machine of the server whose definitions are edited in place")
	f.StringVar(config["copy"], "copy", "", "project whose definitions and settings are copied")
	f.BoolVar(&captures, "captures", false, "with --copy: its captures, too")
	return cmd
}

// projectForm returns the form of a new project.
func projectForm(title string, config map[string]*string, captures bool, files []string) (kind string, body io.Reader, err error) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	fields := map[string]string{"title": title, "captures": fmt.Sprint(captures)}
	for name, value := range config {
		fields[name] = *value
	}
	if dir := fields["library"]; dir != "" {
		if fields["library"], err = filepath.Abs(dir); err != nil {
			return "", nil, err
		}
	}
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return "", nil, err
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		w, err := form.CreateFormFile("files", filepath.Base(name))
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return form.FormDataContentType(), &out, form.Close()
}

func (p *projectFlags) rename() *cobra.Command {
	title := ""
	cmd := &cobra.Command{
		Use: "rename NAME [NEW]", Short: "Change the name or the title of a project; its earlier name still leads to it",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || len(args) == 1 && title == "" {
				return see(cmd, errors.New("give the project and its new name, or --title"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			change := map[string]string{}
			if len(args) == 2 {
				change["name"] = args[1]
			}
			if title != "" {
				change["title"] = title
			}
			body, err := json.Marshal(change)
			if err != nil {
				return err
			}
			return p.change(cmd, http.MethodPatch, args[0], "", string(body))
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "new title")
	return cmd
}

// state returns a command that changes the state of a project.
func (p *projectFlags) state(name, short, method, query, body string) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return see(cmd, errors.New("give the name of one project"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.change(cmd, method, args[0], query, body) },
	}
}

// change changes a project and prints it, unless it is deleted.
func (p *projectFlags) change(cmd *cobra.Command, method, name, query, body string) error {
	path := "/" + url.PathEscape(name) + query
	if method == http.MethodDelete {
		return p.request(cmd, method, path, "", nil, nil)
	}
	var info projects.Info
	if err := p.request(cmd, method, path, "application/json", strings.NewReader(body), &info); err != nil {
		return err
	}
	return p.show(cmd, info)
}
