/** Serves the counter world over the pipes of this process. */
import { createHost } from '@episodic/mcp-server'
import { serveStdio } from '@episodic/mcp-server/stdio'
import { counter } from './counter-world.ts'

await serveStdio(createHost({ environments: [counter] }), { endpoint: 'trainer' })
