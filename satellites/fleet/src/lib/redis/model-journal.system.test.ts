import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer } from '@episodic/models/answers/parse-answer'
import { createFolderJournal } from '@episodic/models/journal/folder-journal'
import { hashRequest, type JournalOptions, type ModelJournal } from '@episodic/models/journal/model-journal'
import { createRedisJournal } from '@episodic/models/journal/redis-journal'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { createSigner } from '../signer.ts'

const parent = mkdtempSync(join(tmpdir(), 'episodic-'))
const server = await startRedis()
const redis = new Redis(server.url)
afterAll(async () => {
  redis.disconnect()
  await server[Symbol.asyncDispose]()
  rmSync(parent, { recursive: true })
})

const answer = (text: string): Answer => ({
  completion: { model: 'm', promptTokens: 1, completionTokens: 2, cost: null, text },
  calls: [{ id: 'call', name: 'guess', arguments: '{"value":1}' }],
  message: { role: 'assistant', content: text },
  finish: 'tool_calls',
})
const plain = { redact: (text: string) => text }

let created = 0
/** Each call opens the same journal, as another process would. */
const journals: Record<string, () => (options?: JournalOptions) => ModelJournal> = {
  createFolderJournal() {
    const folder = join(parent, String(created++))
    return (options = plain) => createFolderJournal(folder, options)
  },
  createRedisJournal() {
    const prefix = `t${created++}:`
    return (options = plain) => createRedisJournal(redis, { prefix, ...options })
  },
}

describe.each(Object.entries(journals))('%s', (_, create) => {
  it('returns to another process what it kept, by the request, for each episode apart', async () => {
    const open = create()
    const episode = await open().open('a')
    expect(episode.take('1')).toBeNull()
    await episode.add('1', answer('one'))
    await episode.add('2', answer('two'))
    const again = await open().open('a')
    expect([again.take('1'), again.take('2'), again.take('3')]).toEqual([answer('one'), answer('two'), null])
    expect((await open().open('b')).take('1')).toBeNull()
  })

  it('replaces half of a surrogate pair in an answer that was kept, and ignores one that no line can have', async () => {
    const open = create()
    const episode = await open().open('a')
    await episode.add('1', answer('half \ud83d'))
    await episode.add('2', { ...answer('x'), completion: { ...answer('x').completion, promptTokens: -1 } })
    const again = await open().open('a')
    expect([again.take('1'), again.take('2')]).toEqual([answer('half \ufffd'), null])
  })

  it('keeps nothing of an episode once it is discarded', async () => {
    const open = create()
    const journal = open()
    await (await journal.open('a')).add('1', answer('one'))
    await (await journal.open('b')).add('1', answer('other'))
    await journal.discard('a')
    await journal.discard('unknown')
    expect((await open().open('a')).take('1')).toBeNull()
    expect((await open().open('b')).take('1')).toEqual(answer('other'))
  })

  it('keeps no answer beyond its bound, counting those of earlier processes, and none that holds a secret', async () => {
    const open = create()
    const bounded = { ...plain, mostBytes: 700 }
    const episode = await open(bounded).open('a')
    await episode.add('1', answer('x'.repeat(200)))
    const later = await open(bounded).open('a')
    await later.add('2', answer('x'.repeat(200)))
    await later.add('3', answer(''))
    const secretive = await open({ redact: (text) => text.replaceAll('sesame', '[redacted]') }).open('a')
    await secretive.add('4', answer('open sesame'))
    const last = await open().open('a')
    expect(['1', '2', '3', '4'].map((request) => last.take(request) !== null)).toEqual([true, false, false, false])
  })
})

describe('createFolderJournal', () => {
  it('ignores a line without its end, and keeps the next ones', async () => {
    const folder = join(parent, 'torn')
    const open = () => createFolderJournal(folder, plain).open('a')
    await (await open()).add('1', answer('one'))
    await (await open()).add('2', answer('two'))
    const file = join(folder, readdirSync(folder)[0] as string)
    truncateSync(file, statSync(file).size - 10)
    const torn = await open()
    expect([torn.take('1'), torn.take('2')]).toEqual([answer('one'), null])
    await torn.add('3', answer('three'))
    const again = await open()
    expect([again.take('1'), again.take('2'), again.take('3')]).toEqual([answer('one'), null, answer('three')])
    // Only the owner may read what a model said.
    expect(statSync(file).mode & 0o077).toBe(0)
  })

  it('writes of what was asked what is new, and reads it as it was asked', async () => {
    const folder = join(parent, 'asked')
    const open = () => createFolderJournal(folder, { ...plain, mostBytes: 1_000_000 }).open('a')
    const answerOf = (ids: readonly number[]) => {
      const { completion, ...rest } = answer('one')
      const tokens = { promptTokenIds: ids, tokenIds: [7], logProbabilities: [-1] }
      return { ...rest, completion: { ...completion, ...tokens } }
    }
    const say = (...texts: readonly string[]) => texts.map((content) => ({ role: 'user', content }))
    const tools = [{ type: 'function', function: { name: 'guess' } }]
    const long = 'x'.repeat(9_000)
    const asked = [
      { messages: say(long), tools },
      { messages: say(long, 'b'), tools },
      // Another conversation, other tools, and the same request once more.
      { messages: say('c', long), tools },
      { messages: say('c', long), tools: [] },
      { messages: say('c', long), tools: [] },
      { messages: say('c'), tools: [] },
    ]
    const journal = await open()
    for (const [i, request] of asked.entries()) await journal.add(String(i), answerOf([1, 2, i]), request)
    const { entries } = await open()
    expect(entries.map((entry) => entry.asked)).toEqual(asked)
    expect(entries.map(({ answer: { completion } }) => completion.promptTokenIds)).toEqual(
      asked.map((_, i) => [1, 2, i]),
    )
    // The long text was new to three of them.
    const { size } = statSync(join(folder, readdirSync(folder)[0] as string))
    expect(Math.floor(size / 9_000)).toBe(3)
  })

  it('makes its folder again if somebody has removed it', async () => {
    const folder = join(parent, 'removed')
    const failures: Error[] = []
    const journal = createFolderJournal(folder, { ...plain, onFailed: (cause) => failures.push(cause) })
    const episode = await journal.open('a')
    await episode.add('1', answer('one'))
    rmSync(folder, { recursive: true })
    await episode.add('2', answer('two'))
    await episode.add('3', answer('three'))
    expect(failures.length).toBe(1)
    const again = await createFolderJournal(folder, plain).open('a')
    expect(['1', '2', '3'].map((request) => again.take(request) !== null)).toEqual([false, false, true])
  })

  it('is silent where it can write nothing', async () => {
    const file = join(parent, 'torn', readdirSync(join(parent, 'torn'))[0] as string)
    const journal = createFolderJournal(join(file, 'below'), plain)
    const episode = await journal.open('a')
    await episode.add('1', answer('one'))
    await journal.discard('a')
    expect((await journal.open('a')).take('1')).toBeNull()
  })
})

describe('createRedisJournal', () => {
  it('does not use an answer that was changed in Redis, or that another has signed', async () => {
    const open = (secret: string) =>
      createRedisJournal(redis, { prefix: 's:', ...plain, signer: createSigner(secret) }).open('a')
    await (await open('secret')).add('1', answer('one'))
    await (await open('secret')).add('2', answer('two'))
    expect((await open('secret')).take('1')).toEqual(answer('one'))
    expect((await open('other')).take('1')).toBeNull()
    const [line = ''] = await redis.lrange('s:answers:a', 0, 0)
    await redis.lset('s:answers:a', 0, line.replace('"one"', '"won"'))
    const changed = await open('secret')
    expect([changed.take('1'), changed.take('2')]).toEqual([null, answer('two')])
  })

  it('lets what was never sealed expire', async () => {
    await (await createRedisJournal(redis, { prefix: 'e:', ...plain }).open('a')).add('1', answer('one'))
    const seconds = await redis.ttl('e:answers:a')
    expect(seconds).toBeGreaterThan(6 * 86_400)
    expect(seconds).toBeLessThanOrEqual(7 * 86_400)
  })
})

describe('hashRequest', () => {
  it('depends on what is asked, and not on the order of keys', () => {
    expect(hashRequest({ a: 1, b: [2] })).toBe(hashRequest({ b: [2], a: 1, c: undefined }))
    expect(hashRequest({ a: 1, b: [2] })).not.toBe(hashRequest({ a: 1, b: [3] }))
  })
})
