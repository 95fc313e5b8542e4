import type { Caller } from './caller.ts'
import type { Principal } from './host.ts'

/** A request that was not answered with a result. Holds no secret. */
export interface Refusal {
  /** Where it came to; `null` for what came to no endpoint. */
  readonly endpoint: Caller['endpoint'] | null
  /** Who sent it, as far as they have proved it. */
  readonly principal: Principal
  /** What the answer says: a code of the wire, or `http-<status>`; `connections` where there were too many to answer. */
  readonly code: string
}
