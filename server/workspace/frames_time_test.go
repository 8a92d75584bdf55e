package workspace

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
)

func TestTimeText(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, ""},
		{at, "2026-11-20T09:00:00.000000Z"},
		{at.Add(29999 * time.Microsecond), "2026-11-20T09:00:00.029999Z"},
		{at.Add(29999999), "2026-11-20T09:00:00.029999999Z"},
		{at.Add(1), "2026-11-20T09:00:00.000000001Z"},
	} {
		if got := TimeText(c.at); got != c.want {
			t.Errorf("%v: %q, want %q", c.at, got, c.want)
		}
		var info FrameInfo
		f := transport.Frame{Kind: transport.Opaque, At: c.at}
		read := NewReading(&Snapshot{})
		read.Take(&f)
		info = read.Describe(Want{}, Listed{})
		text, err := json.Marshal(info)
		if has := strings.Contains(string(text), `"time":"`+c.want+`"`); err != nil || has != (c.want != "") || strings.Contains(string(text), `"time":""`) {
			t.Errorf("%s (%v)", text, err)
		}
	}
}
