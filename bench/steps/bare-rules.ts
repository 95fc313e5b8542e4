import type { EnvironmentDefinition, Tool } from '@episodic/mcp-server'
import { createRng, DEFAULT_SEAT, type JsonObject } from '@episodic/protocol'

/**
 * The floor of a step in process: the rules of an environment on a draft that is a JSON clone, with the schema of the
 * tool, the rewards and the potential, and nothing else. Returns what plays a step, whose result is the data of the
 * answer and whether the episode is over.
 */
export function startBareEpisode(environment: EnvironmentDefinition, seed: string) {
  const params = environment.params.parse({})
  const rng = createRng(seed)
  let state = environment.start({ params, rng })
  return (name: string, given: object): { readonly data: unknown; readonly isOver: boolean } => {
    const tool = environment.tools[name] as Tool
    const draft = JSON.parse(JSON.stringify(state))
    const input = tool.input.parse(given) as JsonObject
    let end: { kind: 'terminated'; reason: string } | null = null
    const answer = tool.play({
      state: draft,
      input,
      prepared: undefined,
      params,
      rng,
      now: 0,
      history: [],
      say: (text: string, data?: unknown) => ({ kind: 'said', text, data }),
      refuse: (text) => ({ kind: 'refused', text }),
      reveal: (revealed) => revealed,
      end: (reason) => {
        end = { kind: 'terminated', reason }
      },
      elapse: () => {},
      publish: () => {},
      attach: () => {},
    })
    const judged = { before: state, after: draft, tool: name, input, params, end }
    const transition = { ...judged, moved: environment.seats, calls: [], refused: null, events: [] }
    environment.rewards(transition, DEFAULT_SEAT)
    environment.potential(draft, params, DEFAULT_SEAT)
    state = draft
    return { data: answer.kind === 'said' ? answer.data : undefined, isOver: end !== null }
  }
}
