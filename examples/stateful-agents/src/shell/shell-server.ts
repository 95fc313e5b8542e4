/**
 * `node shell-server.ts <folder>`: a shell over MCP whose working directory and variables last as long as the session.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { folderArgument } from '../folder-argument.ts'
import { runOverStdio } from '../run-over-stdio.ts'
import { openShell } from './shell.ts'

await using shell = openShell(folderArgument())
const server = new McpServer({ name: 'shell', version: '1.0.0' })

server.registerTool(
  'run_command',
  {
    title: 'Run a command',
    description: 'Runs a command in this session’s shell. cd, export and functions stay for the next command.',
    inputSchema: { command: z.string().min(1).max(10_000).describe('A command for bash') },
    outputSchema: {
      output: z.string().describe('What it wrote to standard output and standard error'),
      exitCode: z.int().describe('0 where the command succeeded'),
      folder: z.string().describe('The working directory after it'),
    },
    annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  async ({ command }, { signal }) => {
    const result = await shell.run(command, signal)
    return {
      content: [{ type: 'text', text: `${result.output}exit code ${result.exitCode} in ${result.folder}` }],
      structuredContent: { ...result },
      isError: result.exitCode !== 0,
    }
  },
)

await runOverStdio(server)
