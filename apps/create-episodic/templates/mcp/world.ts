import { defineMcpEnvironment, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const NAMES = ['Ada', 'Alan', 'Edsger', 'Grace', 'Katherine', 'Margaret']

/** An MCP server that remembers who knows whom. Put your own server in its place. */
export const environment = await defineMcpEnvironment({
  name: 'who-knows-whom',
  // Each episode has a process of its own, and a folder of its own in the place of {folder}.
  server: 'MEMORY_FILE_PATH={folder}/memory.json node node_modules/@modelcontextprotocol/server-memory/dist/index.js',
  params: z.object({ who: z.string().default('Ada'), whom: z.string().default('Grace') }),
  observe: ({ who, whom }) => `Write down that ${who} knows ${whom}. Call done when you have finished.`,
  limits: { steps: 10 },
  // Judges an episode that the agent has ended, with any of the server's tools.
  async score({ call, params: { who, whom } }) {
    const { relations } = JSON.parse((await call('read_graph')).text)
    return relations.some(({ from, to }: { from: string; to: string }) => from === who && to === whom)
  },
})

export const tasks = defineTasks({
  name: 'who-knows-whom',
  environment,
  generate({ rng, difficulty }) {
    const [who, whom] = rng.shuffle(NAMES) as [string, string]
    return { prompt: `Write down that ${who} knows ${whom}.`, params: { who, whom }, difficulty }
  },
})

/** Writes down both people and that one knows the other. */
export const solver = definePolicy(environment, {
  name: 'writing',
  start({ task: { params } }) {
    const [who, whom] = [String(params.who), String(params.whom)]
    const people = [who, whom].map((name) => ({ name, entityType: 'person', observations: [] }))
    const actions = [
      { tool: 'create_entities', arguments: { entities: people } },
      { tool: 'create_relations', arguments: { relations: [{ from: who, to: whom, relationType: 'knows' }] } },
    ]
    return () => actions.shift() ?? { tool: 'done', arguments: { answer: 'Done.' } }
  },
})
