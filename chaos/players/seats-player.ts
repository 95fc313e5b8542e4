import { openChannel } from '@episodic/env'
import {
  type Channel,
  createRng,
  META,
  METHOD_SCHEMAS,
  METHODS,
  stepReportSchema,
  type Terms,
  WireError,
} from '@episodic/protocol'
import type { SeatName } from '../worlds/seats-world.ts'
import { insist } from './ledger-players.ts'
import { actionOf, type PlayedSeat, type ReceivedStep, type SeatsTask, totalOf } from './seats-task.ts'

// A process for `seats`: `node seats-player.ts '<json>'`. It plays one seat of every session, several at once, and
// writes one line of JSON for each episode. Another process plays the other seat.

/** What a player process is started with. */
export interface PlayerOptions extends SeatsTask {
  readonly seat: SeatName
  readonly url: string
  readonly token: string
  readonly games: number
  /** Sessions that it plays at once. Both processes take them in the same order, so that neither waits for ever. */
  readonly concurrency: number
}

/** The share of turns of others at which it steps at once, without asking whether it may. */
const IMPATIENT = 0.1
/** Seconds of one `environment/turn`. */
const WAIT = 5
/** Seconds for which one call is repeated: a server under load takes long to start. */
const INSIST = 240

const options = JSON.parse(process.argv[2] ?? '') as PlayerOptions
const { seat, games, concurrency, seed } = options
const channel = await insist(() => openChannel({ url: options.url, token: options.token }), INSIST)
let next = 0
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    while (next < games) console.log(JSON.stringify(await playSeat(channel, next++)))
  }),
)
await channel.close()

async function playSeat({ request }: Pick<Channel, 'request'>, game: number): Promise<PlayedSeat> {
  const ask = <T>(schema: { parse(value: unknown): T }, method: string, params: object) =>
    insist(async () => schema.parse(await request(method, { ...params })), INSIST)
  const rng = createRng(`${seed} ${seat} ${game}`)
  const opened = await ask(METHOD_SCHEMAS.open.result, METHODS.open, {
    environment: 'two-seat-ledger',
    params: { sealed: game % 2 === 1, moves: options.moves },
    seed: String(game),
    requestKey: `chaos-of-seats-${seed}-${game}`,
  })
  const { session, epoch } = opened
  const steps: ReceivedStep[] = []
  let [earned, rejected, replayed, differingDue] = [0, 0, 0, 0]
  let mine = opened.turn?.includes(seat) ?? false
  for (;;) {
    let due: Terms | null = null
    const impatient = !mine && rng.float() < IMPATIENT
    if (!mine && !impatient) {
      const known = await ask(METHOD_SCHEMAS.turn.result, METHODS.turn, { session, seat, wait: WAIT })
      // A late copy of a step that was rejected out of turn may have been played since: sent again, it is answered.
      if (known.seq === steps.length) {
        due = known.due
        if (known.end) {
          earned += totalOf(due)
          break
        }
        if (!known.mine) continue
      }
    }
    const { tool, arguments: given } = actionOf(options, { game, seat, seq: steps.length })
    const _meta = { [META.session]: session, [META.epoch]: epoch, [META.seat]: seat, [META.seq]: steps.length }
    try {
      const result = (await insist(() => request('tools/call', { name: tool, arguments: given, _meta }), INSIST)) as {
        readonly _meta: Readonly<Record<string, unknown>>
      }
      const report = stepReportSchema.parse(result._meta[META.step])
      if (result._meta[META.replayed] === true) replayed += 1
      steps.push({ tool, amount: given.amount, report })
      earned += totalOf(report.terms) + totalOf(report.seats?.due)
      if (due && totalOf(due) !== totalOf(report.seats?.due)) differingDue += 1
      if (report.end) break
      mine = report.seats?.turn.includes(seat) ?? false
    } catch (error) {
      if (!impatient || !(WireError.is(error, 'not-your-turn') || WireError.is(error, 'episode-ended'))) throw error
      rejected += 1
    }
  }
  return { game, seat, id: opened.id, session, steps, earned, rejected, replayed, differingDue }
}
