import { environment as numberGuessing } from '@episodic-world/number-guessing'

/** number-guessing, whose sessions are those of the MCP connection: its tools are called without naming a session. */
export const environment = Object.freeze({ ...numberGuessing, handle: null })
