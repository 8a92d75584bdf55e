package publish

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/pack"
	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// secretText is what must not be read; secretNumber is a number.
const (
	secretText   = "Hunter2&Sesame"
	secretNumber = 0x1234567890abcdef
)

func compressed(t *testing.T, method string, data []byte) []byte {
	t.Helper()
	m, ok := schema.PackingNamed(method)
	if !ok {
		t.Fatal(method)
	}
	out, err := new(pack.Codecs).Compress(nil, m, data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sayings are ways in which bytes of a message can have a text.
func sayings(t *testing.T) map[string][]byte {
	secret := []byte(secretText)
	out := map[string][]byte{
		"plain": secret, "utf16": utf16Bytes(secretText), "hex": []byte(hex.EncodeToString(secret)), "HEX": []byte(strings.ToUpper(hex.EncodeToString(secret))),
		"hex pairs": fmt.Appendf(nil, "% x", secret), "hex in C": fmt.Appendf(nil, "%# x", secret), "escaped hex": []byte(`\x` + strings.Join(strings.Split(fmt.Sprintf("% x", secret), " "), `\x`)),
		"base64": []byte(base64.StdEncoding.EncodeToString(secret)), "base64 in a text": []byte("login:" + base64.RawURLEncoding.EncodeToString(slices.Concat([]byte("u:"), secret, []byte("!")))),
		"url": []byte("pw=" + url.QueryEscape(secretText)), "all percent": []byte("%" + strings.Join(strings.Split(fmt.Sprintf("% X", secret), " "), "%")),
		"html": []byte(html.EscapeString(secretText)), "json": []byte(`"Hunter2\u0026Sesame"`), "quoted-printable": []byte("=48unter2=26Sesame"),
		"base64 in hex": []byte(hex.EncodeToString([]byte(base64.StdEncoding.EncodeToString(secret)))), "base64 in UTF-16": utf16Bytes(base64.StdEncoding.EncodeToString(secret)),
		"base64 of gzip": []byte(base64.StdEncoding.EncodeToString(compressed(t, "gzip", secret))), "gzip of base64": compressed(t, "gzip", []byte(base64.StdEncoding.EncodeToString(secret))),
	}
	long := slices.Concat(bytes.Repeat([]byte("what came before "), 4), secret, bytes.Repeat([]byte(" and what after"), 4))
	for _, method := range schema.Packings() {
		out[method] = compressed(t, method, long)
		out[method+" in zlib"] = compressed(t, "zlib", slices.Concat([]byte{1, 2, 3}, compressed(t, method, long)))
		out[method+" after a size"] = slices.Concat([]byte{0, byte(len(long))}, compressed(t, method, long))
	}
	return out
}

// secretProject is a project whose message "m" has a field of each kind, and others.
func secretProject(t *testing.T) *workspace.Snapshot {
	str := `["pstring", {"countType": "varint"}]`
	fields := []string{
		`{"name": "string", "type": ` + str + `}`, `{"name": "fixed", "type": ["pstring", {"count": 14}]}`, `{"name": "blob", "type": ["buffer", {"countType": "varint"}]}`,
		`{"name": "number", "type": "u64"}`, `{"name": "little", "type": "lu64"}`, `{"name": "variable", "type": "varint64"}`,
		`{"name": "list", "type": ["array", {"countType": "u8", "type": ` + str + `}]}`, `{"name": "chars", "type": ["array", {"countType": "u8", "type": "u8"}]}`,
		`{"name": "kind", "type": "u8"}`, `{"name": "either", "type": ["switch", {"compareTo": "kind", "fields": {"1": ` + str + `, "2": "u64"}, "default": "void"}]}`,
		`{"name": "maybe", "type": ["option", ` + str + `]}`, `{"name": "until", "type": ["entityMetadataLoop", {"endVal": 255, "type": ["container", [{"anon": true, "type": ["container", [{"name": "key", "type": "u8"}, {"name": "said", "type": ` + str + `}]]}]]}]}`,
	}
	for _, method := range schema.Packings() {
		name := strings.ReplaceAll(method, "-", "")
		fields = append(fields, fmt.Sprintf(`{"name": "in%s", "type": ["compressed", {"method": %q, "lengthType": "varint", "type": ["container", [{"name": "id", "type": "u8"}, {"name": "said", "type": %s}]]}]}`, name, method, str),
			fmt.Sprintf(`{"name": "deep%s", "type": ["compressed", {"method": "zlib", "lengthType": "varint", "type": ["container", [{"name": "id", "type": "u8"}, {"name": "in", "type": ["compressed", {"method": %q, "lengthType": "varint", "type": ["container", [{"name": "said", "type": %s}]]}]}]]}]}`, name, method, str))
	}
	return siteOf(t, "protodef", map[string]string{"p.json": `{"types": {"m": ["container", [` + strings.Join(fields, ",\n") + `]], "other": ["container", [{"name": "extra", "type": ["buffer", {"countType": "varint"}]}, {"name": "number", "type": "u64"}, {"name": "packed", "type": ["compressed", {"method": "zstd", "lengthType": "varint", "type": ["container", [{"name": "extra", "type": ["buffer", {"countType": "varint"}]}]]}]}]]}}`}).Snap
}

// values returns the values of the message "m" with a text and a number in the fields that a path begins with; all others are harmless.
func secretValues(secret string) string {
	text := func(path, harmless string) string {
		if path == secret {
			return secretText
		}
		return (harmless + "..............")[:14]
	}
	number := func(path string) string {
		if path == secret {
			return fmt.Sprint(uint64(secretNumber))
		}
		return "7"
	}
	var chars []int
	for _, c := range []byte(text("chars", "c")) {
		chars = append(chars, int(c))
	}
	x := map[string]any{
		"string": text("string", "s"), "fixed": text("fixed", "f"), "blob": hex.EncodeToString([]byte(text("blob", "b"))), "number": number("number"), "little": number("little"), "variable": number("variable"),
		"list": []string{"one", text("list", "l")}, "chars": chars, "kind": 1, "either": text("either", "e"), "maybe": text("maybe", "m"),
		"until": []any{map[string]any{"key": 1, "said": text("until", "u")}},
	}
	for _, method := range schema.Packings() {
		name := strings.ReplaceAll(method, "-", "")
		x["in"+name] = map[string]any{"id": 1, "said": text("in"+name, "i")}
		x["deep"+name] = map[string]any{"id": 1, "in": map[string]any{"said": text("deep"+name, "d")}}
	}
	out, _ := json.Marshal(x)
	return string(out)
}

// readable reports whether the secret can be read in the frames of a log, each decoded, or in the text of the log.
func readable(t *testing.T, snap *workspace.Snapshot, frames []CapsuleFrame, text []byte, ways map[string][]byte) string {
	t.Helper()
	number := [][]byte{[]byte("1234567890abcdef"), []byte("efcdab9078563412"), []byte(fmt.Sprint(uint64(secretNumber)))}
	bad := append(number, []byte(secretText), []byte(html.EscapeString(secretText)))
	all := bytes.ToLower(text)
	for i := range frames {
		data, err := hex.DecodeString(frames[i].Hex)
		if err != nil {
			t.Fatal(err)
		}
		for way, form := range ways {
			if bytes.Contains(data, form) {
				return fmt.Sprintf("message %d: %s", i, way)
			}
		}
		all = append(append(all, strings.ToLower(hex.EncodeToString(data))...), ' ')
		m, err := snap.Find(frames[i].Message)
		if err != nil {
			continue
		}
		p, err := snap.Program(m)
		if err != nil {
			t.Fatal(err)
		}
		var rec codec.Record
		p.Decode(&rec, data)
		all = append(all, bytes.ToLower(value.AppendJSON(nil, &rec))...)
		all = append(all, strings.ToLower(hex.EncodeToString(rec.Data))...)
	}
	for _, b := range bad {
		for _, form := range [][]byte{b, []byte(hex.EncodeToString(b))} {
			if bytes.Contains(all, bytes.ToLower(form)) {
				return string(form)
			}
		}
	}
	return ""
}

// A replaced value of whatever kind of field can be read nowhere, whatever way it stands in other fields, in messages without a definition and in
// notes. The harmless messages stay as they are, and all that were read can be read.
func TestNothingReadable(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	snap := secretProject(t)
	ways := sayings(t)
	kinds := []string{"string", "fixed", "blob", "number", "little", "variable", "list", "chars", "either", "maybe", "until"}
	for _, method := range schema.Packings() {
		name := strings.ReplaceAll(method, "-", "")
		kinds = append(kinds, "in"+name, "deep"+name)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			rule := "m." + kind
			if strings.HasPrefix(kind, "in") || strings.HasPrefix(kind, "deep") || kind == "until" {
				rule = "m." + kind + "*said"
			}
			rules, err := redact.ParseRules(rule)
			if err != nil {
				t.Fatal(err)
			}
			isNumber := kind == "number" || kind == "little" || kind == "variable"
			var frames []Frame
			add := func(x *transport.Frame, remark string) {
				x.N = uint32(len(frames) + 1)
				frames = append(frames, Frame{Frame: x, Remark: remark})
			}
			named := func(name, values string) *transport.Frame {
				x := message(t, snap, name, values)
				x.Name, x.HasKey = name, false
				return x
			}
			add(named("m", secretValues("")), "harmless")
			add(named("m", secretValues(kind)), "")
			if isNumber {
				add(named("other", fmt.Sprintf(`{"extra":"1234567890abcdef","number":"%d","packed":{"extra":"00efcdab9078563412"}}`, uint64(secretNumber))), fmt.Sprint("it is ", uint64(secretNumber)))
			} else {
				for _, way := range slices.Sorted(func(yield func(string) bool) {
					for k := range ways {
						if !yield(k) {
							return
						}
					}
				}) {
					form := ways[way]
					add(named("other", fmt.Sprintf(`{"extra":"%x","number":"7","packed":{"extra":"%x"}}`, form, form)), "a note: "+string(form[:min(len(form), 20)]))
					add(&transport.Frame{Kind: transport.Message, Bytes: form}, "")
				}
				add(named("m", secretValues("string")), secretText)
				add(named("m", secretValues("deepzstd")), "")
			}
			c, preview, err := NewCapsule(snap, frames, CapsuleSpec{Title: "about " + secretText, At: time.Now(), Rules: rules, Notes: true})
			if isNumber {
				c, preview, err = NewCapsule(snap, frames, CapsuleSpec{Title: "about it", At: time.Now(), Rules: rules, Notes: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			page, err := c.Page()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := c.JSON()
			log, _ := c.Log()
			if isNumber {
				ways = nil
			}
			if found := readable(t, snap, c.Frames, slices.Concat(page, text, log), ways); found != "" {
				t.Errorf("it can be read: %s", found)
			}
			if preview.Erased == 0 || len(preview.Gone) == 0 {
				t.Errorf("%+v", preview)
			}
			if m, _ := snap.Find("m"); m != nil {
				p, _ := snap.Program(m)
				var rec codec.Record
				for _, i := range []int{0, 1} {
					data, err := hex.DecodeString(c.Frames[i].Hex)
					if err != nil {
						t.Fatal(err)
					}
					if p.Decode(&rec, data); rec.Status() != codec.OK || len(rec.AllProblems()) > 0 {
						t.Errorf("message %d: %v", i, rec.AllProblems())
					}
				}
			}
			ways = sayings(t)
		})
	}
}

// Fields that look like secrets are named with the reason, in the preview of a capsule and for a reference; a rule for the field replaces it.
func TestSuspects(t *testing.T) {
	s := siteOf(t, "tera", map[string]string{
		"C_LOGIN.1.def": "string user\nstring password\nstring extra\n", "protocol.1.map": "C_LOGIN 17\n",
		"C_LOGIN.1.samples.jsonl": `{"message":"C_LOGIN.1","hex":"1800110010001200160061000000620000006300` + `0000"}` + "\n",
	})
	x := message(t, s.Snap, "C_LOGIN", `{"user":"me","password":"hunter2","extra":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.abcdefgh"}`)
	_, preview, err := NewCapsule(s.Snap, []Frame{{Frame: x}}, CapsuleSpec{At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range preview.Kept {
		lines = append(lines, w.Field+" "+w.Why)
	}
	if got := strings.Join(lines, ", "); got != "C_LOGIN.extra a signed token, C_LOGIN.password its name, C_LOGIN.user " {
		t.Error(got)
	}
	rules, err := redact.ParseRules("\nC_LOGIN.extra\nC_LOGIN.password")
	if err != nil {
		t.Fatal(err)
	}
	c, preview, err := NewCapsule(s.Snap, []Frame{{Frame: x}}, CapsuleSpec{At: time.Now(), Rules: rules})
	if err != nil || len(preview.Gone) != 2 || len(preview.Kept) != 1 {
		t.Errorf("%+v %v", preview, err)
	}
	if page, err := c.Page(); err != nil || !bytes.Contains(page, []byte(`<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; `)) {
		t.Errorf("the page has no policy: %v", err)
	}
	if got := strings.Join(s.Suspects(), " "); got != "C_LOGIN.password" {
		t.Error(got)
	}
}
