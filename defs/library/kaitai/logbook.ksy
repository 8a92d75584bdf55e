meta:
  id: logbook
  title: the logbook of a ship
  file-extension: log
  endian: le
  encoding: UTF-8
  imports:
    - place
doc: |
  The logbook of a ship: a header, entries of several kinds, and the names of the crew at
  a position that the header has. The format was made up for this library.
seq:
  - id: magic
    contents: [SHIP, 0x1a]
  - id: version
    type: u1
    doc: 1 or 2; entries of version 2 have a weather
    valid:
      min: 1
      max: 2
  - id: ofs_crew
    type: u4
    doc: where the crew is
  - id: ship
    type: strz
  - id: num_entries
    type: u2
  - id: entries
    type: entry
    repeat: expr
    repeat-expr: num_entries
instances:
  is_old:
    value: version < 2
    doc: entries have no weather
  crew:
    pos: ofs_crew
    type: crew
types:
  entry:
    doc: what happened on a day
    seq:
      - id: day
        type: u2
        doc: days since the ship was built
      - id: kind
        type: u1
        enum: kind
      - id: sea
        type: b4
        doc: the state of the sea, from 0 to 9
      - id: wind
        type: b4
      - id: weather
        type: u1
        enum: weather
        if: not _root.is_old
      - id: len_body
        type: u2
      - id: body
        size: len_body
        type:
          switch-on: kind
          cases:
            'kind::sighting': sighting
            'kind::cargo': cargo
            'kind::note': str
  sighting:
    doc: something that was seen
    seq:
      - id: at
        type: place
      - id: what
        type: str
        size-eos: true
  cargo:
    doc: goods that were loaded
    seq:
      - id: pieces
        type: piece
        repeat: eos
  piece:
    seq:
      - id: weight
        type: f4
        doc: in tons
      - id: ware
        type: strz
  crew:
    doc: the people on board
    seq:
      - id: names
        type: strz
        repeat: until
        repeat-until: _ == ""
        doc: the last one is empty
enums:
  kind:
    1: sighting
    2: cargo
    3:
      id: note
      doc: anything else
  weather:
    0: fair
    1: rain
    2: fog
