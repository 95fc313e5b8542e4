import {
  type Action,
  canonicalJson,
  type JsonObject,
  type LoggedStep,
  META,
  METHODS,
  type MethodResult,
  type OpenResult,
  type Step,
  type StepReport,
} from '@episodic/protocol'
import type { Exchange } from '../network/proxy.ts'
import { enter, newLedger } from '../worlds/ledger-world.ts'

/** Sends a request to the server directly, without a proxy. */
export type Ask = <T>(method: string, params: object) => Promise<T>

/** How often each invariant was broken. All are zero if every invariant held. */
export interface Broken {
  /** Answered steps that the session lacks, or has otherwise (O1). */
  readonly lost: number
  /** Steps that a session has and that no player asked for (O1). */
  readonly doubled: number
  /** Answers to one step of one session that differ from each other (O2). */
  readonly unstable: number
  /** Sessions whose rewards have different sums for the player, in the step log and in the state (O3). */
  readonly wrongSums: number
  /** Sessions and forks whose state is not what a plain object is after the same steps (O5). */
  readonly wrongStates: number
}

/** Of how many sessions one is forked before it is closed. */
const FORKED = 8

/** What the oracle has seen of one session. */
interface Book {
  readonly id: string
  readonly handle: string
  /** The parameters of its ledger. */
  readonly params: JsonObject
  /** The bytes of the answer that a server wrote for each step, by the number of the step. */
  readonly answers: Map<number, string>
  /** The steps whose answers the player received, in order. */
  readonly received: { readonly action: Action; readonly step: Step }[]
  /** The number of steps that the player asked for, answered or not. */
  asked: number
  /** What its log has entered, once that was read. */
  amounts: readonly number[]
}

/**
 * Checks the guarantees from outside of the server.
 *
 * It records every answer that a server writes, including lost ones, and the steps that players receive. At the end it
 * compares them with the server's own log and state. The invariants, numbered for all programs of this folder:
 *
 * - **O1** A session has each step that its player received, once and in order, and none that no player asked for.
 * - **O2** The answer to a step of a session has the same bytes, however often and whenever it is sent.
 * - **O3** Rewards have one sum: for the player, in the step log and in the state.
 * - **O4** Scheduled episodes are finished, failed or unresolved, each once; {@link countsHold}.
 * - **O5** A state is what a plain object is after the same steps, also in a fork whose origin is closed.
 * - **O6** No byte of one principal's session is in an answer to another; {@link strangersIn}.
 * - **O7** Once all sessions are closed, no page of a state is left in the store; `closeAll`.
 * - **O8** Afterwards the server uses no more resources than before; `resourcesHold`.
 */
export class Oracle {
  readonly breaches: string[] = []
  readonly #books = new Map<string, Book>()
  readonly #handles = new Map<string, string>()
  readonly #keys = new Map<string, string>()
  readonly #broken = { lost: 0, doubled: 0, unstable: 0, wrongSums: 0, wrongStates: 0 }
  #received = 0

  /** The number of steps that players received. */
  get received(): number {
    return this.#received
  }

  /** The number of steps that players asked for and did not receive yet. */
  get inFlight(): number {
    return [...this.#books.values()].reduce((all, { asked, received }) => all + asked - received.length, 0)
  }

  get sessions(): number {
    return this.#books.size
  }

  get broken(): Broken {
    return { ...this.#broken }
  }

  /** Records an answer that a server has written. */
  record({ request, reply }: Exchange): void {
    const { method, params } = parseMessage(request)
    const { result } = parseMessage(reply)
    if (typeof method !== 'string' || !isObject(params) || !isObject(result)) return
    if (method === METHODS.open) this.#recordOpen(params, result as unknown as OpenResult)
    if (method === 'tools/call') this.#recordStep(params, result)
  }

  /** Records that a player is about to ask for a new step. */
  asks(id: string): void {
    this.#bookOf(id).asked += 1
  }

  /** Records that a player received a step. */
  receives(id: string, action: Action, step: Step): void {
    const { received } = this.#bookOf(id)
    received.push({ action, step })
    this.#received += 1
    if (step.info.seq !== received.length)
      this.#break(
        'doubled',
        `O1 session ${id}: the player's step ${received.length} was answered as step ${step.info.seq}.`,
      )
  }

  /** Compares what was recorded with the server's log and state, session by session. */
  async settle(ask: Ask): Promise<void> {
    for (const book of this.#books.values()) await this.#settleOne(book, ask)
  }

  /**
   * Closes every session, and every eighth only after it was forked at its middle. After `between` the forks are the
   * only users of the pages that they share with the closed ones: each is compared, plays on and is closed.
   */
  async closeAll(ask: Ask, between: () => Promise<void>): Promise<void> {
    const forks: { readonly book: Book; readonly at: number; readonly handle: string }[] = []
    for (const [index, book] of [...this.#books.values()].entries()) {
      const { id, handle: session, amounts } = book
      if (index % FORKED === 0) {
        const at = amounts.length >> 1
        const asked = { session, at, requestKey: `a fork of ${id}` }
        const made = await ask<MethodResult<'fork'>>(METHODS.fork, asked)
        for (const fork of made.forks) forks.push({ book, at, handle: fork.session })
      }
      await ask(METHODS.close, { session })
    }
    await between()
    for (const { book, at, handle: session } of forks) {
      await this.#compareState({ ...book, handle: session, amounts: book.amounts.slice(0, at) }, ask)
      for (const [seq, amount] of book.amounts.slice(at).entries())
        await ask('tools/call', {
          name: 'add',
          arguments: { amount },
          _meta: { [META.session]: session, [META.seq]: at + seq },
        })
      await this.#compareState({ ...book, handle: session }, ask)
      await ask(METHODS.close, { session })
    }
  }

  async #settleOne(book: Book, ask: Ask): Promise<void> {
    const { id, handle, received, asked, answers } = book
    const { state, seats } = await ask<MethodResult<'state'>>(METHODS.state, { session: handle })
    const log = await readLog(handle, ask)
    const applied = seats.agent?.seq ?? 0
    if (applied !== log.length)
      this.#break('lost', `O1 session ${id}: ${applied} steps were applied, and its log has ${log.length}.`)
    if (applied > asked)
      this.#break(
        'doubled',
        `O1 session ${id}: ${applied} steps were applied, and ${asked} were asked for.`,
        applied - asked,
      )
    for (const [index, { action, step }] of received.entries())
      if (!log[index] || !isTheSame(log[index], action, step))
        this.#break('lost', `O1 session ${id}: step ${index + 1} is not what its player received.`)
    for (const [seq, text] of answers)
      if (!log[seq - 1] || canonicalJson(reportIn(text)) !== canonicalJson({ ...log[seq - 1]?.report } as JsonObject))
        this.#break('unstable', `O2 session ${id}: step ${seq} was answered differently from what its log has.`)
    const last = log.at(-1)
    if (last && !(await this.#isAnsweredAgain(handle, last, ask, answers.get(log.length))))
      this.#break('unstable', `O2 session ${id}: its last step, asked for again, is answered differently.`)
    this.#checkSums(id, received, log, state.public)
    book.amounts = log.map(({ action }) => Number(action.arguments.amount))
    this.#checkState(book, state)
  }

  async #compareState(book: Book, ask: Ask): Promise<void> {
    const { state } = await ask<MethodResult<'state'>>(METHODS.state, { session: book.handle })
    this.#checkState(book, state)
  }

  #checkState({ id, params, amounts }: Book, state: JsonObject): void {
    const { mark = '', rows = 0 } = params as { readonly mark?: string; readonly rows?: number }
    const ledger = newLedger({ mark, rows })
    for (const amount of amounts) enter(ledger, amount, { rows })
    const { public: shown, private: hidden } = state
    if (JSON.stringify({ public: shown, private: hidden }) !== JSON.stringify(ledger))
      this.#break(
        'wrongStates',
        `O5 session ${id}: its state is not what ${amounts.length} steps make of a plain object.`,
      )
  }

  #checkSums(id: string, received: Book['received'], log: readonly LoggedStep[], state: JsonObject): void {
    const logged = log.map(({ report }) => total(report.terms))
    const own = sum(received.map(({ step }) => step.reward.total))
    const same = own === sum(logged.slice(0, received.length)) && (!('total' in state) || state.total === sum(logged))
    if (!same)
      this.#break(
        'wrongSums',
        `O3 session ${id}: its player adds up ${own}, its log ${sum(logged)}, its state ${state.total}.`,
      )
  }

  /** Asks for the last step once more, in another message, and resolves with whether the answer is the same. */
  async #isAnsweredAgain(handle: string, last: LoggedStep, ask: Ask, before: string | undefined): Promise<boolean> {
    const { action, report } = last
    const _meta = { [META.session]: handle, [META.seq]: report.seq - 1 }
    const result = await ask<JsonObject>('tools/call', { name: action.tool, arguments: action.arguments, _meta })
    return (
      isObject(result._meta) && result._meta[META.replayed] === true && (!before || textOfAnswer(result) === before)
    )
  }

  #recordOpen({ requestKey, params = {} }: JsonObject, { id, session }: OpenResult): void {
    const key = String(requestKey)
    const known = this.#keys.get(key)
    if (known !== undefined && known !== id)
      this.#break('unstable', `O2 opening with the key ${key} gave session ${known}, and again session ${id}.`)
    if (known !== undefined) return
    this.#keys.set(key, id)
    this.#handles.set(session, id)
    this.#books.set(id, {
      ...{ id, handle: session, params: params as JsonObject },
      ...{ answers: new Map(), received: [], asked: 0, amounts: [] },
    })
  }

  #recordStep(params: JsonObject, result: JsonObject): void {
    const id = this.#handles.get(String(metaOf(params)[META.session]))
    const book = id === undefined ? undefined : this.#books.get(id)
    if (!book) return
    const text = textOfAnswer(result)
    const { seq } = metaOf(result)[META.step] as unknown as StepReport
    const known = book.answers.get(seq)
    if (known === undefined) book.answers.set(seq, text)
    else if (known !== text)
      this.#break('unstable', `O2 session ${id}: step ${seq} was answered with ${known}, and again with ${text}.`)
  }

  #bookOf(id: string): Book {
    const book = this.#books.get(id)
    if (!book) throw new Error(`No server has answered that it opened session ${id}.`)
    return book
  }

  #break(what: keyof Broken, breach: string, times = 1): void {
    this.#broken[what] += times
    this.breaches.push(breach)
  }
}

/** O4: every scheduled episode is finished, failed or unresolved, each of them once. */
export function countsHold(counts: {
  readonly scheduled: number
  readonly finished: number
  readonly failed: number
  readonly unresolved: number
}): boolean {
  return counts.scheduled === counts.finished + counts.failed + counts.unresolved
}

/** O6: returns the marks of other sessions in a text. */
export function strangersIn(text: string, own: string, marks: RegExp): string[] {
  return [...text.matchAll(marks)].map(([mark]) => mark).filter((mark) => mark !== own)
}

/** Resolves with the whole step log of a session. */
export async function readLog(session: string, ask: Ask): Promise<LoggedStep[]> {
  const log: LoggedStep[] = []
  for (let after = 0; ; ) {
    const { steps } = await ask<MethodResult<'watch'>>(METHODS.watch, { session, after, limit: 1_000 })
    log.push(...steps)
    const last = steps.at(-1)
    if (!last || steps.length < 1_000) return log
    after = last.report.revision
  }
}

function isTheSame(logged: LoggedStep, action: Action, step: Step): boolean {
  return (
    canonicalJson({ ...logged.action }) === canonicalJson({ ...action }) &&
    logged.observation.text === step.observation.text &&
    canonicalJson(logged.report.terms) === canonicalJson(step.reward.terms) &&
    logged.report.seq === step.info.seq
  )
}

/** Returns the bytes of an answer, without the mark of a replay. */
export function textOfAnswer(result: JsonObject): string {
  const { [META.replayed]: _, ...meta } = metaOf(result)
  return JSON.stringify({ ...result, _meta: meta })
}

function reportIn(answer: string): JsonObject {
  return metaOf(JSON.parse(answer))[META.step] as JsonObject
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {}
}

function total(terms: StepReport['terms']): number {
  return sum(Object.values(terms))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}

/** Parses a message; anything that is not an object is an empty one. */
export function parseMessage(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(text)
    return isObject(message) ? message : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
