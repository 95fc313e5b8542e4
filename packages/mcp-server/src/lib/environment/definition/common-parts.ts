import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import { type Authored, authoredEvents } from './authored.ts'
import { jsonSchemaOf } from './definition-schema.ts'
import type {
  CommonSpec,
  EnvironmentDefinition,
  FinalContext,
  StateTransition,
  Tool,
  WorldEvents,
} from './environment.ts'
import { toEventInfo } from './make-event.ts'
import { toToolInfo } from './make-tool.ts'

export const NO_PARAMS = z.object({})

/** A {@link CommonSpec} with its types erased: JSON in, JSON out. */
export type ErasedSpec<Seen, Seats extends readonly string[] = [], Seat = unknown> = CommonSpec<
  z.ZodType,
  { readonly [tool: string]: unknown },
  SessionState,
  Seen,
  StateTransition & Seat,
  FinalContext<SessionState, unknown> & Seat,
  Seats
>

/**
 * Returns the parts of a definition that are made alike for one seat and for several.
 *
 * @param seen - the schema of what a tool answers with, unless it says otherwise.
 */
export function commonParts(
  spec: Authored<ErasedSpec<never, readonly never[], never>>,
  tools: { readonly [name: string]: Tool },
  written: WorldEvents,
  seen: z.ZodType,
) {
  const { name, version, description, params = NO_PARAMS, limits = {}, history = null } = spec
  const events = authoredEvents(name, written)
  return {
    name,
    version,
    description,
    params,
    paramsSchema: jsonSchemaOf(params, 'input', `the parameters of ${name}`),
    history,
    toolInfos: Object.entries(tools).map(([toolName, tool]) => toToolInfo(name, toolName, tool, seen)),
    events,
    eventInfos: Object.entries(events).map(([type, event]) => toEventInfo(name, type, event)),
    terms: spec.terms,
    hasPotential: spec.potential !== undefined,
    hasSuccess: spec.success !== undefined,
    release: spec.release ?? null,
    forkable: spec.forkable ?? spec.release === undefined,
    guarantees: spec.guarantees ?? null,
    madeOf: spec.madeOf ?? null,
    waived: spec.check?.waive ?? {},
    hasLegal: spec.legal !== undefined,
    limitsFor: (values) => (typeof limits === 'function' ? limits(values) : limits),
    start: (context) => spec.start(context),
  } satisfies Partial<EnvironmentDefinition>
}
