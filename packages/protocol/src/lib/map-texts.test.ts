import { expect, it } from 'vitest'
import { mapTexts } from './map-texts.ts'

it('changes every text of a JSON value, keys included, and nothing else', () => {
  const value = JSON.parse('{"a":["b",1,null,true,{"c":"d"}],"__proto__":"e"}')
  const changed = mapTexts(value, (text) => `${text}!`)
  expect(JSON.stringify(changed)).toBe('{"a!":["b!",1,null,true,{"c!":"d!"}],"__proto__!":"e!"}')
  expect(JSON.stringify(mapTexts(value, (text) => text))).toBe(JSON.stringify(value))
})
