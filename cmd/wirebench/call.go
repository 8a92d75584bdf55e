package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"wirebench/server/api"
)

func newCall() *cobra.Command {
	s := &serverFlags{}
	file, kind, accept, asJSON := "", "", "", false
	cmd := &cobra.Command{
		Use:   "call [OPERATION [NAME=VALUE...]]",
		Short: "Call an operation of the HTTP API",
		Long: `Call calls an operation of the HTTP API by its name, on the server at --server or on
the data in --data, while no server uses that directory, and prints the answer.
Without an operation it lists them.

NAME=VALUE is a parameter of the operation, or a member of its JSON body; a value
that is no text is JSON. Several of one name make a list. files=@PATH is a file of a
form, whose other fields are NAME=VALUE, too. --body sends a file as it is.

The exit status is 2 if the server refuses the request.`,
		Example: `  wirebench call decode project=tera hex=12002b4e080039304c0061006e006e000000
  wirebench call add-capture project=tera name=monday.pcap --body monday.pcap
  wirebench call export project=tera id=ID format=csv --server https://wirebench.example > monday.csv
  wirebench call upload project=tera files=@C_CHAT.1.def files=@protocol.map`,
		ValidArgsFunction: completeOperation,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listOperations(cmd, asJSON)
			}
			c, end, err := s.connect()
			if err != nil {
				return err
			}
			defer end()
			o, err := c.Operation(args[0])
			if err != nil {
				return see(cmd, err)
			}
			given, members, err := arguments(o, args[1:])
			if err != nil {
				return err
			}
			if accept != "" {
				given.Set("Accept", accept)
			}
			body, err := callBody(cmd, c, o, members, file, kind)
			if err != nil {
				return err
			}
			return c.Call(cmd.Context(), o.OperationID, given, body, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	s.add(f)
	f.StringVar(&file, "body", "", "send this file as the body; - is standard input")
	f.StringVar(&kind, "type", "", "media type of --body (default: the first that the operation takes)")
	f.StringVar(&accept, "accept", "", "media type of the answer, where an operation has several")
	f.BoolVar(&asJSON, "json", false, "list the operations as JSON Lines; answers are JSON anyway")
	return cmd
}

// operationInfo is a line of the list of operations.
type operationInfo struct {
	Name    string   `json:"name"`
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Group   string   `json:"group"`
	Role    string   `json:"role"`
	Takes   []string `json:"takes"` // its parameters
	Summary string   `json:"summary"`
}

func listOperations(cmd *cobra.Command, asJSON bool) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, g := range new(api.Client).Groups() {
		for _, o := range g.Operations {
			x := operationInfo{o.OperationID, o.Method, o.Path, g.Name, o.Needs.Role.String(), []string{}, o.Summary}
			for _, p := range o.Parameters {
				x.Takes = append(x.Takes, p.Name)
			}
			if asJSON {
				writeJSON(cmd.OutOrStdout(), x)
			} else {
				fmt.Fprintf(w, "%s\t%s\t%s\n", x.Name, x.Summary, strings.Join(x.Takes, " "))
			}
		}
	}
	return w.Flush()
}

func completeOperation(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	c := &api.Client{}
	if len(args) > 0 {
		if o, err := c.Operation(args[0]); err == nil {
			for _, p := range o.Parameters {
				names = append(names, p.Name+"=")
			}
		}
		return names, cobra.ShellCompDirectiveNoSpace
	}
	for _, g := range c.Groups() {
		for _, o := range g.Operations {
			names = append(names, o.OperationID)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// arguments splits NAME=VALUE into the parameters of an operation and the members of its body.
func arguments(o *api.Operation, args []string) (given, members url.Values, err error) {
	given, members = url.Values{}, url.Values{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, nil, fmt.Errorf("%s: give NAME=VALUE", shown(arg))
		}
		into := members
		for _, p := range o.Parameters {
			if p.Name == name {
				into = given
			}
		}
		if o.RequestBody == nil { // a name that is wrong is an unknown parameter
			into = given
		}
		into.Add(name, value)
	}
	return given, members, nil
}

// callBody returns the body of a request: a file, a form if the operation takes one and a member is a file, or else JSON.
func callBody(cmd *cobra.Command, c *api.Client, o *api.Operation, members url.Values, file, kind string) (api.Body, error) {
	switch {
	case file != "" && len(members) > 0:
		return api.Body{}, errors.New("--body is the whole body: give no members of it")
	case file != "" && o.RequestBody == nil:
		return api.Body{}, fmt.Errorf("%s takes no body", o.OperationID)
	case file != "":
		return fileBody(cmd, o, file, kind)
	case o.RequestBody == nil:
		return api.Body{}, nil
	case o.RequestBody.Content["multipart/form-data"] != nil && (members["files"] != nil || o.RequestBody.Content["application/json"] == nil):
		return callForm(members)
	}
	object := map[string]any{}
	for name, values := range members {
		is, element := c.Member(o, name)
		object[name] = memberOf(is, element, values)
	}
	return api.JSONBody(object), nil
}

// bodyKinds are the media types of files, in the order in which an operation is sent one.
var bodyKinds = []string{"application/octet-stream", "text/plain", "application/json", "application/x-ndjson"}

func fileBody(cmd *cobra.Command, o *api.Operation, file, kind string) (api.Body, error) {
	if kind == "" {
		i := slices.IndexFunc(bodyKinds, func(k string) bool { return o.RequestBody.Content[k] != nil })
		if i < 0 {
			return api.Body{}, fmt.Errorf("%s takes a form: give files=@PATH", o.OperationID)
		}
		kind = bodyKinds[i]
	}
	if file == "-" {
		return api.Body{Type: kind, Data: cmd.InOrStdin()}, nil
	}
	in, err := os.Open(file)
	return api.Body{Type: kind, Data: io.Reader(in)}, err // the client closes it
}

func callForm(members url.Values) (api.Body, error) {
	fields, files := map[string]string{}, []string(nil)
	for name, values := range members {
		for _, v := range values {
			path, is := strings.CutPrefix(v, "@")
			switch {
			case name == "files" && is:
				files = append(files, path)
			case name == "files":
				return api.Body{}, fmt.Errorf("files=%s: give files=@PATH", shown(v))
			default:
				fields[name] = v
			}
		}
	}
	return formOf(fields, files)
}

// memberOf returns the value of a member of a JSON body, whose type is known unless it is "": a text where it is one, or else what the value is as
// JSON. Values that are not JSON are texts.
func memberOf(kind, element string, values []string) any {
	if kind == "array" && len(values) == 1 && strings.HasPrefix(strings.TrimSpace(values[0]), "[") || kind != "array" && len(values) == 1 {
		return valueOf(kind, values[0])
	}
	out := []any{}
	for _, v := range values {
		out = append(out, valueOf(element, v))
	}
	return out
}

func valueOf(kind, text string) any {
	if kind != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
