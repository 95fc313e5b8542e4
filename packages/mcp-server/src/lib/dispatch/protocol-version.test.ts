import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import { expect, it } from 'vitest'
import { PROTOCOL_VERSIONS } from './message.ts'

it('negotiates the session-based versions that the SDK negotiates', () => {
  expect(PROTOCOL_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS)
})
