package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs/source"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// precondition returns the revision that a change replaces, nil for any. f is the file to change, nil for a new one.
func (ws *space) precondition(match, noneMatch string, force bool, f *source.File) (*store.Revision, error) {
	none := store.Revision("")
	if match == "" && noneMatch == "" {
		switch {
		case force:
			return nil, nil
		case f != nil:
			return nil, huma.NewError(http.StatusPreconditionRequired, fmt.Sprintf("%s exists: send If-Match with the revision to replace, or ?force=true to replace any", f.Name))
		}
		return &none, nil
	}
	if match != "" && noneMatch != "" {
		return nil, huma.Error400BadRequest("If-Match and If-None-Match exclude each other")
	}
	if noneMatch != "" {
		if strings.TrimSpace(noneMatch) != "*" {
			return nil, huma.Error400BadRequest("If-None-Match must be * here: the file must not exist")
		}
		if f != nil {
			return nil, conflict(f)
		}
		return &none, nil
	}
	tags, err := entityTags(match)
	if err != nil {
		return nil, huma.Error400BadRequest("If-Match: " + err.Error())
	}
	switch {
	case f == nil:
		return nil, &store.ConflictError{Name: "the file"}
	case slices.Contains(tags, "*"):
		return nil, nil
	case slices.Contains(tags, string(workspace.Revision(f))):
		rev := workspace.Revision(f)
		return &rev, nil
	}
	return nil, conflict(f)
}

func conflict(f *source.File) error {
	return &store.ConflictError{Name: f.Name, Have: workspace.Revision(f), Text: []byte(f.Text)}
}

// quoted returns a revision as an entity tag.
func quoted(revision string) string { return `"` + revision + `"` }

// entityTags reads a list of entity tags, without their quotes. Weak ones count as well: compressing proxies
// weaken our tags, and the text is the same.
func entityTags(header string) ([]string, error) {
	var out []string
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if inner, ok := strings.CutPrefix(tag, `"`); ok {
			if tag, ok = strings.CutSuffix(inner, `"`); !ok {
				return nil, errors.New("missing quote")
			}
		}
		if tag == "" || strings.ContainsAny(tag, "\" ") {
			return nil, errors.New("expected a revision in quotes")
		}
		out = append(out, tag)
	}
	return out, nil
}
