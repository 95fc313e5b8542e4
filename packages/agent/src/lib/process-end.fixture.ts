// A program that opens a session and ends: `node process-end.fixture.ts <how> <server as JSON>`.
import { createMcpSessions } from '../index.ts'

const [how, server = ''] = process.argv.slice(2)
const sessions = createMcpSessions({ mcpServers: { notes: JSON.parse(server) } })
const session = await sessions.open('notes')
const where = await session.callTool('where')
process.stdout.write(`${where.text}\n`)
if (how === 'close') await sessions.close()
if (how === 'exit') process.exit(0)
if (how === 'throw') throw new Error('out of luck')
if (how === 'stay') await session.callTool('hang')
