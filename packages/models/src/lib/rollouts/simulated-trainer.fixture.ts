import { createRng } from '@episodic/protocol'
import { openRolloutQueue, type RolloutQueue, RolloutRefused } from './rollout-queue.ts'
import { Weights } from './weights.ts'

export interface SimulatedTraining {
  readonly seed: string
  readonly steps: number
  /** Rollouts that are played at once. */
  readonly slots: number
  readonly groupsOfAStep: number
  readonly attempts: number
  /** Seconds of an update of the weights. */
  readonly stepSeconds: number
  /** How likely a rollout never ends by itself. */
  readonly stuck: number
  /** Seconds of play after which a worker parks a rollout. Default: it never does. */
  readonly parksAfter?: number
  readonly close: { readonly first?: number; readonly seconds?: number; readonly others: 'park' | 'end' }
  readonly staleness?: number
  /** Steps after which all processes are killed, and begun again. */
  readonly killsAt?: readonly number[]
  /** A file of its own. */
  readonly file: string
}

export interface SimulatedOutcome {
  /** Steps that were trained. */
  readonly steps: number
  /** Most seconds that a step waited for its batch. */
  readonly longestWait: number
  /** Seconds of play of the rollouts that were trained, and of all that were asked for in that time and can end. */
  readonly trained: readonly number[]
  readonly asked: readonly number[]
  /** How often a rollout was handed out that had been before. */
  readonly doubled: number
  readonly void: Readonly<Record<string, number>>
}

/** Seconds without a batch after which a training is wedged. */
export const WEDGED = 7_200
const LEASE = 60

/** Plays a training in virtual time with the real queue: its workers and its trainer are simulated. */
export async function simulateTraining(options: SimulatedTraining): Promise<SimulatedOutcome> {
  const { steps, slots, groupsOfAStep, attempts, close, staleness, file } = options
  let time = 0
  const weights = new Weights()
  const sessions = { renew: async () => {}, reward() {}, close() {}, isBusy: () => false, credited: () => [] }
  const open = () => openRolloutQueue({ sessions, weights, now: () => time * 1_000, file })
  let queue: RolloutQueue = await open()
  let life = 0
  const due: { at: number; life: number; run: () => void | Promise<void> }[] = []
  const after = (seconds: number, run: () => void | Promise<void>) => {
    const at = time + seconds
    const place = due.findIndex((each) => each.at > at)
    due.splice(place < 0 ? due.length : place, 0, { at, life, run })
  }
  const lengths = new Map<string, number>()
  const lengthOf = (id: string) => {
    const rng = createRng(`${options.seed} ${id}`)
    const normal = Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float())
    return rng.float() < options.stuck ? Number.POSITIVE_INFINITY : 60 * Math.exp(normal)
  }
  let [groups, step, began, longestWait, doubled] = [0, 0, 0, 0, 0]
  const trained = new Map<string, number>()
  const reasons: Record<string, number> = {}

  /** Keeps enough groups for the next steps. */
  const fill = () => {
    while (queue.groups.open.size < 4 * groupsOfAStep) {
      const group_id = `g${groups++}`
      for (let attempt = 0; attempt < attempts; attempt++) {
        const id = `${group_id}.${attempt}`
        lengths.set(id, lengthOf(id))
      }
      queue.add({ group_id, task: {}, attempts, close, ...(staleness !== undefined && { staleness }) })
    }
  }
  const work = async (): Promise<void> => {
    const rollout = await queue.lease(LEASE)
    if (!rollout) return after(5, work)
    const { id, lease, note } = rollout
    let played = Number(note?.played ?? 0)
    const least = played
    const goOn = async (): Promise<void> => {
      const left = (lengths.get(id) as number) - played
      const now = Math.min(left, LEASE / 3)
      try {
        if (played - least >= (options.parksAfter ?? Number.POSITIVE_INFINITY)) {
          queue.park(id, { lease, note: { played } })
          return await work()
        }
        if (left <= 0) {
          queue.finish(id, { lease, reward: played % 1 })
          return await work()
        }
        queue.renew(id, { lease, seconds: LEASE })
      } catch (error) {
        if (error instanceof RolloutRefused) return await work()
        throw error
      }
      after(now, () => {
        played += now
        return goOn()
      })
    }
    await goOn()
  }
  const train = (): void => {
    fill()
    const parts = queue.batch(`step-${step}`, groupsOfAStep, false)
    longestWait = Math.max(longestWait, time - began)
    if (!parts) {
      if (time - began < WEDGED) after(5, train)
      return
    }
    for (const { rollouts, without } of parts) {
      for (const id of rollouts) {
        if (trained.has(id)) doubled += 1
        trained.set(id, lengths.get(id) as number)
      }
      for (const id of without) {
        const reason = queue.groups.rollouts.get(id)?.reason ?? 'unknown'
        reasons[reason] = (reasons[reason] ?? 0) + 1
      }
    }
    step += 1
    if (step < steps) after(options.stepSeconds, update)
  }
  const update = async (): Promise<void> => {
    queue.hold()
    queue.load(`${step}`)
    began = time
    if (options.killsAt?.includes(step)) {
      life += 1
      queue = await open()
      for (let slot = 0; slot < slots; slot++) await work()
    }
    train()
  }
  fill()
  for (let slot = 0; slot < slots; slot++) await work()
  train()
  for (let next = due.shift(); next && step < steps && time - began < WEDGED; next = due.shift()) {
    time = Math.max(time, next.at)
    // Of processes that were killed, nothing goes on.
    if (next.life === life) await next.run()
  }
  // Those of the last groups had no time to end.
  const isOld = (id: string) => Number(id.slice(1).split('.')[0]) < groups * 0.8
  const finite = [...lengths].filter(([id, length]) => isOld(id) && Number.isFinite(length))
  return {
    steps: step,
    longestWait,
    doubled,
    void: reasons,
    trained: [...trained].filter(([id]) => isOld(id)).map(([, length]) => length),
    asked: finite.map(([, length]) => length),
  }
}
