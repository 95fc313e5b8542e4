/**
 * `node shop-server.ts`: a shop's HTTP API over MCP. The session is one visit: it logs in once, does not disclose the
 * token, has one basket, and respects the shop's rate limit.
 *
 * Reads the shop's address and the customer from `SHOP_URL`, `SHOP_USER` and `SHOP_PASSWORD`: no model ever sees a
 * password.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { runOverStdio } from '../run-over-stdio.ts'
import { createShopVisit } from './shop-visit.ts'

const credentials = z
  .object({ SHOP_URL: z.url(), SHOP_USER: z.string().min(1), SHOP_PASSWORD: z.string().min(1) })
  .safeParse(process.env)
if (!credentials.success) {
  console.error(`The shop server needs its environment:\n${z.prettifyError(credentials.error)}`)
  process.exit(2)
}
const { SHOP_URL: url, SHOP_USER: user, SHOP_PASSWORD: password } = credentials.data
const visit = createShopVisit({ url, user, password })
const server = new McpServer({ name: 'shop', version: '1.0.0' })
const basket = { basket: z.array(z.string()).describe('What is in the basket') }

server.registerTool(
  'add_to_basket',
  {
    description: 'Puts an item into the basket.',
    inputSchema: { item: z.string().min(1).max(100).describe('The name of the item') },
    outputSchema: basket,
    annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
  async ({ item }, { signal }) => answer(await visit.request('POST', '/basket', { item }, signal)),
)

server.registerTool(
  'show_basket',
  {
    description: 'Shows what is in the basket.',
    inputSchema: {},
    outputSchema: basket,
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  async (_, { signal }) => answer(await visit.request('GET', '/basket', undefined, signal)),
)

server.registerTool(
  'check_out',
  {
    description: 'Orders what is in the basket, which is empty then.',
    inputSchema: {},
    outputSchema: {
      order: z.int().describe('The number of the order'),
      items: z.array(z.string()).describe('What was ordered'),
    },
    annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  async (_, { signal }) => answer(await visit.request('POST', '/orders', {}, signal)),
)

await runOverStdio(server)

function answer(structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
}
