import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { FoundContext, FoundText } from './found-text.tsx'

const found = (text: string, wanted: string) =>
  renderToString(h(FoundContext.Provider, { value: wanted, children: h(FoundText, { text }) }))

describe('FoundText', () => {
  it('marks what is found in one frame, so that words from right to left stay whole', () => {
    expect(found('a شلوم b', 'لو')).toBe('<bdi>a ش<mark>لو</mark>م b</bdi>')
    expect(found('a\u001bb', 'b')).toBe(
      '<bdi>a<span class="sign" title="a character that is not shown">␛</span><mark>b</mark></bdi>',
    )
    expect(found('nothing', 'x')).toBe('<bdi>nothing</bdi>')
  })

  it('marks the first thousand of a frequent word, and shows the whole text', () => {
    const shown = found('a '.repeat(50_000), 'a')
    expect(shown.match(/<mark>/g)).toHaveLength(1_000)
    expect(shown.replaceAll(/<[^>]*>/g, '')).toBe('a '.repeat(50_000))
  })
})
