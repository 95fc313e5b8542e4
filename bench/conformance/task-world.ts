import { setTimeout as sleep } from 'node:timers/promises'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** Milliseconds that a preparation takes at least: a call becomes a task after a second. */
const LONG_ENOUGH = 1_200

const SECRET = 'a secret of the tasks'

const NO_STATE = { public: z.object({}), private: z.object({}) }

/** The tools that the suite's scenarios of tasks call, in a world as users write one. */
export const taskWorld = defineEnvironment({
  name: 'conformance-tasks',
  version: '1.0.0',
  description: 'The tools with which the conformance suite tries tasks.',
  handle: false,
  state: NO_STATE,
  limits: { steps: 1_000 },
  start: () => ({ public: {}, private: {} }),
  observe: () => '',
  tools: ({ tool }) => ({
    greet: tool({
      description: 'Greets at once.',
      input: z.object({ name: z.string().max(100) }),
      play: ({ input, say }) => say(`Hello, ${input.name}!`),
    }),
    slow_compute: tool({
      description: 'Computes for some seconds.',
      input: z.object({ seconds: z.number().min(0).max(60), label: z.string().max(100).optional() }),
      prepared: z.object({}),
      prepareSeconds: 120,
      async prepare({ input: { seconds }, signal }) {
        if (seconds > 0) await sleep(Math.max(LONG_ENOUGH, seconds * 1_000), undefined, { signal })
        return {}
      },
      play: ({ input, say }) => say(`Computed for ${input.seconds} s.`),
    }),
    failing_job: tool({
      description: 'Is refused after a while.',
      input: z.object({}),
      prepared: z.object({}),
      async prepare({ signal }) {
        await sleep(LONG_ENOUGH, undefined, { signal })
        return {}
      },
      play: ({ refuse }) => refuse('The job failed.'),
    }),
    protocol_error_job: tool({
      description: 'Says a declared secret after a while, so that the server withholds the answer.',
      input: z.object({}),
      prepared: z.object({}),
      async prepare({ signal }) {
        await sleep(LONG_ENOUGH, undefined, { signal })
        return {}
      },
      play: ({ say }) => say(SECRET),
    }),
    confirm_delete: tool({
      description: 'Deletes without a question: a world asks its players nothing.',
      input: z.object({ filename: z.string().max(100) }),
      play: ({ input, say }) => say(`Deleted ${input.filename}.`),
    }),
  }),
  rewards: {},
  secrets: () => [SECRET],
})
