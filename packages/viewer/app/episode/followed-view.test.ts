import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { FollowedView } from './followed-view.tsx'

const shown = { task: 'task', attempt: 2, steps: 1, call: null, answer: null, tokens: 0, since: 1_000 }
const textOf = (episode: Parameters<typeof FollowedView>[0]['episode']) =>
  renderToString(h(FollowedView, { episode }))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

it('shows what the players of an episode in flight have seen and called, and what is left out before', () => {
  const events = [
    { kind: 'seen', text: 'Which <number>?' },
    { kind: 'call', text: 'guess', arguments: '{"value":5}' },
    { kind: 'seen', text: 'Too low.' },
  ] as const
  const text = textOf({ shown, events, dropped: 500 })
  expect(text).toContain('attempt 2')
  expect(text).toContain('500 events before these are not shown')
  expect(text).toMatch(/Which &lt;number>\?.*guess {&quot;value&quot;:5}.*Too low\./)
})

it('says that there are no steps of an episode that another process plays', () => {
  expect(textOf({ shown, events: null, dropped: 0 })).toContain('has not written its steps')
})
