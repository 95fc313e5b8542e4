import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { createModelSpeaker } from '@episodic/contexts/model'
import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { createFlightDesk, solver } from './assistant.ts'

describe('a flight desk whose traveller is spoken by a model', () => {
  it('is played by the clerk to its end, and replays without the model', async () => {
    const model = await openTraveller()
    const environment = createFlightDesk(
      createModelSpeaker({ model: 'small', baseUrl: model.baseUrl, apiKey: 'none', styles: ['plain'] }),
    )
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const params = { digressions: 0, constraints: 0, slips: 0 }
    const episode = await runEpisode({
      createEnvironment: () => connection.environment(),
      policy: solver,
      task: { params },
      seed: 'spoken',
    })
    await model.close()
    expect(episode.kind === 'finished' && episode.end).toEqual({ kind: 'terminated', reason: 'satisfied' })
    const steps = episode.kind === 'finished' ? episode.steps : []
    const spoken = steps.map(({ observation }) => observation.structured?.said).filter((said) => said !== undefined)
    expect(spoken[0]).toMatch(/^I would love to get from /)

    const again = rehearse(environment, { params, seed: 'spoken', strict: true })
    for (const { action, observation, info } of steps)
      expect(again.play(action.tool, action.arguments, { prepared: info.prepared }).observation).toEqual(observation)
    expect(model.asked()).toBe(spoken.length)
  })
})

/** A model that plays a traveller: it says the whole trip, and accepts the offer. */
async function openTraveller() {
  let asked = 0
  const server = createServer(async (request, response) => {
    asked += 1
    const { messages } = JSON.parse(await readText(request))
    const { goal, dialogue } = JSON.parse(messages[1].content)
    const [, from, to, date, people] = /from (.+) to (.+) on .*\((.+)\) for (\d)/.exec(goal) ?? []
    const offered = dialogue.at(-1).text.includes('Shall I book it?')
    const content = offered
      ? 'Yes, book it'
      : `I would love to get from ${from} to ${to} on ${date} for ${people} people`
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'small',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
