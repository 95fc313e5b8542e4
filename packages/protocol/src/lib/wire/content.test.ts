import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentParts, readContent } from './content.ts'

const line = fc.string({ unit: fc.constantFrom('a', '\n', '[', 'é'), maxLength: 6 })
const part = fc.oneof(
  line.map((text) => ({ type: 'text', text })),
  line.map((text) => ({ type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text } })),
  line.map((name) => ({ type: 'resource_link', uri: 'file:///b', name: `b${name}`, title: 'B', size: 3 })),
  fc.constant({ type: 'resource', resource: { uri: 'file:///c', mimeType: 'application/zip', blob: 'UEsDBA==' } }),
  fc.constant({ type: 'resource', resource: { uri: 'file:///d', mimeType: 'image/png', blob: 'iVBORw0KGgo=' } }),
  fc.constant({ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }),
)

describe('the content of an answer', () => {
  it('is read as the observation that it was written from', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const read = readContent(parts)
        expect(readContent(contentParts(read))).toEqual(read)
      }),
    )
  })

  it('is written as it was, with the texts that follow each other as one and the blobs last', () => {
    const text = { type: 'resource', resource: { uri: 'file:///a', text: 'The text of a.' } }
    const link = { type: 'resource_link', uri: 'file:///b', name: 'b', mimeType: 'text/plain' }
    const zip = { type: 'resource', resource: { uri: 'file:///c', mimeType: 'application/zip', blob: 'UEsDBA==' } }
    const said = (text: string) => ({ type: 'text', text })
    const read = readContent([said('one'), zip, said('two'), text, link, said('three')])
    expect(read.text).toBe('one\ntwo\nThe text of a.\n[resource_link b file:///b]\nthree')
    expect(contentParts(read)).toEqual([said('one\ntwo'), text, link, said('three'), zip])
  })

  it('has a note for what is too large or of no known kind', () => {
    const { text, attachments } = readContent(
      [
        { type: 'resource', resource: { uri: 'file:///c', mimeType: 'application/zip', blob: 'UEsDBA==' } },
        { type: 'video', uri: 'file:///v' },
      ],
      { base64: 4, attachments: 16 },
    )
    expect(attachments).toBeUndefined()
    expect(text).toBe('[file: application/zip, 4 bytes, file:///c] It is too large to be shown.\n[video file:///v]')
  })
})
