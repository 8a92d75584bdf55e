package scan

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Stamp is the time of a message in a text: an absolute time, a time of day, or the time since some start. The zero Stamp is no time.
type Stamp struct {
	Kind  StampKind
	At    time.Time     // Absolute only. A text without a time zone is in UTC
	Since time.Duration // OfDay: since midnight of the first day of the text, 24 h and more on the days after; Elapsed: since the start
}

// StampKind is the kind of a Stamp.
type StampKind uint8

// The kinds of stamps.
const (
	NoTime StampKind = iota
	Absolute
	OfDay
	Elapsed
)

// String returns RFC 3339 for an absolute time, "23:59:50.380" for a time of day (with "+1d" appended on the day after), "0.035394s" for an
// elapsed time and "" for none.
func (s Stamp) String() string {
	switch s.Kind {
	case Absolute:
		return s.At.UTC().Format(time.RFC3339Nano)
	case OfDay:
		const day = 24 * time.Hour
		text := time.Unix(0, 0).UTC().Add(s.Since % day).Format("15:04:05.000")
		if r := s.Since % time.Millisecond; r != 0 {
			text = time.Unix(0, 0).UTC().Add(s.Since % day).Format("15:04:05.000000000")
		}
		if n := s.Since / day; n > 0 {
			text += fmt.Sprintf("+%dd", n)
		}
		return text
	case Elapsed:
		return strconv.FormatFloat(s.Since.Seconds(), 'f', -1, 64) + "s"
	}
	return ""
}

// stampLayouts are the formats of an absolute time. All allow fractions of a second after the seconds.
var stampLayouts = []string{
	time.RFC3339,
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z0700",
	"2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05",
	"2006/01/02 15:04:05",
	"Jan 2, 2006 15:04:05 MST",
	"Jan 2, 2006 15:04:05",
}

// ParseStamp parses a time in any of the common formats: a date with a time, a time of day, or a number. A number is in seconds,
// milliseconds, microseconds or nanoseconds since 1970, depending on its size, or in seconds since some start if it is small.
func ParseStamp(s string) (Stamp, bool) {
	s = strings.TrimSpace(s)
	if len(s) < 1 || len(s) > 40 || !IsDigit(s[0]) && (s[0] < 'A' || s[0] > 'Z') {
		return Stamp{}, false
	}
	if st, ok := ParseUnix(s); ok {
		return st, true
	}
	if d, ok := ParseClock(s); ok {
		return Stamp{Kind: OfDay, Since: d}, true
	}
	for _, layout := range stampLayouts {
		if at, err := time.Parse(layout, s); err == nil {
			return Stamp{Kind: Absolute, At: at}, true
		}
	}
	return Stamp{}, false
}

// ParseUnix parses a decimal number with an optional fraction, with nanosecond precision.
func ParseUnix(s string) (Stamp, bool) {
	whole, frac, dot := strings.Cut(s, ".")
	if whole == "" || len(whole) > 19 || dot && frac == "" || len(frac) > 12 {
		return Stamp{}, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || whole[0] == '-' || whole[0] == '+' {
		return Stamp{}, false
	}
	nanos := int64(0)
	for i := range 9 {
		d := byte('0')
		if i < len(frac) {
			d = frac[i]
		}
		if !IsDigit(d) {
			return Stamp{}, false
		}
		nanos = nanos*10 + int64(d-'0')
	}
	switch {
	case len(whole) <= 8:
		return Stamp{Kind: Elapsed, Since: time.Duration(n)*time.Second + time.Duration(nanos)}, true
	case len(whole) <= 11:
		return Stamp{Kind: Absolute, At: time.Unix(n, nanos).UTC()}, true
	case len(whole) <= 14:
		return Stamp{Kind: Absolute, At: time.UnixMilli(n).Add(time.Duration(nanos / 1000)).UTC()}, true
	case len(whole) <= 17:
		return Stamp{Kind: Absolute, At: time.UnixMicro(n).Add(time.Duration(nanos / 1e6)).UTC()}, true
	}
	return Stamp{Kind: Absolute, At: time.Unix(0, n).UTC()}, true
}

// ParseClock reads HH:MM:SS with an optional fraction.
func ParseClock(s string) (time.Duration, bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, false
	}
	h, m, sec := twoDigits(s), twoDigits(s[3:]), twoDigits(s[6:])
	if h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60 {
		return 0, false
	}
	d := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second
	if len(s) == 8 {
		return d, true
	}
	frac := s[9:]
	if s[8] != '.' && s[8] != ',' || frac == "" || len(frac) > 9 {
		return 0, false
	}
	unit := time.Second
	for i := range len(frac) {
		if !IsDigit(frac[i]) {
			return 0, false
		}
		unit /= 10
		d += unit * time.Duration(frac[i]-'0')
	}
	return d, true
}

// twoDigits returns the number at the start of s, or -1.
func twoDigits(s string) int {
	if !IsDigit(s[0]) || !IsDigit(s[1]) {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}

// Moment converts the stamp to a time. A time of day or an elapsed time is relative to day, or to 1970 if day is zero.
func (s Stamp) Moment(day time.Time) time.Time {
	start := day
	if start.IsZero() {
		start = time.Unix(0, 0).UTC()
	}
	switch s.Kind {
	case Absolute:
		return s.At.UTC()
	case OfDay, Elapsed:
		return start.Add(s.Since)
	}
	return time.Time{}
}

// UnixMilli converts milliseconds since 1970 to a time. It returns the zero time if ms is not positive or the year is above 9999.
func UnixMilli(ms int64) time.Time {
	const last = 253402300799999
	if ms <= 0 || ms > last {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// LastSecond is the end of the year 9999, the last second that RFC 3339 can represent.
const LastSecond = 253402300799
