import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import type { ContextError } from '../model/context-error.ts'

/** Throws `definition-invalid` for keys of a part that there are not: a misspelt one would have no effect. */
export function assertKnown(
  known: readonly string[],
  part: object | undefined,
  invalid: (why: string) => ContextError,
): void {
  const unknown = findUnknownKeys(known, part)
  if (unknown.length > 0) throw invalid(formatUnknownKeys(unknown).replace(/\.$/, ''))
}
