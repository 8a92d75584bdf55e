package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/servertest"
)

// Commands print the same with the definitions of a folder and with those of a project of a server, whose library the folder is.
func TestRemoteCommandsPrintTheSame(t *testing.T) {
	dir := write(t, map[string]string{
		"C_JOIN.1.def": "string name\nuint16 level\n", "sub/S_SAY.1.def": "int32 id\nstring text\n", "C_OLD.1.def": "in32 a\n",
		"C_SAY.1.def": "string text\n", "protocol.1.map": "C_JOIN 1\nS_SAY 2\nC_SAY 4097\n",
	})
	capture := filepath.Join(t.TempDir(), "a.pcapng")
	if err := os.WriteFile(capture, servertest.Chat(t, 20), 0o644); err != nil {
		t.Fatal(err)
	}
	addr, _ := started(t, "--listen", "127.0.0.1:0", "--library", dir, "--protocol", "tera")
	local, remote := []string{"--library", dir}, []string{"--server", "http://" + addr, "--project", "tera"}
	const join = "0e000100080005006800690000000000"
	both := func(stdin string, args ...string) (string, int) {
		t.Helper()
		out, errs, status := cli(t, stdin, append(args[:len(args):len(args)], local...)...)
		gotOut, gotErrs, gotStatus := cli(t, stdin, append(args[:len(args):len(args)], remote...)...)
		if out != gotOut || errs != gotErrs || status != gotStatus {
			t.Errorf("%v: %d %s%s\nby the server: %d %s%s", args, status, out, errs, gotStatus, gotOut, gotErrs)
		}
		return out, status
	}
	for _, c := range []struct {
		stdin  string
		args   []string
		status int
		want   string
	}{
		{join + "\nzz\n0400ffff\n", []string{"decode"}, 1, "C_JOIN.1"},
		{join, []string{"decode", "--json", "--fields"}, 0, `"message":"C_JOIN"`},
		{"0x0e, 0x00, 0x01, 0x00", []string{"decode", "--paste"}, 1, "C_JOIN"},
		{`{"name":"hi","level":5}` + "\n{\"nmae\":1}\n", []string{"encode", "--message", "C_JOIN"}, 1, "0100"},
		{`{"text":"hi"}`, []string{"encode", "--json", "--message", "S_SAY", "--code", "9"}, 0, `{"hex":"`},
		{"", []string{"layout", "--message", "S_SAY"}, 0, "S_SAY.1"},
		{"", []string{"layout", "--message", "S_SAY", "--json", "--field", "text"}, 0, `"path":"text"`},
		{"", []string{"layout", "--message", "NONE"}, 2, ""},
		{"", []string{"emit", "--target", "c"}, 0, "C_JOIN"},
		{"", []string{"emit", "--target", "lua", "--json"}, 0, "C_JOIN"},
		{"", []string{"frames", capture}, 0, "C_SAY"},
		{"", []string{"frames", "--json", "--value", "--filter", "len > 4", capture}, 0, "{"},
		{"", []string{"diff", join, strings.Replace(join, "0500", "0600", 1)}, 1, "level"},
	} {
		if c.args[0] == "emit" && c.args[len(c.args)-1] == "c" {
			c.args, c.want = append(c.args, "--out", t.TempDir()), ""
		}
		if out, status := both(c.stdin, c.args...); status != c.status && c.args[0] != "decode" && c.args[0] != "frames" && c.args[0] != "emit" || !strings.Contains(out, c.want) {
			t.Errorf("%v: %d %s", c.args, status, out)
		}
	}

	out, _, status := cli(t, "", "check", dir)
	got, _, gotStatus := cli(t, "", append([]string{"check"}, remote...)...)
	if want := strings.ReplaceAll(out, dir+"/", ""); got != want || status != 1 || gotStatus != 1 || !strings.Contains(got, `unknown type "in32"`) {
		t.Errorf("check: %d %s\nby the server: %d %s", status, want, gotStatus, got)
	}
	out, _, status = cli(t, "", "check", "--json", "--against", capture, dir)
	got, _, gotStatus = cli(t, "", append([]string{"check", "--json", "--against", capture}, remote...)...)
	if out != got || status != gotStatus || !strings.Contains(out, "C_SAY") {
		t.Errorf("check --against: %d %s\nby the server: %d %s", status, out, gotStatus, got)
	}

	// The settings of the project apply, and flags over them.
	if _, errs, status := cli(t, "", "call", "settings", "project=tera", "patch=73", "--server", "http://"+addr); status != 0 {
		t.Fatal(errs)
	}
	local = append(local, "--patch", "73")
	if out, _ := both("", "layout", "--message", "S_SAY", "--json"); out == "" {
		t.Error("no layout")
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"decode", "--server", "http://" + addr}, "--project"},
		{[]string{"decode", "--server", "http://" + addr, "--project", "none"}, "project none not found"},
		{[]string{"decode", "--server", "ftp://x", "--project", "tera"}, "--server ftp://x: must be http"},
		{append([]string{"decode", "--library", dir}, remote...), "of one of them"},
		{append([]string{"check", dir}, remote...), "of one of them"},
		{append([]string{"check"}, remote[:2]...), "--project"},
	} {
		if _, errs, status := cli(t, "", c.args...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s", c.args, status, errs)
		}
	}
}

// Call calls operations on a running server or on a data folder, and prints their answers.
func TestCall(t *testing.T) {
	file, capture := filepath.Join(write(t, joinLib), "C_JOIN.1.def"), filepath.Join(t.TempDir(), "a.pcapng")
	if err := os.WriteFile(capture, servertest.Chat(t, 20), 0o644); err != nil {
		t.Fatal(err)
	}
	list, _, status := cli(t, "", "call", "--json")
	if n := strings.Count(list, "\n"); n < 100 || status != 0 || !strings.Contains(list, `{"name":"decode","method":"POST","path":"/api/v1/projects/{project}/decode","group":"messages","role":"viewer","takes":["project"]`) {
		t.Errorf("%d operations: %d %.300s", n, status, list)
	}
	for _, where := range []string{"--data", "--server"} {
		t.Run(where, func(t *testing.T) {
			data := t.TempDir()
			flags := []string{"--data", data}
			if where == "--server" {
				addr, _ := started(t, "--listen", "127.0.0.1:0", "--data", data)
				flags = []string{"--server", "http://" + addr}
			}
			call := func(stdin string, args ...string) (string, string, int) {
				return cli(t, stdin, append(append([]string{"call"}, args...), flags...)...)
			}
			ok := func(want string, args ...string) string {
				t.Helper()
				out, errs, status := call("", args...)
				if status != 0 || !strings.Contains(out, want) {
					t.Errorf("%v: %d %s%s, want %s", args, status, out, errs, want)
				}
				return out
			}
			ok(`"project":"mine"`, "upload-any", "name=mine", "files=@"+file)
			ok(`"state":"open"`, "project", "project=mine")
			ok("\n", "read", "project=mine", "file=C_JOIN.1.def", "--accept", "text/plain")
			ok(`"revision"`, "write", "project=mine", "file=C_NEW.1.def", "text=uint32 id\n")
			ok(`"hex":"0800010007000000"`, "encode", "project=mine", "message=C_NEW", `value={"id":7}`, "code=1")
			ok(`"status":"ok"`, "decode", "project=mine", "message=C_NEW", "hex=0800010007000000")
			ok(`"patch":"73"`, "settings", "project=mine", "patch=73")
			var x struct{ ID string }
			if out := ok(`"id"`, "add-capture", "project=mine", "name=a", "--body", capture); json.Unmarshal([]byte(out), &x) != nil {
				t.Fatal(out)
			}
			ok("1,", "export", "project=mine", "id="+x.ID, "format=csv")
			want, err := os.ReadFile(capture)
			if err != nil {
				t.Fatal(err)
			}
			if out := ok("", "capture", "project=mine", "id="+x.ID); out != string(want) {
				t.Errorf("the capture comes back as %d bytes, %s…", len(out), hex.EncodeToString([]byte(out[:min(8, len(out))])))
			}
			ok("", "drop-capture", "project=mine", "id="+x.ID)
			if out, errs, status := call("0800010007000000\nzz\n", "decode", "project=mine", "--body", "-", "--type", "application/x-ndjson"); status != 0 || strings.Count(out, "\n") != 2 {
				t.Errorf("a stream: %d %s%s", status, out, errs)
			}
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{"decod"}, `did you mean "decode"?`},
				{[]string{"decode"}, "needs project"},
				{[]string{"decode", "mine"}, "give NAME=VALUE"},
				{[]string{"decode", "project=mine", "hx=00"}, `did you mean "hex"?`},
				{[]string{"captures", "project=mine", "x=1"}, "unknown parameter"},
				{[]string{"captures", "project=mine", "--body", file}, "takes no body"},
				{[]string{"write", "project=mine", "file=x.def", "text=a", "--body", file}, "whole body"},
				{[]string{"upload", "project=mine", "--body", file}, "takes a form"},
				{[]string{"upload", "project=mine", "files=x"}, "files=@PATH"},
				{[]string{"upload", "project=mine", "files=@" + file + "no"}, "no such file"},
				{[]string{"add-capture", "project=mine", "--body", file + "no"}, "no such file"},
				{[]string{"live", "project=mine"}, "websocket"},
			} {
				if out, errs, status := call("", c.args...); status != 2 || !strings.Contains(errs, c.want) || out != "" {
					t.Errorf("%v: %d %s%s, want %s", c.args, status, out, errs, c.want)
				}
			}
		})
	}
}
