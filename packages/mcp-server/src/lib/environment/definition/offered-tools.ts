import type { LegalActions, Observation } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { rulesFailed } from '../../server-error.ts'
import type { EnvironmentDefinition } from './environment.ts'
import { hasTool } from './make-tool.ts'

type Played = Pick<EnvironmentDefinition, 'observe' | 'legal' | 'offers'>

/** Returns what a definition says of a state. No tool that the author's `offers` leaves out is legal there. */
export function withOffers(
  { name, tools }: Pick<EnvironmentDefinition, 'name' | 'tools'>,
  { observe, legal }: Pick<Played, 'observe' | 'legal'>,
  said: ((state: SessionState, params: unknown, seat: string) => readonly string[]) | undefined,
): Played {
  if (!said) return { observe, legal, offers: null }
  const owned = new Map<string, ReadonlySet<string>>()
  const offers = (state: SessionState, params: unknown, seat: string): readonly string[] | undefined => {
    const named: unknown = said(state, params, seat)
    const own = owned.get(seat) ?? new Set(namesOf(tools, seat))
    owned.set(seat, own)
    const unknown = Array.isArray(named) ? named.find((tool) => !own.has(tool)) : named
    if (!Array.isArray(named) || unknown !== undefined)
      throw rulesFailed(
        `The \`offers\` of ${name} names ${JSON.stringify(unknown) ?? 'nothing'}. Return a list of names of tools. There are: ${[...own].join(', ')}.`,
      )
    const wanted = new Set(named)
    return wanted.size === own.size ? undefined : [...own].filter((tool) => wanted.has(tool))
  }
  return {
    offers,
    observe(state, params, seat): Observation {
      const seen = observe(state, params, seat)
      const offered = offers(state, params, seat)
      return offered ? { ...seen, tools: offered } : seen
    },
    legal(state, params, seat): LegalActions {
      const offered = offers(state, params, seat)
      const all = legal(state, params, seat)
      return offered ? Object.fromEntries(Object.entries(all).filter(([tool]) => offered.includes(tool))) : all
    },
  }
}

/** Whether a seat may call a tool in a state. Throws `rules-failed` if the author's `offers` is wrong. */
export function isOffered(
  { tools, offers }: Pick<EnvironmentDefinition, 'tools' | 'offers'>,
  { state, params }: { readonly state: SessionState; readonly params: unknown },
  seat: string,
  name: string,
): boolean {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  return tool !== undefined && hasTool(tool, seat) && (offers?.(state, params, seat)?.includes(name) ?? true)
}

export function namesOf(tools: EnvironmentDefinition['tools'], seat: string): readonly string[] {
  return Object.entries(tools).flatMap(([name, tool]) => (hasTool(tool, seat) ? [name] : []))
}
