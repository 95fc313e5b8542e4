import type { Json, JsonObject, Split } from '@episodic/protocol'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { OptionText } from './options.ts'
import { readTextFile } from './text-file.ts'

export function wholeNumber(low: number, high = Number.MAX_SAFE_INTEGER) {
  const problem = `Give a whole number from ${low} ${high === Number.MAX_SAFE_INTEGER ? 'up' : `to ${high}`}.`
  return z.int(problem).min(low, problem).max(high, problem)
}

export const countOrFileSchema = z.union(
  [z.int().min(1), z.string().min(1)],
  'Give a whole number from 1 up, or the path of a file.',
)
/** What is no number is the path of a file. */
export const countOrFile: OptionText<z.infer<typeof countOrFileSchema>> = {
  read: (text) => (text.trim() === '' || Number.isNaN(Number(text)) ? text.trim() : Number(text)),
  write: String,
}

export function numberWithin(low: number, high: number) {
  const problem = `Give a number from ${low} to ${high}.`
  return z.number(problem).min(low, problem).max(high, problem)
}

/**
 * Half a width in points, such as `±2points`, or a limit to decide about, such as `>=80%`; of the difference from a
 * baseline, `>=-3points`.
 */
export const UNTIL =
  /^(?:(?:±|\+-)?(?<points>\d+(?:\.\d+)?) ?(?:points|%)|(?<way>[<>])=(?<limit>-?\d+(?:\.\d+)?)(?<unit>%| ?points))(?: from (?<baseline>.+))?$/

export const nonEmpty = z.string().min(1, 'Give at least one character.')

export const texts = z.array(z.string()).default([])

/**
 * A text; `@<file>` is the content of that file, so that a token is in no list of processes. A text that begins with an
 * `@` has another one before it.
 */
export const textOrFile: OptionText<string> = {
  read: readTextOrFile,
  write: (text) => (text.startsWith('@') ? `@${text}` : text),
}

/** Reads a text, or the file that it names. Throws `InvalidArgumentError`. */
export function readTextOrFile(text: string): string {
  if (!text.startsWith('@')) return text
  if (text.startsWith('@@')) return text.slice(1)
  try {
    return readTextFile(text.slice(1)).trim()
  } catch (cause) {
    throw new InvalidArgumentError(`Cannot read the file ${text.slice(1)}: ${(cause as Error).message}`)
  }
}

/** `name=1,other=0.5`. */
export const weights: OptionText<Record<string, number>> = {
  read(text) {
    const found = new Map<string, number>()
    for (const part of text.split(',')) {
      const [name = '', value = '', ...more] = part.split('=').map((side) => side.trim())
      if (!name || value === '' || more.length > 0 || !Number.isFinite(Number(value)))
        throw new InvalidArgumentError('Write them as name=number, separated by commas.')
      if (found.has(name)) throw new InvalidArgumentError(`${name} is given twice.`)
      found.set(name, Number(value))
    }
    return Object.fromEntries(found)
  },
  write: (values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
}

/** `name=value`, once for each name. */
function namedValues<T>(
  read: (text: string) => T,
  write: (value: T) => string,
): OptionText<{ readonly [name: string]: T }> {
  return {
    read(text, earlier = {}) {
      const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
      if (name === undefined || value === undefined)
        throw new InvalidArgumentError('Write it as name=value, for example first=random.')
      if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`${name} is given twice.`)
      return { ...earlier, [name]: read(value) }
    },
    write: (values) => Object.entries(values).map(([name, value]) => `${name}=${write(value)}`),
  }
}

export const named = namedValues<string>((text) => text, String)

/** With JSON values; what is no JSON is a text. */
export const namedJson: OptionText<JsonObject> = namedValues<Json>(jsonOrText, JSON.stringify)

export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** `0.2..0.8`, or a single number for both ends. */
export const range: OptionText<[number, number]> = {
  read(text) {
    const ends = text.split('..')
    const [low = Number.NaN, high = low] = ends.map((end) => (end.trim() === '' ? Number.NaN : Number(end)))
    const read = difficultySchema.safeParse([low, high])
    if (ends.length > 2 || !read.success)
      throw new InvalidArgumentError('Write a range as low..high, both from 0 to 1.')
    return read.data
  },
  write: (ends) => ends.join('..'),
}

export const difficultySchema = z
  .tuple([z.number().min(0).max(1), z.number().min(0).max(1)])
  .refine(([low, high]) => low <= high, 'The lowest difficulty comes first.')

export const splitSchema = z.enum(['train', 'validation', 'test'] satisfies Split[])

export const callRateSchema = z.object({ calls: z.int().min(1), seconds: z.int().min(1) })
export type CallRate = z.infer<typeof callRateSchema>

/** `1000/10`: calls, and the seconds of their window. */
export const callRate: OptionText<CallRate> = {
  read(text) {
    const [, calls = 0, seconds = 0] = (/^\s*(\d{1,9})\/(\d{1,5})\s*$/.exec(text) ?? []).map(Number)
    if (calls < 1 || seconds < 1)
      throw new InvalidArgumentError('Write a rate as calls/seconds, both whole numbers from 1, for example 1000/10.')
    return { calls, seconds }
  },
  write: ({ calls, seconds }) => `${calls}/${seconds}`,
}

/** The number of lines that a rollout is forked into, and after how many steps. */
export const branchSchema = z
  .array(z.object({ lines: z.int().min(2).max(1_000), at: z.int().min(0).max(999_999_999) }))
  .refine((points) => points.every(({ at }, i) => i === 0 || at > (points[i - 1]?.at ?? 0)), 'Steps have to ascend.')

export const branchPoints: OptionText<z.infer<typeof branchSchema>> = {
  read(text) {
    const points = text.split(',').map((part) => {
      const [, lines = 0, at = 0] = (/^\s*(\d{1,4})@(\d{1,9})\s*$/.exec(part) ?? []).map(Number)
      return { lines, at }
    })
    if (branchSchema.safeParse(points).success) return points
    throw new InvalidArgumentError(
      'Write branch points as lines@step, separated by commas: 2 to 1000 lines, and ascending steps.',
    )
  },
  write: (points) => points.map(({ lines, at }) => `${lines}@${at}`).join(','),
}

/** `500@0..0.3,100@1`: the number of tasks that each stage draws, and their range of difficulty. */
export const stages: OptionText<{ episodes: number; difficulty: [number, number] }[]> = {
  read: (text) =>
    text.split(',').map((part) => {
      const [, count, difficulty = ''] = /^\s*(\d{1,9})@(.*)$/.exec(part) ?? []
      if (count === undefined)
        throw new InvalidArgumentError(
          'Write stages as count@difficulty, separated by commas, for example 500@0..0.3,500@0.7..1.',
        )
      if (Number(count) < 1) throw new InvalidArgumentError('A stage draws at least 1 task.')
      return { episodes: Number(count), difficulty: range.read(difficulty) }
    }),
  write: (all) => all.map(({ episodes, difficulty }) => `${episodes}@${difficulty.join('..')}`).join(','),
}
