import type { LimitsRequest } from '@episodic/protocol'
import { RecordedServer } from '../recording/recorded-server.ts'
import { Recording } from '../recording/recording.ts'
import type { ListedTool } from '../servers/other-methods.ts'
import { NO_CALLS, trailOf } from '../servers/trail.ts'
import { nameIn } from './choose-tools.ts'
import { setUp } from './episode-functions.ts'
import type { McpEnvironmentSpec } from './mcp-environment-spec.ts'
import type { ServerSource } from './server-source.ts'

export function openRecorded(
  file: string | URL,
  { setup, score, tools }: Pick<McpEnvironmentSpec, 'setup' | 'score' | 'tools'>,
): ServerSource {
  const recording = Recording.read(file)
  const { header } = recording
  const choice = tools ?? header.choice
  return {
    described: { ...header.environment, ...header, limits: header.limits as LimitsRequest, tools: choice },
    listed: header.tools as unknown as ListedTool[],
    isScored: header.scored,
    preparation: { repeatable: true },
    parts: {
      forkable: true,
      check: { waive: { 'legal-missing': 'Listed are the calls after which an end was recorded.' } },
    },
    instructions: header.instructions ?? '',
    // They are in it.
    observe: (params) => recording.taskOf(params).text,
    isSuccess: (value) => (score ? value >= 1 : recording.successes.has(value)),
    start(params, rng) {
      // A set-up that is a function here is called before the first step.
      const [start, began] = setup ? [0, NO_CALLS] : recording.startOf(params, rng)
      return { public: { calls: 0, trail: NO_CALLS, start }, private: { score: null, setup: began } }
    },
    async serverOf(context) {
      const { state, rng } = context
      const { trail, calls } = state.public
      const nameOf = (tool: string) => nameIn(choice, tool)
      const at = (start: number, at: number) => new RecordedServer(recording, { start, at, rng, nameOf })
      if (calls > 0 || !setup)
        return at(recording.find(state.private.setup, NO_CALLS), recording.find(state.private.setup, trail))
      const server = at(0, 0)
      server.setup = await setUp(setup, server, context)
      recording.find(trailOf(server.setup), NO_CALLS)
      return server
    },
    legal: ({ trail, start }, params) => recording.legal(params, trail, setup ? null : start),
  }
}
