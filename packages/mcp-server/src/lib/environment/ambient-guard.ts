import { ServerError } from '../server-error.ts'

const CHANCE = 'rng.float(), rng.int(low, high) or rng.stream(name)'
const TIME = 'now and elapse(milliseconds)'
const WAITING = 'elapse(milliseconds): rules take no real time'

/** What rules may not use, where it is found, and what to use instead. */
const CAUGHT: readonly { readonly owner: object; readonly key: string; readonly name: string; readonly use: string }[] =
  [
    { owner: Math, key: 'random', name: 'Math.random', use: CHANCE },
    { owner: crypto, key: 'randomUUID', name: 'crypto.randomUUID', use: CHANCE },
    { owner: crypto, key: 'getRandomValues', name: 'crypto.getRandomValues', use: CHANCE },
    { owner: performance, key: 'now', name: 'performance.now', use: TIME },
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map((name) => ({
      owner: globalThis,
      key: name,
      name,
      use: WAITING,
    })),
    { owner: AbortSignal, key: 'timeout', name: 'AbortSignal.timeout', use: WAITING },
    { owner: globalThis, key: 'fetch', name: 'fetch', use: 'what is in the state: rules reach nothing outside' },
  ]

/**
 * Runs an environment's code with the ambient randomness, time, timers and network replaced: using one throws
 * `rules-failed` with the replacement to use. `what` names the code. A reference that was taken when the module was
 * loaded is not caught; playing twice and comparing finds that.
 */
export function withoutAmbient<T>(what: string, run: () => T): T {
  const caught = (name: string, use: string) => () => {
    throw new ServerError(
      'rules-failed',
      `${what} uses ${name}. The same seed and actions have to give the same episode: use ${use}.`,
    )
  }
  const patches = [
    ...CAUGHT.map(({ owner, key, name, use }) => ({ owner, key, value: caught(name, use) as unknown })),
    {
      owner: process,
      key: 'hrtime',
      value: Object.assign(caught('process.hrtime', TIME), { bigint: caught('process.hrtime.bigint', TIME) }),
    },
    { owner: globalThis, key: 'Date', value: timelessDate(caught('the date of today', TIME)) },
  ].map(({ owner, key, value }) => ({ owner, key, value, own: Object.getOwnPropertyDescriptor(owner, key) }))
  try {
    for (const { owner, key, value } of patches)
      Object.defineProperty(owner, key, { value, configurable: true, writable: true })
    return run()
  } finally {
    for (const { owner, key, own } of patches)
      if (own) Object.defineProperty(owner, key, own)
      else Reflect.deleteProperty(owner, key)
  }
}

/** `Date` as a calendar: a given time can be read and written, and the present cannot be asked for. */
function timelessDate(refuse: () => never): DateConstructor {
  return new Proxy(Date, {
    apply: refuse,
    construct: (target, args) => (args.length === 0 ? refuse() : Reflect.construct(target, args)),
    get: (target, key) => (key === 'now' ? refuse : Reflect.get(target, key)),
  })
}
