import { randomBytes } from 'node:crypto'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import type { ModelJournal } from '../journal/model-journal.ts'
import { findFittingPrefix } from './fitting-prefix.ts'

const stepShape = { tool: z.string(), arguments: jsonObjectSchema, text: z.string() }
/** So large that their sums are numbers too. */
const reward = z.number().min(-1e100).max(1e100)
const state = z.string().nullable()
const stepsSchema = z.array(z.object({ ...stepShape, reward: reward.default(0), state_hash: state.default(null) }))
const after = z.int().min(0).default(0)

/** The steps of a world that earned what is credited, and how many it had before them: those of a fork. */
export const playedShape = { steps: z.array(z.object({ ...stepShape, reward, state_hash: state })), after }
export const forkShape = { n: z.int().min(1).max(1_000).default(1), steps: stepsSchema, after }
export type ForkRequest = z.infer<z.ZodObject<typeof forkShape>>

/** Where a session of the gateway goes on from another one. */
const keptSchema = z.object({
  of: z.string(),
  /** How many of its first answers are those of the other one, which learns them. */
  answers: z.int().min(0),
  /** Which fork it is, and which ones those before it were, from 1; and how many answers come before each. */
  branch: z.array(z.int().min(1)),
  at: z.array(z.int().min(0)).optional(),
  root: z.string().optional(),
  /** The steps of the world that they led to. */
  steps: stepsSchema,
})
// Older lines say of the last fork alone where it is.
export const forkSchema = keptSchema.transform(({ at, root, ...fork }) => ({
  ...fork,
  at: at ?? fork.branch.map(() => fork.answers),
  root: root ?? fork.of,
}))
export type SessionFork = z.infer<typeof forkSchema>

export function toPlace({ steps, at: _, root: __, ...place }: SessionFork): object {
  return { ...place, steps: steps.length }
}

interface ForkedLine {
  readonly id: string
  readonly token: string
  readonly metadata: JsonObject
  readonly reward: number | null
  readonly fork?: SessionFork | undefined
}

export type PlayedSteps = z.infer<z.ZodObject<typeof playedShape>>

/** Returns the steps of a session's world from its start, or why they are not known. */
export function allSteps({ id, fork }: Pick<ForkedLine, 'id' | 'fork'>, { steps, after }: PlayedSteps) {
  const earlier = fork?.steps.slice(0, after) ?? []
  return earlier.length < after
    ? `Of ${id}, ${earlier.length} steps before a fork are known, and not ${after}.`
    : [...earlier, ...steps]
}

export function randomId(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/**
 * Forks sessions of a gateway: opens others that go on from those answers of a session that led to the first steps of
 * its world. Their first requests get these answers, and the next prompt begins with their tokens.
 */
export class SessionForks<Session> {
  readonly #journal: ModelJournal
  readonly #open: (line: ForkedLine) => Promise<Session>
  readonly #counts = new Map<string, number>()

  /** @param open - writes the line of a new session, and opens it. */
  constructor(journal: ModelJournal, open: (line: ForkedLine) => Promise<Session>) {
    this.#journal = journal
    this.#open = open
  }

  remember({ fork }: Pick<ForkedLine, 'fork'>): void {
    if (fork) this.#counts.set(fork.of, Math.max(this.#counts.get(fork.of) ?? 0, fork.branch.at(-1) ?? 0))
  }

  /** Resolves with the forks, or with why no answers of the session fit the steps. */
  async fork({ id, metadata, fork: before }: ForkedLine, { n, after, ...asked }: ForkRequest) {
    const steps = allSteps({ id, fork: before }, { after, ...asked })
    if (typeof steps === 'string') return steps
    const kept = findFittingPrefix((await this.#journal.open(id)).entries, steps)
    if (typeof kept === 'string') return `The answers of ${id} do not fit the world. ${kept}`
    const last = this.#counts.get(id) ?? 0
    this.#counts.set(id, last + n)
    const sessions: Session[] = []
    for (let number = last + 1; number <= last + n; number++) {
      const at = [...(before?.at ?? []), kept.length]
      const place = { branch: [...(before?.branch ?? []), number], at, root: before?.root ?? id }
      const fork = { of: id, answers: kept.length, ...place, steps }
      const line = { id: randomId(9), token: randomId(32), metadata, reward: null, fork }
      const own = await this.#journal.open(line.id)
      for (const { request, answer, asked } of kept) await own.add(request, answer, asked)
      sessions.push(await this.#open(line))
    }
    return sessions
  }
}
