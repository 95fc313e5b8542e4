import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { Assignment } from './agent.ts'

interface Call {
  readonly id: string
  name: string
  arguments: string
}

/**
 * Puts the updates of an agent together, and records them as answers: what it planned, thought, said and called.
 *
 * Thoughts and messages come in pieces, and a call with its arguments in two parts. An answer ends with the first piece
 * that follows its calls, or when one of them has an answer. Nothing is known of tokens.
 */
export function createAcpRecorder(record: Assignment['record']) {
  let model = 'agent'
  let text = ''
  let reasoning = ''
  let calls: Call[] = []
  const flush = (finish?: string) => {
    if (text + reasoning === '' && calls.length === 0) return
    record({
      model,
      text: text || null,
      ...(reasoning && { reasoning }),
      ...(calls.length > 0 && { calls }),
      ...(finish && { finish }),
    })
    text = ''
    reasoning = ''
    calls = []
  }
  const said = (add: () => void) => {
    if (calls.length > 0) flush()
    add()
  }
  const note = (line: string) => {
    reasoning += `${/(^|\n)$/.test(reasoning) ? '' : '\n'}${line}\n`
  }
  return {
    name(agent: string): void {
      model = agent
    },
    add(update: SessionUpdate) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return said(() => {
            text += readText(update.content)
          })
        case 'agent_thought_chunk':
          return said(() => {
            reasoning += readText(update.content)
          })
        case 'plan':
          return said(() => {
            reasoning += `${update.entries.map(({ status, content }) => `[${status}] ${content}`).join('\n')}\n`
          })
        case 'tool_call':
          return void calls.push({
            id: update.toolCallId,
            name: String(('name' in update && update.name) || update.title),
            arguments: JSON.stringify(update.rawInput ?? {}),
          })
        case 'tool_call_update': {
          const call = calls.find(({ id }) => id === update.toolCallId)
          if (call && update.rawInput !== undefined) call.arguments = JSON.stringify(update.rawInput)
          if (call && (update.status === 'completed' || update.status === 'failed')) flush()
        }
      }
    },
    /** Notes that a call was allowed, or was not: the agent is stopped, or offered no option that allows it. */
    permit({ toolCallId, title }: Pick<ToolCallUpdate, 'toolCallId' | 'title'>, isAllowed: boolean): void {
      const name = title ?? calls.find(({ id }) => id === toolCallId)?.name ?? toolCallId
      note(`[${isAllowed ? 'allowed' : 'not allowed'}] ${name}`)
    },
    refuse: (error: string) => note(`[refused] ${error}`),
    end: (stopReason: string) => flush(stopReason),
  }
}

export function readText(content: { readonly type: string }): string {
  return 'text' in content && typeof content.text === 'string' ? content.text : ''
}
