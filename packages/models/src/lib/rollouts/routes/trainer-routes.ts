import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { creditOf, type Grouped, type PlacedSteps } from '../../forks/credit/session-credit.ts'
import { type ReadableSession, readFigures, readSequences } from '../../forks/credit/session-figures.ts'
import { type ForkRequest, forkShape, type PlayedSteps, playedShape } from '../../forks/session-forks.ts'
import { type BatchPart, type GroupRollout, groupShape } from '../rollout-groups.ts'
import { REFUSALS, type RolloutQueue, RolloutRefused } from '../rollout-queue.ts'
import type { Weights } from '../weights.ts'
import { readTrace } from './session-trace.ts'

interface KeyedSession extends ReadableSession {
  readonly token: string
}

export interface TrainerOptions {
  readonly rollouts: RolloutQueue
  readonly weights: Weights
  open(id?: string, metadata?: JsonObject): Promise<KeyedSession>
  find(id: string): KeyedSession | undefined
  reward(id: string, reward: number, placed?: PlacedSteps): void
  groupOf(session: Grouped): readonly ReadableSession[]
  place(session: KeyedSession, played: PlayedSteps): Promise<PlacedSteps | string>
  close(id: string): Promise<void>
  fork(session: KeyedSession, asked: ForkRequest): Promise<readonly KeyedSession[] | string>
  reach(session: KeyedSession): object
}

type Route = (value: JsonObject, id: string, options: TrainerOptions) => Promise<object>

/** What a request asks is checked here, and nowhere else. */
function route<S extends z.ZodRawShape>(
  shape: S,
  run: (asked: z.output<z.ZodObject<S>>, id: string, options: TrainerOptions) => object | Promise<object>,
): Route {
  const schema = z.strictObject(shape)
  return async (value, id, options) => run(schema.parse(value) as z.output<z.ZodObject<S>>, id, options)
}

function reading(run: (session: KeyedSession, options: TrainerOptions) => object | Promise<object>): Route {
  return route({}, (_, id, options) => run(findSession(id, options), options))
}

const seconds = z.number().positive().max(604_800).default(60)
const lease = z.int().min(1)
const note = jsonObjectSchema.optional()
const text = z.string().min(1).max(1_000)
const reward = z.number()
const reason = text.default('abandoned')
const played = { ...playedShape, steps: playedShape.steps.optional() }
const sessionId = z.string().regex(/^[\w.-]{1,128}$/, 'Write it with letters, digits, points and dashes.')

const ROUTES: Readonly<Record<string, Route>> = {
  'POST sessions': route(
    { session_id: sessionId.optional(), metadata: jsonObjectSchema.optional() },
    async ({ session_id: id, metadata }, _, { open, reach }) => reach(await open(id, metadata)),
  ),
  'GET sessions *': reading(readFigures),
  'GET sessions * sequences': reading((session, { groupOf }) => readSequences(session, creditOf(groupOf(session)))),
  'GET sessions * trace': reading(readTrace),
  'PUT sessions * reward': route({ reward, ...played }, async (asked, id, options) => {
    options.reward(findSession(id, options).id, asked.reward, await readPlaced(asked, id, options))
    return { session_id: id, reward: asked.reward }
  }),
  'DELETE sessions *': reading(async (session, { close }) => {
    const { length } = await session.calls()
    await close(session.id)
    return { session_id: session.id, deleted: length }
  }),
  'POST sessions * fork': route(forkShape, async (asked, id, options) => {
    const forked = await options.fork(findSession(id, options), asked)
    if (typeof forked === 'string') throw new RolloutRefused('differs', forked)
    return { sessions: forked.map(options.reach) }
  }),
  'POST groups': route(groupShape, (group, _, { rollouts }) => {
    rollouts.add(group)
    return { group_id: group.group_id, attempts: group.attempts }
  }),
  'GET groups': route({}, (_, __, { rollouts, weights }) => ({ ...rollouts.figures(), weights: weights.figures() })),
  'POST lease': route({ seconds, key: text.optional() }, async (asked, _, options) => {
    const rollout = await options.rollouts.lease(asked.seconds, asked.key)
    return { rollout: rollout && leasedOf(rollout, options) }
  }),
  'POST sessions * resume': route({ seconds, key: text.optional() }, async (asked, id, options) => ({
    rollout: leasedOf(await options.rollouts.resume(id, asked.seconds, asked.key), options) ?? findSession(id, options),
  })),
  'POST sessions * renew': route({ lease, seconds, note }, (asked, id, { rollouts }) => rollouts.renew(id, asked)),
  'POST sessions * park': route({ lease, note }, (asked, id, { rollouts }) => rollouts.park(id, asked)),
  'POST sessions * finish': route({ lease, reward, ...played }, async (asked, id, options) => {
    options.rollouts.check(id, asked.lease)
    return options.rollouts.finish(id, asked, await readPlaced(asked, id, options))
  }),
  'POST sessions * abandon': route({ lease, reason }, (asked, id, { rollouts }) => rollouts.abandon(id, asked)),
  'POST batches': route(
    { batch_id: groupShape.group_id, groups: z.int().min(1), leave_out_equal: z.boolean().default(false) },
    async (asked, _, options) => {
      const parts = options.rollouts.batch(asked.batch_id, asked.groups, asked.leave_out_equal)
      return { groups: parts && (await Promise.all(parts.map((part) => readPart(options, part)))) }
    },
  ),
  'DELETE batches *': route({}, async (_, id, { rollouts, close }) => {
    const sessions = rollouts.discard(id)
    for (const session of sessions) await close(session)
    return { batch_id: id, deleted: sessions.length }
  }),
  'PUT weights': route(
    { version: text.optional(), wait: z.number().min(0).max(600).default(60) },
    async (asked, _, { rollouts, weights }) => {
      if (asked.version !== undefined) rollouts.load(asked.version)
      else {
        rollouts.hold()
        await weights.drained(AbortSignal.timeout(asked.wait * 1_000))
      }
      return weights.figures()
    },
  ),
  'GET weights': route({}, (_, __, { weights }) => weights.figures()),
}

const FIRST: ReadonlySet<string> = new Set(Object.keys(ROUTES).map((path) => path.split(' ')[1] as string))

export function isForTrainers(first: string): boolean {
  return FIRST.has(first)
}

export async function answerTrainer(
  options: TrainerOptions,
  method: string,
  [first, id = '', part]: readonly string[],
  value: JsonObject,
): Promise<{ readonly status: number; readonly body: object }> {
  try {
    const found = ROUTES[[method, first, id && '*', part].filter(Boolean).join(' ')]
    if (found) return { status: 200, body: await found(value, id, options) }
    const paths = Object.keys(ROUTES).filter((path) => path.split(' ')[1] === first)
    throw new RolloutRefused('unknown', `There is no such request here. There are ${paths.join(', ')}.`)
  } catch (error) {
    const isInvalid = error instanceof z.ZodError
    const message = isInvalid ? z.prettifyError(error) : (error as Error).message
    const code = isInvalid ? 'invalid' : error instanceof RolloutRefused ? error.code : null
    const body = { error: { message, type: 'episodic_gateway_error', param: null, code } }
    return { status: code ? REFUSALS[code] : 500, body }
  }
}

function findSession(id: string, { find }: TrainerOptions): KeyedSession {
  const session = find(id)
  if (session) return session
  throw new RolloutRefused('unknown', `There is no session ${id}. Open it by POST /sessions.`)
}

/** Throws `differs` if the answers of a session do not lead to the steps that are said of its world. */
async function readPlaced({ steps, after }: Partial<PlayedSteps>, id: string, options: TrainerOptions) {
  const session = steps && options.find(id)
  const placed = session && (await options.place(session, { steps, after: after ?? 0 }))
  if (typeof placed === 'string')
    throw new RolloutRefused('differs', `The answers of ${id} do not fit the world. ${placed}`)
  return placed
}

function leasedOf({ id, group, attempt, lease, note }: GroupRollout, { find, reach }: TrainerOptions): object | null {
  const session = find(id)
  return session ? { ...reach(session), group_id: group.id, attempt, lease, task: group.task, note } : null
}

async function readPart({ rollouts: queue, find, groupOf }: TrainerOptions, part: BatchPart): Promise<object> {
  const group = queue.groups.all.get(part.group)
  const credit = creditOf(part.credited ?? groupOf({ id: '', metadata: { group: part.group } }))
  const attemptOf = (id: string) => ({ session_id: id, attempt: queue.groups.rollouts.get(id)?.attempt })
  const read = async (id: string) => {
    const session = find(id)
    const reward = queue.groups.rollouts.get(id)?.reward
    return { ...attemptOf(id), ...(session && (await readSequences(session, credit))), reward }
  }
  return {
    group_id: part.group,
    task: group?.task ?? {},
    left_out: part.left ?? null,
    // Of the whole group, so that a part that comes later is compared with all.
    rewards: group?.ended.flatMap(({ reward }) => reward ?? []) ?? [],
    rollouts: part.left ? [] : await Promise.all(part.rollouts.map(read)),
    void: part.without.map((id) => ({ ...attemptOf(id), reason: queue.groups.rollouts.get(id)?.reason ?? null })),
  }
}
