import type { ToolInfo } from '@episodic/protocol'

/** The tool that the server adds for the player of one of several seats. */
export const WAIT: ToolInfo = {
  name: 'wait',
  description:
    'Wait for your turn. Answers when you may act, when the episode is over, or after a while. It costs no step, and can be called again.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: null,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

const CALL_WAIT = `Call ${WAIT.name}, which answers when it is.`
export const NOT_YET = `It is not your turn yet. ${CALL_WAIT}`
export const NOT_YOURS = `It is not your turn, so nothing was played. ${CALL_WAIT}`
