import type { Json, JsonObject } from '@episodic/protocol'
import type { Action } from '../worlds/player.ts'
import type { World } from '../worlds/world.ts'
import type { Connection, Mistake, Shown, View } from './client.ts'

/** No episode of the matrix is as long. */
const MOST_STEPS = 500
/** What the last answer of an episode says, and the answer to a call after it. */
const OVER = /The episode is over\b/

export interface Setting {
  readonly connection: Connection
  readonly world: World
  /** The mistakes that reach the server. */
  readonly sends: readonly Mistake[]
}

/**
 * Plays two episodes of a world over one connection, each read in its view, and makes mistakes in the first. Throws
 * with what was shown if a player cannot go on from that, or if an answer does not say what it has to.
 */
export async function playConnection(setting: Setting, [first, second]: readonly [View, View]): Promise<void> {
  const seat = takeSeat(setting.connection)
  const last = await playEpisode(setting, seat, first, true)
  const refusal = await seat.callRefused(last.tool, last.arguments)
  expectIn(refusal, OVER, 'A call after the end does not say that the episode is over')
  expectIn(refusal, new RegExp(`\\b${seat.beginning}\\b`), `A call after the end does not name ${seat.beginning}`)
  await playEpisode(setting, seat, second, false)
}

/** Plays from the beginning to the end, and gives the last action. */
async function playEpisode(setting: Setting, seat: Seat, view: View, withMistakes: boolean): Promise<Action> {
  const player = setting.world.begin()
  let shown = await seat.begin(view)
  for (let step = 0; step < MOST_STEPS; step++) {
    const action = player(shown)
    shown = await seat.call(action.tool, action.arguments, view)
    if (OVER.test(shown)) return action
    if (withMistakes && step === 0) await makeMistakes(setting, seat)
  }
  throw new Error(`No answer said that the episode is over in ${MOST_STEPS} steps. The last one:\n${shown}`)
}

/** Leaves an argument out, and calls a tool that there is not. What comes back has to say so. */
async function makeMistakes({ world, sends }: Setting, seat: Seat): Promise<void> {
  const { tool, argument } = world.demanding
  if (sends.includes('missing argument')) {
    const shown = await seat.callRefused(tool, {})
    expectIn(
      shown,
      new RegExp(`\\b${argument} is missing`),
      `A call of ${tool} does not say that ${argument} is missing`,
    )
  }
  if (sends.includes('unknown tool')) {
    const shown = await seat.callRefused('teleport', {})
    expectIn(shown, new RegExp(`\\b${tool}\\b`), 'The answer to a call of an unknown tool does not list the tools')
  }
}

/** A player's end of a connection, who knows no more than the list of tools. */
interface Seat {
  /** The tool that begins another episode. */
  readonly beginning: string
  /** Begins an episode, and gives its opening observation. */
  begin(view: View): Promise<string>
  /** Calls a tool, with the id of the session if the tools want one. */
  call(tool: string, args: JsonObject, view: View): Promise<string>
  /** The same for a call that is refused: clients show the text of an answer that has no structured content. */
  callRefused(tool: string, args: JsonObject): Promise<string>
}

function takeSeat({ tools, call }: Connection): Seat {
  const beginning = tools.find((name) => name.startsWith('create_'))
  if (beginning === undefined) throw new Error(`No tool begins an episode. The tools are: ${tools.join(', ')}.`)
  const argument = `${beginning.slice('create_'.length)}_id`
  let id = ''
  const play = (tool: string, args: JsonObject) => call(tool, { [argument]: id, ...args })
  return {
    beginning,
    async begin(view) {
      const shown = viewOf(await call(beginning, {}), view)
      id = new RegExp(`\\b${argument}: (\\S+)`).exec(shown)?.[1] ?? ''
      if (id === '') throw new Error(`${beginning} does not show a ${argument}:\n${shown}`)
      return shown
    },
    call: async (tool, args, view) => viewOf(await play(tool, args), view),
    callRefused: async (tool, args) => viewOf(await play(tool, args), 'text'),
  }
}

function viewOf({ text, structured }: Shown, view: View): string {
  if (view === 'structured' && structured !== null) return readable(structured)
  if (view === 'text' && text !== null) return text
  throw new Error(`The answer shows nothing as ${view}: ${JSON.stringify(text ?? structured)}`)
}

function expectIn(shown: string, pattern: RegExp, problem: string): void {
  if (!pattern.test(shown)) throw new Error(`${problem}:\n${shown}`)
}

/** Structured content as lines of `path: value`, with the line breaks of its texts as they are. */
function readable(structured: JsonObject): string {
  return linesOf(structured, '').join('\n')
}

function linesOf(value: Json, path: string): string[] {
  if (value === null || typeof value !== 'object') return [`${path}: ${value}`.replace(/: (?=[^\n]*\n)/, ':\n')]
  return Object.entries(value).flatMap(([key, inner]) => linesOf(inner as Json, path === '' ? key : `${path}.${key}`))
}
