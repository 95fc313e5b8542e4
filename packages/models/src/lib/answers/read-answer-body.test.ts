import { describe, expect, it } from 'vitest'
import { readAnswerBody } from './read-answer-body.ts'

const choice = { index: 0, message: { role: 'assistant', content: 'Hm.' }, finish_reason: 'stop' }
const answer = { id: 'x', object: 'chat.completion', choices: [choice] }

describe('readAnswerBody', () => {
  it.each<[string, string]>([
    ['JSON', JSON.stringify(answer)],
    ['JSON after white space and a byte order mark', `\n\ufeff  ${JSON.stringify(answer)}\n`],
    ['an error that is absent', JSON.stringify({ ...answer, error: null, base_resp: { status_code: 0 } })],
    ['an error without words', JSON.stringify({ ...answer, error: {}, errors: [] })],
  ])('reads %s as an answer', (_, body) => {
    expect(readAnswerBody(body)).toMatchObject({ kind: 'answer', value: answer })
  })

  it('reads numbers that are no JSON as null, and leaves texts as they are', () => {
    const body = '{"choices":[{"a":-Infinity,"b":[NaN,Infinity],"c":"NaN \\"-Infinity\\" "}]}'
    const value = { choices: [{ a: null, b: [null, null], c: 'NaN "-Infinity" ' }] }
    expect(readAnswerBody(body)).toEqual({ kind: 'answer', value })
  })

  it.each<[string, unknown, number | null, string]>([
    ['OpenRouter', { error: { code: 429, message: 'Slow down.' }, user_id: 'u' }, 429, 'Slow down.'],
    [
      'OpenRouter, with the words of the server behind it',
      { error: { code: 502, message: 'Provider returned error', metadata: { raw: 'overloaded' } } },
      502,
      'Provider returned error (overloaded)',
    ],
    ['OpenAI', { error: { message: 'No.', type: 'invalid_request_error', code: null } }, 400, 'No.'],
    ['OpenAI, without a key', { error: { message: 'No.', code: 'invalid_api_key' } }, 401, 'No.'],
    ['OpenAI, without money', { error: { message: 'No.', code: 'insufficient_quota' } }, 429, 'No.'],
    ['Anthropic', { type: 'error', error: { type: 'authentication_error', message: 'No.' } }, 401, 'No.'],
    ['Anthropic, overloaded', { type: 'error', error: { type: 'overloaded_error', message: 'Later.' } }, 529, 'Later.'],
    ['Gemini', [{ error: { code: 403, message: 'No.', status: 'PERMISSION_DENIED' } }], 403, 'No.'],
    ['Gemini, without a number', { error: { message: 'No.', status: 'RESOURCE_EXHAUSTED' } }, 429, 'No.'],
    ['vLLM', { object: 'error', message: 'Gone.', type: 'NotFoundError', code: 404 }, 404, 'Gone.'],
    ['Mistral', { object: 'error', message: { detail: [{ msg: 'extra' }] } }, null, '{"detail":[{"msg":"extra"}]}'],
    ['FastAPI', { detail: 'Internal' }, null, 'Internal'],
    ['MiniMax', { choices: null, base_resp: { status_code: 1002, status_msg: 'RPM' } }, 429, 'RPM'],
    ['MiniMax, without money', { choices: null, base_resp: { status_code: 1008, status_msg: 'empty' } }, 402, 'empty'],
    ['Baidu', { error_code: 336_100, error_msg: 'busy' }, null, 'busy'],
    ['a problem document', { type: 'about:blank', title: 'Unavailable', status: 503 }, 503, 'Unavailable'],
    ['a text', { error: 'it broke' }, null, 'it broke'],
    ['a code that is a text', { error: { code: '429', message: 'Slow.' } }, 429, 'Slow.'],
    ['a list of errors', { errors: [{ message: 'first', code: 401 }] }, 401, 'first'],
    ['an error beside a choice', { ...answer, error: { message: 'broke off' } }, null, 'broke off'],
    [
      'an error in the choice',
      { ...answer, choices: [{ ...choice, finish_reason: 'error', error: { code: 502, message: 'Upstream' } }] },
      502,
      'Upstream',
    ],
    [
      'an end that is an error',
      { ...answer, choices: [{ ...choice, finish_reason: 'insufficient_system_resource' }] },
      null,
      'The answer ended with finish_reason "insufficient_system_resource".',
    ],
    ['no choice', { id: 'x', choices: [] }, null, 'The answer has no choice: {"id":"x","choices":[]}'],
    ['choices that are null', { id: 'x', choices: null }, null, 'The answer has no choice: {"id":"x","choices":null}'],
    ['a choice that is null', { choices: [null] }, null, 'The answer has no choice: {"choices":[null]}'],
    ['an empty object', {}, null, 'The answer has no choice: {}'],
  ])('finds the error that is written as by %s', (_, body, status, words) => {
    expect(readAnswerBody(JSON.stringify(body))).toMatchObject({ kind: 'error', status, words })
  })

  it.each<[string, string]>([
    ['data: {"error":{"code":401,"message":"No."}}\n\n', 'No.'],
    [': waiting\n\nevent: error\ndata: {"code":401,"message":"No."}\n\n', 'No.'],
    ['event: error\ndata: {"error":null,"code":401,"message":"No."}', 'No.'],
    ['event: error\ndata: {"error":{},"code":401,"message":"No."}', 'No.'],
    ['data: {"choices":[],"error":{}}\n\ndata: {"error":{"status":401,"message":"No."}}', 'No.'],
  ])('finds the error in the stream of events %j', (body, words) => {
    expect(readAnswerBody(body)).toMatchObject({ kind: 'error', status: 401, words })
  })

  it('distinguishes JSON that was cut off from JSON with a fault in it', () => {
    const text = JSON.stringify({ ...answer, usage: { cost: -1.5e-7, cached: true } })
    for (let length = 1; length < text.length; length++)
      expect(readAnswerBody(text.slice(0, length)), text.slice(0, length)).toEqual({ kind: 'incomplete' })
    for (const body of ['{"a":tx}', "{'a':1}", '{"a":1} and more', '{"a":1,}'])
      expect(readAnswerBody(body), body).toMatchObject({ kind: 'malformed', fault: expect.stringContaining('JSON') })
  })

  it.each(['', '<!doctype html><title>Just a moment...</title>', 'Not Found', 'data: {"choices":[]}\n\n'])(
    'reads %j as none of this API',
    (body) => {
      expect(readAnswerBody(body)).toEqual({ kind: 'other' })
    },
  )
})
