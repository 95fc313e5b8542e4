import { isNumber } from '../python/arithmetic.ts'
import { dumps } from '../python/dumps.ts'
import { equalityText } from '../python/equality.ts'
import { repr, str } from '../python/repr.ts'
import type { PythonValue } from '../python/value.ts'
import { type Api, PythonError, type Sources } from './api.ts'
import type { Library } from './data.ts'
import { fileSystem } from './file-system.ts'
import { math } from './math.ts'
import { messages } from './messages.ts'
import { posting } from './posting.ts'
import { tickets } from './tickets.ts'
import { trading } from './trading.ts'
import { travel } from './travel.ts'
import { vehicle } from './vehicle.ts'

/** The classes of the original, by their names there. */
const CLASSES = {
  ...{ GorillaFileSystem: fileSystem, MathAPI: math, MessageAPI: messages, TwitterAPI: posting },
  ...{ TicketAPI: tickets, TradingBot: trading, TravelAPI: travel, VehicleControlAPI: vehicle },
} as unknown as Readonly<Record<string, Api<unknown>>>

export interface Scene {
  readonly classes: readonly string[]
  readonly scenarios: Readonly<Record<string, PythonValue>>
  readonly isLong: boolean
}

/** States of the classes of a task, by their names: plain JSON. */
export type States = Record<string, unknown>

/** Arguments of a call, by their names. */
export type Arguments = Readonly<Record<string, PythonValue>>

/** Returns the states that a task begins with. */
export function loadStates({ classes, scenarios, isLong }: Scene, library: Library): States {
  return Object.fromEntries(
    classes.map((name) => {
      const scenario = (scenarios[name] ?? {}) as Record<string, PythonValue>
      return [name, structuredClone(classOf(name).load(scenario, sourcesOf(library, name, isLong)))]
    }),
  )
}

/** Calls a function, which may change the states, and returns the text that the original gives the model. */
export function callFunction(
  states: States,
  { name, className, given, isLong }: { name: string; className: string; given: Arguments; isLong: boolean },
  library: Library,
): string {
  try {
    const method = classOf(className).methods[name] as NonNullable<Api<unknown>['methods'][string]>
    return print(
      method(
        states[className],
        checkArguments(library, className, name, given) as never,
        sourcesOf(library, className, isLong),
      ),
    )
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    return `Error during execution: ${error.message}`
  }
}

function classOf(name: string): Api<unknown> {
  return CLASSES[name] as Api<unknown>
}

/** Prints a result as the original does: a dict as JSON if it can be, a text as it is, and all else as `str` does. */
function print(answer: ReturnType<Api<unknown>['methods'][string]>): string {
  const result = answer as PythonValue
  const isDict = typeof result === 'object' && result !== null && !Array.isArray(result)
  if (!isDict) return str(result)
  try {
    return dumps(result)
  } catch {
    return str(result)
  }
}

const CHECKS: Readonly<Record<string, (value: PythonValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  float: isNumber,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  dict: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/**
 * Returns the arguments, if the function's document has them. Throws as Python does for one that is missing or unknown.
 * The original finds that a value has a wrong type where it is used; here that is said at once, but of ids, which it
 * only compares.
 */
function checkArguments(library: Library, className: string, name: string, given: Arguments): Arguments {
  const { properties, required } = library.functions(className).get(name)?.parameters ?? {
    properties: {},
    required: [],
  }
  for (const key of Object.keys(given))
    if (!Object.hasOwn(properties, key))
      throw new PythonError(`${className}.${name}() got an unexpected keyword argument '${key}'`)
  const missing = required.filter((key) => !Object.hasOwn(given, key)).map(repr)
  if (missing.length > 0) {
    const named =
      missing.length < 3 ? missing.join(' and ') : `${missing.slice(0, -1).join(', ')}, and ${missing.at(-1)}`
    const plural = missing.length === 1 ? '' : 's'
    throw new PythonError(
      `${className}.${name}() missing ${missing.length} required positional argument${plural}: ${named}`,
    )
  }
  for (const [key, value] of Object.entries(given)) {
    const { type } = properties[key] as { type: string }
    const isAny = key.endsWith('_id') || (value === null && !required.includes(key))
    if (!isAny && !CHECKS[type]?.(value)) throw new PythonError(`${key} is not of type ${type}`)
  }
  return given
}

function sourcesOf(library: Library, className: string, isLong: boolean): Sources {
  return { isLong, ...library.sources(className) }
}

/** Returns what the original compares of the states, by class, as texts that are the same for equal states. */
export function equalityOf(states: States): Readonly<Record<string, string>> {
  return mapStates(states, (compared) => equalityText(compared))
}

/** Returns what the original compares of the states, as Python prints it. */
export function printStates(states: States): Readonly<Record<string, string>> {
  return mapStates(states, (compared) => repr(compared))
}

function mapStates(states: States, map: (compared: PythonValue) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, map(classOf(name).compared(state))]))
}
