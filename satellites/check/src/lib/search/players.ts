import type { Action, Rng, ToolInfo } from '@episodic/protocol'
import { invalidAction, randomAction, UNPLAYABLE } from '../noisy-policy.ts'
import type { PlayLine } from './line.ts'
import type { Proposals } from './proposals.ts'
import type { StateParts } from './state-parts.ts'

/** Returns the next action; `null` to leave. */
type Chooser = (line: PlayLine) => Action | null

interface Chance {
  readonly tools: readonly ToolInfo[]
  readonly proposals: Proposals
  readonly rng: Rng
  readonly idle: () => Promise<Action>
}

/** Who plays whole episodes without an aim. */
export interface FloorPlayer {
  /** Completes "A player who …". */
  readonly does: string
  /** Whether it is no way to solve a task, so that it may not even earn as much as the solver. */
  readonly isNoWay?: true
  readonly start: (chance: Chance) => Chooser | Promise<Chooser>
}

const repeating =
  (action: Action): Chooser =>
  () =>
    action

/** Returns the players for the tools of a world, first those whose calls cost little. */
export function floorPlayers(tools: readonly ToolInfo[], proposals: Proposals): FloorPlayer[] {
  const speakers = tools.filter((tool) => proposals.saying(tool, () => ''))
  const speaking = (does: string, textOf: (line: PlayLine, most: number) => string): FloorPlayer => {
    const start = () => (line: PlayLine) => {
      const tool = speakers[line.moves.length % speakers.length] as ToolInfo
      return proposals.saying(tool, (most) => textOf(line, most))
    }
    return { does, isNoWay: true, start }
  }
  const said = [
    speaking('says all words at once', (_, most) => proposals.allWords(most)),
    speaking('says the prompt back', ({ task }, most) => task.prompt.slice(0, most)),
  ]
  return [
    {
      does: 'leaves after one step',
      start:
        ({ rng }) =>
        (line) =>
          line.moves.length < 1 ? randomAction(tools, rng) : null,
    },
    {
      does: 'sends only invalid calls',
      isNoWay: true,
      // What a server took was valid there.
      start:
        ({ rng }) =>
        ({ last, attempt }) => {
          const isValid = last?.refused === null && attempt.state === null
          return isValid ? null : tools.length > 0 ? invalidAction(tools, rng) : UNPLAYABLE
        },
    },
    { does: 'idles', isNoWay: true, start: async ({ idle }) => repeating(await idle()) },
    ...(speakers.length > 0 ? said : []),
    ...tools.map((tool) => ({
      does: `repeats one call of ${tool.name}`,
      start: (chance: Chance) => repeating(randomAction([tool], chance.rng)),
    })),
    ...tools.flatMap((first) =>
      tools
        .filter((second) => second !== first && isTwin(first, second))
        .map((second) => ({
          does: `calls ${first.name} and then ${second.name} with the same arguments`,
          start: ({ rng }: Chance): Chooser => {
            const action = randomAction([first], rng)
            return ({ moves }) => (moves.length % 2 === 0 ? action : { ...action, tool: second.name })
          },
        })),
    ),
  ]
}

/** Plays a task as a floor player does; `false` if its time is over before that. */
export async function playFloor(line: PlayLine, { start }: FloorPlayer, chance: Chance): Promise<boolean> {
  const choose = await start(chance)
  for (let action = choose(line); action !== null; action = choose(line)) {
    if (line.budget.isLate) return false
    if (!(await line.play({ action }))) break
  }
  return true
}

/** Resolves with an action that the rules accept and that changes nothing; a call of an unknown tool without one. */
export async function idleAction(start: PlayLine, parts: StateParts, actions: readonly Action[]): Promise<Action> {
  const key = parts.keyOf(start)
  for (const action of actions) {
    await using line = await start.fork()
    if (start.budget.isLate) break
    if ((await line.play({ action })) && !line.isOver && line.last?.refused === null && parts.keyOf(line) === key)
      return action
  }
  return UNPLAYABLE
}

/** Whether a tool accepts the arguments of another one, which may set the answer that it asks for. */
function isTwin(first: ToolInfo, second: ToolInfo): boolean {
  const [given = [], known = []] = [first, second].map(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}))
  return given.length > 0 && given.length === known.length && given.every((name) => known.includes(name))
}
