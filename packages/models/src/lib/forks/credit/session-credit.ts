import { advantages } from '@episodic/env/advantages'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { JournalEntry } from '../../journal/model-journal.ts'
import { callsOf, findFittingPrefix } from '../fitting-prefix.ts'
import type { ForkRequest } from '../session-forks.ts'

/** The answers of a session that led to steps of its world: each that called tools, after those that called none. */
export const placedSchema = z.array(
  z.object({
    answers: z.array(z.int()),
    calls: z.int(),
    /** What its steps earned, and the state after the last of them; `null` if it is not known. */
    reward: z.number(),
    state: z.string().nullable(),
  }),
)
export type PlacedSteps = z.infer<typeof placedSchema>

/** Places the steps of a world among the answers of its session, or says why they do not fit. */
export function placeSteps(entries: readonly JournalEntry[], steps: ForkRequest['steps']): PlacedSteps | string {
  const way = findFittingPrefix(entries, steps, true)
  if (typeof way === 'string') return way
  const placed: PlacedSteps = []
  let answers: number[] = []
  let at = 0
  for (const entry of way) {
    answers.push(entries.indexOf(entry))
    const own = steps.slice(at, at + callsOf(entry).length)
    const last = own.at(-1)
    if (!last) continue
    at += own.length
    const reward = own.reduce((sum, step) => sum + step.reward, 0)
    placed.push({ answers, calls: own.length, reward, state: last.state_hash })
    answers = []
  }
  return placed
}

export const creditedSchema = z.object({
  id: z.string(),
  fork: z.object({ root: z.string(), branch: z.array(z.int()), at: z.array(z.int()) }).optional(),
  placed: placedSchema.optional(),
})
export type CreditedSession = Readonly<z.infer<typeof creditedSchema>>

export type Grouped = Pick<CreditedSession, 'id' | 'fork'> & { readonly metadata: JsonObject }

/** Returns the sessions of one group, or those that were forked from one. */
export function groupOf<S extends Grouped>({ id, fork, metadata: { group } }: Grouped, all: readonly S[]): S[] {
  const root = fork?.root ?? id
  return all.filter((each) =>
    group === undefined ? (each.fork?.root ?? each.id) === root : each.metadata.group === group,
  )
}

/** Returns which fork an answer is in: those before it are shared. */
export function branchOf({ fork }: Pick<CreditedSession, 'fork'>, answer: number): readonly number[] {
  return fork ? fork.branch.slice(0, fork.at.findLastIndex((answers) => answers <= answer) + 1) : []
}

/** Returns what each answer of the sessions was worth by the states that they share. */
export function creditOf(sessions: readonly CreditedSession[]) {
  const known = sessions.filter(({ placed }) => placed)
  const { rollouts } = advantages(
    known.map((session) => ({
      steps: (session.placed ?? []).map(({ answers: [answer = 0], calls, reward, state }, at) => {
        // What forks share is one step: it is as far from the start, and before the same forks.
        const sample = `${session.fork?.root ?? session.id} ${branchOf(session, answer).join()} ${at}`
        return { action: [], calls, reward, stateHash: state, sample }
      }),
    })),
  )
  const worth = new Map(
    known.map(({ id, placed = [] }, i) => {
      const steps = rollouts[i]?.steps ?? []
      return [id, new Map(placed.flatMap(({ answers }, at) => answers.map((answer) => [answer, steps[at]] as const)))]
    }),
  )
  return (id: string, answer: number) => worth.get(id)?.get(answer)
}
