import type { Context } from '../model/context.ts'
import type { ConversationDefinition } from '../model/conversation.ts'

/**
 * Creates the default `fallback` of conversations with these contexts: the conversation's own replies, in plain
 * English. Call it in a fallback of your own that changes only some of the replies.
 */
export function plainFallback(
  contexts: readonly Context[],
): NonNullable<ConversationDefinition<readonly Context[]>['fallback']> {
  const offers = contexts.map(({ description }) => description).join(', ')
  const named = (name: string): string => contexts.find((context) => context.name === name)?.description ?? name
  return (reason, { active }) => {
    switch (reason.kind) {
      case 'not-understood':
        return active ? 'I did not understand that.' : `I did not understand that. This is about: ${offers}.`
      case 'unrecognised': {
        const values = reason.values.map(({ slot, text }) => `"${text}" (${slot.replaceAll(/[-_.]+/g, ' ')})`)
        return `I do not know ${values.join(', ')}, so I have changed nothing.`
      }
      case 'interpreter-failed':
        return 'I could not make that out just now. Please say it again.'
      case 'nothing-open':
        return reason.command === 'cancel' ? 'There is nothing to cancel.' : 'There is nothing to go back to.'
      case 'cancelled':
        return `All right, we drop ${named(reason.context)}. What else can I do for you?`
      case 'ended':
        return active ? `Goodbye. We leave ${named(active.context)} unfinished.` : 'Goodbye.'
      case 'declined':
        return 'All right, none of those.'
      case 'ambiguous': {
        const options = reason.options.map(({ label }, index) => `(${index + 1}) ${label}`)
        return `Do you mean ${options.slice(0, -1).join(', ')} or ${options.at(-1)}?`
      }
    }
  }
}
