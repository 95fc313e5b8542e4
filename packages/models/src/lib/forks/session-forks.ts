import { randomBytes } from 'node:crypto'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import type { ModelJournal } from '../journal/model-journal.ts'
import { findFittingPrefix } from './fitting-prefix.ts'

const stepsSchema = z.array(
  z.object({
    ...{ tool: z.string(), arguments: jsonObjectSchema, text: z.string() },
    ...{ reward: z.number().default(0), state_hash: z.string().nullable().default(null) },
  }),
)

/** The steps of a world, and how many it had before them that are not given: those of a fork. */
export const playedShape = { steps: stepsSchema, after: z.int().min(0).default(0) }
/** What a trainer asks for. */
export const forkShape = { n: z.int().min(1).max(1_000).default(1), ...playedShape }
export type ForkRequest = z.infer<z.ZodObject<typeof forkShape>>

/** Where a session of the gateway goes on from another one. */
export const forkSchema = z.object({
  of: z.string(),
  /** How many of its first answers are those of the other one, which learns them. */
  answers: z.int().min(0),
  /** Which fork it is, and which ones those before it were, from 1; and how many answers come before each. */
  branch: z.array(z.int().min(1)),
  at: z.array(z.int().min(0)),
  root: z.string(),
  /** The steps of the world that they led to. */
  steps: stepsSchema,
})
export type SessionFork = z.infer<typeof forkSchema>

/** Returns what trainers read of it. */
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
  /** How many forks each session has had. */
  readonly #counts = new Map<string, number>()

  /** @param open - writes the line of a new session, and opens it. */
  constructor(journal: ModelJournal, open: (line: ForkedLine) => Promise<Session>) {
    this.#journal = journal
    this.#open = open
  }

  /** Counts a fork of an earlier process. */
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
