/**
 * An MCP server made with the SDK alone, each of whose sessions keeps notes: `stdio`, or over HTTP, in which case it
 * says its port on its channel.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

function createNotes(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const notes: string[] = []
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  server.registerTool('add', { description: 'Adds a note.', inputSchema: { note: z.string() } }, ({ note }) =>
    say(String(notes.push(note))),
  )
  server.registerTool('list', { description: 'Gives all notes.' }, () => say(notes.join(' ')))
  return server
}

if (process.argv[2] === 'stdio') {
  await createNotes().connect(new StdioServerTransport())
} else {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const server = createServer(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await createNotes().connect(transport as Parameters<McpServer['connect']>[0])
    await transport.handleRequest(request, response)
  })
  process.on('message', () => process.send?.(sessions.size))
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
}
