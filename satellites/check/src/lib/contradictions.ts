import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import type { Finding } from './finding.ts'
import { formatStart, type RehearsedEpisode } from './rehearsed-episode.ts'
import { type Leaf, leavesOf, walkSchema } from './walk-json.ts'

/**
 * Finds answers whose text says another value of a field than their data: models read the text, and programs the data.
 *
 * Only plain statements count, such as `Guesses left: 3.` or `The status is open.`, of a field whose name the data has
 * once, and whose value is a number, yes or no, or one of an enumeration. A field of which the text also says the value
 * of the data is none: the other statement is of something else.
 */
export class Contradictions {
  readonly #found = new Map<string, Finding>()

  add(episode: RehearsedEpisode): void {
    for (const [i, { action, observation }] of episode.steps.entries()) {
      const { text, structured } = observation
      if (structured === null) continue
      const sentences = withoutDataLine(text, structured).split(/\n|(?<=[.!?;])\s+/)
      for (const [name, { value, path }] of namedOnce(structured)) {
        const said = saidOf(name, value, sentences, () => enumerated(episode.environment, action.tool, name))
        const subject = `${action.tool}.${path.join('.')}`
        if (said === undefined || this.#found.has(subject)) continue
        this.#found.set(subject, {
          name: `answer-contradictory:${subject}`,
          what: `The text of an answer of ${action.tool} says "${said}", and ${path.join('.')} in its data is ${JSON.stringify(value)}.`,
          again: `${formatStart(episode)}, step ${i + 1}`,
          advice:
            'Write text and data from the same values. If the text is of something else, name that, or waive this finding.',
        })
      }
    }
  }

  get warnings(): Finding[] {
    return [...this.#found.values()]
  }
}

function enumerated({ toolInfos }: EnvironmentDefinition, tool: string, field: string): string[] {
  const { outputSchema } = toolInfos.find(({ name }) => name === tool) ?? {}
  const values = [...walkSchema((outputSchema ?? {}) as JsonObject)]
    .filter(({ path }) => path.split('.').at(-1) === field)
    .flatMap(({ schema }) => [...((schema.enum ?? []) as readonly Json[]), schema.const])
  return values.filter((value) => typeof value === 'string')
}

function namedOnce(data: JsonObject): [string, Leaf][] {
  const named = Map.groupBy(leavesOf(data), ({ path }) => path.at(-1) as string)
  return [...named].flatMap(([key, [leaf, ...others]]) => (leaf && others.length === 0 ? [[key, leaf]] : []))
}

/** Words before a statement with which it says nothing of the state as it is. */
const NO_STATEMENT =
  /\b(?:if|when|unless|until|once|while|whether|before|after|would|must|should|could|may|might|can|was|were|not|never|no|than|each|every|any)\b/i
/**
 * What comes before a name: nothing, an article, or the end of another part. A word before it makes it another name.
 */
const BEFORE = String.raw`(?:^[\s>#|•*-]*|[,;:(|]\s*|\b(?:the|your|its|this|and|now)\s+)`
const QUOTES = '["\'`*]*'
const LINK = String.raw`\s*(?::|=|\b(?:is|are)(?:\s+now)?\b)\s*`

/** Returns a statement of another value of a field; `undefined` if there is none, or one of the value too. */
function saidOf(
  name: string,
  value: Json,
  sentences: readonly string[],
  enumerated: () => readonly string[],
): string | undefined {
  const words = name.split(/[\s_-]+|(?<=[a-z\d])(?=[A-Z])/).filter(Boolean)
  if (!words.every((word) => /^[a-z\d]+$/i.test(word)) || !Number.isNaN(Number(name))) return undefined
  const pattern = new RegExp(`${BEFORE}(${QUOTES}${words.join('[ _-]?')}${QUOTES}${LINK})(.*)$`, 'i')
  const readings = sentences.flatMap((sentence) => {
    const stated = pattern.exec(sentence)
    if (!stated || NO_STATEMENT.test(sentence.slice(0, stated.index))) return []
    const [, link = '', rest = ''] = stated
    const read = readValue(value, rest.replace(/^["'`*$€£]+/, ''), enumerated)
    return read === null ? [] : [{ ...read, said: `${link}${read.said}`.trim() }]
  })
  return readings.some(({ isSame }) => isSame) ? undefined : readings[0]?.said
}

function readValue(
  value: Json,
  text: string,
  enumerated: () => readonly string[],
): { readonly said: string; readonly isSame: boolean } | null {
  if (typeof value === 'boolean') {
    const [said] = /^(?:true|false|yes|no)\b/i.exec(text) ?? []
    return said === undefined ? null : { said, isSame: /^(?:true|yes)$/i.test(said) === value }
  }
  if (typeof value === 'number') {
    // Not a part of a date, a range, a list, a fraction, a sum or another word.
    const number = /^[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,:/–-]\s?\d|\s*[+*/×·−–-]\s*\d|\s(?:of|to|or|and)\b)/
    const [said] = number.exec(text) ?? []
    return said === undefined ? null : { said, isSame: isRounded(value, said) }
  }
  if (typeof value !== 'string') return null
  const spelt = (one: string) => one.toLowerCase().replaceAll(/[_-]/g, ' ')
  const begins = enumerated()
    .filter((one) => spelt(text).startsWith(spelt(one)) && !/^[\w]/.test(text.slice(one.length)))
    .sort((a, b) => b.length - a.length)
  const [said] = begins
  return said === undefined || said === '' ? null : { said: text.slice(0, said.length), isSame: said === value }
}

/** Units in which a text may write a number of the data: percent, cents, thousands. */
const UNITS = [100, 1_000, 0.01, 0.001]

function isRounded(value: number, said: string): boolean {
  const written = Number(said.replace('−', '-').replaceAll(',', ''))
  const last = 10 ** -(said.split('.')[1]?.length ?? 0)
  const isWithin = (factor: number) => Math.abs(value * factor - written) < last
  return Number.isInteger(value) ? value === written || UNITS.some(isWithin) : [1, ...UNITS].some(isWithin)
}
