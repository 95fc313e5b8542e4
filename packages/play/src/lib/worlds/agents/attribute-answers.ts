import { isDeepStrictEqual } from 'node:util'
import type { ModelAnswer } from '@episodic/env'
import type { TimedAnswer } from '@episodic/models/record/answer-log'
import type { Action } from '@episodic/protocol'
import type { RecordedCall } from '@episodic/protocol/internal'
import { objectOf } from '@episodic/run/base/json'

/** A step of an agent, and when this process learned of it, by the clock of `monotonic`. */
export interface SeenStep {
  readonly action: Action
  readonly seen: number
}

export interface AttributedAnswers {
  readonly steps: readonly (readonly ModelAnswer[])[]
  /** Those after the last step. */
  readonly undecided: readonly ModelAnswer[]
}

/**
 * Attributes each answer to the step whose call came next. That is a guess by time, since a call does not say which
 * answer it follows: it can be wrong for an agent that asks several models at once. Times are a little late: steps are
 * seen after they were played, streams may end after their calls, and an agent may record an answer after its calls. So
 * an answer goes to a neighbouring or an earlier step instead if it called that one, and not its own, and answers after
 * it to later ones. Calls that were played are marked.
 *
 * @param answers - in the order in which they ended.
 */
export function attributeAnswers(answers: readonly TimedAnswer[], steps: readonly SeenStep[]): AttributedAnswers {
  const placed: ModelAnswer[][] = [...steps, null].map(() => [])
  const isPlayed = new Set<number>()
  let earliest = 0
  let timely = 0
  for (const { answer, ended } of answers) {
    while (timely < steps.length && (steps[timely] as SeenStep).seen < ended) timely += 1
    const { calls = [] } = answer
    const before = calls.map((_, i) => timely - calls.length + i)
    // What an agent says of itself may come several steps late.
    const late = Array.from({ length: Math.max(0, timely - earliest) }, (_, i) => earliest + i)
    const called = [timely, timely + 1, ...before, ...late].find((place) => {
      const step = steps[place]
      if (!step || place < earliest || isPlayed.has(place)) return false
      return isSaid(answer, step.action) || calls.some((call) => isCallOf(call, step.action))
    })
    const place = called ?? Math.max(timely, earliest)
    // Calls of one answer may be played one after another.
    let next = place
    if (called !== undefined && calls.length === 0) isPlayed.add(next++)
    const marked = calls.map((call) => {
      const step = steps[next]
      const played = step !== undefined && !isPlayed.has(next) && isCallOf(call, step.action)
      if (played) isPlayed.add(next++)
      return { ...call, played }
    })
    placed[place]?.push(marked.length > 0 ? { ...answer, calls: marked } : answer)
    // An answer that follows the call of a step did not lead to it.
    earliest = next
  }
  return { steps: placed.slice(0, -1), undecided: placed.at(-1) ?? [] }
}

/** Whether an action may be what an answer without a call says, which is its only argument. */
function isSaid({ text, calls = [] }: ModelAnswer, { arguments: args }: Action): boolean {
  const [words, ...others] = Object.values(args)
  return calls.length === 0 && text !== null && words === text && others.length === 0
}

/**
 * Whether a call may be the one of an action: clients put the name of their server in front of that of the tool, and an
 * action has only the arguments that the tool declares, with their defaults.
 */
function isCallOf({ name, arguments: written }: RecordedCall, { tool, arguments: args }: Action): boolean {
  if (name !== tool && !['_', '-', '.', '/', ':', ' '].some((sign) => name.endsWith(`${sign}${tool}`))) return false
  const called = objectOf(written === '' ? '{}' : written)
  if (!called) return false
  return Object.keys(called).every((key) => !Object.hasOwn(args, key) || isDeepStrictEqual(called[key], args[key]))
}
