import { shorten } from '@episodic/protocol/internal'
import { ownFrames } from '../../own-frames.ts'
import { rulesFailed, ServerError } from '../../server-error.ts'
import { assertEvent, assertTool } from './assert-definition.ts'
import type { Tool, WorldEvents } from './environment.ts'
import { asError, ignoreRejection, wordsOf } from './thrown-value.ts'

const MESSAGE_LENGTH = 800
/** Where an environment has the definition, and a tool the `play`, as their author wrote it. */
export const WRITTEN = Symbol.for('episodic.written')

/** Faults that name their function and its place already: a definition may call functions of another one. */
const placed = new WeakSet<Error>()

/**
 * Returns a function of a definition that says where it fails: what it throws becomes `rules-failed`, with the name of
 * the function, the message, and the frames of the author's code (file, line and column). The cause is what was thrown.
 *
 * A promise is a fault too, because rules are synchronous.
 *
 * @param what - names the function, such as `Tool guess of secret-number`.
 * @param read - returns what callers get of a result. Throws `rules-failed` for one that is wrong.
 */
function authored<Given extends readonly unknown[], Result>(
  what: string,
  run: (...given: Given) => Result,
  read: ((result: Result, what: string) => Result) | null = null,
): (...given: Given) => Result {
  return (...given) => {
    let result: Result
    try {
      result = run(...given)
    } catch (thrown) {
      throw faultOf(what, thrown)
    }
    assertSynchronous(result, what)
    return read ? read(result, what) : result
  }
}

function assertSynchronous(result: unknown, what: string): void {
  if (!(result instanceof Promise)) return
  ignoreRejection(result)
  throw rulesFailed(
    `${what} returned a promise, and rules are synchronous. Leave out \`async\`; what has to be awaited belongs in the \`prepare\` of a tool.`,
  )
}

/** Errors made where the definitions are written, by their `start`: a stack is read when a rule is at fault. */
const written = new WeakMap<object, Error>()

/** Returns the message of a fault that no line of a definition throws, with the place of the definition. */
export function withPlace(message: string, { start }: { readonly start: object }): string {
  const at = written.get(start)
  return [message, ...(at ? ownFrames(at).slice(0, 1) : [])].join('\n')
}

/** A definition of which all functions return anything: an author without types may return what is wrong. */
interface Written {
  readonly name: string
  readonly rewards: { readonly [term: string]: (...given: never) => number }
  readonly verdicts?: { readonly [name: string]: (final: never) => boolean }
}

/** Returns a copy of a definition with {@link authored} functions, checked results, and its terms as one function. */
export function authoredParts<Definition extends Written>(definition: Definition): Authored<Definition> {
  const { name, rewards, verdicts = {} } = definition
  const parts = Object.entries(definition).map(([key, value]) => [
    key,
    typeof value === 'function' && key !== 'release'
      ? authored<readonly unknown[], unknown>(`\`${key}\` of ${name}`, value.bind(definition), READ[key])
      : value,
  ])
  const judges = Object.entries(verdicts).map(
    ([key, run]) => [key, authored(`Verdict "${key}" of ${name}`, run.bind(verdicts), judged)] as const,
  )
  const own = Object.fromEntries(parts)
  if (own.start) written.set(own.start, new Error(name))
  return {
    ...own,
    ...{ terms: Object.keys(rewards), rewards: authoredRewards(name, rewards) },
    verdictNames: Object.keys(verdicts),
    verdicts: (final: never) => Object.fromEntries(judges.map(([key, run]) => [key, run(final)])),
  }
}

export type Authored<Definition extends Written> = Omit<Definition, 'rewards' | 'verdicts'> & {
  readonly terms: readonly string[]
  readonly verdictNames: readonly string[]
  verdicts(final: Parameters<NonNullable<Definition['verdicts']>[string]>[0]): Readonly<Record<string, boolean>>
  rewards(...given: Parameters<Definition['rewards'][string]>): Readonly<Record<string, number>>
}

function authoredRewards<Given extends readonly never[]>(
  name: string,
  rewards: { readonly [term: string]: (...given: Given) => number },
) {
  const terms = Object.entries(rewards).map(([term, run]) => [term, run.bind(rewards)] as const)
  return (...given: Given): Readonly<Record<string, number>> => {
    const values: Record<string, number> = {}
    for (const [term, run] of terms) {
      let value: number
      try {
        value = run(...given)
      } catch (thrown) {
        throw faultOf(`Reward term "${term}" of ${name}`, thrown)
      }
      // JSON has no -0: players in this process must get the same number as remote ones.
      values[term] = Number.isFinite(value) ? value + 0 : finite(value, `Reward term "${term}" of ${name}`)
    }
    return values
  }
}

const judged = returning<boolean>('boolean', 'true or false')
const READ: { readonly [key: string]: (result: unknown, what: string) => unknown } = {
  observe: returning('string', 'a text'),
  potential: finite,
  success: judged,
}

function finite(value: unknown, what: string): number {
  assertSynchronous(value, what)
  if (!Number.isFinite(value)) throw rulesFailed(`${what} returned ${value}, and has to return a finite number.`)
  return (value as number) + 0
}

function returning<Value>(type: string, wanted: string) {
  return (value: unknown, what: string): Value => {
    if (typeof value === type) return value as Value
    const shown = shorten(JSON.stringify(value) ?? String(value), 80)
    throw rulesFailed(`${what} returned ${shown}, and has to return ${wanted}.`)
  }
}

export function authoredTools<Tools extends { readonly [name: string]: Tool }>(name: string, tools: Tools): Tools {
  const parts = Object.entries(tools).map(([key, tool]) => {
    assertTool(name, key, tool)
    const play = authored(`Tool ${key} of ${name}`, (context: Parameters<Tool['play']>[0]) => tool.play(context))
    return [key, { [WRITTEN]: tool.play, ...tool, play }]
  })
  return Object.fromEntries(parts) as Tools
}

export function authoredEvents(name: string, events: WorldEvents): WorldEvents {
  const parts = Object.entries(events).map(([key, event]) => {
    assertEvent(name, key, event)
    const apply = authored(`Event ${key} of ${name}`, (context: Parameters<typeof event.apply>[0]) =>
      event.apply(context),
    )
    return [key, { ...event, apply }]
  })
  return Object.fromEntries(parts) as WorldEvents
}

export function faultOf(what: string, thrown: unknown): ServerError {
  const cause = asError(thrown)
  if (ServerError.is(cause) && (placed.has(cause) || cause.code !== 'rules-failed')) return cause
  // An error of ours, such as that of `publish`, says already what the code did.
  const message = ServerError.is(cause)
    ? cause.message
    : `${what} threw: ${wordsOf(cause).slice(0, MESSAGE_LENGTH).toWellFormed()}`
  const fault = rulesFailed([message, ...ownFrames(cause)].join('\n'), { cause })
  placed.add(fault)
  return fault
}
