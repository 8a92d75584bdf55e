package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Errors of connecting to an upstream.
var (
	ErrRefused = errors.New("upstream refused")
	ErrMoved   = errors.New("the address of this name has changed since it was allowed")
)

// Bounds of the list of upstreams.
const (
	maxEntries   = 1000
	maxAddresses = 32 // addresses of a name
)

// DefaultUpstreams allows servers on this machine.
var DefaultUpstreams = []string{"127.0.0.0/8:*", "[::1]:*"}

// Upstreams is the list of upstreams to which a proxy may connect. It is safe for concurrent use.
//
// An entry is HOST:PORTS. HOST is an address, a network (10.0.0.0/8, [fd00::/8]) or a name; PORTS is *, or ports and ranges separated by
// commas: 5000,7000-7999. A name is resolved when a session starts. Its first addresses are pinned: if it has another one later, it is
// refused until it is allowed again, by Reallow or by removing it from the list.
//
// The following addresses are refused whatever the list: those of the workbench and of the proxy's own listeners, and link-local, metadata,
// multicast, broadcast, reserved and unspecified addresses, including IPv6 addresses that embed such an IPv4 address.
type Upstreams struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	mu      sync.Mutex
	entries []entry
	pins    map[string][]netip.Addr // pinned addresses by name
}

type entry struct {
	text   string
	name   string // lower case, without the final dot; or
	prefix netip.Prefix
	ports  [][2]uint16 // from, to
}

// NewUpstreams returns a list. A nil resolve uses the resolver of the system.
func NewUpstreams(entries []string, resolve func(ctx context.Context, host string) ([]netip.Addr, error)) (*Upstreams, error) {
	if resolve == nil {
		resolve = systemResolve
	}
	u := &Upstreams{resolve: resolve, pins: map[string][]netip.Addr{}}
	return u, u.Set(entries)
}

// Set replaces the list. With an error it is unchanged.
func (u *Upstreams) Set(entries []string) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("%d upstreams; at most %d are possible", len(entries), maxEntries)
	}
	var all []entry
	for _, text := range entries {
		e, err := parseEntry(text)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, old := range u.entries {
		if old.name != "" && !slices.ContainsFunc(all, func(e entry) bool { return e.name == old.name }) {
			delete(u.pins, old.name)
		}
	}
	u.entries = all
	return nil
}

// Entries returns the list as it was set.
func (u *Upstreams) Entries() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make([]string, len(u.entries))
	for i, e := range u.entries {
		out[i] = e.text
	}
	return out
}

// Pins returns the pinned addresses of names. If they are stored, a name that changes while the program is not running is detected.
func (u *Upstreams) Pins() map[string][]netip.Addr {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make(map[string][]netip.Addr, len(u.pins))
	for name, addrs := range u.pins {
		out[name] = slices.Clone(addrs)
	}
	return out
}

// Restore sets the result of Pins.
func (u *Upstreams) Restore(pins map[string][]netip.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, addrs := range pins {
		if len(u.pins) < maxEntries && len(addrs) > 0 {
			u.pins[plainName(name)] = slices.Clone(addrs)
		}
	}
}

// Reallow forgets the pinned addresses of a name.
func (u *Upstreams) Reallow(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.pins, plainName(name))
}

func plainName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func parseEntry(text string) (entry, error) {
	e := entry{text: text}
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return e, fmt.Errorf("upstream %q: ports are missing, as in %q", text, text+":5000")
	}
	host, ports := text[:at], text[at+1:]
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		if inner, bracketed = strings.CutSuffix(inner, "]"); !bracketed {
			return e, fmt.Errorf("upstream %q: a bracket is missing", text)
		}
		host = inner
	}
	if ports != "*" {
		for part := range strings.SplitSeq(ports, ",") {
			from, to, ranged := strings.Cut(part, "-")
			if !ranged {
				to = from
			}
			a, errA := strconv.ParseUint(from, 10, 16)
			b, errB := strconv.ParseUint(to, 10, 16)
			if errA != nil || errB != nil || a == 0 || a > b {
				return e, fmt.Errorf("upstream %q: %q is not a port or range of ports", text, part)
			}
			e.ports = append(e.ports, [2]uint16{uint16(a), uint16(b)})
		}
	} else {
		e.ports = [][2]uint16{{1, 65535}}
	}
	if strings.Contains(host, "/") {
		p, err := netip.ParsePrefix(host)
		if err != nil {
			return e, fmt.Errorf("upstream %q: %q is not a network", text, host)
		}
		if p.Addr().Is4In6() {
			if p.Bits() < 96 {
				return e, fmt.Errorf("upstream %q: write IPv4 networks as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		e.prefix = p.Masked()
		return e, nil
	}
	addr, name, ok := parseHost(host)
	switch {
	case !ok || bracketed && name != "":
		return e, fmt.Errorf("upstream %q: %q is neither an address nor a name", text, host)
	case addr.Zone() != "":
		return e, fmt.Errorf("upstream %q: link-local addresses with a zone are refused", text)
	case addr.IsValid():
		e.prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	e.name = name
	return e, nil
}

// parseHost returns the address that a text is, or the name: lower case, without the final dot. "10.0.0.1." is the address 10.0.0.1, as
// resolvers take it. Other texts whose last part is a number, such as "127.1", are refused: some resolvers make addresses of them.
func parseHost(text string) (addr netip.Addr, name string, ok bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap(), "", addr.Zone() == "" || !addr.Is4In6() // Unmap drops the zone
	}
	name = plainName(text)
	if addr, err := netip.ParseAddr(name); err == nil && addr.Is4() {
		return addr, "", true
	}
	if !isName(name) {
		return netip.Addr{}, "", false
	}
	return netip.Addr{}, name, true
}

// isName reports whether a text can be the name of a host (RFC 1123, and underscores). Its last part is not a number.
func isName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if digits, hex := strings.CutPrefix(last, "0x"); hex && strings.Trim(digits, "0123456789abcdef") == "" || strings.Trim(last, "0123456789") == "" {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// lists reports whether the list contains an address, or the name that was resolved to it.
func (u *Upstreams) lists(name string, addr netip.AddrPort) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.entries {
		if name != "" && e.name == name || e.name == "" && e.prefix.Contains(addr.Addr()) {
			for _, p := range e.ports {
				if p[0] <= addr.Port() && addr.Port() <= p[1] {
					return true
				}
			}
		}
	}
	return false
}

// names reports whether the list has a name with a port, and whether it has addresses or networks with this port, to which a name may
// resolve.
func (u *Upstreams) names(name string, port uint16) (named, other bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.entries {
		if !slices.ContainsFunc(e.ports, func(p [2]uint16) bool { return p[0] <= port && port <= p[1] }) {
			continue
		}
		named = named || e.name == name
		other = other || e.name == ""
	}
	return named, other
}

// target is an upstream with its addresses, which are checked before each connection.
type target struct {
	text  string
	name  string // "" for an address
	addrs []netip.AddrPort
	tls   bool // the connection is encrypted
}

// TLS begins an upstream to which the connection is encrypted, with a certificate for its name or address that the system trusts: tls:NAME:PORT.
// Clients of the listener do not encrypt: the proxy sees what both say.
const TLS = "tls:"

// find resolves and checks an upstream. check is an additional check of an address.
func (u *Upstreams) find(ctx context.Context, text string, check func(netip.AddrPort) error) (target, error) {
	plain, encrypted := strings.CutPrefix(text, TLS)
	host, port, err := splitPort(plain)
	if err != nil {
		return target{}, err
	}
	t := target{text: text, tls: encrypted}
	if port == 0 {
		return t, fmt.Errorf("%w: %s has no port", ErrRefused, text)
	}
	addr, name, ok := parseHost(host)
	if !ok {
		return t, fmt.Errorf("%q is neither an address nor a name", host)
	}
	if addr.IsValid() {
		if why := refusal(addr); why != "" {
			return t, fmt.Errorf("%w: %s is %s", ErrRefused, text, why)
		}
		t.addrs = []netip.AddrPort{netip.AddrPortFrom(addr, port)}
		return t, u.permit(t, t.addrs[0], check)
	}
	t.name = name
	named, other := u.names(t.name, port)
	if !named && !other { // no address would be allowed, so do not resolve
		return t, fmt.Errorf("%w: %s is not on the list of allowed upstreams", ErrRefused, text)
	}
	addrs, err := u.addresses(ctx, t.name)
	if err != nil && !named && !errors.Is(err, ErrMoved) {
		return t, fmt.Errorf("%w: %s is not on the list of allowed upstreams by name, and its addresses are unknown: %w", ErrRefused, text, err)
	}
	if err != nil {
		return t, err
	}
	for _, a := range addrs {
		ap := netip.AddrPortFrom(a, port)
		if err := u.permit(t, ap, check); err != nil {
			return t, err // a name with one forbidden address is not trustworthy
		}
		t.addrs = append(t.addrs, ap)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.pins[t.name]; !ok {
		if len(u.pins) >= maxEntries {
			return t, fmt.Errorf("more than %d names are in use", maxEntries)
		}
		u.pins[t.name] = addrs
	}
	return t, nil
}

// addresses resolves a name and compares the result with the pinned addresses. IPv4 comes first, as more servers support it.
func (u *Upstreams) addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	found, err := u.resolve(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", name, err)
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 || len(addrs) > maxAddresses {
		return nil, fmt.Errorf("resolve %s: it has %d addresses, 1 to %d are possible", name, len(addrs), maxAddresses)
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	u.mu.Lock()
	defer u.mu.Unlock()
	if pinned, ok := u.pins[name]; ok {
		for _, a := range addrs {
			if !slices.Contains(pinned, a) {
				return nil, fmt.Errorf("%w: %s is %s now, was %s; allow it again if that is intended", ErrMoved, name, a, listed(pinned))
			}
		}
	}
	return addrs, nil
}

func listed(addrs []netip.Addr) string {
	var b strings.Builder
	for i, a := range addrs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.String())
	}
	return b.String()
}

// permit checks one address of an upstream.
func (u *Upstreams) permit(t target, addr netip.AddrPort, check func(netip.AddrPort) error) error {
	shown := t.text
	if t.name != "" {
		shown += " (" + addr.Addr().String() + ")"
	}
	if why := refusal(addr.Addr()); why != "" {
		return fmt.Errorf("%w: %s is %s", ErrRefused, shown, why)
	}
	if err := check(addr); err != nil {
		return fmt.Errorf("%w: %s %w", ErrRefused, shown, err)
	}
	if !u.lists(t.name, addr) {
		return fmt.Errorf("%w: %s is not on the list of allowed upstreams", ErrRefused, shown)
	}
	return nil
}
