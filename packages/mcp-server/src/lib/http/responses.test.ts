import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Answers } from './responses.ts'

/** Answers of one turn for so many calls; `spoil` has the responses first. */
async function answerTogether(calls: number, spoil: (held: readonly ServerResponse[]) => void, text = '{}') {
  const answers = new Answers()
  const held: ServerResponse[] = []
  const server = createServer((_, response) => {
    if (held.push(response) < calls) return
    spoil(held)
    for (const each of held) answers.json(each, 200, text)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const received = await Promise.all(
    Array.from({ length: calls }, () =>
      fetch(url)
        .then((response) => response.text())
        .catch(() => 'lost'),
    ),
  )
  return { received: received.sort(), held }
}

it('writes the answers of a turn unchanged, in any script', async () => {
  const text = JSON.stringify({ received: 'Grün, 緑, 🌱' })
  expect((await answerTogether(3, () => {}, text)).received).toEqual([text, text, text])
})

it('loses no other answer of the turn if one cannot be written, and ends that one', async () => {
  const { received, held } = await answerTogether(3, ([first]) => void first?.writeHead(200).write('begun'))
  expect(received).toEqual(['lost', '{}', '{}'])
  expect(held[0]?.destroyed).toBe(true)
})
