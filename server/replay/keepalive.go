package replay

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// Criteria for keepalives.
const (
	maxAlive  = 32 // bytes
	leastOft  = 3  // times, to be recognized by regularity
	leastGap  = 500 * time.Millisecond
	replyGap  = 2 * time.Second // between a keepalive and its answer
	maxAlives = 16              // maximum number of kinds

	maxThenText = 256 << 10 // bytes of the values of answers
)

// series has all messages of one kind.
type series struct {
	def  *schema.Message
	sent bool
	at   []int // indexes of r.all
}

// keepalives finds messages that only keep the connection open, and takes them out of the steps.
//
// Received keepalives are recognized by name or by regular intervals. If each is answered by the same small message, the script answers them;
// otherwise it ignores them. An identical message sent at regular intervals is sent so by the script.
func (r *recorder) keepalives() {
	var all []*series
	by := map[*schema.Message]*series{}
	for i := range r.all {
		m := &r.all[i]
		if m.def == nil {
			continue
		}
		s := by[m.def]
		if s == nil {
			s = &series{def: m.def, sent: r.sent(m)}
			by[m.def] = s
			all = append(all, s)
		}
		if s.sent != r.sent(m) {
			s.def = nil // the same in both directions: indistinguishable
		}
		s.at = append(s.at, i)
	}
	for _, s := range all {
		if s.def == nil || s.sent || len(r.script.Keepalive) >= maxAlives || !r.small(s) || !(r.named(s) && len(s.at) >= 2 || r.regular(s)) {
			continue
		}
		if k, answers := r.answered(s, by); answers != nil {
			r.script.Keepalive = append(r.script.Keepalive, k)
			r.take(answers)
		} else if r.answers(s, by) || r.regular(s) {
			r.script.Ignore = append(r.script.Ignore, s.def.Name)
		} else {
			continue
		}
		r.take(s)
	}
	for _, s := range all {
		if s.def == nil || !s.sent || len(r.script.Keepalive) >= maxAlives || r.all[s.at[0]].gone || !r.small(s) || !r.regular(s) || !r.constant(s) {
			continue
		}
		every := r.mean(s).Round(10 * time.Millisecond)
		name, value, hexText := r.text(&r.all[s.at[0]])
		if name == "" || every > MaxWait {
			continue
		}
		r.script.Keepalive = append(r.script.Keepalive, Keepalive{
			Every: Duration(every),
			Send:  Send{Message: name, Value: value, Hex: hexText, Unreliable: r.all[s.at[0]].Unreliable},
			Why:   fmt.Sprintf("it was sent %d times, about every %s, and always identical", len(s.at), every),
		})
		r.take(s)
	}
}

func (r *recorder) take(s *series) {
	for _, i := range s.at {
		r.all[i].gone = true
	}
}

func (r *recorder) small(s *series) bool {
	return !slices.ContainsFunc(s.at, func(i int) bool { return len(r.all[i].Bytes) > maxAlive })
}

func (r *recorder) constant(s *series) bool {
	return !slices.ContainsFunc(s.at, func(i int) bool { return !bytes.Equal(r.all[i].Bytes, r.all[s.at[0]].Bytes) })
}

// named reports whether the name indicates a keepalive.
func (r *recorder) named(s *series) bool {
	name := strings.ToLower(s.def.Name)
	for _, word := range []string{"ping", "pong", "keepalive", "keep_alive", "heartbeat"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func (r *recorder) mean(s *series) time.Duration {
	return r.all[s.at[len(s.at)-1]].At.Sub(r.all[s.at[0]].At) / time.Duration(max(len(s.at)-1, 1))
}

// regular reports whether the intervals are equal.
func (r *recorder) regular(s *series) bool {
	mean := r.mean(s)
	if len(s.at) < leastOft || mean < leastGap {
		return false
	}
	for i := 1; i < len(s.at); i++ {
		if d := r.all[s.at[i]].At.Sub(r.all[s.at[i-1]].At); (d - mean).Abs() > mean/4+100*time.Millisecond {
			return false
		}
	}
	return true
}

// answered finds the message that is sent for each of a series.
func (r *recorder) answered(s *series, by map[*schema.Message]*series) (k Keepalive, answers *series) {
	var pairs [][2]int
	for n, i := range s.at {
		to := len(r.all)
		if n+1 < len(s.at) {
			to = s.at[n+1]
		}
		found := -1
		for j := i + 1; j < to && found < 0; j++ {
			if m := &r.all[j]; r.sent(m) && m.def != nil {
				if m.At.Sub(r.all[i].At) > replyGap {
					break
				}
				if answers == nil || m.def == answers.def {
					found = j
					answers = by[m.def]
				}
			}
		}
		if found < 0 && n+1 == len(s.at) && len(pairs) > 0 {
			break // the recording ends before the answer
		}
		if found < 0 || answers.def == nil {
			return k, nil
		}
		pairs = append(pairs, [2]int{i, found})
	}
	if len(answers.at) != len(pairs) || !r.small(answers) {
		return k, nil
	}
	name, value, hexText := r.text(&r.all[pairs[0][1]])
	on, _, _ := r.text(&r.all[s.at[0]])
	if name == "" || on == "" {
		return k, nil
	}
	k = Keepalive{
		On: on, Send: Send{Message: name, Value: value, Hex: hexText, Unreliable: r.all[pairs[0][1]].Unreliable},
		Why: fmt.Sprintf("each of the %d received was answered with this message", len(pairs)),
	}
	if value != nil {
		r.echo(&k, pairs)
		if !r.inTurn(&k, pairs) {
			return k, nil
		}
	} else if !r.constant(answers) {
		return k, nil
	}
	return k, answers
}

// echo finds fields of the answer that always equal a field of the answered message.
func (r *recorder) echo(k *Keepalive, pairs [][2]int) {
	equal := map[string]string{} // path in the answer → path in the answered message
	for n, p := range pairs {
		got, answer := r.decode(&r.all[p[0]], &r.rec), r.decode(&r.all[p[1]], &r.other)
		if got == nil || answer == nil {
			clear(equal)
			break
		}
		values := map[string]string{} // path → value
		first := map[string]string{}  // value → path
		for _, v := range view.Fields(got) {
			if text := string(v.Value); v.Role == codec.RoleValue.String() && text != "0" {
				values[v.Path] = text
				if first[text] == "" {
					first[text] = v.Path
				}
			}
		}
		for _, v := range view.Fields(answer) {
			text := string(v.Value)
			if v.Role != codec.RoleValue.String() {
				continue
			}
			if from := first[text]; n == 0 && from != "" && isValue(v.Value) {
				equal[v.Path] = from
			} else if from := equal[v.Path]; n > 0 && from != "" && values[from] != text {
				delete(equal, v.Path)
			}
		}
	}
	n := 0
	for _, to := range slices.Sorted(maps.Keys(equal)) {
		_, errA := parsePath(to)
		_, errB := parsePath(equal[to])
		if errA != nil || errB != nil {
			continue
		}
		n++
		name := fmt.Sprintf("alive%d_%d", len(r.script.Keepalive)+1, n)
		if k.Lift == nil {
			k.Lift, k.Send.Set = map[string]string{}, map[string]string{}
		}
		k.Lift[name], k.Send.Set[to] = equal[to], "$"+name
	}
}

// inTurn lists the answers of a keepalive one by one if they differ in more than echoed fields. False: they are not values of one
// message.
func (r *recorder) inTurn(k *Keepalive, pairs [][2]int) bool {
	var then []Send
	varies, size := false, 0
	var first []view.FieldValue
	for n, p := range pairs[:min(len(pairs), MaxThen+1)] {
		m := &r.all[p[1]]
		rec := r.decode(m, &r.rec)
		if rec == nil {
			return false
		}
		now := view.Fields(rec)
		if n == 0 {
			first = now
			continue
		}
		varies = varies || !slices.EqualFunc(first, now, func(a, b view.FieldValue) bool {
			return a.Path == b.Path && (k.Send.Set[a.Path] != "" || a.Role != codec.RoleValue.String() || bytes.Equal(a.Value, b.Value))
		})
		name, value, hexText := r.text(m)
		if size += len(value) + len(hexText); size > maxThenText {
			break
		}
		x := Send{Message: name, Value: value, Hex: hexText, Unreliable: m.Unreliable, Set: k.Send.Set}
		if hexText != "" {
			x.Set = nil // its fields do not describe it completely
		}
		then = append(then, x)
	}
	if varies {
		k.Then = then
		k.Why = fmt.Sprintf("each of the %d received was answered with this message, with different values", len(pairs))
	}
	return true
}

// answers reports whether a received message answers a sent one.
func (r *recorder) answers(s *series, by map[*schema.Message]*series) bool {
	first := s.at[0]
	for j := first - 1; j >= 0; j-- {
		if m := &r.all[j]; r.sent(m) {
			asked := by[m.def]
			return m.def != nil && asked.def != nil && r.regular(asked) && r.constant(asked)
		}
	}
	return false
}
