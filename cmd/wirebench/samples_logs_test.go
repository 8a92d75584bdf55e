package main

import (
	"math"
	"strconv"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// playHarbor is a day of a harbor: ships call and unload, and the master writes the log.
func playHarbor(s *stage) {
	ms := time.Millisecond
	names := []string{"Petrel", "Heron", "Ibis", "Jo", "Kittiwake"}
	var called []values
	ship := func(n int) values {
		v := values{"name": names[n%len(names)], "draught": 2 + 0.25*float64(n%9), "tides": []int{-3, 0, 5 * n, 64}, "arrival": values{"seconds": strconv.Itoa(1_773_513_000 + 60*n)}}
		switch n % 4 {
		case 0:
			v["quay"] = 1 + n%6
		case 1:
			v["anchorage"] = values{"buoy": 12 + n, "bearing": strconv.Itoa(-90 + n)}
			v["flag"] = "YELLOW"
			v["quarantined"] = true
		case 2:
			v["quay"] = 7
			v["tug"] = values{"name": "Jo", "flag": "ADRIFT", "draught": 1.5}
		case 3:
			v["stores"] = []values{{"key": "bread", "value": -n}, {"key": "water", "value": 20 * n}}
			v["seal"] = "00ffc0de"
		}
		return v
	}
	wares := []string{"tea", "hens", "salt", "rope", "pears"}
	crate := func(n int) values {
		v := values{"ware": wares[n%len(wares)], "weight": 0.5 * float64(1+n%7), "kinds": []string{"DRY"}, "shelf": n%5 - 2}
		if n%3 == 0 {
			v["inside"] = []values{{"ware": "eggs", "kinds": []string{"LIVE", "DRY"}, "marks": []string{"7", strconv.Itoa(1000 * n)}}}
			v["owner"] = values{"name": "Ada", "share": n % 4}
		}
		return v
	}
	for n := range 80 {
		s.wait(150 * ms)
		switch n % 4 {
		case 0:
			called = append(called, ship(n/4))
			s.client("Ship", called[len(called)-1])
			switch n {
			case 0:
				s.note("Fields have tags with numbers, and may come in any order: a definition tells their names and types.")
			case 8:
				s.moment("A ship is towed")
				s.note("A ship in a ship: the definition refers to itself.")
				s.mark()
			}
		default:
			s.client("Crate", crate(n))
			s.wait(40 * ms)
			s.server("Crate", values{"ware": wares[n%len(wares)], "shelf": n % 5})
		}
		if n%8 == 7 {
			s.wait(60 * ms)
			s.server("Day", values{"number": strconv.Itoa(8123 + n/8), "ships": called[max(0, len(called)-2):], "wind": []float64{1.5 * float64(n%8), 4, math.Floor(float64(n) / 3)}, "balance": strconv.Itoa(40*n - 900)})
		}
		switch n {
		case 22:
			s.client("Crate", values{"ware": "salt", "unknown": []values{{"tag": 152000, "field": 19000, "value": "5"}, {"tag": 152010, "field": 19001, "value": "beef"}}})
			s.note("Two fields that the definition does not have: the sender is newer. They are kept, and sent again.")
			s.mark()
		case 45:
			s.moment("An invalid message")
			wrong := s.bytes(schema.ToClient, "Day", values{"number": "8128", "ships": called[:2]})
			s.put(schema.ToClient, transport.Outgoing{Bytes: wrong[:len(wrong)-3]})
			s.note("Deliberately wrong: the last ship has three bytes less than its length says.")
			s.mark()
		}
	}
}

// playLogbook is a voyage: a ship tells where it is, and sends its logbook.
func playLogbook(s *stage) {
	ms := time.Millisecond
	place := func(n int) values {
		a := float64(n) / 20
		return values{"latitude": 57_000_000 + int(120_000*math.Sin(a)), "longitude": -3_000_000 + int(240_000*math.Cos(a))}
	}
	weathers := []string{"fair", "rain", "fog"}
	entry := func(n, version int) (v values, size int) {
		v = values{"day": 8123 + n, "sea": n % 10, "wind": (n + 3) % 10}
		switch n % 3 {
		case 0:
			v["kind"], v["len_body"], v["body"] = "sighting", 18, values{"at": place(n), "what": "two whales"}
		case 1:
			v["kind"], v["len_body"], v["body"] = "cargo", 18, values{"pieces": []values{{"weight": 1.5 * float64(n), "ware": "grain"}, {"weight": 0.25, "ware": "tea"}}}
		case 2:
			v["kind"], v["len_body"], v["body"] = "note", 18, "The pilot is late."
		}
		size = 2 + 1 + 1 + 2 + 18
		if version == 2 {
			v["weather"] = weathers[n%len(weathers)]
			size++
		}
		return v, size
	}
	logbook := func(ship string, version, first, last int, crew ...string) values {
		at := 5 + 1 + 4 + len(ship) + 1 + 2
		var entries []values
		for n := first; n < last; n++ {
			e, size := entry(n, version)
			entries = append(entries, e)
			at += size
		}
		return values{"version": version, "ofs_crew": at, "ship": ship, "num_entries": len(entries), "entries": entries, "crew": values{"names": append(crew, "")}}
	}
	for n := range 96 {
		s.wait(140 * ms)
		s.client("place", place(n))
		if n%2 == 0 {
			s.wait(50 * ms)
			s.server("place", place(n+30))
		}
		if n%8 == 5 {
			s.client("logbook", logbook("Petrel", 2, n/8, n/8+3, "Ada", "Ben", "Eva"))
			switch n {
			case 5:
				s.note("The names of the crew are at a position that the header has.")
				s.mark()
			case 21:
				s.moment("Three days")
				s.note("What an entry has depends on its kind.")
			}
		}
		switch n {
		case 40:
			s.moment("An old ship")
			s.server("logbook", logbook("Heron", 1, 0, 4, "Jo"))
			s.note("A logbook of the old version: its entries have no weather.")
			s.mark()
		case 63:
			s.moment("An invalid message")
			wrong := s.bytes(schema.ToServer, "logbook", logbook("Petrel", 2, 0, 2, "Ada"))
			wrong[2+5+1] = 200 // of the position, behind the header, the magic and the version
			s.put(schema.ToServer, transport.Outgoing{Bytes: wrong})
			s.note("Deliberately wrong: the position of the crew is outside the message.")
			s.mark()
		}
	}
}
