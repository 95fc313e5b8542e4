import { ownFrames } from '../../own-frames.ts'
import { rulesFailed, ServerError } from '../../server-error.ts'
import { assertEvent, assertTool } from './assert-definition.ts'
import type { Tool, WorldEvents } from './environment.ts'
import { asError, ignoreRejection, wordsOf } from './thrown-value.ts'

/** Characters of an author's own message that a fault repeats. */
const MESSAGE_LENGTH = 800

/** Faults that name their function and its place already: a definition may call functions of another one. */
const placed = new WeakSet<Error>()

/**
 * Returns a function of a definition that says where it fails: what it throws becomes `rules-failed`, with the name of
 * the function, the message, and the frames of the author's code (file, line and column). The cause is what was thrown.
 *
 * A promise is a fault too, because rules are synchronous.
 *
 * @param what - names the function, such as `Tool guess of secret-number`.
 */
function authored<Given extends readonly unknown[], Result>(
  what: string,
  run: (...given: Given) => Result,
): (...given: Given) => Result {
  return (...given) => {
    let result: Result
    try {
      result = run(...given)
    } catch (thrown) {
      throw faultOf(what, thrown)
    }
    if (!(result instanceof Promise)) return result
    ignoreRejection(result)
    throw rulesFailed(
      `${what} returned a promise, and rules are synchronous. Leave out \`async\`; what has to be awaited belongs in the \`prepare\` of a tool.`,
    )
  }
}

/**
 * Returns a copy of a definition whose own functions are {@link authored}, those of its reward terms included. Only
 * `release` is none of its rules.
 */
export function authoredParts<Definition extends { readonly name: string; readonly rewards: object }>(
  definition: Definition,
): Definition {
  const { name, rewards } = definition
  const wrapped = (part: object, what: (key: string) => string) =>
    Object.entries(part).map(([key, value]) => [
      key,
      typeof value === 'function' && key !== 'release' ? authored(what(key), value.bind(part)) : value,
    ])
  return {
    ...Object.fromEntries(wrapped(definition, (key) => `\`${key}\` of ${name}`)),
    rewards: Object.fromEntries(wrapped(rewards, (term) => `Reward term "${term}" of ${name}`)),
  } as Definition
}

/**
 * Returns a copy of tools whose `play` is {@link authored}. Throws `definition-invalid` for a tool without a needed
 * part.
 */
export function authoredTools<Tools extends { readonly [name: string]: Tool }>(name: string, tools: Tools): Tools {
  for (const [tool, written] of Object.entries(tools)) assertTool(name, tool, written)
  return mapped(tools, (tool, key) => ({
    ...tool,
    play: authored(`Tool ${key} of ${name}`, (context: Parameters<Tool['play']>[0]) => tool.play(context)),
  }))
}

/** Returns a copy of events whose `apply` is {@link authored}. Throws `definition-invalid` for an unknown part. */
export function authoredEvents(name: string, events: WorldEvents): WorldEvents {
  for (const [type, written] of Object.entries(events)) assertEvent(name, type, written)
  return mapped(events, (event, key) => ({
    ...event,
    apply: authored(`Event ${key} of ${name}`, (context: Parameters<WorldEvents[string]['apply']>[0]) =>
      event.apply(context),
    ),
  }))
}

function mapped<Values extends { readonly [key: string]: object }>(
  values: Values,
  change: (value: Values[string], key: string) => object,
): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, change(value as Values[string], key)]),
  ) as Values
}

/** Returns what a function of an author threw as `rules-failed`, with the frames of the author's code. */
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
