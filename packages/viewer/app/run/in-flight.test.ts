import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { InFlight } from './in-flight.tsx'

it('lists the episodes in flight, the oldest first, with their last call and answer and how long they have been played', () => {
  const episode = { attempt: 0, steps: 1, tokens: 0 }
  const shown = renderToString(
    h(InFlight, {
      run: 'run',
      inFlight: [
        { ...episode, task: 'young', call: null, answer: null, since: 900 },
        { ...episode, task: 'hangs', call: 'guess {"value":5}', answer: 'The number is <higher>.', since: 125_000 },
      ],
    }),
  )
  const texts = shown.replaceAll(/<[^>]*>/g, ' ').replaceAll(/ +/g, ' ')
  expect(texts).toMatch(/hangs guess {&quot;value&quot;:5} The number is &lt;higher>\. .* 2 min 5 s .*young .* 900 ms/)
})
