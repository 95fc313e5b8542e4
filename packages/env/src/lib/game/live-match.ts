import { type Action, type LoggedStep, SeatViews, type Step, seedFor, WireError } from '@episodic/protocol'
import { monotonic, type SeatResult, type SeatView } from '@episodic/protocol/internal'
import { offeredTools } from '../policy/offered-tools.ts'
import type { PlayerStop } from '../policy/player-stop.ts'
import { conversationOf, type EarlierStep, type ModelAnswer, type PolicyContext } from '../policy/policy.ts'
import { reportedStep } from '../session/step-result.ts'
import type { Game, GameStart, SeatStep } from './game.ts'
import type { MatchOptions, MatchStep } from './match.ts'

export class SeatFailure extends Error {
  readonly seat: string
  /** Answers of a language model since the last step of the seat. */
  readonly undecided: readonly ModelAnswer[]

  constructor(seat: string, cause: unknown, undecided: readonly ModelAnswer[] = []) {
    super(`Seat ${seat} failed.`, { cause })
    this.seat = seat
    this.undecided = undecided
  }
}

export type LiveMatch = ReturnType<typeof createLiveMatch>

/** Begins a match in a game that was opened, or goes on with what was played before. */
export function createLiveMatch(game: Game, opened: GameStart, options: MatchOptions) {
  const { info } = game
  const { origin, task = {}, policySeed = 'match', now = monotonic } = options
  const failed = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal
  const first = origin?.start ?? opened
  const views = new SeatViews(first, info.terms)
  const earlier: (SeatStep & Pick<MatchStep, 'action' | 'completions'> & { readonly asked: SeatView })[] = []
  for (const [i, step] of (origin?.steps ?? []).entries()) {
    earlier.push({ ...step, asked: views.replay({ ...step, report: { ...step.report, revision: i + 1 } }) })
    if (step.answer !== undefined) views.answer(step.answer)
  }
  if (origin?.answer !== undefined) views.answer(origin.answer)
  const { turn, seats } = views.goOn()
  const begun = Object.entries(opened.seats).map(([name, seat]) => [name, { ...seat, ...seats[name] }] as const)
  const start: GameStart = { ...opened, turn, seats: Object.fromEntries(begun) }
  /** In the order in which they become known. */
  const steps: MatchStep[] = []
  /** The seats whose players have stopped, and the answers of their language models since their last steps. */
  const stops = new Map<string, { readonly stop: PlayerStop; readonly undecided: ModelAnswer[] }>()

  /** Keeps a step of this process, whose report the views have. `sent` is when its action was. */
  function keep(step: SeatStep & Pick<MatchStep, 'action' | 'completions'>, sent: number): void {
    steps.push({ ...step, milliseconds: now() - sent, seen: now() })
  }

  async function playGiven({ seat, ...action }: Action & { readonly seat: string }): Promise<void> {
    const asked = views.ask(seat)
    const sent = now()
    const step = { ...(await views.play(game.step(seat, action, { signal }))), action, completions: [] }
    earlier.push({ ...step, asked })
    keep(step, sent)
  }

  /** The steps after which the player of a seat takes over, and the last of them as it was reported. */
  function earlierOf(seat: string) {
    // What no tool has played and was not refused is the server's step for a seat that did not act.
    const own = earlier.filter(
      ({ action, report, ...step }) =>
        step.seat === seat && (report.refused !== null || info.tools.some(({ name }) => name === action.tool)),
    )
    const taken = own.map(({ asked, action, completions, ...step }, i): EarlierStep => {
      const seen = own[i + 1]?.asked ?? views.seen(seat)
      return { observation: asked.observation, action, step: ownStepOf(step, seen), answers: completions }
    })
    return { earlier: taken, last: (own.at(-1) ?? null) as SeatStep | null }
  }

  /** Takes in a step of the log. Returns `false` if it is known. */
  function take({ seat, action, observation, report }: LoggedStep): boolean {
    if (!views.apply({ seat, observation, report })) return false
    const completions = stops.get(seat)?.undecided.splice(0) ?? []
    steps.push({ seat, action, observation, report, replayed: false, completions, milliseconds: null, seen: now() })
    return true
  }

  /**
   * Says for a player that has stopped, when it is the turn of its seat, that it has left: the rules decide what the
   * seat loses, and its answers are kept with the step that the server takes for it. Throws a {@link SeatFailure} with
   * the stop if the rules do not say. Then the match cannot go on.
   */
  async function leave(seat: string, stop: PlayerStop, undecided: readonly ModelAnswer[]): Promise<void> {
    while (await views.next(seat, signal)) {
      stops.set(seat, { stop, undecided: [...undecided] })
      await game.leave(seat, { signal }).catch((error: unknown) => {
        throw WireError.is(error, 'invalid-params') ? new SeatFailure(seat, stop, undecided) : error
      })
      await catchUp()
    }
  }

  /** What the match was for each seat. It was cut off if it is not over for all. */
  function results(): { readonly [seat: string]: SeatResult } {
    const results = views.results((seat) => ({
      end: { kind: 'truncated', reason: stops.get(seat)?.stop.code ?? 'closed' },
      ...(info.success && { success: false }),
    }))
    for (const [seat, { stop }] of stops) {
      const { code: reason, message } = stop
      if (reason !== 'closed') results[seat] = { ...(results[seat] as SeatResult), stopped: { reason, message } }
    }
    return results
  }

  /**
   * Takes in the steps that nobody in this process has played: those from outside, and those that the server took for
   * seats that did not act, in their time or because they had no steps left. Resolves with whether there were any.
   */
  async function catchUp(): Promise<boolean> {
    await views.settled(signal)
    let found = false
    for (const step of await game.log({ after: views.known, signal })) found = take(step) || found
    views.closeGap()
    return found
  }

  /** Takes in whose turn it is if an outside event has passed it on from a seat. Resolves with whether one has. */
  async function followTurn(seat: string): Promise<boolean> {
    const { mine, turn, revision } = await game.turn(seat, { signal })
    if (mine) return false
    const seen = turn.map(async (name) => [name, (await game.turn(name, { signal })).observation] as const)
    views.pass(turn, revision, Object.fromEntries(await Promise.all(seen)))
    return true
  }

  function contextOf(seat: string): PolicyContext {
    const { prompt = '', hints = [] } = task.seats?.[seat] ?? task
    const tools = offeredTools(info, first.seats[seat]?.observation ?? {}, seat)
    const seed = seedFor(policySeed, seat)
    return { task: { prompt, hints, params: start.info.params }, tools, seed, seat, ...conversationOf(info, seat) }
  }

  return {
    ...{ game, options, start, views, steps, failed, signal, now },
    ...{ keep, playGiven, earlierOf, take, leave, results, catchUp, followTurn, contextOf },
  }
}

/** Returns a seat's own last step as its policy sees it: with the reward since, by the steps of others. */
export function ownStepOf(
  { report, replayed }: { readonly report: Omit<SeatStep['report'], 'revision'>; readonly replayed: boolean },
  { observation, due }: SeatView,
): Step {
  // Events may say something to other seats alone.
  const { events: _, ...own } = report
  const terms = { ...own.terms }
  for (const [term, value] of Object.entries(due)) terms[term] = (terms[term] ?? 0) + value
  const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
  return reportedStep({ observation, report: own, replayed }, terms, total)
}
