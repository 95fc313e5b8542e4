import { isNumber } from '../python/arithmetic.ts'
import { dumps } from '../python/dumps.ts'
import { repr, str } from '../python/repr.ts'
import type { PythonValue } from '../python/value.ts'
import { type Api, type ApiAnswer, type Fields, PythonError, type Sources } from './api.ts'
import type { BfclTask, FunctionDocument, Library } from './data.ts'
import { fileSystem } from './file-system.ts'
import { math } from './math.ts'
import { messages } from './messages.ts'
import { posting } from './posting.ts'
import { tickets } from './tickets.ts'
import { trading } from './trading.ts'
import { travel } from './travel.ts'
import { vehicle } from './vehicle.ts'

const CLASSES = {
  ...{ GorillaFileSystem: fileSystem, MathAPI: math, MessageAPI: messages, TwitterAPI: posting },
  ...{ TicketAPI: tickets, TradingBot: trading, TravelAPI: travel, VehicleControlAPI: vehicle },
} as unknown as Readonly<Record<string, Api<unknown>>>

/** States of the classes of a task, by their names: plain JSON. */
export type States = Record<string, unknown>

export function loadStates({ classes, scenarios, isLong }: BfclTask, library: Library): States {
  const load = (name: string) => classOf(name).load(scenarios[name] ?? {}, library.sources(name, isLong))
  return Object.fromEntries(classes.map((name) => [name, structuredClone(load(name))]))
}

/** Calls a function, which may change the states, and returns the text that the original gives the model. */
export function callFunction(states: States, called: FunctionDocument, given: Fields, sources: Sources): string {
  try {
    assertArguments(called, given)
    const { className, name } = called
    return print(classOf(className).methods[name]?.(states[className], given, sources) as ApiAnswer)
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    return `Error during execution: ${error.message}`
  }
}

function classOf(name: string): Api<unknown> {
  return CLASSES[name] as Api<unknown>
}

/** Prints a result as the original does: a dict as JSON if it can be, a text as it is, and all else as `str` does. */
function print(answer: ApiAnswer): string {
  if (!isDict(answer)) return str(answer as PythonValue)
  const result = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) as Fields
  try {
    return dumps(result)
  } catch {
    return str(result)
  }
}

function isDict(value: ApiAnswer): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const CHECKS: Readonly<Record<string, (value: PythonValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  float: isNumber,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  dict: isDict,
}

/**
 * Throws as Python does for an argument that is missing or unknown. The original finds that a value has a wrong type
 * where it is used; here that is said at once, but of ids, which it only compares.
 */
function assertArguments({ className, name, parameters }: FunctionDocument, given: Fields): void {
  const { properties, required } = parameters
  const wrong = (what: string) => new PythonError(`${className}.${name}() ${what}`)
  for (const key of Object.keys(given))
    if (!Object.hasOwn(properties, key)) throw wrong(`got an unexpected keyword argument '${key}'`)
  const missing = required.filter((key) => !Object.hasOwn(given, key)).map(repr)
  if (missing.length > 0) {
    const positional = `required positional argument${missing.length === 1 ? '' : 's'}`
    const named =
      missing.length < 3 ? missing.join(' and ') : `${missing.slice(0, -1).join(', ')}, and ${missing.at(-1)}`
    throw wrong(`missing ${missing.length} ${positional}: ${named}`)
  }
  for (const [key, value] of Object.entries(given)) {
    const type = properties[key]?.type ?? ''
    const isAny = key.endsWith('_id') || (value === null && !required.includes(key))
    if (!isAny && !CHECKS[type]?.(value)) throw new PythonError(`${key} is not of type ${type}`)
  }
}

/** Returns what the original compares of the states, by class: all public attributes in the order of their names. */
export function comparedOf(states: States): Fields {
  const attributesOf = (state: object) =>
    Object.fromEntries(
      Object.entries(state)
        .filter(([name]) => !name.startsWith('_'))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => [
      name,
      classOf(name).compared?.(state) ?? attributesOf(state as object),
    ]),
  )
}
