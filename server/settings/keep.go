package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Keep says how long the captures of a project stay: what is older, or more than the bytes, is removed. The zero value keeps all.
type Keep struct {
	Age   string `json:"age,omitempty" maxLength:"20" doc:"such as 12h, 30d or 8w, at least 1h, after the last byte was written"`
	Bytes int64  `json:"bytes,omitempty" minimum:"0" doc:"of all captures together; the oldest go first"`
}

// leastAge is the shortest age at which captures are removed.
const leastAge = time.Hour

// ParseAge reads an age such as 12h, 30d or 8w; "" is 0, for ever.
func ParseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if err != nil || unit == 0 || n < 1 || n > 100_000 || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%.30q is no age such as 12h, 30d or 8w", text)
	}
	return max(time.Duration(n)*unit, leastAge), nil
}

func (k *Keep) check() error {
	if k == nil {
		return nil
	}
	if _, err := ParseAge(k.Age); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if k.Bytes < 0 {
		return fmt.Errorf("keep: %d bytes", k.Bytes)
	}
	return nil
}

// Within returns the stricter one of each bound.
func (k Keep) Within(other Keep) Keep {
	a, _ := ParseAge(k.Age)
	b, _ := ParseAge(other.Age)
	if b > 0 && (a == 0 || b < a) {
		k.Age = other.Age
	}
	if other.Bytes > 0 && (k.Bytes == 0 || other.Bytes < k.Bytes) {
		k.Bytes = other.Bytes
	}
	return k
}
