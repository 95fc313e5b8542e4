import { fileURLToPath } from 'node:url'
import { defineMcpEnvironment } from '@episodic/mcp-worlds'

const SERVER = fileURLToPath(
  new URL('../../satellites/mcp-worlds/src/lib/fixtures/notes-server.fixture.ts', import.meta.url),
)

/** An MCP server whose folder is in the state of the session. */
export const environment = await defineMcpEnvironment({
  server: `'${process.execPath}' '${SERVER}' {folder}/notes.txt`,
  name: 'kept-folder',
  stateInFolder: true,
})
