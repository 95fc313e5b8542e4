import { defineMcpEnvironment } from 'episodic'
import { z } from 'zod'

export const environment = await defineMcpEnvironment({
  name: 'who-knows-whom',
  server: 'MEMORY_FILE_PATH={folder}/memory.json npx -y @modelcontextprotocol/server-memory',
  params: z.object({ who: z.string().default('Ada'), whom: z.string().default('Grace') }),
  observe: ({ who, whom }) => `Write down that ${who} knows ${whom}. Call done when you have finished.`,
  limits: { steps: 10 },
  async score({ call, params: { who, whom } }) {
    const { relations } = JSON.parse((await call('read_graph')).text)
    return relations.some(({ from, to }: { from: string; to: string }) => from === who && to === whom)
  },
})
