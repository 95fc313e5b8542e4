import type { Completion } from '@episodic/protocol'
import { toMicroseconds } from '@episodic/run/base/to-microseconds'

export interface Try {
  readonly sent: number
  readonly answered: number
  readonly failure: { readonly status: number | null; readonly code: string } | null
}

/**
 * Returns how long the last request took, if it was answered, and the requests that failed before it.
 *
 * @param paced - milliseconds of waiting for the rate limit.
 */
export function timesOf(tries: readonly Try[], paced: number): Pick<Completion, 'time' | 'tries'> {
  const last = tries.at(-1)
  if (!last) return {}
  const failed = tries.flatMap(({ sent, answered, failure }) =>
    failure ? [{ ...failure, milliseconds: toMicroseconds(answered - sent) }] : [],
  )
  const pauses = tries.slice(1).reduce((sum, { sent }, i) => sum + sent - (tries[i] as Try).answered, 0)
  return {
    ...(!last.failure && {
      time: { milliseconds: toMicroseconds(last.answered - last.sent), waited: toMicroseconds(paced + pauses) },
    }),
    ...(failed.length > 0 && { tries: failed }),
  }
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.cause instanceof Error) return codeOf(error.cause)
  const { code } = error as Error & { code?: unknown }
  return typeof code === 'string' ? code : 'unknown'
}
