package server

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/server/store"
)

func TestPatchCapture(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "follow.txt", []byte(servertest.Follow))
	for _, c := range []struct {
		body, want string
	}{
		{`{"name":"Friday","text":"of all","mark":[5,2,5],"notes":{"2":"a ping","3":"x"}}`, `{"marked":[2,5],"frames":{"2":"a ping","3":"x"},"text":"of all","noted":[{"id":"1:5:0","n":2,"mark":true,"note":"a ping"},{"id":"1:6:0","n":3,"note":"x"},{"id":"1:8:0","n":5,"mark":true}]}`},
		{`{"unmark":[2,9],"notes":{"3":null,"4":null}}`, `{"marked":[5],"frames":{"2":"a ping"},"text":"of all","noted":[{"id":"1:5:0","n":2,"note":"a ping"},{"id":"1:8:0","n":5,"mark":true}]}`},
		{`{}`, `{"marked":[5],"frames":{"2":"a ping"},"text":"of all","noted":[{"id":"1:5:0","n":2,"note":"a ping"},{"id":"1:8:0","n":5,"mark":true}]}`},
		{`{"text":"","mark":[5],"unmark":[5],"notes":{"2":""}}`, `{}`},
		{`{"framing":" Prefixed:2LE + self ","keys":"* subspace 0x1234abcd"}`, `"framing":"prefixed:2le+self","keyed":true`},
		{`{"framing":"","keys":""}`, `"notes":{}}`},
	} {
		if code, got := servertest.Patch(t, s, x.ID, c.body); code != 200 || !strings.Contains(got, c.want) || !strings.Contains(got, `"name":"Friday"`) || strings.Contains(got, "1234abcd") {
			t.Errorf("%s: %d %s", c.body, code, got)
		}
	}
	for _, c := range []struct {
		body, want string
		code       int
	}{
		{`{"mark":[0]}`, "numbered from 1", 422},
		{`{"notes":{"x":"y"}}`, "neither a number nor an identity", 422},
		{`{"notes":{"0":"y"}}`, "numbered from 1", 422},
		{`{"notes":{"1:2":"y"}}`, "neither a number nor an identity", 422},
		{`{"mark":["0:0:0"]}`, "neither a number nor an identity", 422},
		{fmt.Sprintf(`{"notes":{"1":%q}}`, strings.Repeat("x", store.MaxNote+1)), "length", 422},
		{fmt.Sprintf(`{"notes":{"1":%q}}`, strings.Repeat("ä", store.MaxNote)), "at most 4096 are allowed", 422},
		{`{"name":""}`, "length", 422},
		{`{"framing":"lines"}`, "is not a framing", 422},
		{`{"keys":"* tera 12"}`, "line 1: the key must be", 422},
		{`{"size":1}`, "unexpected property", 422},
		{`{`, "", 400},
	} {
		if code, got := servertest.Patch(t, s, x.ID, c.body); code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%.60s: %d %.300s", c.body, code, got)
		}
	}
	if code, _ := servertest.Patch(t, s, "nothing", `{}`); code != 404 {
		t.Error(code)
	}
}
