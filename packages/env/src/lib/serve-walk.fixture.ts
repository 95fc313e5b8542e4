import { createHost } from '@episodic/mcp-server'
import { serveStdio } from '@episodic/mcp-server/stdio'
import { rest, walk } from './walk.fixture.ts'

// A server of environments as a child process. The argument is its door.
const door = process.argv[2] === 'agent' ? 'agent' : 'trusted'
await serveStdio(createHost({ environments: [walk, rest] }), { door })
