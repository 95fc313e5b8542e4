import { defineMcpEnvironment, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const NAMES = ['Ada', 'Alan', 'Edsger', 'Grace', 'Katherine', 'Margaret']

/** The tools of an MCP server that remembers who knows whom. Put your own server in its place. */
export const environment = await defineMcpEnvironment({
  name: 'who-knows-whom',
  // Each episode has a process of its own, and a folder of its own in the place of {folder}.
  server: 'MEMORY_FILE={folder}/memory.txt node world-server.ts',
  params: z.object({ who: z.string().default('Ada'), whom: z.string().default('Grace') }),
  observe: ({ who, whom }) => `Write down that ${who} knows ${whom}. Call done when you have finished.`,
  limits: { steps: 10 },
  // Judges an episode that the agent has ended, with any of the server's tools.
  async score({ call, params: { who, whom } }) {
    return (await call('read_all')).text.includes(`${who} knows ${whom}.`)
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

/** Writes down that one knows the other. */
export const solver = definePolicy(environment, {
  name: 'writing',
  start({ task: { params } }) {
    const actions = [{ tool: 'write_down', arguments: { who: String(params.who), whom: String(params.whom) } }]
    return () => actions.shift() ?? { tool: 'done', arguments: { answer: 'Done.' } }
  },
})
