import { connect, type StepResult, type Target } from '@episodic/env'
import { type Host, inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import type { Shows, WholeStep } from './seen-episode.ts'

/** The trainer endpoint shows everything. */
const SHOWS: Shows = {
  opening: ['text', 'structured'],
  step: ['text', 'structured', 'refused', 'terms', 'end', 'success', 'potential', 'stateHash', 'seq'],
  total: [],
}

/** The client of this repository, in the process of the host and at the trainer endpoint. */
export const TRAINER_CLIENTS: readonly ParityClient[] = [
  {
    name: 'in-process',
    title: 'in process',
    shows: SHOWS,
    open: (host) => openPlayer(inProcess(host), new AsyncDisposableStack()),
  },
  { name: 'http', title: 'HTTP', shows: SHOWS, open: (host) => serve(host, (url) => url) },
  {
    name: 'websocket',
    title: 'WebSocket',
    shows: SHOWS,
    open: (host) => serve(host, (url) => url.replace('http', 'ws')),
  },
]

async function serve(host: Host, urlOf: (trainerUrl: string) => string): Promise<ParityPlayer> {
  await using cleanUp = new AsyncDisposableStack()
  const server = cleanUp.use(await serveHttp(host))
  return openPlayer({ url: urlOf(server.trainerUrl), token: server.controlToken }, cleanUp.move())
}

async function openPlayer(target: Target, cleanUp: AsyncDisposableStack): Promise<ParityPlayer> {
  await using opening = cleanUp
  const connection = opening.use(await connect(target))
  const owned = opening.move()
  return {
    async play({ world, task, actions }) {
      await using environment = connection.environment(world.name)
      const { observation } = await environment.reset(task)
      const steps: Partial<WholeStep>[] = []
      for (const action of actions) steps.push(seenStep(await environment.step(action)))
      return { opening: observation, steps, total: {} }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function seenStep({ observation, reward, end, info }: StepResult): Partial<WholeStep> {
  const { refused, success = null, potential, stateHash, seq } = info
  return { ...observation, refused, terms: reward.terms, end, success, potential, stateHash: stateHash as string, seq }
}
