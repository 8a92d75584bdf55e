package publish

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"wirebench/codec"
	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

func utf16Bytes(text string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// message encodes a message.
func message(t *testing.T, snap *workspace.Snapshot, name, values string) *transport.Frame {
	t.Helper()
	m, err := snap.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := snap.Program(m)
	if err != nil {
		t.Fatal(err)
	}
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, json.RawMessage(values)); err != nil {
		t.Fatalf("%v in %.200s", err, values)
	}
	in.Code = m.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	return &transport.Frame{Kind: transport.Message, Dir: m.Key.Dir, HasKey: true, Key: m.Key, Bytes: bytes.Clone(out.Message()), At: time.Unix(1700000000, 0)}
}

var capsuleFiles = map[string]string{
	"C_LOGIN.1.def":  "string user\nstring password # @secret\nuint64 ticket\n",
	"S_CHAT.1.def":   "string author\nbytes extra\nstring text\nuint64 id\n",
	"S_OTHER.1.def":  "byte never\n",
	"protocol.1.map": "C_LOGIN 17\nS_CHAT 18\nS_OTHER 19\n",
}

// A value that is replaced is nowhere in the capsule, in no encoding, whatever holds it; lengths stay, equal values stay equal, and messages
// are decoded as before.
func TestCapsuleRedacts(t *testing.T) {
	snap := siteOf(t, "tera", capsuleFiles).Snap
	rng := rand.New(rand.NewPCG(5, 6))
	letters := []rune("abcdefghijklmnopqrstuvwxyzäöü😀0123456789")
	word := func() string {
		var b strings.Builder
		for range 8 + rng.IntN(12) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		return b.String()
	}
	rules, err := redact.ParseRules("*.author # who\ntype:uint64\n")
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		password, author, ticket := word(), word(), rng.Uint64()|1<<60
		var frames []Frame
		add := func(x *transport.Frame, remark string) {
			x.N = uint32(len(frames) + 1)
			frames = append(frames, Frame{Frame: x, Remark: remark})
		}
		add(message(t, snap, "C_LOGIN", fmt.Sprintf(`{"user":"me","password":%q,"ticket":"%d"}`, password, ticket)), "the password is "+password)
		add(message(t, snap, "S_CHAT", fmt.Sprintf(`{"author":%q,"extra":"%x","text":%q,"id":"7"}`, author, utf16Bytes(password), "hi "+author)), "")
		add(message(t, snap, "S_CHAT", fmt.Sprintf(`{"author":%q,"extra":"%x","text":"x","id":"7"}`, author, []byte(password))), "")
		unknown := &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, HasKey: true, Key: schema.Key{Dir: schema.ToServer, Code: 999}}
		unknown.Bytes = append([]byte{1, 2}, password...)
		unknown.Bytes = append(unknown.Bytes, utf16Bytes(author)...)
		for i := range 8 {
			unknown.Bytes = append(unknown.Bytes, byte(ticket>>(56-8*i))) // in the other byte order
		}
		add(unknown, "")
		c, preview, err := NewCapsule(snap, frames, CapsuleSpec{Title: "t " + author, Note: "n", At: time.Now(), Rules: rules, Notes: true})
		if err != nil {
			t.Fatal(err)
		}
		page, err := c.Page()
		if err != nil {
			t.Fatal(err)
		}
		all := bytes.Clone(page)
		for _, f := range c.Frames {
			data, err := hex.DecodeString(f.Hex)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
			if m, err := snap.Find(f.Message); err == nil && f.Left == "" {
				p, _ := snap.Program(m)
				var rec codec.Record
				if p.Decode(&rec, data); rec.Status() != codec.OK || len(rec.AppendWarnings(nil)) > 0 {
					t.Errorf("%s: %v", f.Message, rec.AllProblems())
				}
			}
		}
		for _, secret := range []string{password, author} {
			big := utf16Bytes(secret)
			for i := 0; i < len(big); i += 2 {
				big[i], big[i+1] = big[i+1], big[i]
			}
			for _, form := range [][]byte{[]byte(secret), utf16Bytes(secret), big} {
				if bytes.Contains(all, form) || bytes.Contains(all, []byte(hex.EncodeToString(form))) {
					t.Fatalf("%q is in the capsule as % x", secret, form)
				}
			}
		}
		for _, form := range []string{fmt.Sprintf("%016x", ticket), fmt.Sprint(ticket)} {
			if bytes.Contains(page, []byte(form)) {
				t.Fatalf("the ticket is in the capsule as %s", form)
			}
		}
		if len(preview.Gone) != 5 || // with S_CHAT.extra, whose values are all overwritten
			preview.Erased == 0 || preview.Unknown != 1 || preview.Size != len(page) || len(preview.Definitions) != 2 {
			t.Fatalf("%+v", preview)
		}
		// Equal values stay equal.
		a, _ := hex.DecodeString(c.Frames[1].Hex)
		b, _ := hex.DecodeString(c.Frames[2].Hex)
		if author := utf16Bytes(word()); len(a) > 0 && len(b) > 0 && len(author) > 0 && !bytes.Equal(a[20:24], b[20:24]) {
			t.Errorf("% x\n% x", a, b)
		}
	}
}

// A capsule opens as it was made, also from its page, and has the same identity; it explains its messages without the project.
func TestCapsuleOpens(t *testing.T) {
	snap := siteOf(t, "tera", capsuleFiles).Snap
	var frames []Frame
	for i := range 200 {
		x := message(t, snap, "S_CHAT", fmt.Sprintf(`{"author":"someone %d","extra":"0102","text":"</script><b>text</b> %d","id":"%d"}`, i%7, i, i))
		x.N = uint32(i + 1)
		frames = append(frames, Frame{Frame: x, Remark: "<i>note</i>"})
	}
	c, preview, err := NewCapsule(snap, frames, CapsuleSpec{Title: "<b>title</b>", Note: "<script>alert(1)</script>", At: time.Now(), Notes: true})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Page()
	if err != nil {
		t.Fatal(err)
	}
	if preview.Size > 1<<20 {
		t.Errorf("%d bytes for 200 messages", preview.Size)
	}
	for _, bad := range []string{"<b>title", "<script>alert", "</script><b>", "<i>note"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("%s is not escaped", bad)
		}
	}
	text, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range [][]byte{text, page} {
		back, err := ReadCapsule(from)
		if err != nil {
			t.Fatal(err)
		}
		again, err := back.JSON()
		if err != nil || ID(again) != ID(text) {
			t.Errorf("another capsule: %v", err)
		}
		if page2, err := back.Page(); err != nil || !bytes.Equal(page, page2) {
			t.Errorf("another page: %v", err)
		}
		if log, err := back.Log(); err != nil || bytes.Count(log, []byte("\n")) != 200 {
			t.Error(err)
		}
	}
	if !bytes.Contains(page, []byte("someone 3")) || len(c.Files) != 1 {
		t.Error("values or definitions are missing")
	}
}

// What is not a capsule is refused, and a hostile one does no harm.
func TestCapsuleRefused(t *testing.T) {
	var no *CapsuleError
	for _, text := range []string{"", "{}", "[]", `{"format":"wirebench-capsule/2"}`, `{"format":"wirebench-capsule/1","frames":[{"hex":"0"}]}`, string(capsuleBegin) + "{", string(capsuleBegin) + "{}</script>"} {
		if _, err := ReadCapsule([]byte(text)); !errors.As(err, &no) {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, err := ReadCapsule([]byte(`{"format":"wirebench-capsule/1","protocol":"tera","files":[{"name":"../../x.def","text":"uint32 a\n"}],"frames":[{"hex":"0102","message":"../x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Page(); err != nil {
		t.Error(err)
	}
	if _, _, err := NewCapsule(siteOf(t, "tera", capsuleFiles).Snap, nil, CapsuleSpec{}); !errors.As(err, &no) {
		t.Error(err)
	}
}

func FuzzCapsule(f *testing.F) {
	f.Add([]byte(`{"format":"wirebench-capsule/1","protocol":"tera","files":[{"name":"C_A.1.def","text":"uint32 a\nstring b\n"}],"codes":{"C_A":1},"frames":[{"hex":"08000100","message":"C_A.1","dir":"c2s"}]}`))
	f.Add([]byte(`{"format":"wirebench-capsule/1","protocol":"muta","files":[{"name":"a.def","text":"group: g\n\npacket: p\n   __group = g\n   a = uint8\n"}],"constants":{"A":"1"},"frames":[{"hex":"0001","message":"p"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadCapsule(text)
		if err != nil {
			return
		}
		page, err := c.Page()
		if err != nil {
			return
		}
		if _, err := ReadCapsule(page); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRules(t *testing.T) {
	if _, err := redact.ParseRules("two words"); err == nil {
		t.Error("two words are a rule")
	}
	if _, err := redact.ParseRules("type:"); err == nil {
		t.Error("no type is a rule")
	}
	rules, err := redact.ParseRules("# none\n\n name \nC_*.list.id\ntype:vec*")
	if err != nil || len(rules) != 3 {
		t.Error(rules, err)
	}
}
