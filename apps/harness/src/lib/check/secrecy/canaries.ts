import { rehearse } from '@episodic/mcp-server'
import { createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import type { CheckedWorld, Setting } from '../check-context.ts'
import { type Deal, keepsOwn, keepsPrivate } from '../deal.ts'
import { leavesOf, replaceAt } from '../walk-json.ts'
import { type Form, formsOf } from './encodings.ts'

/** A hidden value that can be recognized. */
export interface Mark {
  readonly text: string
  /** Such as `own.first.card`. */
  readonly place: string
  /** The seat that holds it; `null` for the private state. */
  readonly holder: string | null
  readonly forms: readonly Form[]
}

/** Deals canaries to the private state and to every seat of a game, wherever the schemas accept them. */
export function plantDeal(
  { environment }: CheckedWorld,
  { params }: Setting,
  seed: string,
): { readonly deal: Deal; readonly marks: readonly Mark[] } {
  const { state } = rehearse(environment, { params, seed }).start
  const rng = createRng(seed).stream('canaries')
  const marks: Mark[] = []
  const plant = (part: string, holder: string | null, real: JsonObject, keeps: (planted: JsonObject) => boolean) => {
    const planted = plantCanaries(part, real, keeps, rng)
    for (const [text, place] of planted.marks) marks.push({ text, place, holder, forms: formsOf(text) })
    return planted.state
  }
  const own = Object.entries(state.own ?? {}).map(([seat, part]) => [
    seat,
    plant(`own.${seat}`, seat, part, (planted) => keepsOwn(environment, planted)),
  ])
  const hidden = plant('private', null, state.private, (planted) => keepsPrivate(environment, planted))
  return {
    deal: { seed, state: { ...state, private: hidden, ...(state.own && { own: Object.fromEntries(own) }) } },
    marks,
  }
}

/** A hidden part of a state with recognizable values. */
interface CanaryState {
  readonly state: JsonObject
  /** Texts that do not occur by chance, each with its place in the state. */
  readonly marks: ReadonlyMap<string, string>
}

/** The fewest characters of a real value that serves as a mark. Shorter ones occur by chance. */
const LEAST_TEXT = 12
const LEAST_DIGITS = 9

/**
 * Replaces the values of a hidden part of the state by canaries: texts by 24 hexadecimal digits and numbers by primes
 * of nine digits. Where `keeps` rejects a canary, the real value stays, and is a mark if it is long enough.
 */
function plantCanaries(part: string, real: JsonObject, keeps: (planted: JsonObject) => boolean, rng: Rng): CanaryState {
  const marks = new Map<string, string>()
  let state = real
  for (const { path, value } of leavesOf(real)) {
    const canary = canaryFor(value, rng)
    const planted = canary === null ? null : (replaceAt(state, path, canary) as JsonObject)
    const place = [part, ...path].join('.')
    if (planted && keeps(planted)) {
      state = planted
      marks.set(String(canary), place)
    } else if (String(value).length >= (typeof value === 'string' ? LEAST_TEXT : LEAST_DIGITS))
      marks.set(String(value), place)
  }
  return { state, marks }
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
