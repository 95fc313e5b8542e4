import { DEFAULT_LIMITS, type JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { createManualClock } from '../session/clock.ts'
import { Session } from '../session/session.ts'
import { createMemoryStore } from '../store/memory-store.ts'

interface Rows {
  [id: string]: unknown
}

/** What rules may leave in the rows of a state. */
type Edit = (rows: Rows) => void

const rowsOf = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, id) => [`r${id}`, { id, tags: ['new', 'old'], note: 'A row.' }]))

/** A state of one text, and one in pages. */
const SIZES = { small: 3, large: 500 } as const

async function openSession(count: number, bytes: number) {
  const record = {
    id: 'hostile',
    owner: null,
    environment: { name: 'rows', version: '1.0.0' },
    params: {},
    seed: 'seed',
    limits: { ...DEFAULT_LIMITS, bytes },
    createdAt: 0,
    touchedAt: 0,
    base: null,
    revision: 0,
    epoch: 1,
    rng: {},
    now: 0,
    state: { public: {}, private: { rows: rowsOf(count), list: Array.from({ length: count * 9 }, (_, i) => i) } },
    end: null,
    seats: { agent: { seq: 0, last: null } },
    history: [],
    logBytes: 0,
  }
  const options = {
    store: createMemoryStore(),
    clock: createManualClock(),
    history: null,
    queue: 8,
  }
  return (await Session.create(record, options)) as Session
}

/** Plays a step that edits the rows. Resolves with the JSON text of the state before and after it, and its error. */
async function play(size: keyof typeof SIZES, edit: Edit, bytes = DEFAULT_LIMITS.bytes) {
  const session = await openSession(SIZES[size], bytes)
  const textOf = async () => JSON.stringify((await session.refresh()).state)
  const before = await textOf()
  const answered = session.step({ seat: 'agent', action: { tool: 'edit', arguments: {} } }, ({ record, draft }) => {
    edit(draft.private.rows as never)
    return {
      change: { state: draft, rng: record.rng, now: record.now },
      end: null,
      observation: { text: 'Edited.', structured: null },
      terms: {},
      potential: null,
      refused: null,
    }
  })
  const failure: unknown = await Promise.resolve(answered).then(
    () => null,
    (error: unknown) => error,
  )
  return { before, after: await textOf(), failure }
}

/** Objects that contain the next one twice: few objects, and 2 to the power of `depth` values. */
function exploding(depth: number): object {
  let value: object = { note: 'the last one' }
  for (let i = 0; i < depth; i++) value = { left: value, right: value }
  return value
}

function nested(depth: number): object {
  let value: object = {}
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const row = (rows: Rows) => rows.r1 as { id: unknown; note: unknown; tags: unknown[] } & Rows

const IMPOSSIBLE: { readonly [what: string]: readonly [Edit, says: RegExp] } = {
  'contains itself': [(rows) => Object.assign(row(rows), { rows }), /contains itself/],
  'is a new object that contains itself': [
    (rows) => {
      const again: Rows = {}
      again.again = again
      rows.again = again
    },
    /contains itself/,
  ],
  'contains an array in itself': [(rows) => row(rows).tags.push(row(rows).tags), /contains itself/],
  'has a getter that throws': [
    (rows) => {
      rows.trap = {
        get trapped() {
          throw new Error('never')
        },
      }
    },
    /has a getter that throws/,
  ],
  'is a proxy that throws': [
    (rows) => {
      rows.trap = new Proxy({}, { ownKeys: () => Reflect.get(Object(undefined), 'nothing').more })
    },
    /has a getter that throws/,
  ],
  'is a proxy that is revoked': [
    (rows) => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      rows.trap = proxy
      revoke()
    },
    /has a getter that throws/,
  ],
  'has no end': [
    (rows) => {
      const endless: object = new Proxy({ more: 1 }, { get: (_, key) => (key === 'more' ? endless : undefined) })
      rows.trap = endless
    },
    /contains itself/,
  ],
  'is an instance of a class': [(rows) => Object.assign(row(rows), { id: new Date(0) }), /rows\.r1\.id is a Date/],
  'has a prototype of its own': [
    (rows) => Object.assign(rows, { r1: Object.create({ a: 1 }) }),
    /rows\.r1 is a Object/,
  ],
  'has a toJSON': [(rows) => Object.assign(rows, { r1: { toJSON: () => 1 } }), /r1\.toJSON is a function/],
  'is a lone surrogate': [(rows) => Object.assign(row(rows), { note: '\ud800' }), /r1\.note holds a lone surrogate/],
  'is under a lone surrogate': [(rows) => Object.assign(rows, { '\ud800': 1 }), /rows has a key with a lone surrogate/],
  'has holes': [(rows) => Object.assign(rows, { r1: Object.assign([1], { 2: 3 }) }), /rows\.r1\[1\] is undefined/],
  'is an array that is longer than its items': [
    (rows) => Object.assign(row(rows).tags, { length: 4_294_967_295 }),
    /rows\.r1\.tags\[2\] is undefined/,
  ],
  'lacks an item of an array': [(rows) => delete row(rows).tags[0], /rows\.r1\.tags\[0\] is undefined/],
  'is nested 100,000 times': [(rows) => Object.assign(rows, { deep: nested(100_000) }), /nested/],
  'is 70 MiB of text': [
    (rows) => Object.assign(rows, { text: 'x'.repeat(70 * 1_024 ** 2) }),
    /has 73\d+ bytes, and the session's limit is 67108864/,
  ],
}

const POSSIBLE: { readonly [what: string]: readonly [Edit, (rows: Rows) => void] } = {
  'a getter': [
    (rows) => {
      rows.r1 = {
        get id() {
          return 9
        },
      }
    },
    (rows) => expect(rows.r1).toEqual({ id: 9 }),
  ],
  'a proxy of the author': [
    (rows) => {
      rows.r1 = new Proxy(row(rows), {})
      rows.r2 = new Proxy({ a: 1 }, { get: () => 7 })
    },
    (rows) => expect([rows.r1, rows.r2]).toEqual([{ id: 1, tags: ['new', 'old'], note: 'A row.' }, { a: 7 }]),
  ],
  'a key named __proto__': [
    (rows) => {
      rows.r1 = JSON.parse('{"__proto__":{"admin":true}}')
    },
    (rows) => {
      expect(JSON.stringify(rows.r1)).toBe('{"__proto__":{"admin":true}}')
      expect(({} as Rows).admin).toBeUndefined()
    },
  ],
  'a symbol, which JSON leaves out': [
    (rows) => Object.assign(rows, { [Symbol('mark')]: 1, r1: 1 }),
    (rows) => expect(rows.r1).toBe(1),
  ],
  'a part in two places': [
    (rows) => {
      rows.again = rows.r1
      row(rows).id = 'both'
    },
    (rows) => expect([rows.again, rows.r1]).toMatchObject([{ id: 'both' }, { id: 'both' }]),
  ],
  'objects that contain each other twice': [
    (rows) => Object.assign(rows, { r1: exploding(12) }),
    (rows) => expect(JSON.stringify(rows.r1)).toBe(JSON.stringify(exploding(12))),
  ],
  '20,000 keys': [
    (rows) => Object.assign(rows, { r1: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])) }),
    (rows) => expect(Object.keys(rows.r1 as object)).toHaveLength(20_000),
  ],
  'a text of 8 MiB': [
    (rows) => Object.assign(rows, { r1: 'ü'.repeat(4 * 1_024 ** 2) }),
    (rows) => expect(rows.r1).toBe('ü'.repeat(4 * 1_024 ** 2)),
  ],
}

describe.each(['small', 'large'] as const)('what rules leave in a %s state', (size) => {
  it.each(Object.entries(IMPOSSIBLE))('is refused and changes nothing if it %s', async (_, [edit, says]) => {
    const { before, after, failure } = await play(size, edit)
    expect(failure).toMatchObject({ message: expect.stringMatching(says) })
    expect(after).toBe(before)
  })

  it.each(Object.entries(POSSIBLE))('may be %s', async (_, [edit, expectRows]) => {
    const { after, failure } = await play(size, edit)
    expect(failure).toBeNull()
    expectRows(JSON.parse(after).private.rows)
  })
})

describe('a large state', () => {
  it('refuses few objects that stand for more values than there is time to read', async () => {
    const edits: Edit[] = [
      (rows) => Object.assign(rows, { r1: exploding(100) }),
      // The same with parts of the state.
      (rows) => {
        for (let i = 0; i < 100; i++)
          Object.assign(rows[`r${i}`] as Rows, { left: rows[`r${i + 1}`], right: rows[`r${i + 1}`] })
      },
    ]
    for (const edit of edits) {
      const { before, after, failure } = await play('large', edit)
      expect(failure).toMatchObject({ code: 'too-large' })
      expect(after).toBe(before)
    }
  })

  it.each([
    ['Object.freeze', (rows: Rows) => Object.freeze(row(rows)), /^Object.freeze, .* structuredClone\.$/],
    [
      'another prototype',
      (rows: Rows) => Object.setPrototypeOf(row(rows), null),
      /^Another prototype: .* structuredClone\.$/,
    ],
    [
      'an accessor',
      (rows: Rows) => Object.defineProperty(rows, 'a', { get: () => 1, enumerable: true, configurable: true }),
      /^A getter, .* structuredClone\.$/,
    ],
  ])('says that %s cannot be used on a part of it', async (_, edit, says) => {
    const { before, after, failure } = await play('large', edit)
    expect(failure).toBeInstanceOf(TypeError)
    expect((failure as Error).message).toMatch(says)
    expect(after).toBe(before)
  })
})

describe('a small state', () => {
  it('refuses few objects that stand for more values than fit', async () => {
    const { before, after, failure } = await play(
      'small',
      (rows) => Object.assign(rows, { r1: exploding(100) }),
      1_048_576,
    )
    expect(failure).toMatchObject({ code: 'not-json', message: expect.stringContaining('has too many parts') })
    expect(after).toBe(before)
  })
})
