package stream

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Limits of detection.
const (
	maxSamples   = 8
	maxTraffic   = 4 << 20   // bytes of all samples
	maxDecoded   = 1 << 20   // the same, with definitions
	maxWalk      = 256 << 10 // bytes of a direction in which framings are tried
	maxFrames    = 2000      // frames of a direction in which framings are tried
	maxLook      = 32        // framings that are looked at closely
	maxClose     = 8         // framings for which compression and states are tried
	maxConstant  = 8         // bytes before a length, and the constant added to it
	maxRun       = 10_000    // frames that are cut with each envelope
	maxTried     = 2000      // messages that are decoded for each assignment of states
	leastBytes   = 8         // of the traffic
	maxSegments  = 1 << 16   // of a sample
	maxCandidate = 12
)

// Sample is the traffic of one connection from its start, in order of arrival. Its segments are not changed.
type Sample []transport.Segment

// Library is the definitions with which detection compares messages.
type Library interface {
	Definitions
	Groups() []string
}

// Candidate is an envelope that detection proposes, with the evidence for it.
type Candidate struct {
	Envelope *envelope.Envelope
	Text     string
	Used     int64 // bytes in frames
	Total    int64 // bytes that were examined: those of all samples, up to limits
	Frames   int
	Mean     float64 // bytes of a frame
	Packed   int     // frames that are compressed
	Aligned  float64 // share of the segments at whose end a frame ends
	Known    int     // messages with a definition
	Exact    int     // messages that their definition reads exactly

	empty int // frames without bytes
	score float64
}

// String returns the evidence as a sentence.
func (c *Candidate) String() string {
	s := fmt.Sprintf("%s of %s bytes in %s frames of %.1f bytes on average; a frame ends at the end of %.0f %% of the segments", thousands(c.Used), thousands(c.Total), thousands(c.Frames), c.Mean, 100*c.Aligned)
	if c.Packed > 0 {
		s += fmt.Sprintf("; %s frames are compressed", thousands(c.Packed))
	}
	if c.Known > 0 {
		s += fmt.Sprintf("; %s messages have a definition, and %s fit it exactly", thousands(c.Known), thousands(c.Exact))
	}
	return s
}

// thousands writes a number in groups of three digits.
func thousands[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Detect proposes envelopes for the traffic of connections of one protocol, the most likely first. udp tells that segments are datagrams.
// lib may be nil. Encrypted traffic has no candidates, as its lengths look random.
func Detect(samples []Sample, udp bool, lib Library) []Candidate {
	d := detector{udp: udp, lib: lib}
	for _, s := range samples[:min(len(samples), maxSamples)] {
		d.add(s)
	}
	if d.total < leastBytes {
		return nil
	}
	d.framings()
	var out []Candidate
	for i, x := range d.tried[:min(len(d.tried), maxLook)] {
		if c, ok := d.look(x.text, x.cost, i < maxClose); ok {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.score, a.score) })
	return out[:min(len(out), maxCandidate)]
}

// detector is the state of a detection.
type detector struct {
	udp     bool
	lib     Library
	samples []Sample
	streams []streamed
	total   int64
	tried   []tried
	packing *packing // of the framing that is examined, nil if none was found
}

// streamed is the start of one direction, or all datagrams of one.
type streamed struct {
	data []byte
	ends []int // of the segments in data
}

// tried is a framing that consumes most bytes.
type tried struct {
	text  string
	cost  float64 // of a form that is less common
	score float64
}

func (d *detector) add(s Sample) {
	s = s[:min(len(s), maxSegments)]
	most := int64(maxTraffic)
	if d.lib != nil {
		most = maxDecoded
	}
	for i, size := 0, d.total; i < len(s); i++ {
		if size += int64(len(s[i].Bytes)); size > most {
			s = s[:i]
		}
	}
	d.samples = append(d.samples, s)
	var x [2]streamed
	var cut [2]bool
	for i := range s {
		seg := &s[i]
		way := envelope.Way(seg.Dir)
		d.total += int64(len(seg.Bytes))
		cut[way] = cut[way] || seg.Lost != 0 && !d.udp
		if cut[way] || len(seg.Bytes) == 0 || len(x[way].data)+len(seg.Bytes) > maxWalk {
			continue
		}
		x[way].data = append(x[way].data, seg.Bytes...)
		x[way].ends = append(x[way].ends, len(x[way].data))
	}
	for _, one := range x {
		if len(one.data) > 0 {
			d.streams = append(d.streams, one)
		}
	}
}

// framings tries the framings and keeps those that consume most bytes.
func (d *detector) framings() {
	try := func(text string, cost float64) {
		e, diags := envelope.Parse(source.New("detected", d.prefix()+text+"\ncode none any\n"))
		if diags.HasErrors() {
			return
		}
		d.try(&e.States[0].Frame[0], text, cost)
	}
	for _, n := range []string{
		"varint", "varint be", "u8", "u16 le", "u16 be", "u24 le", "u24 be", "u32 le", "u32 be", "u40 le", "u40 be", "u48 le", "u48 be", "u56 le", "u56 be", "u64 le", "u64 be",
	} {
		d.lengths(n)
	}
	for i, x := range []string{"0d 0a", "0a", "00", "03", "ff"} {
		try("frame delimiter "+x, 0.05+0.01*float64(i))
	}
	if n := d.divisor(); n >= 2 && n <= 1500 {
		try(fmt.Sprintf("frame fixed %d", n), 0.3)
	}
	slices.SortStableFunc(d.tried, func(a, b tried) int { return cmp.Compare(b.score, a.score) })
	if d.udp {
		d.tried = append([]tried{{text: "frame datagram", cost: 0.02}}, d.tried...)
	}
	if d.lib != nil {
		d.tried = append([]tried{{text: "frame measured", cost: 0.1}}, d.tried...)
	}
}

// lengths tries the framings with a length of a form: total size = number + constant, after some bytes.
func (d *detector) lengths(form string) {
	e, _ := envelope.Parse(source.New("detected", "frame length "+form+"\ncode none any\n"))
	f := e.States[0].Frame[0]
	size := max(f.Number.Size, 1)
	for at := range maxConstant + 1 {
		for counts := envelope.Rest; counts <= envelope.All; counts++ {
			if at == 0 && counts == envelope.All {
				continue // the same as itself
			}
			for add := int64(-maxConstant); add <= maxConstant; add++ {
				if add != 0 && counts != envelope.Rest {
					continue
				}
				if add < 0 && (-add == int64(size) || -add == int64(size+at)) && f.Number.Kind == envelope.UInt {
					continue // the same as one that counts itself
				}
				f.At, f.Counts, f.Add = at, counts, add
				cost := 0.005*float64(at) + 0.01*float64(counts)
				if add != 0 {
					cost += 0.1 + 0.01*float64(max(add, -add))
				}
				if at > 0 {
					cost += 0.04
				}
				if s := f.Number.Size; s > 4 || s == 3 {
					cost += 0.02
				}
				d.try(&f, "frame "+f.String(), cost)
			}
		}
	}
}

// try walks the streams in frames of a framing, and keeps it if it consumes at least half of the bytes.
func (d *detector) try(f *envelope.Framing, text string, cost float64) {
	used, total, frames, aligned, ends, none := 0, 0, 0, 0, 0, 0
	for i := range d.streams {
		s := &d.streams[i]
		next := 0 // index of the next end
		walked, at := len(s.data), 0
		for n := 0; at < len(s.data); n++ {
			if n == maxFrames {
				walked = at
				break
			}
			b := s.data[at:]
			if d.udp {
				for s.ends[next] <= at {
					next++
				}
				b = s.data[at:s.ends[next]]
			}
			x := cut(f, b, 0, d.udp, nil)
			if x.total <= 0 {
				break
			}
			if x.size() == x.before {
				none++
			}
			at += x.total
			frames++
			for next < len(s.ends) && s.ends[next] < at {
				next++
			}
			if next < len(s.ends) && s.ends[next] == at {
				aligned++
			}
			used += x.total
		}
		total += walked
		for _, end := range s.ends {
			if end > walked {
				break
			}
			ends++
		}
		if used < total/2 {
			return // of the streams so far
		}
	}
	if frames < 2 || 2*none > frames || d.udp && used < total {
		return
	}
	d.tried = append(d.tried, tried{text, cost, share(used, total) + 0.5*share(aligned, ends) - cost})
}

func share(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

// divisor returns the greatest common divisor of the sizes of the segments.
func (d *detector) divisor() int {
	n := 0
	for i := range d.streams {
		last := 0
		for _, end := range d.streams[i].ends {
			a, b := n, end-last
			for b != 0 {
				a, b = b, a%b
			}
			n, last = a, end
		}
	}
	return n
}

func (d *detector) prefix() string {
	if d.udp {
		return "carrier udp\n"
	}
	return ""
}

// seen is a frame of a sample.
type seen struct {
	sample, way int
	message     []byte // before decompression
	head        int    // bytes that are never compressed
}

// look examines a framing: compression, the form of the code, states.
func (d *detector) look(frameText string, cost float64, closely bool) (Candidate, bool) {
	d.packing = nil
	if frameText == "frame measured" || !closely {
		return d.best(frameText, "", cost, closely)
	}
	frames := d.run(d.prefix()+frameText+"\ncode none any\n", nil).frames
	if len(frames) < 2 {
		return Candidate{}, false
	}
	lines := ""
	for i := range d.samples {
		one := slices.DeleteFunc(slices.Clone(frames), func(f seen) bool { return f.sample != i })
		p := findPacking(one)
		if p == nil {
			continue
		}
		if lines = p.line(one, codeForms(frameText)[0]); lines != "" {
			cost -= 0.2
			d.packing = p
			break
		}
	}
	return d.best(frameText, lines, cost, true)
}

// codeForms returns the forms of codes to try, the most likely first: that of the length, then others.
func codeForms(frameText string) []string {
	forms := []string{"u8", "u16 le", "u16 be", "u32 le", "u32 be", "varint"}
	first := "u8"
	if strings.Contains(frameText, "varint") {
		first = "varint"
	}
	i := slices.Index(forms, first)
	forms = slices.Delete(forms, i, i+1)
	return append([]string{first}, forms...)
}

// best returns the best candidate with a framing.
func (d *detector) best(frameText, lines string, cost float64, closely bool) (Candidate, bool) {
	var best Candidate
	for i, code := range d.forms(frameText, lines, closely) {
		head := d.prefix() + frameText + "\ncode " + code + "\n"
		all := []string{lines}
		if closely {
			all = d.states(head, lines)
		}
		for _, states := range all {
			c, ok := d.candidate(head + states)
			if !ok {
				continue
			}
			c.score = 2*share(int(c.Used), int(c.Total)) + 0.5*c.Aligned - cost - 0.01*float64(i) - share(c.empty, c.Frames)
			if d.lib != nil {
				c.score += 2 * share(c.Exact, min(c.Frames, maxTried))
			}
			if best.Text == "" || c.score > best.score {
				best = c
			}
		}
	}
	return best, best.Text != ""
}

// forms returns the forms of codes to try with a framing: without definitions only the most likely one, otherwise the two with which most
// messages have a definition.
func (d *detector) forms(frameText, lines string, closely bool) []string {
	forms := codeForms(frameText)
	if d.lib == nil || !closely {
		return forms[:1]
	}
	if frameText == "frame measured" {
		return forms
	}
	known := map[string]int{}
	for _, form := range forms {
		for _, m := range d.messages(d.prefix() + frameText + "\ncode " + form + "\n" + lines) {
			for _, g := range d.lib.Groups() {
				if !m.hasCode {
					continue
				}
				if of := d.lib.Lookup(schema.Key{Dir: dirs[m.way], Group: g, Code: m.code}); of != nil {
					if known[form] += 2; codeForm(of) == form {
						known[form]++ // small codes look the same in several forms
					}
					break
				}
			}
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(known[b], known[a]) })
	return forms[:2]
}

// codeForm returns the form of the code at the start of a definition, "" if it has none.
func codeForm(m *schema.Message) string {
	if m.Body == nil || len(m.Body.Wire) == 0 || m.Body.Wire[0].Kind != schema.Code {
		return ""
	}
	x := &m.Body.Wire[0]
	n := envelope.Number{Kind: envelope.UInt, Size: x.Bits / 8, Order: x.Order}
	if x.Num != nil {
		n.Size, n.Order = x.Num.Bits/8, x.Num.Order
		if x.Num.Var == schema.LEB128 {
			return "varint"
		}
	}
	return n.String()
}

// candidate reads the samples with an envelope. ok is false if it explains too little.
func (d *detector) candidate(text string) (c Candidate, ok bool) {
	e, diags := envelope.Parse(source.New("detected", text))
	if diags.HasErrors() {
		return c, false
	}
	x := d.run(text, d.lib)
	c = Candidate{Envelope: e, Text: text, Used: x.used, Total: x.total, Frames: x.count, Packed: x.packed, Known: x.known, Exact: x.exact, Aligned: share(x.aligned, x.ends), empty: x.empty}
	if c.Frames < 2 || 10*c.Used < 9*c.Total {
		return c, false
	}
	c.Mean = float64(c.Used) / float64(c.Frames)
	return c, true
}

// result is how an envelope reads the samples.
type result struct {
	used, total   int64 // bytes; those that were examined
	count         int
	packed        int
	empty         int
	aligned, ends int
	known, exact  int
	frames        []seen
}

// run reads the samples with an envelope.
func (d *detector) run(text string, lib Library) (x result) {
	e, diags := envelope.Parse(source.New("detected", text))
	if diags.HasErrors() {
		return x
	}
	j := judge{lib: lib}
	for i, s := range d.samples {
		o := Options{Envelope: e}
		if lib != nil {
			o.Definitions = lib
		}
		t := New(o)
		t.take = func(u *unit) {
			l := t.legs[u.w.index]
			if u.frame.total == 0 || u.bad {
				return
			}
			x.used += int64(len(u.wire))
			x.count++
			if u.comp.on && (u.comp.header == envelope.NoHeader || len(u.wire) > 0 && len(u.message) != u.frame.size()-headerSize(&u.comp, u)) {
				x.packed++
			}
			if len(u.message) == 0 {
				x.empty++
			}
			if lib == nil && len(x.frames) < maxTried*4 {
				x.frames = append(x.frames, seen{i, u.w.index, bytes.Clone(u.message), u.frame.head})
			}
			if lib != nil && x.count <= maxTried {
				known, exact := j.judge(u.key, u.hasKey, u.message)
				x.known += known
				x.exact += exact
			}
			t.deliver(l, u)
		}
		t.emit = func(*transport.Frame) {}
		for k := range s {
			if x.count >= maxRun {
				return x
			}
			seg := s[k]
			x.total += int64(len(seg.Bytes))
			t.feed(&seg)
			if len(seg.Bytes) > 0 {
				x.ends++
				if w := &t.ways[envelope.Way(seg.Dir)]; len(w.buf) == w.done && w.dead == "" {
					x.aligned++
				}
			}
		}
	}
	return x
}

// headerSize returns the size of the compression header of a unit.
func headerSize(c *compression, u *unit) int {
	if c.header == envelope.NoHeader {
		return 0
	}
	_, n := readNumber(&c.number, u.wire[min(u.frame.before+u.frame.length, len(u.wire)):])
	return max(n, 0)
}

// judge decodes messages.
type judge struct {
	lib Library
	f   fields
}

func (j *judge) judge(key schema.Key, hasKey bool, message []byte) (known, exact int) {
	if !hasKey {
		return 0, 0
	}
	m := j.lib.Lookup(key)
	if m == nil {
		return 0, 0
	}
	p, err := j.lib.Program(m)
	if err != nil {
		return 0, 0
	}
	p.Decode(&j.f.rec, message)
	if j.f.rec.Status() == 0 && j.f.rec.Used == len(message) {
		return 1, 1
	}
	return 1, 0
}

// packing is a compression that was found.
type packing struct {
	from   int // index of the first frame with the header
	method string
	header string // "size varint", or "" if all frames are compressed
	number envelope.Number
	least  int // bytes of the smallest message that is compressed
	most   int // bytes of the largest message that is not
}

// findPacking looks for a compression header that all frames from some place on have.
func findPacking(frames []seen) *packing {
	var x codecs
	var best *packing
	for _, header := range []string{"size varint", "size u32 be", "size u32 le", "size u24 be", "size u24 le", "size u16 be", "size u16 le", "flag u8", ""} {
		for i, method := range schema.Packings() {
			p := tryPacking(&x, frames, header, method, schema.Packing(i+1))
			if p != nil && (best == nil || p.from < best.from) {
				best = p
			}
		}
	}
	return best
}

// maxUnpacked bounds the data that are decompressed to recognise a compression, for each method.
const maxUnpacked = 1 << 20

func tryPacking(x *codecs, frames []seen, header, name string, method schema.Packing) *packing {
	p := &packing{method: name, header: header, from: len(frames), least: 1 << 30}
	c := compression{method: method, on: true}
	if header != "" {
		e, _ := envelope.Parse(source.New("detected", "frame fixed 1\ncode u8\ncompress "+name+" "+header+"\n"))
		c = newCompression(&e.Compress[0])
		p.number = c.number
	} else if method == schema.Deflate || method == schema.LZ4Block || method == schema.Snappy {
		return nil // nearly any bytes could be that
	}
	packed, room := 0, maxUnpacked
	var out []byte
	for i := len(frames) - 1; i >= 0; i-- {
		body := frames[i].message[frames[i].head:]
		if len(body) == 0 {
			break
		}
		v, n := readNumber(&c.number, body)
		if header != "" && n <= 0 {
			break
		}
		if header != "" && v == 0 {
			p.most = max(p.most, len(body)-n)
			p.from = i
			continue
		}
		if room < 0 {
			p.from = i
			continue // enough was seen
		}
		var err error
		if out, err = x.unpack(out[:0], &c, body, 4*maxUnpacked); err != nil || len(out) == 0 {
			break
		}
		room -= len(out)
		p.least = min(p.least, len(out))
		packed++
		p.from = i
	}
	// A few frames may fit by chance: a zero is common.
	if packed < 2 || 4*(len(frames)-p.from) < len(frames) {
		return nil
	}
	return p
}

// line returns the line of an envelope that turns the compression on, or "" if no message can.
func (p *packing) line(frames []seen, code string) string {
	when := "on"
	if p.header != "" && p.least > p.most && p.least < 1<<30 {
		when = fmt.Sprintf("from %d", p.least)
	}
	header := p.method
	if p.header != "" {
		header += " " + p.header
	}
	if p.from == 0 {
		return "compress " + header + " " + when + "\n"
	}
	e, _ := envelope.Parse(source.New("detected", "frame fixed 1\ncode "+code+"\n"))
	form := &e.States[0].Code[0].Number
	codeOf := func(f *seen) (uint64, bool) {
		v, n := readNumber(form, f.message[min(f.head, len(f.message)):])
		return v, n > 0
	}
	// The last message without the header turns it on, unless its code was seen before.
	for i := p.from - 1; i >= max(p.from-3, 0); i-- {
		v, ok := codeOf(&frames[i])
		if !ok {
			continue
		}
		before := slices.ContainsFunc(frames[:i], func(f seen) bool {
			w, ok := codeOf(&f)
			return ok && w == v && f.way == frames[i].way && f.sample == frames[i].sample
		})
		if !before {
			// The message may state the size from which messages are compressed.
			_, n := readNumber(form, frames[i].message[frames[i].head:])
			rest := frames[i].message[frames[i].head+n:]
			if size, n := readNumber(&p.number, rest); n == len(rest) && p.header != "" && size >= uint64(p.most) && size <= uint64(p.least) {
				when = fmt.Sprintf("from %d", size)
			}
			return fmt.Sprintf("%d %s: compress %s %s\n", v, wayNames[frames[i].way], header, when)
		}
	}
	return ""
}
