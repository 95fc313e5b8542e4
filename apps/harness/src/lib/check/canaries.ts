import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Json, JsonObject, Rng } from '@episodic/protocol'
import { leavesOf, replaceAt } from './json-leaves.ts'

/** A private state that tells itself apart from anything else, and the values in it that would. */
export interface CanaryState {
  readonly state: JsonObject
  /** Texts that cannot occur by chance, each with where it stands. */
  readonly marks: ReadonlyMap<string, string>
}

/** The fewest characters of a real value that is searched for: shorter ones occur by chance. */
const LEAST_TEXT = 12
const LEAST_DIGITS = 9

/**
 * Fills a private state with canaries: 24 hexadecimal digits for a text and a prime of nine digits for a number,
 * wherever the schema takes them. Values that it refuses stay as they are, and are marks where they are long enough.
 */
export function plantCanaries(environment: EnvironmentDefinition, real: JsonObject, rng: Rng): CanaryState {
  const marks = new Map<string, string>()
  let state = real
  for (const { path, value } of leavesOf(real)) {
    const canary = canaryFor(value, rng)
    const planted = canary === null ? null : (replaceAt(state, path, canary) as JsonObject)
    const place = `private.${path.join('.')}`
    if (planted && isKept(environment, planted)) {
      state = planted
      marks.set(String(canary), place)
    } else if (String(value).length >= (typeof value === 'string' ? LEAST_TEXT : LEAST_DIGITS))
      marks.set(String(value), place)
  }
  return { state, marks }
}

/** Whether the schema takes a private state and keeps all of it. */
export function isKept(environment: EnvironmentDefinition, state: JsonObject): boolean {
  const parsed = environment.state.private.safeParse(state)
  return parsed.success && JSON.stringify(parsed.data) === JSON.stringify(state)
}

function canaryFor(value: Json, rng: Rng): Json | null {
  if (typeof value === 'string') return Array.from({ length: 24 }, () => rng.int(0, 15).toString(16)).join('')
  return typeof value === 'number' ? primeOfNineDigits(rng) : null
}

function primeOfNineDigits(rng: Rng): number {
  for (;;) {
    const candidate = rng.int(100_000_000, 999_999_999)
    if (isPrime(candidate)) return candidate
  }
}

function isPrime(value: number): boolean {
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false
  return true
}
