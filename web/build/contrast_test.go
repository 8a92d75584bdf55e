package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// color is red, green and blue, each 0 to 1 in sRGB.
type color [3]float64

// token is a color of the style sheet, one per theme.
type token struct{ light, dark color }

var tokenLine = regexp.MustCompile(`(--[a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`)

// tokens reads the opaque colors of a style sheet, by name.
func tokens(css string) map[string]token {
	found := map[string]token{}
	for _, m := range tokenLine.FindAllStringSubmatch(css, -1) {
		found[m[1]] = token{light: parseColor(m[2]), dark: parseColor(m[3])}
	}
	return found
}

// parseColor reads #rrggbb; the caller has checked the form.
func parseColor(hex string) color {
	n, _ := strconv.ParseUint(hex[1:], 16, 32)
	return color{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}
}

// contrast is the ratio of WCAG 2.2, 1 to 21.
func contrast(a, b color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is WCAG 2.2's relative luminance.
func luminance(c color) float64 {
	for i, v := range c {
		if v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}

// onGround lists colors of text or edges, their backgrounds, and the minimum contrast: WCAG 2.2 requires 4.5 for text and 3 for the edges of
// controls.
var onGround = []struct {
	fore, ground string // names, separated by spaces
	least        float64
}{
	{"--text --dim --faint --accent --type --ok --warn --bad", "--bg --panel --panel2", 4.5},
	{"--text --dim --type", "--sel", 4.5},
	{"--text --dim", "TINTS", 4.5},
	{"--on-accent", "--accent", 4.5},
	{"--edge --accent", "--panel --panel2", 3},
}

// families are the kinds of bytes with a tint; each has a second one to distinguish neighbors.
var families = []string{"head", "int", "float", "ptr", "text", "chain", "gap"}

// tooFaint lists the pairs with too little contrast, and missing tokens.
func tooFaint(colors map[string]token) []string {
	var tints []string
	for _, f := range families {
		tints = append(tints, "--t-"+f, "--t-"+f+"-alt")
	}
	var found []string
	for _, rule := range onGround {
		for _, ground := range strings.Fields(strings.ReplaceAll(rule.ground, "TINTS", strings.Join(tints, " "))) {
			for _, fore := range strings.Fields(rule.fore) {
				f, okFore := colors[fore]
				g, okGround := colors[ground]
				if !okFore || !okGround {
					found = append(found, fmt.Sprintf("%s on %s: no such colors", fore, ground))
					continue
				}
				for theme, ratio := range map[string]float64{"light": contrast(f.light, g.light), "dark": contrast(f.dark, g.dark)} {
					if ratio < rule.least {
						found = append(found, fmt.Sprintf("%s on %s, %s: %.2f, less than %.1f", fore, ground, theme, ratio, rule.least))
					}
				}
			}
		}
	}
	return found
}

func TestContrast(t *testing.T) {
	var css []byte
	for _, file := range []string{"tokens.css", "parts.css"} {
		part, err := os.ReadFile("../src/kit/css/" + file)
		if err != nil {
			t.Fatal(err)
		}
		css = append(css, part...)
	}
	for _, pair := range tooFaint(tokens(string(css))) {
		t.Error(pair)
	}
	for _, f := range families {
		for _, rule := range []string{".t-%s { background-color: var(--t-%[1]s); }", ".t-%s.alt { background-color: var(--t-%[1]s-alt); }"} {
			if want := fmt.Sprintf(rule, f); !strings.Contains(string(css), want) {
				t.Errorf("parts.css has no %s", want)
			}
		}
	}
}

func TestContrastFindsFaintText(t *testing.T) {
	colors := tokens("--text: light-dark(#000000, #777777);\n--t-int: light-dark(#ffffff, #777777);\n")
	if got := contrast(colors["--text"].light, colors["--t-int"].light); math.Abs(got-21) > 0.001 {
		t.Errorf("black on white: contrast %.3f, want 21", got)
	}
	all := strings.Join(tooFaint(colors), "\n")
	for _, want := range []string{"--text on --t-int, dark: 1.00, less than 4.5", "--dim on --t-int: no such colors"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q not found among:\n%s", want, all)
		}
	}
	if strings.Contains(all, "--text on --t-int, light") {
		t.Error("black on white was found too faint")
	}
}
