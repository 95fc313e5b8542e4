import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { creditedSchema } from '../forks/credit/session-credit.ts'

/** When the rollouts of a group are handed out: when all have ended, or earlier. */
export const closeSchema = z.strictObject({
  /** As soon as so many have a reward: these, the first ones. */
  first: z.int().min(1).optional(),
  /** Seconds after the first lease, or after the last hand-out, if some have a reward by then. */
  seconds: z.number().positive().optional(),
  /** The same in updates of the weights. */
  updates: z.int().min(1).optional(),
  /** What becomes of the others: they are played on and handed out later, or are ended. */
  others: z.enum(['park', 'end']).default('park'),
})

const name = z.string().regex(/^[\w.-]{1,100}$/, 'Write it with at most 100 letters, digits, points and dashes.')
const [at, id] = [z.number(), z.string()]
const partSchema = z.object({
  group: id,
  rollouts: z.array(id),
  /** Those that were void, stale or not needed. */
  without: z.array(id),
  left: z.enum(['equal', 'void']).optional(),
  /** What says what its answers were worth, until it is discarded. Left out: the sessions that are open then. */
  credited: z.array(creditedSchema).optional().catch(undefined),
})
export type BatchPart = z.infer<typeof partSchema>

export const groupShape = {
  group_id: name,
  task: jsonObjectSchema.default({}),
  attempts: z.int().min(1).max(4_096),
  close: closeSchema.default({ others: 'park' }),
  /** Most updates of the weights since the first lease of a rollout: one that is older is ended as `stale`. */
  staleness: z.int().min(0).optional(),
}

/** What happened, a line each. What is known of groups is a fold over them. */
export const eventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('group'), at, ...groupShape }),
  z.object({ kind: z.literal('lease'), at, id, until: z.number(), key: z.string().optional() }),
  z.object({ kind: z.literal('renew'), at, id, until: z.number(), note: jsonObjectSchema.optional() }),
  z.object({ kind: z.literal('park'), at, id, note: jsonObjectSchema.optional(), isLost: z.boolean().optional() }),
  z.object({ kind: z.literal('end'), at, id, reward: z.number().nullable(), reason: z.string().optional() }),
  z.object({ kind: z.literal('batch'), at, id, parts: z.array(partSchema) }),
  z.object({ kind: z.literal('discard'), at, id }),
  z.object({ kind: z.literal('weights'), at, version: z.string().optional() }),
])
export type RolloutEvent = z.infer<typeof eventSchema>

export interface GroupRollout {
  /** Names its session too. */
  readonly id: string
  readonly group: RolloutGroup
  readonly attempt: number
  state: 'waiting' | 'leased' | 'parked' | 'ended'
  /** Counts its leases. Only the holder of the last one may park or end it. */
  lease: number
  /** Milliseconds since 1970; 0 once its holder has given it back. */
  until: number
  key: string | undefined
  note: JsonObject | null
  reward: number | null
  reason: string | undefined
  /** Updates of the weights before its first lease. */
  begun: number | null
  /** Updates of the weights before its holder gave it back. */
  parked: number | null
  /** Leases that ran out since its holder last gave it back. */
  lost: number
  batch: string | null
}

export interface RolloutGroup {
  readonly id: string
  readonly task: JsonObject
  readonly close: z.infer<typeof closeSchema>
  readonly staleness: number | undefined
  readonly rollouts: readonly GroupRollout[]
  readonly ended: GroupRollout[]
  /** When its first lease or its last hand-out was, and how many updates of the weights there were by then. */
  since: { readonly at: number; readonly updates: number } | null
  parts: number
}

/** Groups of rollouts, as a fold over what happened. Nothing here waits, or knows the time by itself. */
export class RolloutGroups {
  /** By their ids, oldest first: those of which something is still to be handed out. */
  readonly open = new Map<string, RolloutGroup>()
  readonly batches = new Map<string, readonly BatchPart[]>()
  readonly discarded = new Set<string>()
  readonly rollouts = new Map<string, GroupRollout>()
  readonly all = new Map<string, RolloutGroup>()
  #version: string | undefined
  updates = 0

  apply(event: RolloutEvent): void {
    if (event.kind === 'group') this.#add(event)
    else if (event.kind === 'batch') this.#handOut(event)
    else if (event.kind === 'discard') {
      this.discarded.add(event.id)
      for (const part of this.batches.get(event.id) ?? []) delete part.credited
    } else if (event.kind === 'weights') {
      if (event.version === undefined || event.version === this.#version) return
      this.#version = event.version
      this.updates += 1
    } else {
      const rollout = this.rollouts.get(event.id)
      if (rollout) this.#change(rollout, event)
    }
  }

  isStale({ begun, group: { staleness } }: GroupRollout): boolean {
    return begun !== null && staleness !== undefined && this.updates - begun > staleness
  }

  /** Returns what can be handed out of a group now; `null` if it has to wait. */
  toPart(group: RolloutGroup, now: number, leavesOutEqual: boolean): BatchPart | null {
    const { close, since, parts, rollouts } = group
    const ended = group.ended.filter(({ batch }) => batch === null)
    const good = ended.filter((rollout) => rollout.reward !== null && !this.isStale(rollout))
    const isWhole = rollouts.every(({ state }) => state === 'ended')
    const isLate =
      since !== null &&
      (now - since.at >= (close.seconds ?? Number.POSITIVE_INFINITY) * 1_000 ||
        this.updates - since.updates >= (close.updates ?? Number.POSITIVE_INFINITY))
    const isEnough = parts === 0 && close.first !== undefined && good.length >= close.first
    if (!isEnough && !isWhole && !(isLate && good.length > 0)) return null
    const kept = parts === 0 ? good.slice(0, close.first) : good
    const isOver = close.others === 'end'
    const others = isOver
      ? rollouts.filter(({ batch }) => batch === null)
      : ended.filter((each) => !good.includes(each))
    const rewards = new Set(group.ended.flatMap(({ reward }) => reward ?? []))
    const isEqual = leavesOutEqual && rewards.size < 2
    // What is still played may earn something else.
    if (isEqual && !isWhole && !isOver) return null
    const left = kept.length === 0 ? 'void' : isEqual ? 'equal' : undefined
    return {
      group: group.id,
      rollouts: kept.map(({ id }) => id),
      without: others.filter((each) => !kept.includes(each)).map(({ id }) => id),
      ...(left && { left }),
    }
  }

  #add({ group_id: id, task, attempts, close, staleness }: Extract<RolloutEvent, { kind: 'group' }>): void {
    const rollouts: GroupRollout[] = []
    const group: RolloutGroup = { id, task, close, staleness, rollouts, ended: [], since: null, parts: 0 }
    for (let attempt = 0; attempt < attempts; attempt++) {
      const rollout: GroupRollout = {
        ...{ id: `${id}.${attempt}`, group, attempt, state: 'waiting', lease: 0, until: 0, key: undefined },
        ...{ note: null, reward: null, reason: undefined, begun: null, parked: null, lost: 0, batch: null },
      }
      rollouts.push(rollout)
      this.rollouts.set(rollout.id, rollout)
    }
    this.all.set(id, group)
    this.open.set(id, group)
  }

  #change(rollout: GroupRollout, event: Extract<RolloutEvent, { kind: 'lease' | 'renew' | 'park' | 'end' }>): void {
    const { group } = rollout
    if (event.kind === 'lease') {
      rollout.lease += 1
      rollout.begun ??= this.updates
      group.since ??= { at: event.at, updates: this.updates }
      Object.assign(rollout, { state: 'leased', until: event.until, key: event.key })
    } else if (event.kind === 'end') {
      Object.assign(rollout, { state: 'ended', reward: event.reward, reason: event.reason, note: null })
      group.ended.push(rollout)
    } else {
      rollout.note = event.note ?? rollout.note
      if (event.kind === 'renew') Object.assign(rollout, { state: 'leased', until: event.until })
      else if (event.isLost) Object.assign(rollout, { state: 'parked', lost: rollout.lost + 1 })
      else Object.assign(rollout, { state: 'parked', until: 0, parked: this.updates, lost: 0 })
    }
  }

  #handOut({ at: now, id, parts }: Extract<RolloutEvent, { kind: 'batch' }>): void {
    this.batches.set(id, parts)
    for (const part of parts) {
      const group = this.all.get(part.group)
      if (!group) continue
      group.parts += 1
      group.since = { at: now, updates: this.updates }
      for (const rollout of group.rollouts)
        if (part.rollouts.includes(rollout.id)) rollout.batch = id
        else if (part.without.includes(rollout.id)) {
          rollout.reason ??= this.isStale(rollout) ? 'stale' : 'not-needed'
          Object.assign(rollout, { batch: id, state: 'ended', note: null })
        }
      if (group.rollouts.every(({ batch }) => batch !== null)) this.open.delete(group.id)
    }
  }
}
