import type { Action, Rng, ToolInfo } from '@episodic/protocol'
import { invalidAction, randomAction } from '../noisy-policy.ts'
import type { PlayLine } from './line.ts'
import type { Proposals } from './proposals.ts'
import type { Solved } from './rules.ts'

/** Returns the next action; `null` to leave. */
type Chooser = (line: PlayLine) => Action | null

interface Chance {
  readonly tools: readonly ToolInfo[]
  readonly proposals: Proposals
  readonly rng: Rng
  readonly idle: Action
  readonly oracle: readonly Action[]
}

/** Who plays whole episodes without an aim. */
export interface FloorPlayer {
  /** Completes "A player who …". */
  readonly does: string
  /** Whether it is no way to solve a task, so that it may not even earn as much as the solver. */
  readonly isNoWay?: true
  readonly start: (chance: Chance) => Chooser
}

/** Actions that lead nowhere. */
const UNPLAYABLE: Action = { tool: 'no-such-tool', arguments: {} }

/** Returns the players for the tools of a world. */
export function floorPlayers(tools: readonly ToolInfo[], proposals: Proposals, rng: Rng): FloorPlayer[] {
  const random =
    (most = Number.POSITIVE_INFINITY) =>
    ({ rng }: Chance): Chooser =>
    ({ moves, attempt }) =>
      moves.length < most ? randomAction(attempt.view(attempt.turn[0]).tools ?? tools, rng) : null
  const half = (then: (chance: Chance) => Chooser) => (chance: Chance) => {
    const next = then(chance)
    const { oracle } = chance
    return (line: PlayLine) =>
      line.moves.length < Math.floor(oracle.length / 2) ? (oracle[line.moves.length] as Action) : next(line)
  }
  const leaves = () => () => null
  const speaking = (textOf: (line: PlayLine, most: number) => string) => {
    const speakers = tools.filter((tool) => proposals.saying(tool, () => ''))
    return (): Chooser => (line) => {
      const tool = speakers[line.moves.length % speakers.length]
      return tool ? proposals.saying(tool, (most) => textOf(line, most)) : null
    }
  }
  return [
    { does: 'leaves after one step', start: random(1) },
    { does: 'leaves after three steps', start: random(3) },
    { does: 'follows the solver half way and leaves', start: half(leaves) },
    {
      does: 'follows the solver half way and then idles',
      start: half(
        ({ idle }) =>
          () =>
            idle,
      ),
    },
    { does: 'follows the solver half way and then plays at random', start: half(random()) },
    ...tools.map((tool) => ({
      does: `repeats one call of ${tool.name}`,
      start: (chance: Chance) => repeating([randomAction([tool], chance.rng)]),
    })),
    ...twinsOf(tools, rng).map(([first, second]) => ({
      does: `calls ${first.name} and then ${second.name} with the same arguments`,
      start: (chance: Chance) => repeating(twinActions(first, second, chance.rng)),
    })),
    ...(tools.some((tool) => proposals.saying(tool, () => ''))
      ? ([
          { does: 'says all words at once', isNoWay: true, start: speaking((_, most) => proposals.allWords(most)) },
          {
            does: 'says the prompt back',
            isNoWay: true,
            start: speaking(({ task }, most) => task.prompt.slice(0, most)),
          },
        ] as const)
      : []),
    {
      does: 'sends only invalid calls',
      isNoWay: true,
      start:
        ({ rng }) =>
        ({ last, attempt }) => {
          if (last?.refused === null && attempt.state === null) return null // A server took it: it was valid there.
          return tools.length > 0 ? invalidAction(tools, rng) : UNPLAYABLE
        },
    },
    {
      does: 'idles',
      isNoWay: true,
      start:
        ({ idle }) =>
        () =>
          idle,
    },
  ]
}

/** Plays a task as a floor player does. */
export async function playFloor(line: PlayLine, { start }: FloorPlayer, chance: Chance): Promise<PlayLine> {
  const choose = start(chance)
  for (let action = choose(line); action !== null; action = choose(line)) if (!(await line.play({ action }))) break
  return line
}

/** Resolves with an action that the rules accept and that changes nothing; a call of an unknown tool without one. */
export async function idleAction(
  start: PlayLine,
  { parts }: Pick<Solved, 'parts'>,
  actions: readonly Action[],
): Promise<Action> {
  const key = parts.keyOf(start)
  for (const action of actions) {
    await using line = await start.fork()
    if ((await line.play({ action })) && !line.isOver && line.last?.refused === null && parts.keyOf(line) === key)
      return action
  }
  return UNPLAYABLE
}

function repeating(actions: readonly Action[]): Chooser {
  return ({ moves }) => actions[moves.length % actions.length] as Action
}

const TRIES = 60

/**
 * Ordered pairs of tools whose second accepts the arguments of the first: one may set the answer that the other asks
 * for.
 */
function twinsOf(all: readonly ToolInfo[], rng: Rng): (readonly [ToolInfo, ToolInfo])[] {
  const tools = all.filter(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}).length > 0)
  return tools.flatMap((first) =>
    tools
      .filter((second) => second !== first && twinActions(first, second, rng).length === 2)
      .map((second) => [first, second] as const),
  )
}

function twinActions(first: ToolInfo, second: ToolInfo, rng: Rng): Action[] {
  const needed = (second.inputSchema.required ?? []) as readonly string[]
  const known = Object.keys(second.inputSchema.properties ?? {})
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction([first], rng)
    const given = Object.keys(action.arguments)
    if (needed.every((name) => given.includes(name)) && given.every((name) => known.includes(name)))
      return [action, { ...action, tool: second.name }]
  }
  return [randomAction([first], rng)]
}
