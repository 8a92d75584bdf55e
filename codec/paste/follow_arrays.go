package paste

import "strings"

// tryFollowArrays recognises Follow Stream's C arrays by their names, "char peer0_0[] = {".
func tryFollowArrays(t *pasted) (*builder, *Error) {
	found, n := false, 0
	t.lines(func(l line) bool {
		found = strings.HasPrefix(strings.TrimSpace(l.text), "char peer") && strings.Contains(l.text, "[]")
		n++
		return !found && n < 200
	})
	if !found {
		return nil, nil
	}
	b, e := readFollowArrays(t)
	if e != nil {
		return nil, e.as(certain)
	}
	b.why = `C arrays named "peer0_0"` + whyPeers
	return b, nil
}

// readFollowArrays reads the form "follow-c-arrays".
func readFollowArrays(t *pasted) (*builder, *Error) {
	b, e := readArrays(t)
	if e != nil {
		return nil, e
	}
	b.form, b.stream = formFollowCArrays, true
	for i := range b.msgs {
		if peer, ok := peerOfName(b.msgs[i].Name); ok {
			b.msgs[i].Dir, b.msgs[i].Name = peerDir(peer), ""
		}
	}
	return b, nil
}
