import type { Runner } from '@episodic/play/play/episodes/open-runner'
import type { RunContext } from '@episodic/play/play/episodes/rollout'
import { HarnessError } from '@episodic/run/base/harness-error'
import { machineClock, type WaitingClock } from '@episodic/run/base/waiting-clock'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import {
  type Announcement,
  announcementSchema,
  type JobMessage,
  jobSchema,
  signedPlaces,
  writeMessage,
} from './fleet-messages.ts'
import { orAborted } from './or-aborted.ts'
import { Quarantine } from './quarantine.ts'
import {
  LEASE,
  type Membership,
  type RunAnnouncement,
  type RunQueue,
  type TakenJob,
  type WorkerInfo,
} from './run-queue.ts'
import type { Signer } from './signer.ts'

export interface PlayFleetOptions {
  readonly queue: RunQueue
  readonly worker: Omit<WorkerInfo, 'plays' | 'declines'>
  /**
   * Opens what plays the episodes of a run. Rejects if this worker does not play it: the message is shown to both
   * sides.
   */
  readonly openRun: (announcement: Announcement, run: string) => Promise<Pick<Runner, 'runTask'> & AsyncDisposable>
  readonly signer: Signer
  /** Receives a sentence for each run that begins and ends, and for each that is declined. */
  readonly onNotice: (notice: string) => void
  readonly signal: AbortSignal
  readonly lease?: number | undefined
  readonly clock?: WaitingClock | undefined
  /** Milliseconds since the epoch, by the machine, which is compared with the clock of the queue. */
  readonly wallClock?: (() => number) | undefined
}

/** An episode is left unplayed after this many workers ended while playing it. */
const MAX_LOST = 3
/** Longest time between two signs of life, in milliseconds. */
const HEARTBEAT = 1_000
/** Difference of the clocks of which a worker says that it is wrong, in milliseconds. */
const MAX_SKEW = 10_000

/**
 * Milliseconds until a run that was declined is looked at again: a file may be there now, or a server. Each time twice
 * as long.
 */
const FIRST_PAUSE = 2_000
const LONGEST_PAUSE = 60_000

interface Declined {
  readonly why: string
  readonly pause: number
  readonly until: number
}

/**
 * Plays for a fleet until the signal aborts: joins, plays every run that it may, gives its slots to all of them in
 * equal parts, and leaves. Episodes in flight at that time are given back.
 */
export async function playFleet(options: PlayFleetOptions): Promise<void> {
  const { queue, worker, signer, signal, onNotice, clock = machineClock, lease = LEASE, wallClock } = options
  const runs = new Map<string, Awaited<ReturnType<typeof openPlaying>>>()
  const declined = new Map<string, Declined>()
  const declines = () => Object.fromEntries([...declined].map(([id, { why }]) => [id, why]))
  const quarantine = new Quarantine()
  let offset = 0
  let isSkewed = false
  await using member = await queue.join({ ...worker, plays: [], declines: {} })
  const offsetOf = () => offset

  const share = () => {
    for (const { consumer, leaves } of runs.values())
      consumer.slots = Math.max(1, Math.floor(worker.slots / runs.size / leaves))
  }
  const start = async (run: RunAnnouncement, time: number): Promise<void> => {
    try {
      const end = findEnd(run, time, signer)
      if (end) throw end
      const playing = await openPlaying(run, member, { ...options, clock, offsetOf, quarantine })
      declined.delete(run.id)
      runs.set(run.id, playing)
      onNotice(`Plays ${playing.name}.`)
      share()
    } catch (error) {
      const why = (error as Error).message
      const earlier = declined.get(run.id)
      const pause = earlier ? Math.min(2 * earlier.pause, LONGEST_PAUSE) : FIRST_PAUSE
      declined.set(run.id, { why, pause, until: clock.now() + pause })
      if (why !== earlier?.why) onNotice(`Does not play the run ${run.id}: ${why}`)
    }
  }
  const stop = async (id: string): Promise<void> => {
    const playing = runs.get(id)
    runs.delete(id)
    if (!playing) return
    share()
    await playing[Symbol.asyncDispose]()
    onNotice(`${playing.name} is over.`)
  }

  const stopping = new Set<Promise<void>>()
  while (!signal.aborted) {
    const asked = clock.now()
    const announced = await orAborted(
      member.renew({ ...worker, plays: [...runs.keys()], declines: declines() }),
      signal,
    )
    if (!announced) break
    // The answer was given between the two.
    offset = announced.time - (asked + clock.now()) / 2
    const skew = wallClock ? wallClock() - announced.time : 0
    if (Math.abs(skew) > MAX_SKEW && !isSkewed)
      onNotice(
        `The clock of this machine is ${Math.round(Math.abs(skew) / 1_000)} s ${skew > 0 ? 'ahead of' : 'behind'} that of the queue. Episodes have the time of the queue.`,
      )
    isSkewed = Math.abs(skew) > MAX_SKEW
    const current = new Map(announced.runs.map((run) => [run.id, run]))
    for (const id of runs.keys()) {
      const run = current.get(id)
      if (run && !findEnd(run, announced.time, signer)) continue
      const stopped = stop(id).finally(() => stopping.delete(stopped))
      stopping.add(stopped)
    }
    for (const id of declined.keys()) if (!current.has(id)) declined.delete(id)
    let isNew = false
    for (const run of current.values())
      if (!runs.has(run.id) && clock.now() >= (declined.get(run.id)?.until ?? 0)) {
        await start(run, announced.time)
        isNew = true
      }
    // Says at once that it plays or declines a run.
    if (!isNew) await clock.wait(Math.min(HEARTBEAT, lease / 9), signal)
  }
  await Promise.all([...[...runs.keys()].map(stop), ...stopping])
}

/**
 * Returns why a run is not played, though the queue announces it; `null` if its coordinator has signed that it lives at
 * this time of the queue's clock. Who only copies what others have signed cannot sign for a later time.
 */
function findEnd({ id, life }: RunAnnouncement, time: number, signer: Signer): Error | null {
  try {
    if (Number(signer.open(signedPlaces.life(id), life)) > time) return null
    return new HarnessError(
      'run-declined',
      'Its coordinator has signed no sign of life for this time: somebody has put it back into the queue after its end.',
    )
  } catch (error) {
    return error as Error
  }
}

interface OpenPlayingOptions extends PlayFleetOptions {
  readonly clock: WaitingClock
  /** Returns what to add to the clock for the time of the queue, as it was measured last. */
  readonly offsetOf: () => number
  readonly quarantine: Quarantine
}

async function openPlaying(
  { id, announcement: signed, origin }: RunAnnouncement,
  member: Membership,
  options: OpenPlayingOptions,
) {
  const { signer, worker, openRun } = options
  const announcement = announcementSchema.safeParse(JSON.parse(signer.open(signedPlaces.announcement(id), signed)))
  if (!announcement.success)
    throw new HarnessError(
      'run-declined',
      `Its announcement is of another version of Episodic, and this is ${worker.version}.`,
    )
  const { data } = announcement
  const runner = await openRun(data, id)
  const leaves = countLeaves(data.configuration.branch)
  const consumer = member.consume(id, Math.max(1, Math.floor(worker.slots / leaves)), (job) =>
    play(job, { ...options, runner, run: id, name: data.name, origin, environment: data.configuration.environment }),
  )
  return {
    name: `${data.name} (${data.configuration.environment.name} ${data.configuration.environment.version}, ${data.configuration.policy.name})`,
    /** Episodes of each of its jobs: more than 1 for trees. */
    leaves,
    consumer,
    async [Symbol.asyncDispose]() {
      await consumer.close()
      await runner[Symbol.asyncDispose]()
    },
  }
}

interface PlayOptions extends OpenPlayingOptions {
  readonly runner: Pick<Runner, 'runTask'>
  readonly run: string
  readonly name: string
  readonly origin: number
  readonly environment: Announcement['configuration']['environment']
}

async function play(job: TakenJob, options: PlayOptions): Promise<void> {
  const { signer, run, signal, quarantine } = options
  if (signal.aborted) return
  const send = (message: JobMessage) => signer.sign(signedPlaces.result(run, job.id), writeMessage(message))
  let place = await quarantine.enter()
  try {
    const begun = await job.begin()
    if (!begun) return
    if (begun.lost >= MAX_LOST) {
      await job.seal(send({ kind: 'left', lost: begun.lost }))
      return
    }
    // An episode that may end this process again takes no other with it: one that waits for this is not begun
    // meanwhile, since the end of this process would count as its own.
    if (begun.lost === MAX_LOST - 1) {
      const single = quarantine.enterAlone()
      if (!single) return await job.giveBack()
      place[Symbol.dispose]()
      place = await single
    }
    const message = await playJob(job, send, options)
    if (message) await job.seal(send(message))
  } catch {
    // The queue was closed. The lease ends by itself.
  } finally {
    place[Symbol.dispose]()
  }
}

async function playJob(
  job: TakenJob,
  send: (message: JobMessage) => string,
  { signer, run, name, origin, environment, clock, offsetOf, runner, signal }: PlayOptions,
): Promise<JobMessage | null> {
  let planned: ReturnType<typeof jobSchema.parse>
  try {
    planned = jobSchema.parse(JSON.parse(signer.open(signedPlaces.job(run, job.id), job.payload)))
  } catch (error) {
    return { kind: 'refused', why: HarnessError.is(error) ? error.message : 'It asks for no episode.' }
  }
  const { name: asked, version } = planned.task.environment
  if (asked !== environment.name || version !== environment.version)
    return {
      kind: 'refused',
      why: `It asks for an episode of ${asked} ${version}, and the run is of ${environment.name} ${environment.version}.`,
    }
  const answered = new Set<string>()
  // One offset for all of an episode: between two that are measured meanwhile, its time could go back.
  const shift = offsetOf() - origin
  const context: RunContext = {
    run: name,
    signal: AbortSignal.any([signal, job.signal]),
    now: () => clock.now() + shift,
    onAnswer({ policy, isKept }) {
      if (isKept || answered.has(policy)) return
      answered.add(policy)
      void job.report(send({ kind: 'answered', policy })).catch(() => {})
    },
  }
  try {
    const records = await runner.runTask(planned, context)
    return records.length === 0 ? null : { kind: 'played', records }
  } catch (error) {
    if (context.signal.aborted) return null
    return {
      kind: 'failed',
      code: HarnessError.is(error) ? error.code : null,
      message: error instanceof Error ? error.message : String(error),
    }
  }
}
