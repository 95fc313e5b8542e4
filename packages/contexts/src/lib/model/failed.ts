import { ContextError } from './context-error.ts'

/** What to throw where a context's or conversation's own code is at fault. */
export function failed(why: string, options?: ErrorOptions): ContextError {
  return new ContextError('handler-failed', `${why}. Nothing changed.`, options)
}
