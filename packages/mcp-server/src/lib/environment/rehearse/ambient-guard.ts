import { rulesFailed } from '../../server-error.ts'

const CHANCE = 'rng.float(), rng.int(low, high) or rng.stream(name)'
const TIME = 'now and elapse(milliseconds)'
const WAITING = 'elapse(milliseconds): rules take no real time'
const OUTSIDE = 'what is in the state: rules reach nothing outside'
const FILES = 'what was read when the module was loaded, or put it into the state'
const MACHINE = 'params or the state: machines differ'

const CAUGHT = [
  { owner: Math, of: 'Math.', keys: ['random'], use: CHANCE },
  { owner: crypto, of: 'crypto.', keys: ['randomUUID', 'getRandomValues'], use: CHANCE },
  { owner: performance, of: 'performance.', keys: ['now'], use: TIME },
  { owner: globalThis, of: '', keys: ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'], use: WAITING },
  { owner: AbortSignal, of: 'AbortSignal.', keys: ['timeout'], use: WAITING },
  { owner: globalThis, of: '', keys: ['fetch', 'WebSocket', 'EventSource'], use: OUTSIDE },
  { owner: process, of: 'process.', keys: ['cwd', 'uptime', 'memoryUsage', 'cpuUsage', 'resourceUsage'], use: MACHINE },
].flatMap(({ owner, of, keys, use }) => keys.map((key) => ({ owner: owner as object, key, name: of + key, use })))

/**
 * The modules of Node whose functions reach the machine, and what to use instead. Functions of a descriptor that is
 * open need none here: to open one is caught, and a console writes to its own.
 */
const MODULES: Readonly<Record<string, { readonly use: string; readonly only?: RegExp }>> = {
  'node:fs': { use: FILES, only: /^(?!(?:f?write|f?read|close|fsync|fdatasync|fstat)(?:v?Sync|v)?$)/ },
  'node:fs/promises': { use: FILES },
  'node:child_process': { use: OUTSIDE },
  'node:os': { use: MACHINE },
  'node:net': { use: OUTSIDE, only: /^(?:connect|create)/ },
  'node:tls': { use: OUTSIDE, only: /^(?:connect|createServer)$/ },
  'node:dgram': { use: OUTSIDE },
  'node:http': { use: OUTSIDE, only: /^(?:get|request|createServer)$/ },
  'node:https': { use: OUTSIDE },
  'node:dns': { use: OUTSIDE, only: /^(?:lookup|resolve|reverse)/ },
  'node:dns/promises': { use: OUTSIDE, only: /^(?:lookup|resolve|reverse)/ },
  'node:timers': { use: WAITING, only: /^set/ },
  'node:timers/promises': { use: WAITING },
  'node:crypto': { use: CHANCE, only: /^(?:random|generate)/ },
}

/** What becomes of a call into one of {@link MODULES}: `null` while no rules run, and everybody may call. */
let refuse: ((name: string, use: string) => never) | null = null
let hooked = false

/**
 * Replaces the functions of {@link MODULES} by ones that ask {@link refuse} first. They stay replaced: an import of one
 * by its name follows only after Node has looked at all of them, which is too long for each step.
 */
function hookModules(): void {
  if (hooked) return
  hooked = true
  const builtin = globalThis.process?.getBuiltinModule
  if (!builtin) return
  for (const [module, { use, only }] of Object.entries(MODULES)) {
    const functions = builtin(module) as Record<string, unknown> | undefined
    for (const [key, { value, writable }] of Object.entries(Object.getOwnPropertyDescriptors(functions ?? {}))) {
      const isPlain = typeof value === 'function' && /^[a-z]/.test(key) && writable === true
      if (!isPlain || only?.test(key) === false) continue
      const name = `${key} of ${module}`
      ;(functions as Record<string, unknown>)[key] = new Proxy(value, {
        apply: (target, self, args) => (refuse ? refuse(name, use) : Reflect.apply(target, self, args)),
      })
    }
  }
  builtin('node:module')?.syncBuiltinESMExports()
}

/**
 * Runs an environment's code with the ambient randomness, time, timers, network, files, processes and environment
 * variables replaced: using one throws `rules-failed` with the replacement to use. `what` names the code. A reference
 * that was taken when the module was loaded is caught only for a function of a module of Node; playing twice and
 * comparing finds most others.
 */
export function withoutAmbient<T>(what: string, run: () => T): T {
  const refuseHere = (name: string, use: string): never => {
    throw rulesFailed(`${what} uses ${name}. The same seed and actions have to give the same episode: use ${use}.`)
  }
  // A function, and not an arrow: some are constructed.
  const caught = (name: string, use: string) =>
    function refused(): never {
      return refuseHere(name, use)
    }
  hookModules()
  const patches = [
    ...CAUGHT.map(({ owner, key, name, use }) => ({ owner, key, value: caught(name, use) as unknown })),
    {
      owner: process,
      key: 'hrtime',
      value: Object.assign(caught('process.hrtime', TIME), { bigint: caught('process.hrtime.bigint', TIME) }),
    },
    { owner: globalThis, key: 'Date', value: timelessDate(caught('the date of today', TIME)) },
    { owner: process, key: 'env', value: unreadable(process.env, refuseHere) },
  ].map(({ owner, key, value }) => ({ owner, key, value, own: Object.getOwnPropertyDescriptor(owner, key) }))
  const outer = refuse
  try {
    for (const { owner, key, value } of patches)
      Object.defineProperty(owner, key, { value, configurable: true, writable: true })
    refuse = refuseHere
    return run()
  } finally {
    refuse = outer
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

/** The environment variables, of which none can be read but the one by which libraries choose their checks. */
function unreadable(variables: NodeJS.ProcessEnv, refuseHere: (name: string, use: string) => never): NodeJS.ProcessEnv {
  const refused = (key?: string | symbol) => refuseHere(key ? `process.env.${String(key)}` : 'process.env', MACHINE)
  return new Proxy(variables, {
    get: (target, key) => (key === 'NODE_ENV' ? Reflect.get(target, key) : refused(key)),
    has: (target, key) => (key === 'NODE_ENV' ? Reflect.has(target, key) : refused(key)),
    ownKeys: () => refused(),
  })
}
