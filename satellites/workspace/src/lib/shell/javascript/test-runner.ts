import type { Inspect } from './inspect.ts'

/** What the runner of tests needs of its program. */
export interface TestProgram {
  readonly inspect: Inspect
  /** Milliseconds of virtual time. */
  now(): number
  /** Prints whole lines. */
  print(text: string): void
  /** Calls when the module has begun to run. */
  soon(call: () => void): void
  /** Calls before the program ends; it may set the exit code. */
  atEnd(call: () => void): void
  fail(): void
}

type Body = ((context: unknown) => unknown) | undefined
type Hook = 'before' | 'after' | 'beforeEach' | 'afterEach'

interface Options {
  readonly skip?: boolean | string
  readonly todo?: boolean | string
}

interface Entry {
  readonly name: string
  readonly isSuite: boolean
  readonly parent: Entry | null
  readonly body: Body
  readonly children: Entry[]
  readonly hooks: Record<Hook, (() => unknown)[]>
  readonly said: string[]
  began: number
  took: number
  /** What a suite's own callback returned. */
  collected?: unknown
  skip: boolean | string
  todo: boolean | string
  state: 'waits' | 'runs' | 'passed' | 'failed'
  error?: unknown
}

/**
 * Returns the module `node:test`: tests, suites, hooks, and a report in the form that Node calls `spec`, at the end.
 *
 * It is sent to the JavaScript engine as text, so it uses nothing from outside of itself.
 */
export function createTestRunner({ inspect, now, print, soon, atEnd, fail }: TestProgram) {
  const create = (
    name: string,
    parent: Entry | null,
    isSuite: boolean,
    body: Body,
    { skip, todo }: Options,
  ): Entry => ({
    name,
    isSuite,
    parent,
    body,
    children: [],
    hooks: { before: [], after: [], beforeEach: [], afterEach: [] },
    said: [],
    began: 0,
    took: 0,
    skip: skip ?? false,
    todo: todo ?? false,
    state: 'waits',
  })
  const root = create('', null, true, undefined, {})
  let current = root
  /** Ends when the last one at the top has run, one after another. */
  let last: Promise<void> | null = null

  const enqueue = (entry: Entry): Promise<void> => {
    if (!last) {
      atEnd(report)
      last = new Promise<void>((resolve) => soon(resolve)).then(() => hooks(root, 'before'))
    }
    last = last.then(() => run(entry))
    return last
  }

  const hooks = async (entry: Entry, which: Hook) => {
    for (const hook of entry.hooks[which]) await hook()
  }

  /** A promise for each entry that runs or has run. */
  const runs = new Map<Entry, Promise<void>>()
  const run = (entry: Entry): Promise<void> => {
    const running = runs.get(entry) ?? play(entry)
    runs.set(entry, running)
    return running
  }

  const play = async (entry: Entry): Promise<void> => {
    entry.began = now()
    entry.state = 'runs'
    try {
      if (entry.skip === false) await (entry.isSuite ? playSuite(entry) : playTest(entry))
      const failing = entry.children.filter(({ state, todo }) => state === 'failed' && todo === false).length
      if (failing > 0) throw `${failing} subtest${failing === 1 ? '' : 's'} failed`
      entry.state = 'passed'
    } catch (error) {
      entry.state = 'failed'
      entry.error = error
    }
    entry.took = now() - entry.began
  }

  const playSuite = async (entry: Entry) => {
    await entry.collected
    await hooks(entry, 'before')
    for (const child of entry.children) await run(child)
    await hooks(entry, 'after')
  }

  const playTest = async (entry: Entry) => {
    const above: Entry[] = []
    for (let each = entry.parent; each; each = each.parent) above.unshift(each)
    for (const each of above) await hooks(each, 'beforeEach')
    try {
      await entry.body?.(contextOf(entry))
      for (const child of entry.children) await run(child)
    } finally {
      await hooks(entry, 'after')
      for (const each of above.reverse()) await hooks(each, 'afterEach')
    }
  }

  const contextOf = (entry: Entry) => ({
    name: entry.name,
    test: (...given: readonly unknown[]) => {
      const child = entryOf(given, entry, false)
      return run(child)
    },
    diagnostic: (text: string) => void entry.said.push(text),
    skip: (why?: string) => {
      entry.skip = why ?? true
    },
    todo: (why?: string) => {
      entry.todo = why ?? true
    },
    ...hookFunctions(() => entry),
  })

  const hookFunctions = (of: () => Entry) => {
    const add = (which: Hook) => (hook: () => unknown) => void of().hooks[which].push(hook)
    return { before: add('before'), after: add('after'), beforeEach: add('beforeEach'), afterEach: add('afterEach') }
  }

  const entryOf = (given: readonly unknown[], parent: Entry, isSuite: boolean, more: Options = {}): Entry => {
    const body = given.find((value) => typeof value === 'function') as Body & { readonly name: string }
    const name = typeof given[0] === 'string' ? given[0] : body?.name || '<anonymous>'
    const options = given.find((value) => typeof value === 'object' && value !== null) as Options | undefined
    const entry = create(name, parent, isSuite, body, { ...options, ...more })
    parent.children.push(entry)
    return entry
  }

  const declare =
    (isSuite: boolean, more: Options = {}) =>
    (...given: readonly unknown[]): Promise<void> => {
      const entry = entryOf(given, current, isSuite, more)
      if (isSuite && entry.skip === false) {
        const before = current
        current = entry
        try {
          entry.collected = entry.body?.({ name: entry.name })
        } finally {
          current = before
        }
      }
      return entry.parent === root ? enqueue(entry) : Promise.resolve()
    }

  const lineOf = ({ name, state, skip, todo, took }: Entry) => {
    const isSkipped = skip !== false
    const mark = isSkipped ? '﹣' : state === 'passed' ? '✔' : todo === false ? '✖' : '⚠'
    const why = (reason: boolean | string, word: string) =>
      reason === false ? '' : ` # ${typeof reason === 'string' ? reason : word}`
    return `${mark} ${name} (${took}ms)${isSkipped ? why(skip, 'SKIP') : why(todo, 'TODO')}`
  }

  const report = () => {
    const counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }
    const failing: Entry[] = []
    const show = (entry: Entry, indent: string) => {
      if (entry.state === 'waits' || entry.state === 'runs') {
        entry.error = 'Promise resolution is still pending but the event loop has already resolved'
        counts.cancelled += 1
      } else if (!entry.isSuite) {
        if (entry.skip !== false) counts.skipped += 1
        else if (entry.todo !== false) counts.todo += 1
        else counts[entry.state === 'passed' ? 'pass' : 'fail'] += 1
      }
      counts[entry.isSuite ? 'suites' : 'tests'] += 1
      if (entry.children.length > 0) print(`${indent}▶ ${entry.name}`)
      for (const child of entry.children) show(child, `${indent}  `)
      print(indent + lineOf(entry))
      for (const text of entry.said) print(`${indent}ℹ ${text}`)
      if (entry.state !== 'passed' && entry.children.length === 0) failing.push(entry)
      if (entry.state !== 'passed' && entry.todo === false) fail()
    }
    for (const entry of root.children) show(entry, '')
    for (const [name, count] of Object.entries(counts)) print(`ℹ ${name} ${count}`)
    print('ℹ duration_ms 0')
    if (failing.length === 0) return
    print('\n✖ failing tests:')
    for (const entry of failing) {
      const shown =
        entry.error instanceof Error || typeof entry.error !== 'string' ? inspect(entry.error) : `'${entry.error}'`
      print(`\n${lineOf(entry)}\n${shown.replaceAll(/^/gm, '  ')}`)
    }
  }

  const withMore = (isSuite: boolean) =>
    Object.assign(declare(isSuite), {
      skip: declare(isSuite, { skip: true }),
      todo: declare(isSuite, { todo: true }),
      only: declare(isSuite),
    })
  const test = withMore(false)
  const suite = withMore(true)
  const all = { it: test, describe: suite, suite, ...hookFunctions(() => current) }
  return Object.assign(test, all, { test })
}
