/**
 * `node files-server.ts <folder>`: a file system over MCP whose working directory and open files last as long as the
 * session.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { folderArgument } from '../folder-argument.ts'
import { runOverStdio } from '../run-over-stdio.ts'
import { createOpenFiles } from './open-files.ts'

await using files = createOpenFiles(folderArgument())
const server = new McpServer({ name: 'files', version: '1.0.0' })

const handle = z.int().describe('A handle that open_file gave')
const folder = z.string().describe('The working directory')
const path = z.string().min(1).max(1_000).describe('From the working directory, or from the root with a / before it')

server.registerTool(
  'change_folder',
  {
    description: 'Changes the working directory of this session.',
    inputSchema: { path },
    outputSchema: { folder },
    annotations: { destructiveHint: false, idempotentHint: false },
  },
  async ({ path }) => {
    await files.changeFolder(path)
    return answer(`The working directory is ${files.folder}.`, { folder: files.folder })
  },
)

server.registerTool(
  'list_files',
  {
    description: 'Lists the working directory.',
    inputSchema: {},
    outputSchema: {
      folder,
      names: z.array(z.string()).describe('Its files and folders; the names of folders end in /'),
    },
    annotations: { readOnlyHint: true },
  },
  async () => {
    const names = await files.list()
    return answer(names.join('\n') || `${files.folder} is empty.`, { folder: files.folder, names })
  },
)

server.registerTool(
  'open_file',
  {
    description: 'Opens a file and gives a handle, which remembers how far it was read.',
    inputSchema: {
      path,
      mode: z
        .enum(['read', 'write', 'append'])
        .default('read')
        .describe('write empties the file first; append writes behind what it holds'),
    },
    outputSchema: { handle: z.int().describe('Names the file for read_file, write_file and close_file') },
    annotations: { destructiveHint: true, idempotentHint: false },
  },
  async ({ path, mode }) => {
    const handle = await files.open(path, mode)
    return answer(`${path} is open to ${mode}, with handle ${handle}.`, { handle })
  },
)

server.registerTool(
  'read_file',
  {
    description: 'Reads on in an open file, from where the last read ended.',
    inputSchema: { handle, bytes: z.int().min(1).max(65_536).default(4_096).describe('Most bytes to read') },
    outputSchema: { text: z.string().describe('What was read'), atEnd: z.boolean().describe('Whether that was all') },
    annotations: { destructiveHint: false, idempotentHint: false },
  },
  async ({ handle, bytes }) => {
    const read = await files.read(handle, bytes)
    return answer(read.text || 'That was all.', { ...read })
  },
)

server.registerTool(
  'write_file',
  {
    description: 'Writes text to an open file, behind what was written there before.',
    inputSchema: { handle, text: z.string().max(65_536).describe('What to write') },
    outputSchema: { written: z.int().describe('Characters') },
    annotations: { destructiveHint: true, idempotentHint: false },
  },
  async ({ handle, text }) => {
    await files.write(handle, text)
    return answer(`Wrote ${text.length} characters.`, { written: text.length })
  },
)

server.registerTool(
  'close_file',
  {
    description: 'Closes an open file; its handle means nothing from then on.',
    inputSchema: { handle },
    outputSchema: { closed: z.int().describe('The handle that is closed') },
    annotations: { destructiveHint: false, idempotentHint: false },
  },
  async ({ handle }) => {
    await files.close(handle)
    return answer(`Handle ${handle} is closed.`, { closed: handle })
  },
)

await runOverStdio(server)

function answer(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent }
}
