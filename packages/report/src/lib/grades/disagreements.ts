import type { EpisodeName } from './agreement.ts'
import type { GradeSummary } from './grade-summary.ts'

/** Returns the episodes on which a judge and a person disagree about a question, once each, in order. */
export function disagreements({ graders, agreements }: Pick<GradeSummary, 'graders' | 'agreements'>): EpisodeName[] {
  const graderOf = new Map(graders.map(({ key, grader }) => [key, grader]))
  const found = new Map<string, EpisodeName>()
  for (const { a, b, apart } of agreements) {
    const [one, other] = [graderOf.get(a), graderOf.get(b)]
    const isJudged = one?.name === other?.name && (one?.kind === 'person') !== (other?.kind === 'person')
    if (isJudged) for (const place of apart) found.set(JSON.stringify([place.task, place.attempt, place.try]), place)
  }
  return [...found.values()]
}
