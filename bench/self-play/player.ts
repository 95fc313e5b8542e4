import { openChannel } from '@episodic/env'
import {
  canonicalJson,
  createRng,
  META,
  METHOD_SCHEMAS,
  METHODS,
  type Observation,
  stepReportSchema,
  type Terms,
} from '@episodic/protocol'
import { type DrawnMove, Learner } from './learner.ts'

// A process for `self-play`: `node player.ts <url> <token> <seat>`. It learns one seat of Kuhn poker from its own views
// and returns.

/** An episode that is dealt to a player. */
export interface Deal {
  readonly game: number
  /** The handle of its seat. */
  readonly handle: string
  readonly observation: Observation
  /** Whether it acts first. */
  readonly isFirst: boolean
}

/** What a player is asked: to play episodes at once, and to learn from them or not, or what its average strategy is. */
export type Question = { readonly deals: readonly Deal[]; readonly learns: boolean } | 'averages'

const ACTIONS = ['pass', 'bet'] as const
/** Seconds of one `environment/turn`. */
const WAIT = 30

const [url = '', token = '', seat = ''] = process.argv.slice(2)
const { request, close } = await openChannel({ url, token })
const learner = new Learner(ACTIONS.length)

process.on('message', async (text: string) => {
  const question = JSON.parse(text) as Question
  process.send?.(question === 'averages' ? learner.averages() : await playAll(question))
})
process.once('disconnect', () => close())
process.send?.('ready')

/** Plays episodes at once, and learns from them in their order, so that the same are always learned alike. */
async function playAll({ deals, learns }: Exclude<Question, string>): Promise<number> {
  if (learns) learner.average()
  const played = await Promise.all(deals.map((deal) => play(deal, learns)))
  if (learns) for (const { moves, earned } of played) learner.learn(moves, earned)
  return played.reduce((sum, { moves }) => sum + moves.length, 0)
}

async function play({ game, handle, ...deal }: Deal, learns: boolean) {
  const rng = createRng(`${seat} ${game}`)
  const moves: DrawnMove[] = []
  let earned = 0
  let { observation, isFirst: isMine } = deal
  for (;;) {
    if (!isMine) {
      const turn = METHOD_SCHEMAS.turn.result.parse(await request(METHODS.turn, { session: handle, seat, wait: WAIT }))
      if (turn.end) return { moves, earned: earned + sumOf(turn.due) }
      if (!turn.mine) continue
      observation = turn.observation
    }
    const set = learner.setOf(canonicalJson(observation.structured ?? {}), moves.at(-1) ?? null)
    const drawnWith = learner.chancesOf(set, learns)
    const action = rng.float() < (drawnWith[0] as number) ? 0 : 1
    const _meta = { [META.session]: handle, [META.seq]: moves.length }
    moves.push({ set, action, drawnWith })
    const call = { name: 'act', arguments: { move: ACTIONS[action] as string }, _meta }
    const answer = (await request('tools/call', call)) as { readonly _meta: Readonly<Record<string, unknown>> }
    const { terms, seats, end } = stepReportSchema.parse(answer._meta[META.step])
    earned += sumOf(terms) + sumOf(seats?.due)
    if (end) return { moves, earned }
    isMine = false
  }
}

function sumOf(terms: Terms | null | undefined): number {
  return Object.values(terms ?? {}).reduce((sum, term) => sum + term, 0)
}
