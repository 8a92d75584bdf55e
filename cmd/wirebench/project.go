package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"wirebench/server/api"
	"wirebench/server/projects"
)

// projectFlags select the server whose projects are changed.
type projectFlags struct {
	serverFlags
	json bool
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
	p.add(f)
	f.BoolVar(&p.json, "json", false, "print JSON Lines instead of text")
	cmd.AddCommand(p.list(), p.make(), p.rename(),
		p.state("archive", "Close a project, which keeps its files", "change-project", url.Values{}, projects.Archived),
		p.state("open", "Open an archived or deleted project again", "change-project", url.Values{}, projects.Open),
		p.state("delete", "Delete a project; open brings it back", "delete-project", url.Values{}, ""),
		p.state("remove", "Remove the files of a deleted project for good", "delete-project", url.Values{"forever": {"true"}}, ""))
	return cmd
}

// call calls an operation on projects and decodes the answer into v. A project that is made of files may refuse some of them.
func (p *projectFlags) call(cmd *cobra.Command, operation string, given url.Values, body api.Body, v any) error {
	err := p.serverFlags.call(cmd.Context(), operation, given, body, v)
	var refused *api.RefusedError
	if errors.As(err, &refused) {
		for _, f := range refused.Files {
			note(cmd, "%s: %s", f.File, f.Reason)
		}
	}
	return err
}

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
			if err := p.call(cmd, "projects", nil, api.Body{}, &all); err != nil {
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
			body, err := projectForm(args[0], config, captures, args[1:])
			if err != nil {
				return err
			}
			var made struct {
				projects.Info
				Files []struct{ File, Result, Reason string }
			}
			if err := p.call(cmd, "make-project", nil, body, &made); err != nil {
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
func projectForm(title string, config map[string]*string, captures bool, files []string) (api.Body, error) {
	fields := map[string]string{"title": title, "captures": fmt.Sprint(captures)}
	for name, value := range config {
		fields[name] = *value
	}
	if dir := fields["library"]; dir != "" {
		var err error
		if fields["library"], err = filepath.Abs(dir); err != nil {
			return api.Body{}, err
		}
	}
	return formOf(fields, files)
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
			return p.change(cmd, "change-project", url.Values{"project": args[:1]}, change)
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "new title")
	return cmd
}

// state returns a command that changes the state of a project.
func (p *projectFlags) state(name, short, operation string, given url.Values, state projects.State) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return see(cmd, errors.New("give the name of one project"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			given["project"] = args
			if state == "" {
				return p.call(cmd, operation, given, api.Body{}, nil)
			}
			return p.change(cmd, operation, given, map[string]projects.State{"state": state})
		},
	}
}

// change changes a project and prints it.
func (p *projectFlags) change(cmd *cobra.Command, operation string, given url.Values, change any) error {
	var info projects.Info
	if err := p.call(cmd, operation, given, api.JSONBody(change), &info); err != nil {
		return err
	}
	return p.show(cmd, info)
}
