import { appendFileSync, readFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const { MEMORY_FILE = 'memory.txt' } = process.env
appendFileSync(MEMORY_FILE, '')
const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** An MCP server that remembers in a file who knows whom. Put your own in its place. */
const server = new McpServer({ name: 'who-knows-whom', version: '1.0.0' })
const inputSchema = z.object({ who: z.string(), whom: z.string() })
server.registerTool('write_down', { description: 'Write down who knows whom.', inputSchema }, ({ who, whom }) => {
  appendFileSync(MEMORY_FILE, `${who} knows ${whom}.\n`)
  return answer('It is written down.')
})
server.registerTool('read_all', { description: 'Read it all.' }, () => answer(readFileSync(MEMORY_FILE, 'utf8')))
await server.connect(new StdioServerTransport())
