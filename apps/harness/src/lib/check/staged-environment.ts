import type { EnvironmentDefinition, PlayContext, Tool } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'

/** The places of an environment's code that can be made to fail. */
export const HOOKS = ['start', 'play', 'answer', 'observe', 'reward', 'potential'] as const
export type Hook = (typeof HOOKS)[number]

/** What is done to an environment while it is played. May be changed at any time: it holds from the next call on. */
export interface Stage {
  /** Sessions that start get this private state; `null` leaves them their own. */
  privateState: JsonObject | null
  /** Which code fails, with an error that tells all it knows; `null` for none. */
  failing: Hook | null
  /** Hears of every value that a tool reveals. */
  onReveal: (value: Json) => void
}

/** A copy of an environment that is played as `stage` says, for looking at what its host makes of that. */
export function stageEnvironment(environment: EnvironmentDefinition, stage: Stage): EnvironmentDefinition {
  const trip = (hook: Hook, known: unknown) => {
    if (stage.failing === hook) throw new Error(`${hook} failed with ${JSON.stringify(known)}`)
  }
  return {
    ...environment,
    // Each door is talked to as the agent of one session, whose tools are the world's own.
    handle: null,
    start(context) {
      const started = environment.start(context)
      const state = { ...started, private: stage.privateState ?? started.private }
      trip('start', state)
      return state
    },
    observe(state, params) {
      // It is not given the private state, so that it could tell no more than what was staged.
      trip('observe', { state, hidden: stage.privateState })
      return environment.observe(state, params)
    },
    reward(term, transition) {
      trip('reward', transition)
      return environment.reward(term, transition)
    },
    potential(state, params) {
      trip('potential', state)
      return environment.potential(state, params)
    },
    tools: Object.fromEntries(
      Object.entries(environment.tools).map(([name, tool]) => [name, stageTool(tool, stage, trip)]),
    ),
  }
}

function stageTool(tool: Tool, stage: Stage, trip: (hook: Hook, known: unknown) => void): Tool {
  return {
    ...tool,
    play(context) {
      trip('play', context.state)
      const reveal = <T extends Json>(value: T): T => {
        stage.onReveal(value)
        return context.reveal(value)
      }
      // The context has getters, which a copy would freeze.
      const tapped = Object.create(context, { reveal: { value: reveal } }) as PlayContext<
        unknown,
        unknown,
        unknown,
        unknown
      >
      const answer = tool.play(tapped)
      if (stage.failing === 'answer' && answer?.kind === 'said' && tool.output)
        return { ...answer, data: JSON.stringify(context.state) }
      return answer
    },
  }
}
