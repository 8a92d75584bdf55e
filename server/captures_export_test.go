package server

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// exported returns the file of an export.
func exported(t *testing.T, s *Server, id, query string) (string, http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/captures/"+id+"/export?"+query, nil))
	if w.Code != 200 {
		t.Fatalf("%s: %d %s", query, w.Code, w.Body)
	}
	return w.Body.String(), w.Header()
}

func TestExportText(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "fol%22low%0Aä.txt", []byte(servertest.Follow))
	for query, want := range map[string]string{
		"format=hex":                                      "0102006869\n02\n02\n02\n01050068656c6c6f\n",
		"format=hex&frames=5,1":                           "0102006869\n01050068656c6c6f\n",
		"format=hex&frames=2-3&filter=say":                "",
		"format=hex&filter=" + url.QueryEscape(`len > 5`): "01050068656c6c6f\n",
		"format=csv&frames=1-2&columns=say.text,.nothing": "n,time,conn,dir,kind,code,message,status,len,hex,say.text,.nothing,flags,via,note,marked,remark\n1,,,c2s,message,1,say,ok,5,0102006869,hi,,,,,,\n2,,,c2s,message,2,ping,ok,1,02,,,,,,,\n",
		"format=csv&frames=1&values=true":                 "n,time,conn,dir,kind,code,message,status,len,hex,flags,via,note,marked,remark,values\n1,,,c2s,message,1,say,ok,5,0102006869,,,,,,\"{\"\"text\"\":\"\"hi\"\"}\"\n",
		"format=tsv&frames=5&columns=.text":               "5\t\t\tc2s\tmessage\t1\tsay\tok\t8\t01050068656c6c6f\thello\t\t\t\t\t\n",
	} {
		got, head := exported(t, s, x.ID, query)
		format, _, _ := strings.Cut(strings.TrimPrefix(query, "format="), "&")
		if format == "tsv" {
			_, got, _ = strings.Cut(got, "\n")
		}
		if got != want {
			t.Errorf("%s:\n%s", query, got)
		}
		if d := head.Get("Content-Disposition"); !strings.Contains(d, "."+format) || strings.ContainsAny(d, "\n\r") || !strings.HasPrefix(d, "attachment") {
			t.Error(d)
		}
	}
	all, _ := exported(t, s, x.ID, "format=jsonl")
	var f servertest.Frames
	servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?value=true", nil, &f)
	lines := strings.Split(strings.TrimSuffix(all, "\n"), "\n")
	if len(lines) != len(f.Frames) {
		t.Fatalf("%d lines of %d frames", len(lines), len(f.Frames))
	}
	for i, line := range lines {
		var got, want any
		text, _ := json.Marshal(f.Frames[i])
		if json.Unmarshal([]byte(line), &got) != nil || json.Unmarshal(text, &want) != nil || fmt.Sprint(got) != strings.ReplaceAll(fmt.Sprint(want), "1754-08-30T22:43:41.128654Z", "0001-01-01T00:00:00.000000Z") {
			t.Errorf("%s\n%s", line, text)
		}
	}
	for query, code := range map[string]int{"": 422, "format=xml": 422, "format=hex&filter=len+%3E": 422, "format=hex&frames=0": 422, "format=hex&frames=5-2": 422, "format=hex&frames=a": 422} {
		if got := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/export?"+query, nil, nil); got != code {
			t.Errorf("%q: %d", query, got)
		}
	}
	if got := servertest.Request(t, s, "GET", "/api/one/captures/nothing/export?format=hex", nil, nil); got != 404 {
		t.Error(got)
	}
	letter, err := s.Projects.Find("one").Captures.Add("letter", time.Now(), strings.NewReader("no capture at all"))
	if err != nil {
		t.Fatal(err)
	}
	if got := servertest.Request(t, s, "GET", "/api/one/captures/"+letter.ID+"/export?format=hex", nil, nil); got != 422 {
		t.Error(got)
	}
}

// Cells are unchanged, except for formulas.
func TestExportTable(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	var file bytes.Buffer
	w, _ := pcap.NewWriter(&file, "test")
	iface, _ := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	to := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("[fe80::1]:4000"), Server: netip.MustParseAddrPort("[fe80::2]:5000")})
	if err := to.Open(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	texts := []string{"=1+1", "a,\"b\"\tc", "two\nlines", "-5", "+x", "@a", "plain", "'", "-"}
	for _, text := range texts {
		if err := to.Data(schema.ToServer, time.Unix(1_700_000_000, 5000), append([]byte{1, byte(len(text)), 0}, text...), ""); err != nil {
			t.Fatal(err)
		}
	}
	x := servertest.Keep(t, s, "x", file.Bytes())

	// As listed: exactly the columns that a list shows, in its order, of the chosen rows.
	got, _ := exported(t, s, x.ID, "format=csv&frames=4,7&listed=info,%3Dsay.text,n,delta,dir,code,name,ver,len,flags,conn,time")
	const conn = "[fe80::1]:4000-[fe80::2]:5000"
	if want := "Info,say.text,#,Since the previous row,Direction,Code,Name,Version,Length,Flags,Connection,Time\n" +
		`"text ""-5""",-5,4,0.000000,c2s,0x0001,say,,5,,` + conn + ",2023-11-14T22:13:20.000005Z\n" +
		`"text ""plain""",plain,7,0.000000,c2s,0x0001,say,,8,,` + conn + ",2023-11-14T22:13:20.000005Z\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if status, text := ask(s, "GET "+captureOf(x.ID)+"/export?format=csv&listed=inf", ""); status != 422 || !strings.Contains(text, `no column \"inf\"`) {
		t.Errorf("%d %s", status, text)
	}
	for _, format := range []string{"csv", "tsv"} {
		got, _ := exported(t, s, x.ID, "format="+format+"&columns=say.text")
		in := csv.NewReader(strings.NewReader(got))
		if format == "tsv" {
			in.Comma = '\t'
		}
		rows, err := in.ReadAll()
		if err != nil || len(rows) != len(texts)+1 {
			t.Fatalf("%v\n%s", err, got)
		}
		for i, text := range texts {
			want := text
			if strings.ContainsAny(text[:1], "=+-@") && text != "-5" {
				want = "'" + text
			}
			row := rows[i+1]
			if head := fmt.Sprint(row[:9]); row[10] != want || head != fmt.Sprintf("[%d 2023-11-14T22:13:20.000005Z [fe80::1]:4000-[fe80::2]:5000 c2s message 1 say ok %d]", i+1, len(text)+3) {
				t.Errorf("%s: %q is %q", format, text, row)
			}
		}
	}
}

// The packets of an export equal those of the file bit for bit, and notes are included.
func TestExportPackets(t *testing.T) {
	data := corpora.Own().Read(t, "subspace/vie-session.pcap")
	s := captureServer(t, "subspace", map[string]string{"game.def": servertest.SubspaceText})
	x := servertest.Keep(t, s, "vie.pcap", data)
	if code, got := servertest.Patch(t, s, x.ID, `{"text":"of all","mark":[7],"notes":{"7":"the seventh","8":"no"}}`); code != 200 {
		t.Fatal(got)
	}
	read := func(data []byte) (all []string, notes []string) {
		t.Helper()
		r, err := pcap.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for {
			p, err := r.Next()
			if err != nil {
				return all, append(notes, r.Comments()...)
			}
			all = append(all, fmt.Sprintf("%v %v %d %x", p.At, p.Link, p.Orig, p.Data))
			if p.Comment != "" {
				notes = append(notes, p.Comment)
			}
		}
	}
	original, _ := read(data)
	file, _ := exported(t, s, x.ID, "format=pcapng")
	if got, notes := read([]byte(file)); !slices.Equal(got, original) || !saysAll(notes, "frame 7, marked: the seventh", "frame 8: no", "vie.pcap: of all (all packets") || strings.Contains(fmt.Sprint(notes), "{") {
		t.Errorf("%d packets of %d, %q", len(got), len(original), notes)
	}
	told, _ := exported(t, s, x.ID, "format=pcapng&comments=true")
	if got, notes := read([]byte(told)); !slices.Equal(got, original) || !saysAll(notes, `frame 8: no wirebench-frame: {"n":8,`) {
		t.Errorf("%d packets of %d, %q", len(got), len(original), notes)
	}
	for _, text := range []string{file, told} {
		again := servertest.Keep(t, s, "again.pcapng", []byte(text))
		if again.Notes.Text != "of all" || len(again.Notes.Noted) != 2 {
			t.Errorf("reads back as %+v", again.Notes)
		}
		third, _ := exported(t, s, again.ID, "format=pcapng")
		if _, notes := read([]byte(third)); len(notes) != 3 {
			t.Errorf("exported again: %q", notes)
		}
	}
	var f servertest.Frames
	servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?count=1000", nil, &f)
	var want []string
	numbers := append(slices.Clone(f.Frames[6].From), f.Frames[99].From...)
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		want = append(want, original[n-1])
	}
	file, _ = exported(t, s, x.ID, "format=packets&frames=100,7")
	if got, notes := read([]byte(file)); !slices.Equal(got, want) || !saysAll(notes, "frame 7, marked: the seventh") || len(notes) != 2 {
		t.Errorf("%q, %q; want %q", got, notes, want)
	}

	// Packets by number.
	var p struct {
		Packets []api.PacketInfo
		Note    string
	}
	n := f.Frames[6].From[0]
	if code := servertest.Request(t, s, "GET", fmt.Sprintf("/api/one/captures/%s/packets?n=%d,1,1,999999", x.ID, n), nil, &p); code != 200 || len(p.Packets) != 2 || p.Packets[0].N != 1 || p.Packets[1].N != n {
		t.Fatalf("%d %+v", code, p)
	}
	if got := p.Packets[1]; !strings.HasSuffix(original[n-1], got.Hex) || got.Payload == nil || got.Length != got.Captured-*got.Payload || got.Captured != len(got.Hex)/2 || got.Cut || !strings.HasPrefix(got.Time, "20") {
		t.Errorf("%+v", got)
	}
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/packets", nil, nil); code != 422 {
		t.Error(code)
	}
	text := servertest.Keep(t, s, "x", []byte(servertest.Follow))
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+text.ID+"/packets?n=1", nil, &p); code != 200 || !strings.Contains(p.Note, "text") {
		t.Errorf("%d %+v", code, p)
	}
}

// saysAll reports whether for each prefix some note starts with it.
func saysAll(notes []string, words ...string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, w) }) {
			return false
		}
	}
	return true
}

// The messages of a text are exported in generated packets that give the same messages when read again.
func TestExportMadePackets(t *testing.T) {
	for dialect, def := range map[string]string{"muta": servertest.SayAndPing, "subspace": servertest.SubspaceText} {
		s := captureServer(t, dialect, map[string]string{"game.def": def})
		text := []byte(servertest.Follow)
		if dialect == "subspace" {
			text = []byte("0201020304\n\n0311\n\n" + strings.Repeat("04", 70_000))
		}
		x := servertest.Keep(t, s, "x.txt", text)
		servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID, nil, nil)
		file, head := exported(t, s, x.ID, "format=pcapng")
		if !strings.Contains(head.Get("Content-Disposition"), "x.pcapng") {
			t.Error(head)
		}
		again := servertest.Keep(t, s, "again.pcapng", []byte(file))
		want, _ := exported(t, s, x.ID, "format=hex")
		got, _ := exported(t, s, again.ID, "format=hex")
		if got != want || got == "" {
			t.Errorf("%s:\n%s\nwant\n%s", dialect, got, want)
		}
	}
}

// A client that disconnects ends the export.
func TestExportEndsWithTheClient(t *testing.T) {
	s := captureServer(t, "subspace", nil)
	var file bytes.Buffer
	w, _ := pcap.NewWriter(&file, "test")
	iface, _ := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	to := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.UDP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:5000")})
	for i := range 20_000 {
		if err := to.Data(schema.ToServer, time.Unix(int64(i), 0), bytes.Repeat([]byte{2}, 200), ""); err != nil {
			t.Fatal(err)
		}
	}
	x := servertest.Keep(t, s, "x", file.Bytes())
	for _, format := range []string{"pcapng", "jsonl", "csv", "hex"} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &goingAway{ResponseRecorder: httptest.NewRecorder(), left: 100_000, cancel: cancel}
		s.ServeHTTP(out, httptest.NewRequestWithContext(ctx, "GET", "/api/one/captures/"+x.ID+"/export?format="+format, nil))
		if out.after > 1 {
			t.Errorf("%s: %d writes come after the client has gone", format, out.after)
		}
		if n := out.Body.Len(); n < 100_000 || n > 400_000 {
			t.Errorf("%s: %d bytes", format, n)
		}
	}
	if got := s.captures.Load(); got.Open != 1 || got.Held != 0 {
		t.Errorf("%+v", got)
	}
}

// goingAway is a client that disconnects after some bytes.
type goingAway struct {
	*httptest.ResponseRecorder
	left, after int
	cancel      func()
}

func (w *goingAway) Write(p []byte) (int, error) {
	if w.left <= 0 {
		w.after++
		return 0, errors.New("gone")
	}
	if w.left -= len(p); w.left <= 0 {
		w.cancel()
	}
	return w.ResponseRecorder.Write(p)
}

func TestParseRanges(t *testing.T) {
	number := func(id transport.FrameID) uint64 { return uint64(id.Packet) % 10 } // packet 10 has no frame
	for text, want := range map[string]string{
		"": "[]", " 5 ": "[{5 5}]", "9,1-3,2-4,5": "[{1 5} {9 9}]", "4294967295": "[{4294967295 4294967295}]", "7:0:0,1,18:4:1": "[{1 1} {7 8}]", "10:0:0": "[]",
	} {
		if got, err := frames.ParseRanges(text, number); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "1,,2", "3-1", "-1", "1-", "4294967296", "x", "1:2", "1:2:3-4:5:6", strings.Repeat("1,", frames.MaxRanges) + "1"} {
		if got, err := frames.ParseRanges(text, number); err == nil {
			t.Errorf("%.20q: %v", text, got)
		}
	}
}

func FuzzParseRanges(f *testing.F) {
	f.Add("1,2,5-9")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := frames.ParseRanges(text, func(id transport.FrameID) uint64 { return uint64(id.Off) })
		if err != nil {
			return
		}
		last := -1
		for _, r := range got {
			if r.From <= last+1 || r.To < r.From {
				t.Errorf("%q: %v", text, got)
			}
			last = r.To
		}
	})
}

// Changes, enclosing packets and notes of frames come after all other columns.
func TestExportTableTold(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "x", []byte(servertest.Follow))
	if code, got := servertest.Patch(t, s, x.ID, `{"mark":[2],"notes":{"1":"=the \"first\"","2":"b"}}`); code != 200 {
		t.Fatal(got)
	}
	got, _ := exported(t, s, x.ID, "format=csv&frames=1-2&columns=.text")
	rows, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v\n%s", err, got)
	}
	for i, want := range [][]string{{".text", "flags", "via", "note", "marked", "remark"}, {"hi", "", "", "", "", `'=the "first"`}, {"", "", "", "", "true", "b"}} {
		if !slices.Equal(rows[i][10:], want) {
			t.Errorf("line %d: %q", i, rows[i])
		}
	}

	// The recording of an operated session has the changes.
	told := servertest.Keep(t, s, "told.jsonl", []byte(`{"n":1,"time":"2026-01-02T03:04:05.000000Z","conn":"1.1.1.1:1-2.2.2.2:2","dir":"c2s","kind":"message","from":[1],"code":2,"via":["cluster","reliable"],"hex":"02","flags":["injected","dropped"],"note":"odd"}`+"\n"))
	got, _ = exported(t, s, told.ID, "format=tsv")
	if !strings.HasSuffix(got, "\tinjected,dropped\tcluster,reliable\todd\t\t\n") {
		t.Errorf("%q", got)
	}
}
