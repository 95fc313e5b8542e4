import type { createAssert } from './assert.ts'
import type { Inspect } from './inspect.ts'
import type { createTestRunner } from './test-runner.ts'

/** What a program is run with. */
export interface NodeProgram {
  /** The path of its module. */
  readonly path: string
  readonly args: readonly string[]
  readonly stdin: string
}

/** The name under which the engine finds what runs a program. */
export const RUN = 'episodic:run'

/** The name of {@link NodeModules} in the engine. */
export const NODE = '__episodicNode'

/** The name of the function that is given what a statement drops, in case it is a promise. */
export const DROP = '__episodicDrop'

/** A file that can be required. */
type Body = (exports: unknown, require: unknown, module: unknown, path: string, directory: string) => void

/** What the texts of modules call in the engine. */
interface NodeModules {
  /** Keeps a file that can be required, with the files of the names that it requires. */
  define(path: string, body: Body, links: Readonly<Record<string, string>>): void
  /** Returns what a file, or a module of Node, exports. */
  require(path: string): unknown
}

/** The engine's own parts, which are less than those of Node. */
interface Engine {
  Math: Math
  console: Record<string, (...values: readonly unknown[]) => void>
  process: Record<string, unknown> & { exit(code: number): never; exitCode?: number | undefined }
  fs: Record<string, (...args: readonly unknown[]) => unknown>
  [name: string | symbol]: unknown
}

/**
 * Gives the JavaScript engine what programs for Node expect of it: chance from a seed, printing, timers in virtual
 * time, standard input, and the end of a process. Defines the function that runs a program.
 *
 * It is sent to the engine as text, so it uses nothing from outside of itself.
 */
export function startNode(
  seed: number,
  inspect: Inspect,
  names: { readonly run: string; readonly node: string; readonly drop: string },
  own: { readonly assert: typeof createAssert; readonly test: typeof createTestRunner },
): void {
  const engine = globalThis as unknown as Engine
  const { process } = engine
  type Callback = (...args: readonly unknown[]) => void

  // Its own generator is seeded by the time alone, so this one takes its place (mulberry32).
  const { imul } = Math
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  engine.Math = Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(Math),
    random: { value: random, writable: true, configurable: true },
  } as PropertyDescriptorMap) as Math

  // The end of the process. What is called after `exit` does nothing, as if the process were gone.
  const EXIT = Symbol('exit')
  const endEngine = process.exit
  interface Listener {
    readonly call: Callback
    readonly isOnce: boolean
  }
  const listeners: Record<string, readonly Listener[]> = {}
  const listen = (event: string, listener: Listener) => {
    listeners[event] = [...(listeners[event] ?? []), listener]
    return process
  }
  const unlisten = (event: string, call: Callback) => {
    const place = (listeners[event] ?? []).findLastIndex((each) => each.call === call)
    listeners[event] = (listeners[event] ?? []).filter((_, index) => index !== place)
    return process
  }
  const emit = (event: string, ...args: readonly unknown[]) => {
    const all = listeners[event] ?? []
    for (const { call, isOnce } of all) {
      if (isOnce) unlisten(event, call)
      call(...args)
    }
    return all.length > 0
  }
  let isEnding = false
  let isOver = false
  const end = (code: unknown) => {
    if (code !== undefined) process.exitCode = Number(code) & 255
    if (isEnding) return
    isEnding = true
    try {
      emit('exit', process.exitCode ?? 0)
    } catch (error) {
      if (error !== EXIT) report(error)
    }
    isOver = true
  }
  const exit = (code?: unknown): never => {
    if (!isOver) end(code)
    throw EXIT
  }
  const report = (error: unknown) => {
    engine.console.error?.(error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`)
    process.exitCode = 1
  }
  const fail = (error: unknown) => {
    if (isOver || error === EXIT) return
    if (emit('uncaughtException', error)) return
    report(error)
    end(1)
  }
  const guarded = (call: () => unknown) => {
    try {
      drop(call())
    } catch (error) {
      fail(error)
    }
  }

  // The engine says nothing of a rejected promise that nobody handles: it is found where a statement drops it.
  const unhandled: (readonly [reason: unknown, promise: unknown])[] = []
  const drop = (value: unknown) => {
    if (value instanceof Promise) value.then(undefined, (reason) => unhandled.push([reason, value]))
    return value
  }
  engine[names.drop] = drop
  const failUnhandled = () => {
    for (const [reason, promise] of unhandled.splice(0)) if (!emit('unhandledRejection', reason, promise)) fail(reason)
  }

  // Printing.
  const [print, printError] = [engine.console.log, engine.console.error] as [typeof console.log, typeof console.error]
  const format = (values: readonly unknown[]): string => {
    const rest = [...values]
    const shown = (value: unknown) => (typeof value === 'string' ? value : inspect(value))
    if (typeof rest[0] !== 'string' || rest.length === 1) return rest.map(shown).join(' ')
    const text = (rest.shift() as string).replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === '%%') return '%'
      if (rest.length === 0) return mark
      const value = rest.shift()
      if (mark === '%s') return typeof value === 'object' ? inspect(value) : String(value)
      if (mark === '%d') return String(Number(value))
      if (mark === '%i') return String(Number.parseInt(String(value), 10))
      if (mark === '%f') return String(Number.parseFloat(String(value)))
      if (mark === '%j') return JSON.stringify(value)
      return mark === '%c' ? '' : inspect(value)
    })
    return [text, ...rest.map(shown)].join(' ')
  }
  // The engine prints whole lines; what is written without an end waits for it.
  const writer = (to: (text: string) => void) => {
    let line = ''
    return {
      write(text: unknown) {
        const lines = isOver ? [line] : (line + String(text)).split('\n')
        line = lines.pop() as string
        for (const whole of lines) to(whole)
        return true
      },
      flush() {
        if (line !== '') to(line)
      },
    }
  }
  const [out, errors] = [writer(print), writer(printError)]
  let indent = ''
  const printer =
    ({ write }: typeof out) =>
    (...values: readonly unknown[]) =>
      void write(`${(indent + format(values)).replaceAll('\n', `\n${indent}`)}\n`)
  const [log, error] = [printer(out), printer(errors)]
  const counts: Record<string, number> = {}
  engine.console = Object.assign(engine.console, {
    log,
    info: log,
    debug: log,
    dir: log,
    error,
    warn: error,
    trace: error,
    assert: (value: unknown, ...more: readonly unknown[]) => {
      if (!value) error('Assertion failed', ...more)
    },
    count: (label = 'default') => {
      counts[label] = (counts[label] ?? 0) + 1
      log(`${label}: ${counts[label]}`)
    },
    group: (...values: readonly unknown[]) => {
      if (values.length > 0) log(...values)
      indent += '  '
    },
    groupEnd: () => {
      indent = indent.slice(2)
    },
    time: () => {},
    timeEnd: (label = 'default') => log(`${label}: 0ms`),
    table: log,
  })
  // Timers: time is virtual, and moves when nothing else is left to do.
  interface Timer {
    readonly at: number
    readonly order: number
    readonly every: number | null
    readonly call: () => void
  }
  const timers = new Map<number, Timer>()
  let made = 0
  const schedule = (call: Callback, delay: number, every: number | null, args: readonly unknown[]) => {
    const id = ++made
    timers.set(id, { at: Date.now() + delay, order: id, every, call: () => call(...args) })
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => true, [Symbol.toPrimitive]: () => id }
    return handle
  }
  const delayOf = (wait: unknown) => (Number(wait) >= 1 && Number(wait) < 2 ** 31 ? Number(wait) : 1)
  const setTimeout = (call: Callback, wait?: number, ...args: readonly unknown[]) =>
    schedule(call, delayOf(wait), null, args)
  const setInterval = (call: Callback, wait?: number, ...args: readonly unknown[]) =>
    schedule(call, delayOf(wait), delayOf(wait), args)
  const setImmediate = (call: Callback, ...args: readonly unknown[]) => schedule(call, 0, null, args)
  const cancel = (handle: unknown) => void timers.delete(Number(handle ?? 0))
  const nextTimer = () => {
    let next: readonly [number, Timer] | null = null
    for (const each of timers) {
      const [, { at, order }] = each
      if (!next || at < next[1].at || (at === next[1].at && order < next[1].order)) next = each
    }
    return next
  }
  const sleep = (milliseconds: number) => {
    const shell = engine[Symbol.for('jb:exec')] as (command: string) => unknown
    if (milliseconds > 0) shell(`sleep ${milliseconds / 1_000}`)
  }
  Object.assign(engine, {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel,
    queueMicrotask: (call: Callback) => void Promise.resolve().then(() => guarded(call)),
    structuredClone: engine.structuredClone ?? ((value: unknown) => JSON.parse(JSON.stringify(value))),
    performance: { now: () => Date.now() - began },
    global: engine,
  })
  const began = Date.now()

  Object.assign(process, {
    exit,
    stdout: { write: out.write, isTTY: false, columns: 80 },
    stderr: { write: errors.write, isTTY: false, columns: 80 },
    pid: 1,
    execPath: '/usr/bin/node',
    version: 'v24.0.0',
    versions: { node: '24.0.0' },
    on: (event: string, call: Callback) => listen(event, { call, isOnce: false }),
    addListener: (event: string, call: Callback) => listen(event, { call, isOnce: false }),
    once: (event: string, call: Callback) => listen(event, { call, isOnce: true }),
    off: unlisten,
    removeListener: unlisten,
    emit,
    nextTick: (call: Callback, ...args: readonly unknown[]) =>
      void Promise.resolve().then(() => guarded(() => call(...args))),
    uptime: () => (Date.now() - began) / 1_000,
    hrtime: Object.assign(() => [Math.floor(Date.now() / 1_000), (Date.now() % 1_000) * 1_000_000], {
      bigint: () => BigInt(Date.now()) * 1_000_000n,
    }),
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  })

  // Modules: what is required runs once, when it is first asked for.
  interface Module {
    exports: unknown
    readonly filename: string
    loaded: boolean
  }
  const defined: Record<string, { readonly body: Body; readonly links: Readonly<Record<string, string>> }> = {}
  const loaded: Record<string, Module> = {}
  const builtIn = engine.require as (name: string) => unknown
  const assert = own.assert(inspect)
  let tests: unknown
  const modules: Record<string, () => unknown> = {
    assert: () => assert,
    'assert/strict': () => assert.strict,
    'node:test': () => {
      tests ??= own.test({
        inspect,
        now: () => Date.now(),
        print: (text) => log(text),
        soon: (call) => setImmediate(call),
        atEnd: (call) => listen('exit', { call, isOnce: false }),
        fail() {
          process.exitCode = 1
        },
      })
      return tests
    },
  }
  const requireFile = (path: string): unknown => {
    const known = loaded[path]
    if (known) return known.exports
    const definition = defined[path] as (typeof defined)[string]
    const module: Module = { exports: {}, filename: path, loaded: false }
    loaded[path] = module
    main ??= module
    const directory = path.slice(0, path.lastIndexOf('/')) || '/'
    try {
      definition.body(module.exports, requireFrom(path, definition.links), module, path, directory)
    } catch (error) {
      delete loaded[path]
      throw error
    }
    module.loaded = true
    return module.exports
  }
  let main: Module | undefined
  const requireNamed = (name: string) => {
    const known = modules[name] ?? modules[name.replace(/^node:/, '')]
    return known ? known() : builtIn(name)
  }
  const requireFrom = (path: string, links: Readonly<Record<string, string>>) =>
    Object.assign(
      (name: string) => {
        const at = links[name] ?? (defined[name] && name)
        if (at !== undefined) return requireFile(at)
        if (!/^\.{0,2}\//.test(name)) return requireNamed(name)
        const error = new Error(`Cannot find module '${name}'\nRequire stack:\n- ${path}`)
        throw Object.assign(error, { code: 'MODULE_NOT_FOUND', requireStack: [path] })
      },
      { main, cache: loaded, resolve: (name: string) => links[name] ?? name },
    )
  engine.require = Object.assign(requireNamed, builtIn)
  engine[names.node] = {
    define(path, body, links) {
      defined[path] = { body, links }
    },
    require: (path) => (defined[path] ? requireFile(path) : requireNamed(path)),
  } satisfies NodeModules

  /** Lets what waits for promises go on. There is no sign that all of it is done, so it is given many turns. */
  const TURNS = 1_000
  const settle = async () => {
    for (let i = 0; i < TURNS && !isOver; i++) await null
  }

  engine[names.run] = async (load: () => Promise<unknown>, { path, args, stdin }: NodeProgram) => {
    delete engine[names.run]
    process.argv = ['/usr/bin/node', path, ...args]
    const { readFileSync } = engine.fs as { readFileSync: (path: unknown, options: unknown) => unknown }
    engine.fs.readFileSync = (from, options) =>
      from === 0 || from === '/dev/stdin' ? (options ? stdin : Buffer.from(stdin)) : readFileSync(from, options)
    process.stdin = {
      isTTY: false,
      setEncoding() {},
      resume() {},
      on(event: string, listener: Callback) {
        if (event === 'data' && stdin !== '') setImmediate(listener, stdin)
        if (event === 'end') setImmediate(listener)
        return process.stdin
      },
      async *[Symbol.asyncIterator]() {
        if (stdin !== '') yield stdin
      },
    }

    let isLoaded = false
    load().then(
      () => {
        isLoaded = true
      },
      (error) => {
        isLoaded = true
        fail(error)
      },
    )
    for (;;) {
      await settle()
      failUnhandled()
      const next = isOver ? null : nextTimer()
      if (!next) break
      const [id, { at, every, call }] = next
      sleep(at - Date.now())
      if (every === null) timers.delete(id)
      else timers.set(id, { at: at + every, order: ++made, every, call })
      guarded(call)
    }
    if (!isOver) end(isLoaded ? undefined : 13)
    out.flush()
    errors.flush()
    endEngine(process.exitCode ?? 0)
  }
}
