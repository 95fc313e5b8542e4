import {
  type Connection,
  definePolicy,
  type Episode,
  type Match,
  type Policy,
  runEpisode,
  runMatch,
  withShaping,
} from '@episodic/env'
import { findPolicy } from '@episodic/play/worlds/policies'
import type { World } from '@episodic/play/worlds/world'
import type { EnvironmentInfo, EpisodeEnd, JsonObject, Step, Task } from '@episodic/protocol'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { shellOf, TerminalPlayer } from './terminal-player.ts'

const PERSON = 'person'

export interface TerminalOptions {
  /** What is played, and what its players are asked; `null` for nothing but the parameters. */
  readonly task: Task | null
  readonly params: JsonObject
  readonly seed: string
  /** The names of policies by seat. A person plays the other seats, and the only seat. */
  readonly seats: Readonly<Record<string, string>>
  readonly world: Pick<World, 'solver' | 'policies'>
}

export function isPerson(policy: string | undefined): boolean {
  return (policy ?? PERSON) === PERSON
}

/**
 * Plays one episode, after its introduction: a person in the terminal and, in other seats, policies. Throws
 * `option-invalid`, `policy-unknown` and what failed the episode.
 */
export async function playInTerminal(
  connection: Connection,
  info: EnvironmentInfo,
  { task, params, seed, seats, world }: TerminalOptions,
  introduction: string,
  console: Console,
): Promise<void> {
  const known = info.seats?.map(({ name }) => name) ?? []
  const unknown = Object.keys(seats).find((seat) => !known.includes(seat))
  if (unknown !== undefined)
    throw invalidOption(
      info.seats
        ? `${info.name} has no seat "${unknown}". Its seats are: ${known.join(', ')}. Write --seat ${known[0]}=random.`
        : '--seat is for an environment of several seats. Leave it out.',
    )
  using terminal = new TerminalPlayer(console)
  const person = createPerson(terminal, console)
  const playing = { task: { ...task, params: { ...task?.params, ...params } }, seed, policySeed: seed }
  const policies: Record<string, Policy> = {}
  for (const seat of known)
    policies[seat] = isPerson(seats[seat]) ? person : await findPolicy(seats[seat] as string, world)
  console.out.write(introduction)
  const played = info.seats
    ? await runMatch({ ...playing, createGame: () => connection.game(info.name), policies })
    : await runEpisode({
        ...playing,
        createEnvironment() {
          const environment = connection.environment(info.name)
          return environment.info.potential ? withShaping(environment) : environment
        },
        policy: person,
      })
  const persons = known.filter((seat) => isPerson(seats[seat]))
  if (played.kind === 'finished') console.out.write(formatEnd(played, persons, console))
  else if (played.cause !== QUIT) throw played.cause
}

const QUIT = new Error('The person has quit.')

function createPerson(terminal: TerminalPlayer, console: Console): Policy {
  const { bold } = colorsOf(console.out)
  return definePolicy({
    name: PERSON,
    start: ({ seat, tools, task }) => {
      const asked = [task.prompt, ...task.hints].filter((text) => text !== '')
      const shell = shellOf(tools)
      const output = new CommandOutput()
      let isCommand = false
      return async ({ text }, { last, signal }) => {
        // Another seat has failed, so nobody waits for this action.
        signal?.addEventListener('abort', () => terminal[Symbol.dispose](), { once: true })
        const said = shell ? output.of(text) : text
        const shown = [...asked.splice(0), said].join('\n\n')
        const seen = last && !isCommand ? formatStep(shown, last, console) : shown
        const action = await terminal.ask(seat === undefined ? seen : `${bold(seat)}  ${seen}`, tools)
        if (!action) throw QUIT
        isCommand = action.tool === shell?.name
        return action
      }
    },
  })
}

/** What a terminal shows of answers: without the state of the world at their end, where that has not changed. */
class CommandOutput {
  /** How the world describes its state, as far as that is known. */
  #state: string | null = null
  #before = ''

  /** Returns what is new in the next answer; the first one is the state alone. */
  of(text: string): string {
    const before = this.#before
    this.#before = text
    if (this.#state === null) {
      this.#state = text
      return text
    }
    const output = withoutEnd(text, this.#state)
    // No answer says which of its lines are the state. Two that follow each other with the same new one end alike.
    if (output === null) this.#state = commonEnd(before, text)
    return output ?? text
  }
}

/** Returns a text without the lines at its end; `null` if it ends otherwise. */
function withoutEnd(text: string, end: string): string | null {
  if (end === '' || text === end) return text === end ? '' : null
  return text.endsWith(`\n${end}`) ? text.slice(0, -end.length - 1) : null
}

function commonEnd(one: string, other: string): string {
  const [a, b] = [one.split('\n').reverse(), other.split('\n').reverse()]
  const different = a.findIndex((line, i) => line !== b[i])
  return a
    .slice(0, different < 0 ? a.length : different)
    .reverse()
    .join('\n')
}

function formatStep(text: string, { info, reward }: Step, console: Console): string {
  const { dim, red } = colorsOf(console.out)
  const parts = Object.entries({ ...reward.terms, ...(reward.shaping !== 0 && { shaping: reward.shaping }) })
  const earned = parts.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')
  const line = parts.length === 0 ? 'no reward' : `reward ${reward.total.toFixed(3)}  (${earned})`
  return `${info.refused ? red(text) : text}\n${dim(line)}`
}

function formatEnd(
  played: (Episode | Match) & { readonly kind: 'finished' },
  persons: readonly string[],
  console: Console,
): string {
  const { bold, green } = colorsOf(console.out)
  const how = ({ kind, reason }: EpisodeEnd, earned: number) => {
    const shown = `${kind}: ${reason}`
    return `${bold(kind === 'terminated' ? green(shown) : shown)}  return ${earned.toFixed(3)}`
  }
  if ('end' in played) {
    const last = played.steps.at(-1)
    const earned = played.steps.reduce((sum, { reward }) => sum + reward.total, 0)
    const seen = last ? [formatStep(last.observation.text, last, console)] : []
    return [...seen, how(played.end, earned), ''].join('\n')
  }
  const last = played.steps.at(-1)
  const seen = persons.map((seat) => [
    seat,
    last?.seat === seat ? last.observation.text : last?.report.seats?.views[seat]?.text,
  ])
  return [
    ...seen.flatMap(([seat, text]) => (text === undefined ? [] : [`${bold(String(seat))}  ${text}`])),
    ...Object.entries(played.seats).map(([seat, { end, return: earned }]) => `${bold(seat)}  ${how(end, earned)}`),
    '',
  ].join('\n')
}
