import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@episodic/protocol'
import { appendNow } from '@episodic/run/base/own-files'
import { type CreditedSession, creditedSchema, type PlacedSteps } from '../forks/credit/session-credit.ts'
import { readEvents } from './kept/rollout-events.ts'
import { type BatchPart, type GroupRollout, type RolloutEvent, RolloutGroups } from './rollout-groups.ts'
import type { Weights } from './weights.ts'

export interface RolloutSessions {
  /** Opens a session with a new key, so that who had the old one reaches it no more. */
  renew(id: string, metadata: JsonObject): Promise<void>
  reward(id: string, reward: number, placed?: PlacedSteps): void
  /** Discards it and what was kept. Waits for nothing. */
  close(id: string): void
  isBusy(id: string): boolean
  credited(group: string): CreditedSession[]
}

export interface RolloutQueueOptions {
  readonly sessions: RolloutSessions
  readonly weights: Weights
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** A file that is there to go on from, and to be appended to. */
  readonly file: string
}

/**
 * The statuses of refusals, by their codes. `unknown`: there is no such rollout or group. `fenced`: another lease has
 * it, or it is over.
 */
export const REFUSALS = {
  ...{ invalid: 400, unauthorized: 401, unknown: 404, 'too-large': 413 },
  ...{ fenced: 409, differs: 409, untraceable: 409 },
} as const

export class RolloutRefused extends Error {
  readonly code: keyof typeof REFUSALS

  constructor(code: RolloutRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Leases of a rollout that may run out: what ends each of its workers would do so for ever. */
const MOST_LOST = 3
/** Milliseconds for which a lease holds at least after a start. */
const GRACE = 60_000

const BY_QUEUE: ReadonlySet<string> = new Set(['not-needed', 'stale', 'lost'])

interface LeaseNote {
  readonly lease: number
  readonly note?: JsonObject | undefined
}

export type RolloutQueue = Awaited<ReturnType<typeof openRolloutQueue>>

/**
 * Opens the rollouts of a trainer: groups of them wait to be leased, the oldest first, are played, parked and leased
 * again, and are handed out once. All that is known is kept in a file, and a process that was killed goes on from it.
 */
export async function openRolloutQueue({ sessions, weights, now, file }: RolloutQueueOptions) {
  const groups = new RolloutGroups()
  await readEvents(file, apply, (id) => groups.rollouts.get(id)?.state === 'ended')
  // A worker may have had no one to renew its lease with.
  for (const { rollouts } of groups.open.values())
    for (const rollout of rollouts)
      if (rollout.state === 'leased') rollout.until = Math.max(rollout.until, now() + GRACE)

  function apply(event: RolloutEvent): void {
    groups.apply(event)
    if (event.kind !== 'weights') return
    if (event.version === undefined) weights.isChanging = true
    else weights.load(event.version)
  }

  type Happened<E = RolloutEvent> = E extends RolloutEvent ? Omit<E, 'at'> : never
  function note(happened: Happened): void {
    const event = { ...happened, at: now() } as RolloutEvent
    // A line that a kill has torn spoils none that follows.
    appendNow(file, `\n${JSON.stringify(event)}\n`, 0o600)
    apply(event)
  }

  /** Does what the holder of a lease asks; once, if it is asked for again. Throws `unknown` and `fenced`. */
  function asHolder(id: string, lease: number, kind: 'renew' | 'park' | 'finish' | 'abandon', run: () => void): object {
    const rollout = groups.rollouts.get(id)
    if (!rollout) throw new RolloutRefused('unknown', `There is no rollout ${id}. Add its group by POST /groups.`)
    if (rollout.state === 'leased' && groups.isStale(rollout)) end(id, null, 'stale')
    const { state, reason = '', until, reward } = rollout
    // A lease that ran out, and that nobody else has got, is good.
    const isHeld = state === 'leased' || (state === 'parked' && until > 0)
    const isOther = kind === (reward === null ? 'finish' : 'abandon')
    const wasDone = state === 'ended' ? !BY_QUEUE.has(reason) && !isOther : state === 'parked' && kind === 'park'
    if (rollout.lease !== lease || !(isHeld || wasDone)) {
      const why = BY_QUEUE.has(reason) ? `it is ${reason}` : `lease ${rollout.lease} is the last one, ${state}`
      throw new RolloutRefused('fenced', `Lease ${lease} of ${id} is over: ${why}. Stop playing it, and lease another.`)
    }
    if (isHeld) run()
    return { session_id: id }
  }

  function end(id: string, reward: number | null, reason?: string, placed?: PlacedSteps): void {
    // It has all that was said before it is over.
    if (reward !== null) sessions.reward(id, reward, placed)
    note({ kind: 'end', id, reward, reason })
    if (reward === null) sessions.close(id)
  }

  /** Parks what no worker has any more, and ends what is too old. Returns whether it may be leased. */
  function settle(rollout: GroupRollout): boolean {
    const { id } = rollout
    if (rollout.state === 'leased') {
      if (rollout.until > now() || sessions.isBusy(id)) return false
      note({ kind: 'park', id, isLost: true })
    }
    if (rollout.state === 'ended') return false
    if (groups.isStale(rollout)) end(id, null, 'stale')
    else if (rollout.lost >= MOST_LOST) end(id, null, 'lost')
    else return true
    return false
  }

  async function lease(rollout: GroupRollout, seconds: number, key?: string): Promise<GroupRollout> {
    note({ kind: 'lease', id: rollout.id, until: now() + seconds * 1_000, key })
    const { group, attempt } = rollout
    await sessions.renew(rollout.id, { group: group.id, attempt })
    return rollout
  }

  function isOwn(rollout: GroupRollout, key: string | undefined): boolean {
    return key !== undefined && rollout.key === key && rollout.state === 'leased'
  }

  return {
    groups,
    figures(): object {
      const open = [...groups.open.values()]
      const counts: Record<string, number> = {}
      for (const { state } of open.flatMap((group) => group.rollouts)) counts[state] = (counts[state] ?? 0) + 1
      return { open_groups: open.length, oldest: open[0]?.id ?? null, batches: groups.batches.size, rollouts: counts }
    },
    /** Adds a group. The same one again is no other. Throws `differs` for another one of its name. */
    add(group: Omit<Extract<RolloutEvent, { kind: 'group' }>, 'at' | 'kind'>): void {
      const { group_id: id, task, attempts, close, staleness } = group
      const known = groups.all.get(id)
      const before = known && [known.task, known.rollouts.length, known.close, known.staleness]
      if (!known) note({ kind: 'group', ...group })
      else if (!isDeepStrictEqual(before, [task, attempts, close, staleness]))
        throw new RolloutRefused('differs', `${id} is another group already. Name this one otherwise.`)
    },
    /**
     * Leases the oldest rollout that nobody plays; `null` if there is none. One that was parked comes last until the
     * weights change. Who names the `key` of a lease takes it over, as a worker does that was begun again.
     */
    async lease(seconds: number, key?: string): Promise<GroupRollout | null> {
      const all = [...groups.open.values()].flatMap(({ rollouts }) => rollouts)
      const own = all.find((each) => isOwn(each, key))
      const free = own ?? all.find((each) => each.parked !== groups.updates && settle(each)) ?? all.find(settle)
      return free ? await lease(free, seconds, key) : null
    },
    /** Leases one rollout in particular. Throws `unknown`, and `fenced` while another worker has it or it is over. */
    async resume(id: string, seconds: number, key?: string): Promise<GroupRollout> {
      const rollout = groups.rollouts.get(id)
      if (rollout && (isOwn(rollout, key) || settle(rollout))) return lease(rollout, seconds, key)
      const [code, state] = rollout ? (['fenced', rollout.state] as const) : (['unknown', 'unknown'] as const)
      throw new RolloutRefused(code, `${id} cannot be resumed: it is ${state}.`)
    },
    /** Keeps a lease for longer, and with a `note` what the next worker needs. The following throw as this does. */
    renew: (id: string, { lease, seconds, note: noted }: LeaseNote & { readonly seconds: number }) =>
      asHolder(id, lease, 'renew', () => note({ kind: 'renew', id, until: now() + seconds * 1_000, note: noted })),
    park: (id: string, { lease, note: noted }: LeaseNote) =>
      asHolder(id, lease, 'park', () => note({ kind: 'park', id, note: noted })),
    check: (id: string, lease: number) => void asHolder(id, lease, 'finish', () => {}),
    finish: (
      id: string,
      { lease, reward }: { readonly lease: number; readonly reward: number },
      placed?: PlacedSteps,
    ) => asHolder(id, lease, 'finish', () => end(id, reward, undefined, placed)),
    /** Ends a rollout as void. Its tokens are discarded. */
    abandon: (id: string, { lease, reason }: { readonly lease: number; readonly reason: string }) =>
      asHolder(id, lease, 'abandon', () => end(id, null, reason)),
    /** Hands out so many groups, the oldest first, once: the same `id` gets the same. `null` while fewer are ready. */
    batch(id: string, count: number, leavesOutEqual: boolean): readonly BatchPart[] | null {
      if (groups.discarded.has(id))
        throw new RolloutRefused('fenced', `The tokens of batch ${id} are discarded. Name another batch.`)
      const known = groups.batches.get(id)
      if (known) return known
      for (const { rollouts } of groups.open.values()) rollouts.forEach(settle)
      const parts: BatchPart[] = []
      let left = count
      for (const group of groups.open.values()) {
        const part = left > 0 ? groups.toPart(group, now(), leavesOutEqual) : null
        if (!part) continue
        const credited = sessions.credited(group.id).filter((each) => !part.without.includes(each.id))
        parts.push({ ...part, credited: creditedSchema.array().parse(credited) })
        if (!part.left) left -= 1
      }
      if (left > 0) return null
      note({ kind: 'batch', id, parts })
      for (const { without } of parts) without.forEach(sessions.close)
      return parts
    },
    /** Notes that the tokens of a batch are discarded: then it is `fenced`. Returns its rollouts. Throws `unknown`. */
    discard(id: string): readonly string[] {
      const known = groups.batches.get(id)
      if (!known) throw new RolloutRefused('unknown', `There is no batch ${id}.`)
      if (!groups.discarded.has(id)) note({ kind: 'discard', id })
      return known.flatMap((part) => part.rollouts)
    },
    /** Holds requests back until {@link load}: the weights change. */
    hold(): void {
      if (!weights.isChanging) note({ kind: 'weights' })
    },
    load(version: string): void {
      if (weights.isChanging || weights.versions.at(-1) !== version) note({ kind: 'weights', version })
    },
  }
}
