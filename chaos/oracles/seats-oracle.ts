import { rehearse } from '@episodic/mcp-server'
import {
  canonicalJson,
  type JsonObject,
  type LoggedStep,
  META,
  METHODS,
  type MethodResult,
  type StepReport,
} from '@episodic/protocol'
import type { Exchange } from '../network/proxy.ts'
import { actionOf, moverOf, type PlayedSeat, type SeatsTask, totalOf } from '../players/seats-task.ts'
import { environment, SEATS, type SeatName } from '../worlds/seats-world.ts'
import { parseMessage, textOfAnswer } from './oracle.ts'

/** An episode as both of its players and the server have it. */
export interface TwoSeatGame {
  readonly game: number
  readonly players: Readonly<Record<SeatName, PlayedSeat>>
  readonly log: readonly LoggedStep[]
  readonly state: MethodResult<'state'>['state']
}

/** How often each promise was broken. All are zero if every promise held. */
export interface SeatsBroken {
  /** Answered steps that the session lacks, or has otherwise (O1). */
  readonly lost: number
  /** Steps that the session has and that no player asked for, or has twice (O1). */
  readonly doubled: number
  /** Answers to one step of one seat that differ from each other (O2). */
  readonly unstable: number
  /** Sessions in which the seats moved in an order that the rules exclude (O9). */
  readonly outOfTurn: number
  /** Returns of a seat that differ from the reference: by its player's count, or by the log (O3). */
  readonly wrongReturns: number
}

/** Checks the promises to several seats from outside of the server. The invariants are numbered as for `Oracle`. */
export class SeatsOracle {
  readonly breaches: string[] = []
  readonly #task: SeatsTask
  readonly #answers = new Map<string, string>()
  readonly #broken = { lost: 0, doubled: 0, unstable: 0, outOfTurn: 0, wrongReturns: 0 }

  constructor(task: SeatsTask) {
    this.#task = task
  }

  get broken(): SeatsBroken {
    return { ...this.#broken }
  }

  /** The number of different steps that a server has answered, whether or not a player received the answer. */
  get answered(): number {
    return this.#answers.size
  }

  /** Records an answer that a server has written. Returns the report of a step that it answered for the first time. */
  record({ request, reply }: Exchange): StepReport | null {
    if (!request.includes('"tools/call"')) return null
    const { params } = parseMessage(request)
    const { result } = parseMessage(reply)
    const report = metaOf(result)[META.step] as unknown as StepReport | undefined
    if (!report) return null
    const { [META.session]: session, [META.seat]: seat } = metaOf(params)
    const key = `${session} ${seat} ${report.seq}`
    const text = textOfAnswer(result as JsonObject)
    const known = this.#answers.get(key)
    if (known === text) return null
    if (known === undefined) {
      this.#answers.set(key, text)
      return report
    }
    this.#break('unstable', `O2 step ${report.seq} of ${seat} was answered with ${known}, and again with ${text}.`)
    return null
  }

  /** Compares an episode with what its players sent and received, and with the reference. */
  check({ game, players, log, state }: TwoSeatGame): void {
    for (const [index, { report }] of log.entries())
      if (report.revision !== index + 1)
        this.#break('lost', `O1 game ${game}: entry ${index + 1} of the log has revision ${report.revision}.`)
    for (const seat of SEATS) this.#checkSteps(players[seat], log)
    this.#checkOrder(game, log)
    this.#checkReturns({ game, players, log, state })
  }

  #checkSteps({ game, seat, session, steps, differingDue }: PlayedSeat, log: readonly LoggedStep[]): void {
    const where = `game ${game}, ${seat}`
    const own = log.filter((entry) => entry.seat === seat)
    const bySeq = new Map(own.map((entry) => [entry.report.seq, entry]))
    const extra = own.length - bySeq.size + [...bySeq.keys()].filter((seq) => seq > steps.length).length
    if (extra > 0) this.#break('doubled', `O1 ${where}: the log has ${extra} steps that were not asked for.`, extra)
    for (const [index, { tool, amount, report }] of steps.entries()) {
      const logged = bySeq.get(index + 1)
      const sent = actionOf(this.#task, { game, seat, seq: index })
      const isSent =
        sent.tool === tool &&
        sent.arguments.amount === amount &&
        canonicalJson({ ...logged?.action }) === canonicalJson({ ...sent })
      if (!logged || !isSent || !isSame(logged.report, report))
        this.#break('lost', `O1 ${where}: step ${index + 1} is not what its player sent and received.`)
      const answer = this.#answers.get(`${session} ${seat} ${index + 1}`)
      if (logged && answer && !isSame(metaOf(parseMessage(answer))[META.step], logged.report))
        this.#break('unstable', `O2 ${where}: step ${index + 1} was answered differently from what its log has.`)
    }
    if (differingDue > 0)
      this.#break('wrongReturns', `O3 ${where}: ${differingDue} steps had another \`due\` than the turn before.`)
  }

  /** O9: the seats alternate, or each has moved once in each round. */
  #checkOrder(game: number, log: readonly LoggedStep[]): void {
    const sealed = game % 2 === 1
    const isWrong = ({ seat }: LoggedStep, move: number) =>
      sealed ? move % 2 === 1 && log[move - 1]?.seat === seat : seat !== moverOf(move)
    const wrong = log.findIndex(isWrong)
    if (wrong >= 0)
      this.#break('outOfTurn', `O9 game ${game}: ${log[wrong]?.seat} made move ${wrong + 1} out of its turn.`)
  }

  #checkReturns({ game, players, log, state }: TwoSeatGame): void {
    const reference = referenceOf(this.#task, game)
    if (canonicalJson(state.public) !== canonicalJson(reference.public))
      this.#break('wrongReturns', `O3 game ${game}: its state is ${canonicalJson(state.public)}.`)
    for (const seat of SEATS) {
      const found = [players[seat].earned, ...returnsIn(log, seat)]
      if (found.some((earned) => earned !== reference.returns[seat]))
        this.#break(
          'wrongReturns',
          `O3 game ${game}, ${seat}: the return is ${reference.returns[seat]}; its player counts ${found[0]}, its log has ${found[1]} with what was due, and ${found[2]} by the steps of both.`,
        )
    }
  }

  #break(what: keyof SeatsBroken, breach: string, times = 1): void {
    this.#broken[what] += times
    this.breaches.push(breach)
  }
}

/** Plays the actions of a game by the rules alone. In a sealed round the order of the moves makes no difference. */
function referenceOf(task: SeatsTask, game: number) {
  const rehearsal = rehearse(environment, { params: { sealed: game % 2 === 1, moves: task.moves } })
  const returns: Record<SeatName, number> = { left: 0, right: 0 }
  for (let move = 0; move < 2 * task.moves; move++) {
    const seat = moverOf(move)
    const { tool, arguments: given } = actionOf(task, { game, seat, seq: move >> 1 })
    const { terms, seats } = rehearsal.play(tool, { ...given }, { seat })
    returns[seat] += totalOf(terms)
    for (const other of SEATS) returns[other] += totalOf(seats?.terms?.[other])
  }
  return { returns, public: rehearsal.state.public }
}

/**
 * Returns the return of a seat as its own reports add up, with what was due in the end, and as those of both seats do.
 */
function returnsIn(log: readonly LoggedStep[], seat: SeatName): readonly [number, number] {
  const last = log.findLastIndex((entry) => entry.seat === seat)
  let [own, both] = [0, 0]
  for (const [index, { seat: mover, report }] of log.entries()) {
    const forOther = totalOf(report.seats?.terms?.[seat])
    own += mover === seat ? totalOf(report.terms) + totalOf(report.seats?.due) : index > last ? forOther : 0
    both += mover === seat ? totalOf(report.terms) : forOther
  }
  return [own, both]
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one as JsonObject) === canonicalJson(other as JsonObject)
}

function metaOf(value: unknown): JsonObject {
  const { _meta } = (value ?? {}) as { readonly _meta?: JsonObject }
  return _meta ?? {}
}

/** Returns the session that a server has answered an opening with, and its game; `null` for any other exchange. */
export function openedIn({ request, reply }: Exchange): { readonly session: string; readonly game: number } | null {
  if (!request.includes(METHODS.open)) return null
  const { params } = parseMessage(request) as { readonly params?: { readonly seed?: string } }
  const { result } = parseMessage(reply) as { readonly result?: { readonly session?: string } }
  return result?.session === undefined ? null : { session: result.session, game: Number(params?.seed) }
}
