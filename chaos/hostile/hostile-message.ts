import { META, METHODS, type Rng } from '@episodic/protocol'

/** What a stranger may have got hold of: handles, capabilities and addresses of live sessions. */
export interface Booty {
  readonly handles: readonly string[]
  readonly capabilities: readonly string[]
}

/** JSON, and what looks like it, in the place of a value. */
const TEXTS: readonly string[] = [
  ...['null', 'true', '0', '-0', '1', '-1', '1.5', '1e400', '-1e400', '1e-400', '1e21', '9007199254740993'],
  ...['NaN', 'Infinity', '-Infinity', 'undefined', '01', '.5', '0x10', "'x'", '"unended', '"\\x41"', '"\t"'],
  ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\u202e"', '"__proto__"', '"constructor"', '"%00"'],
  ...['[]', '{}', '[[]]', '[{}]', '[null]', '{"":null}', '{"a":1,}', '[1,,2]', '[1', '{"a"', '{"a":1,"a":"2"}'],
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"prototype":{"polluted":1},"constructor":1}',
  '{"a":{"b":[{"__proto__":{"polluted":1}}]}}',
  '{"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4,"then":5,"length":6}',
  '{"\\ud800":1}',
]
/** What each request of the stateless protocol version says of itself. */
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'then',
  '',
  '\u0000',
  'id',
  'method',
  'params',
  '_meta',
]
/** Stands in a tree for text that is put in once it is written. */
const MARK = /"@@(\d+)@@"/g

/**
 * Draws a message that an attacker might send: one that is right and was then changed in a few places, as a tree or as
 * bytes, or bytes that never were one. A few are as large as messages may be, or larger.
 */
export function drawMessage(rng: Rng, booty: Booty): Buffer {
  if (rng.chance(0.05)) return randomBytes(rng, rng.int(0, 2_000))
  const tree = validMessage(rng, booty)
  const texts: string[] = []
  for (let changes = rng.int(0, 3); changes > 0; changes--) changeTree(rng, tree, texts)
  const text = JSON.stringify(tree).replace(MARK, (_, index) => texts[Number(index)] as string)
  return rng.chance(0.3) ? changeBytes(rng, Buffer.from(text)) : Buffer.from(text)
}

function validMessage(rng: Rng, { handles, capabilities }: Booty): Record<string, unknown> {
  const session = rng.pick([...handles, ...capabilities, 'nobody'])
  const call = {
    name: rng.pick(['add', 'take', 'give']),
    arguments: rng.pick([{ amount: rng.int(-5, 5) }, { value: { a: [1, { b: 'c' }] }, tags: ['x'] }]),
    _meta: { [META.session]: session },
  }
  const requestKey = `hostile-${rng.int(0, 500)}-0123456789abcdef`
  const [method, params] = rng.pick<readonly [string, object]>([
    ['tools/call', call],
    ['tools/call', call],
    ['tools/call', { ...call, _meta: { [META.session]: session, [META.seq]: rng.int(0, 9), [META.epoch]: 1 } }],
    [METHODS.open, { environment: 'besieged', requestKey, params: { options: { a: 1 } }, limits: { steps: 5 } }],
    [METHODS.state, { session }],
    [METHODS.watch, { session, after: 0, limit: 2 }],
    [METHODS.sessions, { limit: 3 }],
    [METHODS.list, {}],
    ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
    ['tools/list', {}],
    ['resources/read', { uri: 'session://besieged', _meta: MODERN }],
    ['ping', {}],
    // No request has this id: what is called off is not answered, and would count as a hang.
    ['notifications/cancelled', { requestId: 'nobody', reason: 'none' }],
    [rng.pick(['resources/read', 'completion/complete', '__proto__', 'constructor', '']), { uri: 'file:///' }],
  ])
  return { jsonrpc: '2.0', id: rng.int(1, 1_000), method, params: structuredClone(params) }
}

function changeTree(rng: Rng, root: Record<string, unknown>, texts: string[]): void {
  let holder: Record<string, unknown> = root
  for (;;) {
    const key = rng.pick([...Object.keys(holder), rng.pick(KEYS)])
    const within = Object.hasOwn(holder, key) ? holder[key] : undefined
    if (typeof within === 'object' && within !== null && Object.keys(within).length > 0 && rng.chance(0.8)) {
      holder = within as Record<string, unknown>
      continue
    }
    if (rng.chance(0.15)) delete holder[key]
    else {
      const value = `@@${texts.push(rng.chance(0.04) ? largeText(rng) : rng.pick(TEXTS)) - 1}@@`
      Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
    }
    return
  }
}

/** Text that is long, wide or deep, up to a little over what a message may be. */
function largeText(rng: Rng): string {
  const bytes = Math.round(2 ** (10 + 10.2 * rng.float()))
  const keys = () => Array.from({ length: Math.ceil(bytes / 12) }, (_, key) => `"k${key.toString(36)}":{}`)
  return rng.pick([
    () => `"${'x'.repeat(bytes)}"`,
    () => `"${'\\u00e9'.repeat(bytes / 6)}"`,
    () => `"${'\\\\'.repeat(bytes / 2)}"`,
    () => `[${'0,'.repeat(bytes / 2)}0]`,
    () => `[${'"",'.repeat(bytes / 3)}0]`,
    () => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
    () => '['.repeat(bytes),
    () => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
    () => `{${keys().join(',')}}`,
    () => '9'.repeat(bytes),
  ])()
}

function changeBytes(rng: Rng, bytes: Buffer): Buffer {
  const at = rng.int(0, bytes.length)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  return rng.pick([
    () => before,
    () => after,
    () => Buffer.concat([before, randomBytes(rng, rng.int(1, 8)), after.subarray(rng.int(0, 8))]),
    () =>
      Buffer.concat([before, Buffer.from(rng.pick(['\0', '\n', '\r\n', '\ufeff', '"', '}', '{', ',', '\\'])), after]),
    () => Buffer.concat([before, after.subarray(0, 40), after]),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.from(`[${Array.from({ length: rng.int(1, 20) }, () => bytes.toString()).join(',')}]`),
    () => Buffer.concat([bytes, bytes]),
  ])()
}

export function randomBytes(rng: Rng, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => rng.int(0, 255)))
}
