import type { Completion, ModelRequest } from '@episodic/protocol'
import type { JournalEntry } from '../journal/model-journal.ts'

export interface RecordedCall {
  readonly completion: Completion
  readonly request: ModelRequest
}

export function callOf({ answer, asked }: JournalEntry): RecordedCall {
  const { completion, calls } = answer
  const request = asked ?? { messages: [], tools: [] }
  const { length } = request.tools
  return {
    completion: {
      ...completion,
      ...(calls.length > 0 && { calls: calls.map((call) => ({ ...call, played: true })) }),
      prompt: { messages: [], tools: length > 0 ? [[0, length]] : [] },
    },
    request,
  }
}
