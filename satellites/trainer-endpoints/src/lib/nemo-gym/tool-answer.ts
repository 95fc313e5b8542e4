import type { LoggedStep } from '@episodic/protocol'
import { withAttachmentNotes, withoutDataLine } from '@episodic/protocol/internal'

export interface ToolAnswer {
  readonly status: number
  readonly text: string
  readonly contentType: 'application/json' | 'text/plain; charset=utf-8'
}

/**
 * Returns the answer to a step: its data as JSON, with the text as `observation`; the text alone if it has no data; and
 * `error` if it was refused. A refused step is answered with 200 too, because it was counted. A note stands for each
 * picture and sound.
 */
export function stepAnswer({ observation, report }: LoggedStep): ToolAnswer {
  const { structured, attachments } = observation
  const text = withAttachmentNotes(observation.text, attachments)
  if (report.refused !== null) return json(200, { error: text })
  if (structured !== null) return json(200, { ...structured, observation: withoutDataLine(text, structured) })
  return { status: 200, text, contentType: 'text/plain; charset=utf-8' }
}

export function errorAnswer(status: number, message: string): ToolAnswer {
  return json(status, { error: message })
}

function json(status: number, value: object): ToolAnswer {
  return { status, text: JSON.stringify(value), contentType: 'application/json' }
}
