import { createDisk, readFile, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { defineEnvironment, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const PAGES = ['/cart', '/help', '/login', '/search']

/** A shell with the log of a web server. Which page failed most often? */
export const environment = defineEnvironment({
  name: 'worst-page',
  version: '1.0.0',
  description: 'A shell with the log of a web server.',
  params: z.object({ lines: z.int().min(10).max(1_000).default(50) }),
  state: {
    public: z.object({}),
    // The disk, and what the rules know beside it: nothing that is on no disk is found there.
    private: z.object({ ...workspaceState, worst: z.string() }),
  },
  start({ params, rng }) {
    const worst = rng.pick(PAGES)
    const log = Array.from({ length: params.lines }, (_, i) => {
      const isError = i % 3 === 0
      // Every second error is that of the page.
      const page = isError && i % 2 === 0 ? worst : rng.pick(PAGES)
      return `10:${String(i % 60).padStart(2, '0')} GET ${page} ${isError && (page === worst || rng.int(1, 3) === 1) ? 500 : 200}`
    })
    const disk = createDisk({ '/app/access.log': `${log.join('\n')}\n` })
    return { public: {}, private: { ...startWorkspace(disk), worst } }
  },
  observe: () => 'Write the page with the most status 500 in access.log to answer.txt, then call submit.',
  tools: ({ tool }) => ({
    // A shell in this process. With `machine: bubblewrap()`, commands run for real, on Linux.
    ...workspaceTools(tool, { cwd: '/app' }),
    // What is asked for is a text. To judge code that a player writes, see `judge` and `judgeCalls`.
    submit: tool({
      description: 'Say that the work is done.',
      input: z.object({}),
      play({ state, end, say }) {
        end(readFile(state.private.disk, '/app/answer.txt')?.trim() === state.private.worst ? 'solved' : 'wrong')
        return say('Thank you.')
      },
    }),
  }),
  rewards: { solved: ({ end }) => (end?.reason === 'solved' ? 1 : 0), command: () => -0.01 },
  success: ({ end }) => end.reason === 'solved',
})

export const tasks = defineTasks({
  name: 'worst-page',
  environment,
  generate({ difficulty }) {
    const lines = 20 + Math.round(difficulty * 400)
    return { prompt: 'Find the page that fails most often.', params: { lines }, difficulty, limits: { steps: 20 } }
  },
})

const COMMAND =
  "grep ' 500$' access.log | cut -d' ' -f3 | sort | uniq -c | sort -rn | head -1 | awk '{ print $2 }' > answer.txt"

/** Counts the lines in one command. */
export const solver = definePolicy({
  name: 'counting',
  start() {
    const actions = [
      { tool: 'bash', arguments: { command: COMMAND } },
      { tool: 'submit', arguments: {} },
    ]
    return () => actions.shift() ?? { tool: 'submit', arguments: {} }
  },
})
