import type { SentMessage, SentRequest } from './requests.ts'

export type RequestItem =
  | { readonly kind: 'message'; readonly message: SentMessage }
  /** Messages of earlier requests that are not in this one. */
  | { readonly kind: 'left-out'; readonly messages: readonly SentMessage[] }
  /** A message in the place of an earlier one of the same role. */
  | { readonly kind: 'replaced'; readonly message: SentMessage; readonly before: SentMessage }

/** Arranges the messages of a request: those left out together, and a new one with the one that it replaces. */
export function requestItems({ messages }: SentRequest): RequestItem[] {
  const items: RequestItem[] = []
  for (const message of messages) {
    const last = items.at(-1)
    if (message.state === 'left-out') {
      if (last?.kind === 'left-out') items.splice(-1, 1, { ...last, messages: [...last.messages, message] })
      else items.push({ kind: 'left-out', messages: [message] })
    } else if (last?.kind === 'left-out' && last.messages.length === 1 && replaces(message, last.messages[0])) {
      items.splice(-1, 1, { kind: 'replaced', message, before: last.messages[0] as SentMessage })
    } else items.push({ kind: 'message', message })
  }
  return items
}

function replaces({ state, message }: SentMessage, before: SentMessage | undefined): boolean {
  const bothText = typeof message.content === 'string' && typeof before?.message.content === 'string'
  return state === 'new' && bothText && before.message.role === message.role
}
