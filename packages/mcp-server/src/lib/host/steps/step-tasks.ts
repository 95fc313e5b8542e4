import { type Action, canonicalJson, contentId, type LoggedStep, WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import type { SessionStore } from '@episodic/state'
import type { Secrets } from '../../environment/answer/secrets.ts'
import { declaredAction } from '../../environment/definition/declared-action.ts'
import type { CallOptions } from '../../environment/rules/call-options.ts'
import { equalSecrets } from '../access/session-tokens.ts'
import type { SessionRef, SessionTasks, StepCall, StepOutcome, TaskState } from '../host.ts'
import type { CachedSession, SessionCache, SessionCacheOptions } from '../sessions/session-cache.ts'

/** Milliseconds after which a call that is not answered becomes a task. */
const TASK_AFTER = 1_000

/** Milliseconds for the rules and the commit, after the time limit of a preparation. */
const COMMIT_TIME = 10_000

const REMEMBERED = 1_000

/** What a task is about, which its name says: a step of a seat, or a wait for its turn. */
interface TaskClaim {
  /** The number of the step among those of its seat; for a wait, that of the last step before it. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The same, until which the step may be committed; 0 for a step that is, and for a wait. */
  readonly until: number
  /** The digest of the step's action; empty for a wait. */
  readonly action: string
}

interface RunningTask {
  readonly stop: AbortController
  /** Why its step was not played; `null` while it runs. */
  failure: { readonly cause: unknown } | null
}

/**
 * The calls of one process that became tasks, by name. A step that is answered is in the store and not here, so that
 * any process knows its answer. One that has failed has changed nothing, and only this process can say why.
 */
export type TasksInProcess = Map<string, RunningTask>

export interface TaskSetting extends Pick<SessionCacheOptions, 'store' | 'clock' | 'idleSeconds'> {
  readonly sessions: SessionCache
  readonly tasks: TasksInProcess
}

interface TaskOwner {
  readonly session: Pick<SessionRef, 'step' | 'awaitTurn'>
  readonly cached: CachedSession
  readonly seat: string
  readonly place: number
}

/** Tasks of a seat, of which nothing is stored: each names its step, with a proof, and is answered by the log. */
export class StepTasks implements SessionTasks {
  readonly #setting: TaskSetting
  readonly #owner: TaskOwner

  constructor(setting: TaskSetting, owner: TaskOwner) {
    this.#setting = setting
    this.#owner = owner
  }

  async step(call: StepCall): Promise<StepOutcome | string> {
    const { sessions, clock } = this.#setting
    const { session, cached, seat } = this.#owner
    const preparation = cached.environment.tools[call.action.tool]?.preparation
    // A call that waits for others has no number yet.
    if (!preparation || cached.session.busy) return session.step(call)
    const record = await sessions.use(cached, (held) => held.refresh())
    if (cached.session.busy) return session.step(call)
    const seq = record.seats[seat]?.seq ?? 0
    const createdAt = clock.now()
    const name = await this.#nameOf({
      seq: seq + 1,
      createdAt,
      until: createdAt + preparation.seconds * 1_000 + COMMIT_TIME,
      action: digestOf(declaredAction(cached.environment, call.action)),
    })
    // With its number, it is played as this step or not at all.
    const outcome = await this.#run(name, call.waiting, (waiting) => session.step({ ...call, seq, waiting }))
    return outcome ?? name
  }

  nameAfter(step: LoggedStep | null, seq: number): Promise<string> {
    return this.#nameOf({
      seq,
      createdAt: this.#setting.clock.now(),
      until: 0,
      action: step ? digestOf(step.action) : '',
    })
  }

  async find(name: string): Promise<TaskState> {
    const { clock, idleSeconds, sessions, tasks } = this.#setting
    const { cached } = this.#owner
    const claim = await this.#read(name)
    const { createdAt } = claim
    const running = tasks.get(name)
    const outcome = running ? toOutcome(running) : await this.#findOutcome(claim)
    // Asking uses the session. It is not waited for, because another call may be running.
    void sessions.used(cached)
    const updatedAt = outcome.kind === 'working' ? createdAt : Math.max(createdAt, cached.session.record.touchedAt)
    return { createdAt, updatedAt, keptSeconds: (clock.now() - createdAt) / 1_000 + idleSeconds, outcome }
  }

  async cancel(name: string): Promise<void> {
    await this.#read(name)
    this.#setting.tasks.get(name)?.stop.abort(new Error('The task was cancelled.'))
  }

  /** Resolves with the outcome of a call, or `null` after a second: then it goes on, even without its client. */
  async #run(
    name: string,
    waiting: CallOptions | undefined,
    call: (options: CallOptions) => Promise<StepOutcome>,
  ): Promise<StepOutcome | null> {
    const { clock, tasks } = this.#setting
    const task: RunningTask = { stop: new AbortController(), failure: null }
    const late = Promise.withResolvers<null>()
    let goesOn = false
    const callOff = clock.after(TASK_AFTER, () => {
      goesOn = true
      late.resolve(null)
    })
    const leave = () => {
      if (!goesOn) task.stop.abort(waiting?.signal.reason)
    }
    if (waiting?.signal.aborted) leave()
    waiting?.signal.addEventListener('abort', leave, { once: true })
    const report = waiting?.report
    const running = call({
      signal: task.stop.signal,
      report: report && ((message) => (goesOn ? undefined : report(message))),
    })
    try {
      const outcome = await Promise.race([running, late.promise])
      if (outcome) return outcome
    } finally {
      callOff()
    }
    tasks.set(name, task)
    running.then(
      () => tasks.delete(name),
      (cause) => {
        task.failure = { cause }
        forgetOldest(tasks)
      },
    )
    return null
  }

  async #findOutcome({ seq, until, action }: TaskClaim): Promise<TaskState['outcome']> {
    const { store, sessions, clock } = this.#setting
    const { cached, seat, session } = this.#owner
    let step: StepOutcome | null = null
    if (action !== '') {
      const logged = await sessions.guardStore(findStep(store, cached.session.record.id, seat, seq))
      if (!logged) {
        // Another process may be playing it.
        if (clock.now() < until || cached.session.busy) return { kind: 'working' }
        const { effect } = await sessions.use(cached, (held) => held.refresh())
        return { kind: 'failed', cause: notPlayed(effect?.seat === seat && effect.action === action) }
      }
      if (digestOf(logged.action) !== action) return { kind: 'failed', cause: notPlayed(false) }
      const messages = logged.report.seats?.messages ?? []
      step = { step: logged, replayed: true, secrets: cached.secrets[seat] as Secrets, messages }
    }
    if (step && !leavesTurn(step.step)) return { kind: 'answered', step, turn: null }
    const turn = await session.awaitTurn(undefined, 0)
    const waits = !turn.mine && turn.end === null && turn.seq === seq
    return waits ? { kind: 'working' } : { kind: 'answered', step, turn }
  }

  async #nameOf({ seq, createdAt, until, action }: TaskClaim): Promise<string> {
    const { cached, place } = this.#owner
    const text = `${[seq, createdAt, until].map((part) => part.toString(36)).join('.')}.${action}`
    const tokens = await this.#setting.sessions.loadTokens()
    return `tsk_${text}.${tokens.task(cached.session.record.id, place, text)}`
  }

  async #read(name: string): Promise<TaskClaim> {
    const [, ...parts] = /^tsk_([\da-z]{1,10})\.([\da-z]{1,10})\.([\da-z]{1,10})\.([\da-f]*)\./.exec(name) ?? []
    const [seq, createdAt, until] = parts.map((part) => Number.parseInt(part, 36)) as [number, number, number]
    const claim = { seq, createdAt, until, action: parts[3] ?? '' }
    if (parts.length > 0 && equalSecrets(await this.#nameOf(claim), name)) return claim
    throw invalidParams('There is no such task, or its session is gone.')
  }
}

/** Returns the digest of an action: that under which a session keeps an effect outside that has begun. */
function digestOf(action: Action): string {
  return contentId(canonicalJson({ ...action }))
}

function toOutcome({ stop, failure }: RunningTask): TaskState['outcome'] {
  if (!failure) return { kind: 'working' }
  return stop.signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', cause: failure.cause }
}

function forgetOldest(tasks: TasksInProcess): void {
  const failed = [...tasks].filter(([, { failure }]) => failure)
  if (failed.length > REMEMBERED) tasks.delete((failed[0] as (typeof failed)[0])[0])
}

/** Whether a step has ended the turn of its seat, whose answer then waits for the next one. */
function leavesTurn({ seat, report: { refused, end, seats } }: LoggedStep): boolean {
  return refused === null && end === null && seats?.turn.includes(seat) === false
}

/** Returns the error of a step that is not in the log and will not be. `begun` is whether its effect may have begun. */
function notPlayed(begun: boolean): WireError {
  return new WireError(
    'outcome-unknown',
    begun
      ? 'The server stopped during this call, and whether it did what it does outside cannot be known. The session is as it was.'
      : 'This call was not played: its server stopped before it was answered, or another call came first.',
  )
}

const PAGE = 8

/** Finds a seat's step in the step log of the store, as a call may be running in the session. `null` for none. */
async function findStep(
  store: Pick<SessionStore, 'read' | 'readLog'>,
  id: string,
  seat: string,
  seq: number,
): Promise<LoggedStep | null> {
  let low = 1
  let high = (await store.read(id))?.revision ?? 0
  while (low <= high) {
    const guess = (low + high) >> 1
    const step = await readNext(store, id, seat, guess)
    if (step?.report.seq === seq) return step
    if (step && step.report.seq < seq) low = step.report.revision + 1
    else high = guess - 1
  }
  return null
}

async function readNext(
  store: Pick<SessionStore, 'readLog'>,
  id: string,
  seat: string,
  revision: number,
): Promise<LoggedStep | null> {
  for (let after = revision - 1; ; ) {
    const page = await store.readLog(id, { after, limit: PAGE })
    const found = page.map(({ text }) => JSON.parse(text) as LoggedStep).find((step) => step.seat === seat)
    if (found || page.length < PAGE) return found ?? null
    after = page.at(-1)?.revision as number
  }
}
