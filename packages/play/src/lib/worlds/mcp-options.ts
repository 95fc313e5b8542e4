import { inFile, option } from '@episodic/run/base/options'
import { z } from 'zod'

export const mcpOptions = z.object({
  mcp: option(
    '<server>',
    'play an MCP server: a command line, in which {folder} is the folder of an episode, or a URL of http',
  ),
  mcpConfig: option('<file>', 'play a server of an mcpServers JSON file, which --server names'),
  score: option('<file>', 'with --mcp: a module whose `score` judges an episode'),
  onlyTools: option(
    '<name,…>',
    'with --mcp: the tools of the server that are played, separated by commas',
    z.string().optional(),
    inFile,
  ),
})
export type McpOptions = z.infer<typeof mcpOptions>

/** What is asked for on a command line, with what belongs to the options of an MCP server apart. */
export interface McpWorldRequest extends McpOptions {
  readonly server?: string | undefined
  readonly tasks?: string | undefined
}

export function withoutMcp<Options extends McpOptions & { readonly server?: string | undefined }>(
  options: Options,
): Omit<Options, keyof McpOptions> {
  const { mcp, mcpConfig, score: _, onlyTools: __, ...others } = options
  return mcp === undefined && mcpConfig === undefined ? others : { ...others, server: undefined }
}
