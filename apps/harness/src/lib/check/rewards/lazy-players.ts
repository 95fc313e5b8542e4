import { definePolicy, type Policy } from '@episodic/env'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, type ToolInfo } from '@episodic/protocol'
import type { CheckedWorld, Setting } from '../subject.ts'
import { randomAction, waywardPolicy, wrongAction } from '../wayward-policy.ts'

/** Random actions that are tried in search of one that changes nothing, or that two tools take. */
const TRIES = 60

/** A way to earn without doing what is asked. */
export interface LazyPlayer {
  /** What it does, as in "Whoever …". */
  readonly name: string
  /** How it plays a task that the solver takes so many steps for. */
  readonly play: (solved: number) => LazyPlay
}

interface LazyPlay {
  readonly policy: Policy
  /** Steps after which it goes away. It stays unless given. */
  readonly maxSteps?: number
}

/** What a lazy learner would find in a world, by its tools and its solver alone. */
export function lazyPlayers({ environment, solver = null }: CheckedWorld): LazyPlayer[] {
  const tools = environment.toolInfos
  const random = waywardPolicy(null, { random: 1, wrong: 0 })
  const idle = repeating('idle', (seed, params) => [idleAction(environment, params, seed)])
  const flood = definePolicy({
    name: 'flood',
    start({ seed }) {
      const rng = createRng(seed)
      return () => wrongAction(tools, rng)
    },
  })
  const always = (name: string, policy: Policy): LazyPlayer => ({ name, play: () => ({ policy }) })
  const half = (solved: number) => Math.floor(solved / 2)
  return [
    { name: 'leaves after one step', play: () => ({ policy: random, maxSteps: 1 }) },
    { name: 'leaves after three steps', play: () => ({ policy: random, maxSteps: 3 }) },
    ...(solver
      ? [
          {
            name: 'does as the solver and leaves half way',
            play: (solved: number) => ({ policy: solver, maxSteps: half(solved) }),
          },
          {
            name: 'does as the solver half way and then idles',
            play: (solved: number) => ({ policy: switching(solver, idle, half(solved)) }),
          },
          {
            name: 'does as the solver half way and then dawdles',
            play: (solved: number) => ({ policy: switching(solver, random, half(solved)) }),
          },
        ]
      : []),
    ...tools.map((tool) =>
      always(
        `repeats one ${tool.name}`,
        repeating(`repeat ${tool.name}`, (seed) => [randomAction([tool], createRng(seed))]),
      ),
    ),
    ...twinsOf(environment).map(([first, second]) =>
      always(
        `calls ${first.name} and then ${second.name} with the same`,
        repeating(`repeat ${first.name} and ${second.name}`, (seed) => twinActions(environment, first, second, seed)),
      ),
    ),
    always('floods with wrong calls', flood),
    always('idles', idle),
  ]
}

/** Plays the same actions over and over, whatever it is told. */
function repeating(name: string, actionsFor: (seed: string, params: Setting['params']) => readonly Action[]): Policy {
  return definePolicy({
    name,
    start({ task, seed }) {
      const actions = actionsFor(seed, task.params)
      let played = 0
      return () => actions[played++ % actions.length] as Action
    },
  })
}

/** Plays so many steps as one policy does, the very ones that it plays alone, and from then on as another. */
function switching(first: Policy, second: Policy, steps: number): Policy {
  return definePolicy({
    name: first.name,
    async start(context) {
      const [one, other] = [await first.start(context), await second.start(context)]
      let played = 0
      return (observation, view) => (played++ < steps ? one : other)(observation, view)
    },
  })
}

/** Ordered pairs of tools of which the second takes what the first is called with: the one may set what the other asks. */
function twinsOf(environment: EnvironmentDefinition): (readonly [ToolInfo, ToolInfo])[] {
  const tools = environment.toolInfos.filter(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}).length > 0)
  return tools.flatMap((first) =>
    tools
      .filter((second) => second !== first && twinActions(environment, first, second, 'twins').length === 2)
      .map((second) => [first, second] as const),
  )
}

/** A call of each of two tools with the same arguments; of the first alone where none are found that both take. */
function twinActions({ tools }: EnvironmentDefinition, first: ToolInfo, second: ToolInfo, seed: string): Action[] {
  const rng = createRng(seed)
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction([first], rng)
    if (tools[second.name]?.input.safeParse(action.arguments).success) return [action, { ...action, tool: second.name }]
  }
  return [randomAction([first], rng)]
}

/** An action that the rules answer and that changes nothing; where none is found, a call of a tool that is none. */
function idleAction(environment: EnvironmentDefinition, params: Setting['params'], seed: string): Action {
  const rng = createRng(seed).stream('idle')
  const before = JSON.stringify(rehearse(environment, { params, seed }).state)
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction(environment.toolInfos, rng)
    const rehearsal = rehearse(environment, { params, seed })
    try {
      rehearsal.play(action.tool, action.arguments)
    } catch {
      continue
    }
    if (rehearsal.end === null && JSON.stringify(rehearsal.state) === before) return action
  }
  return { tool: 'wait', arguments: {} }
}
