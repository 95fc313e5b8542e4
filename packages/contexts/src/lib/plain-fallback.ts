import type { Context } from './context.ts'
import type { ConversationDefinition } from './conversation.ts'

/** Says in plain English what the user is told where it has to be asked. */
export function plainFallback(
  contexts: readonly Context[],
): NonNullable<ConversationDefinition<readonly Context[]>['fallback']> {
  const offers = contexts.map(({ description }) => description).join(', ')
  return (reason, { active }) => {
    switch (reason.kind) {
      case 'not-understood':
        return active ? 'I did not understand that.' : `I did not understand that. This is about: ${offers}.`
      case 'interpreter-failed':
        return 'I could not make that out just now. Please say it again.'
      case 'declined':
        return 'All right, none of those.'
      case 'ambiguous': {
        const options = reason.options.map(({ label }, index) => `(${index + 1}) ${label}`)
        return `Do you mean ${options.slice(0, -1).join(', ')} or ${options.at(-1)}?`
      }
    }
  }
}
