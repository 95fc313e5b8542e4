import { contentId, type EpisodeRecord } from '@episodic/protocol'
import type { GradableLine } from '@episodic/report/grades/gradable-lines'
import type { GradeRecord } from '@episodic/report/grades/grade-record'

/** Pairs of episodes whose words are swapped for each judge. */
const PAIRS = 4

/** An episode that is judged with the words of another one, and its verdict with its own. */
export interface SwappedWords {
  readonly line: GradableLine
  readonly from: GradableLine
  readonly before: GradeRecord['value']
}

/** Pairs episodes that succeeded with others, in the order of their draw: each is to have the words of the other. */
export function pairForWords(
  lines: readonly GradableLine[],
  verdictOf: (line: GradableLine) => GradeRecord['value'] | undefined,
): SwappedWords[] {
  const decided = lines.filter((line) => (verdictOf(line) ?? null) !== null)
  const [succeeded, others] = [true, false].map((is) => decided.filter(({ success }) => success === is))
  return (succeeded ?? []).slice(0, PAIRS).flatMap((one) => {
    const other = others?.shift()
    if (!other) return []
    const both = [[one, other] as const, [other, one] as const]
    return both.map(([line, from]) => ({ line, from, before: verdictOf(line) ?? null }))
  })
}

/**
 * Returns an episode with the words of another one in the place of its own, the last ones first; what it did, and what
 * the world answered, stays. Returns `null` if one of them has no words, or both have the same.
 */
export function swapWords(record: EpisodeRecord, from: EpisodeRecord): { record: EpisodeRecord; seal: string } | null {
  const [own, others] = [wordsOf(record), wordsOf(from)]
  if (own.length === 0 || others.length === 0 || own.at(-1) === others.at(-1)) return null
  let left = own.length
  const next = () => others.at(-left--) ?? ''
  return {
    record: mapWords(record, next),
    seal: contentId(`${record.seal ?? record.chain}/words of ${from.seal ?? from.chain}`),
  }
}

function wordsOf(record: EpisodeRecord): string[] {
  const words: string[] = []
  mapWords(record, (text) => {
    words.push(text)
    return text
  })
  return words
}

/** What a player says beside its calls, and as a move. */
function mapWords(record: EpisodeRecord, change: (text: string) => string): EpisodeRecord {
  const said = (completions: EpisodeRecord['undecided'] = []) =>
    completions.map((one) => (one.text ? { ...one, text: change(one.text) } : one))
  const steps = record.steps.map(({ completions, action, ...step }) => {
    const args = step.speech
      ? Object.fromEntries(Object.entries(action.arguments).map(([name, text]) => [name, change(String(text))]))
      : action.arguments
    // Words that are a move are in the answer too, and are shown once.
    const answers = step.speech ? completions : completions && said(completions)
    return { ...step, action: { ...action, arguments: args }, ...(answers && { completions: answers }) }
  })
  return { ...record, steps, ...(record.undecided && { undecided: said(record.undecided) }) }
}
