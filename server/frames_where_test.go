package server

import (
	"net/url"
	"strings"
	"testing"

	"wirebench/server/frames"
	"wirebench/server/projects"
	"wirebench/server/servertest"
)

// Where a value or what a filter tests is in the frames of a recording: each match is counted, and the filter of a place finds its frames.
func TestWhere(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	ofField, ofBytes := 0, 0
	for _, p := range s.Projects.List() {
		var all struct{ Captures []struct{ ID string } }
		servertest.Request(t, s, "GET", "/api/v1/projects/"+p.Name+"/captures", nil, &all)
		for _, c := range all.Captures {
			at := "/api/v1/projects/" + p.Name + "/captures/" + c.ID
			for _, filter := range []string{"= 1", "= 7", "= 48211", `= "a"`, "= 1.5", "dir == s2c", "len > 20 && dir == c2s", ""} {
				var got struct {
					frames.Where
					Fit, Total int
					Whole      bool
				}
				if code := servertest.Request(t, s, "GET", at+"/where?filter="+url.QueryEscape(filter), nil, &got); code != 200 || !got.Whole || got.Looked != got.Fit || got.Total == 0 {
					t.Fatalf("%s %s: %d %+v", p.Name, filter, code, got)
				}
				sum := 0
				for _, place := range got.Places {
					sum += place.Frames
					var found struct{ Fit int }
					if code := servertest.Request(t, s, "GET", at+"/rows?count=1&filter="+url.QueryEscape(place.Filter), nil, &found); code != 200 {
						t.Fatalf("%s: %s: %d", p.Name, place.Filter, code)
					}
					switch {
					case place.Bytes:
						ofBytes++
						if place.Filter != filter {
							t.Errorf("%s: %s: %+v", p.Name, filter, place)
						}
					case place.Field != "":
						ofField++
						fallthrough
					default:
						bits := strings.HasPrefix(filter, "=") && place.Field != "" // such a search looks at bytes: a field of bits has the value in other frames, too
						if found.Fit != place.Frames && place.Filter != filter && !bits || found.Fit < place.Frames {
							t.Errorf("%s %s: %+v finds %d", p.Name, filter, place, found.Fit)
						}
						if place.Filter == filter && !strings.HasPrefix(filter, "=") {
							t.Errorf("%s %s: no filter for %+v", p.Name, filter, place)
						}
					}
				}
				if sum < got.Fit || got.Fit > 0 && len(got.Places) == 0 {
					t.Errorf("%s %s: %d of %d frames are counted", p.Name, filter, sum, got.Fit)
				}
			}
			if code := servertest.Request(t, s, "GET", at+"/where?filter="+url.QueryEscape("len >"), nil, nil); code != 422 {
				t.Error(code)
			}
		}
	}
	if ofField < 20 || ofBytes < 5 {
		t.Errorf("%d places of fields, %d of bytes: the test tests little", ofField, ofBytes)
	}
}
