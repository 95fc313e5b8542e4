import { openChannel } from '@episodic/env'
import type { Json, ToolInfo } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'

/**
 * Plays words as the move of an agent at its session URL. Resolves with what its seat is shown next, as soon as it may
 * act, and with `null` when its episode is over.
 */
export async function sayWords(url: string, tool: ToolInfo, words: string, signal: AbortSignal) {
  const { name, speech = '' } = tool
  const channel = await openChannel(url, { signal })
  try {
    const shown: string[] = []
    let action = { name, arguments: { [speech]: words } }
    for (;;) {
      const { content, structuredContent } = (await channel.request('tools/call', action, { signal })) as CallResult
      const { episode_over: isOver, seat, turn } = structuredContent ?? {}
      if (isOver === true) return null
      const text = content.map((part) => (isObject(part) ? toText(part.text) : '')).join('\n')
      // Only views of several seats have a turn, and only those of who has to wait are without their seat in it.
      if (!Array.isArray(turn) || turn.includes(seat as Json)) return [...shown, text].join('\n')
      // The last line says that it is not the turn of the seat.
      const before = text.slice(0, Math.max(0, text.lastIndexOf('\n')))
      if (before !== '') shown.push(before)
      action = { name: 'wait', arguments: {} }
    }
  } finally {
    await channel.close()
  }
}

interface CallResult {
  readonly content: readonly Json[]
  readonly structuredContent?: { readonly [field: string]: Json }
}
