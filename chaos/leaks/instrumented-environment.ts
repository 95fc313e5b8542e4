import { type Deal, dealtEnvironment } from '@episodic/check/deal'
import type { EnvironmentDefinition, Tool } from '@episodic/mcp-server'
import type { Json } from '@episodic/protocol'

export const HOOKS = ['start', 'play', 'answer', 'observe', 'reward', 'potential'] as const
export type Hook = (typeof HOOKS)[number]

/** Controls an instrumented environment. Changes take effect at the next call. */
export interface Instrumentation {
  /** The start of sessions; `null` for their own. */
  deal: Deal | null
  /** Which function throws, with an error that contains everything it knows; `null` for none. */
  failing: Hook | null
  /** Called with every value that the rules reveal, and the seats that it is for; `undefined` for all. */
  onReveal: (value: Json, to?: string | readonly string[]) => void
  /** Called with the input of every call that is played, and the seat that sent it. Default: nothing. */
  onInput?: (input: unknown, seat: string) => void
}

export function instrumentEnvironment(
  environment: EnvironmentDefinition,
  instrumentation: Instrumentation,
): EnvironmentDefinition {
  const trip = (hook: Hook, known: unknown) => {
    if (instrumentation.failing === hook) throw new Error(`${hook} failed with ${JSON.stringify(known)}`)
  }
  const { absent, settle } = environment
  return {
    ...environment,
    // Every connection plays one session, so the tools need no handle argument.
    handle: null,
    start(context) {
      const { deal } = instrumentation
      const state = (deal ? dealtEnvironment(environment, deal) : environment).start(context)
      trip('start', state)
      return state
    },
    observe(state, params, seat) {
      // `observe` does not receive what is hidden, so the error contains the deal.
      trip('observe', { state: state.public, deal: instrumentation.deal })
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
    absent: absent && { ...absent, play: (context) => absent.play(withReveal(context, instrumentation)) },
    settle: settle && ((context) => settle(withReveal(context, instrumentation))),
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
      const { seat } = context as { readonly seat?: string }
      if (seat !== undefined) instrumentation.onInput?.(context.input, seat)
      const answer = tool.play(withReveal(context, instrumentation))
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
function withReveal<Context extends object>(context: Context, instrumentation: Instrumentation): Context {
  const reveal = (value: Json, to?: string | readonly string[]) => {
    instrumentation.onReveal(value, to)
    return (context as { reveal(value: Json, to?: string | readonly string[]): Json }).reveal(value, to)
  }
  return new Proxy(context, { get: (target, key) => (key === 'reveal' ? reveal : Reflect.get(target, key)) })
}
