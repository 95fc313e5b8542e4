import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'

/** Reads a whole number within bounds. */
export function wholeNumber(low: number, high = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < low || value > high || text.trim() === '')
      throw new InvalidArgumentError(
        `Give a whole number from ${low} ${high === Number.MAX_SAFE_INTEGER ? 'up' : `to ${high}`}.`,
      )
    return value
  }
}

/** Reads a token; `@<file>` is the content of that file, so that the token is in no list of processes. */
export function token(text: string): string {
  if (!text.startsWith('@')) return text
  try {
    return readFileSync(text.slice(1), 'utf8').trim()
  } catch (cause) {
    throw new InvalidArgumentError(`Cannot read the file ${text.slice(1)}: ${(cause as Error).message}`)
  }
}

/** Reads a number within bounds. */
export function numberWithin(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!(value >= low && value <= high) || text.trim() === '')
      throw new InvalidArgumentError(`Give a number from ${low} to ${high}.`)
    return value
  }
}

/** Reads `name=1,other=0.5`. */
export function weights(text: string): Record<string, number> {
  const found: Record<string, number> = {}
  for (const part of text.split(',')) {
    const [name = '', value = '', ...more] = part.split('=').map((side) => side.trim())
    if (!name || value === '' || more.length > 0 || !Number.isFinite(Number(value)))
      throw new InvalidArgumentError('Write them as name=number, separated by commas.')
    if (Object.hasOwn(found, name)) throw new InvalidArgumentError(`${name} is given twice.`)
    found[name] = Number(value)
  }
  return found
}

/** Reads `name=value` and adds it to those before. */
export function named(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Write it as name=value, for example first=random.')
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`${name} is given twice.`)
  return { ...earlier, [name]: value }
}

/** The same for players: a policy alone is a player of that name. */
export function namedPlayer(text: string, earlier?: Readonly<Record<string, string>>): Record<string, string> {
  return named(/^[\w.-]+$/.test(text) ? `${text}=${text}` : text, earlier)
}

/** The range of all difficulties. */
export const WHOLE_RANGE: [number, number] = [0, 1]

/** Reads `0.2..0.8`, or a single number for both ends. */
export function range(text: string): [number, number] {
  const ends = text.split('..')
  const [low = Number.NaN, high = low] = ends.map((end) => (end.trim() === '' ? Number.NaN : Number(end)))
  if (ends.length > 2 || !(low >= 0 && high <= 1 && low <= high))
    throw new InvalidArgumentError('Write a range as low..high, both from 0 to 1.')
  return [low, high]
}

/** A rate limit. */
export interface CallRate {
  readonly calls: number
  readonly seconds: number
}

/** Reads `1000/10`: calls, and the seconds of their window. */
export function callRate(text: string): CallRate {
  const [, calls = 0, seconds = 0] = (/^\s*(\d{1,9})\/(\d{1,5})\s*$/.exec(text) ?? []).map(Number)
  if (calls < 1 || seconds < 1)
    throw new InvalidArgumentError('Write a rate as calls/seconds, both whole numbers from 1, for example 1000/10.')
  return { calls, seconds }
}

/** Reads a text that is not empty. */
export function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Give at least one character.')
  return text
}

/** Reads `4@2,3@5`: the number of lines that a rollout is forked into, and after how many steps. */
export function branchPoints(text: string): { readonly lines: number; readonly at: number }[] {
  let before = -1
  return text.split(',').map((part) => {
    const [, lines = 0, at = 0] = (/^\s*(\d{1,4})@(\d{1,9})\s*$/.exec(part) ?? []).map(Number)
    if (!(lines >= 2 && lines <= 1_000 && at > before))
      throw new InvalidArgumentError(
        'Write branch points as lines@step, separated by commas: 2 to 1000 lines, and ascending steps.',
      )
    before = at
    return { lines, at }
  })
}

/** Reads `500@0..0.3,100@1`: the number of tasks that each stage draws, and their range of difficulty. */
export function stages(text: string): { readonly episodes: number; readonly difficulty: [number, number] }[] {
  return text.split(',').map((part) => {
    const [, count, difficulty = ''] = /^\s*(\d{1,9})@(.*)$/.exec(part) ?? []
    if (count === undefined)
      throw new InvalidArgumentError(
        'Write stages as count@difficulty, separated by commas, for example 500@0..0.3,500@0.7..1.',
      )
    if (Number(count) < 1) throw new InvalidArgumentError('A stage draws at least 1 task.')
    return { episodes: Number(count), difficulty: range(difficulty) }
  })
}

/** Collects a repeatable option. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}
