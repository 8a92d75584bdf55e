meta: {id: parts, endian: le}
seq:
  - {id: time, type: u4}
  - {id: Time, type: f8}
  - {id: _n, type: s1}
  - {id: k, type: u1, enum: kinds}
  - {id: flags, type: b3}
  - {id: more, type: b5}
  - id: body
    type:
      switch-on: k
      cases:
        kinds::a: one
        kinds::b: two
  - {id: groups, type: two, repeat: expr, repeat-expr: k.to_i & 3}
instances:
  sum: {value: time * 2}
  ratio: {value: time / 3.0}
  text: {value: '"n " + more.to_s'}
enums:
  kinds: {0: a, 1: b}
types:
  one:
    seq:
      - {id: x, type: u1}
      - {id: y, type: str, size: x & 3, encoding: UTF-8}
  two:
    seq:
      - {id: x, type: u1}
      - {id: y, type: u2, repeat: expr, repeat-expr: x & 3}
      - {id: maybe, type: s8, if: x > 7}
      - {id: raw, size: 2}
