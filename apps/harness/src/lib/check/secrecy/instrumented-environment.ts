import type { EnvironmentDefinition, PlayContext, Tool } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'

/** The functions of an environment that can be made to throw. */
export const HOOKS = ['start', 'play', 'answer', 'observe', 'reward', 'potential'] as const
export type Hook = (typeof HOOKS)[number]

/** Controls an instrumented environment. Changes take effect at the next call. */
export interface Instrumentation {
  /** The private state of sessions that start; `null` for their own. */
  privateState: JsonObject | null
  /** Which function throws, with an error that contains everything it knows; `null` for none. */
  failing: Hook | null
  /** Called with every value that a tool reveals. */
  onReveal: (value: Json) => void
}

/** A copy of an environment with its private state, failures and reveals under control. */
export function instrumentEnvironment(
  environment: EnvironmentDefinition,
  instrumentation: Instrumentation,
): EnvironmentDefinition {
  const trip = (hook: Hook, known: unknown) => {
    if (instrumentation.failing === hook) throw new Error(`${hook} failed with ${JSON.stringify(known)}`)
  }
  return {
    ...environment,
    // Every connection plays one session, so the tools need no handle argument.
    handle: null,
    start(context) {
      const started = environment.start(context)
      const state = { ...started, private: instrumentation.privateState ?? started.private }
      trip('start', state)
      return state
    },
    observe(state, params, seat) {
      // `observe` does not receive the private state, so the error contains the injected one.
      trip('observe', { state: state.public, hidden: instrumentation.privateState })
      return environment.observe(state, params, seat)
    },
    rewards(transition, seat) {
      trip('reward', transition)
      return environment.rewards(transition, seat)
    },
    potential(state, params, seat) {
      trip('potential', state)
      return environment.potential(state, params, seat)
    },
    tools: Object.fromEntries(
      Object.entries(environment.tools).map(([name, tool]) => [name, instrumentTool(tool, instrumentation, trip)]),
    ),
  }
}

function instrumentTool(
  tool: Tool,
  instrumentation: Instrumentation,
  trip: (hook: Hook, known: unknown) => void,
): Tool {
  return {
    ...tool,
    play(context) {
      trip('play', context.state)
      const answer = tool.play(withReveal(context, instrumentation.onReveal))
      if (instrumentation.failing === 'answer' && answer?.kind === 'said' && tool.output)
        return { ...answer, data: JSON.stringify(context.state) }
      return answer
    },
  }
}

/**
 * A context whose reveals are reported. A proxy: a spread copy would evaluate the getters of the context, which read
 * private fields of the context itself.
 */
function withReveal<Context extends PlayContext<unknown, unknown, unknown, unknown, unknown>>(
  context: Context,
  onReveal: Instrumentation['onReveal'],
): Context {
  const reveal = <T extends Json>(value: T): T => {
    onReveal(value)
    return context.reveal(value)
  }
  return new Proxy(context, { get: (target, key) => (key === 'reveal' ? reveal : Reflect.get(target, key)) })
}
