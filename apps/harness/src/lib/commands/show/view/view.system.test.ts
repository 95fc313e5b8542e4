import { hash } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { summarySchema } from '@episodic/report/fold/summary'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { decodeColumns } from '@episodic/report/rows/columns-codec'
import { rowFigures } from '@episodic/report/rows/row-figures'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { RowWords, RunDetail, TaskRows } from '@episodic/report/view/run-entry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { logIn, startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const browser = useBrowser()
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)

async function play(out: string, ...more: string[]): Promise<void> {
  const { status, err } = await workshop.main(['run', world, '--out', out, ...more])
  expect([status, err]).toEqual([0, expect.not.stringContaining('error')])
}

async function columnsOf(viewing: Viewing, run: string, names = '') {
  const response = await viewing.get(`/api/r/${run}/columns${names}`)
  return decodeColumns(new Uint8Array(await response.arrayBuffer()))
}

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code
const summaryIn = (folder: string) => summarySchema.parse(JSON.parse(readFileSync(at(folder, 'summary.json'), 'utf8')))

beforeAll(async () => {
  await play('runs/careless', '--policy', 'careless', '--tasks', '30', '--rollouts', '2')
  await play('runs/solver', '--policy', 'solver', '--tasks', '30', '--rollouts', '2')
  await play('runs/models/number-guessing/random', '--policy', 'random', '--tasks', '30')
  writeFileSync(at('runs/models/set.json'), '{}')
})

describe('episodic view', () => {
  let viewing: Viewing
  beforeAll(async () => {
    viewing = await startViewing(workshop)
  })

  it('lists the runs of a folder and of its sets, with their figures', async () => {
    const runs = await viewing.json<RunDetail['entry'][]>('/api/runs')
    expect(runs.map(({ name, set, state }) => [name, set, state])).toEqual([
      ['random', 'models', 'finished'],
      ['solver', null, 'finished'],
      ['careless', null, 'finished'],
    ])
    const summary = summaryIn('runs/careless')
    expect(runs[2]).toMatchObject({
      environments: ['number-guessing@1.1.0'],
      players: ['careless'],
      scheduled: 60,
      finished: 60,
      failed: 0,
      success: summary.success.overall,
      unshaped: summary.returns.unshaped?.mean,
      tokens: null,
      cost: null,
    })
  })

  it('shows the summary of a run, and columns whose figures equal it', async () => {
    const { id } = await viewing.runNamed('careless')
    const detail = await viewing.detailOnce(id, ({ complete }) => complete)
    const summary = summaryIn('runs/careless')
    expect(detail.summary).toEqual(summary)
    expect(detail).toMatchObject({ rows: 60, problems: [], inFlight: [], seats: [] })
    const columns = await columnsOf(viewing, id)
    const { finished, failed, tasks, steps, refused } = summary.counts
    expect(rowFigures(columns)).toMatchObject({
      ...{ finished, failed, tasks, steps, refused },
      success: summary.success.overall,
      unshaped: summary.returns.unshaped?.mean,
    })
    const some = await columnsOf(viewing, id, '?names=steps,term.solved')
    expect(Object.keys(some.columns)).toEqual(['steps', 'term.solved'])
    expect(some.columns.steps).toEqual(columns.columns.steps)
  })

  it('returns words, tasks and lines by the numbers of their rows, the lines byte for byte', async () => {
    const { id } = await viewing.runNamed('careless')
    const text = readFileSync(at('runs/careless/episodes.jsonl'), 'utf8').split('\n')
    const episodes = readEpisodes(at('runs/careless'))
    const words = await viewing.json<RowWords[]>(`/api/r/${id}/rows?rows=59,0`)
    expect(words).toEqual(
      [59, 0].map((row) => ({
        row,
        task: episodes[row]?.task.id,
        attempt: episodes[row]?.attempt,
        try: 0,
        prompt: episodes[row]?.task.prompt,
        message: null,
      })),
    )
    expect(await (await viewing.get(`/api/r/${id}/line/7`)).text()).toBe(text[7])
    const task = episodes[7]?.task.id as string
    expect(await viewing.json<TaskRows[]>(`/api/r/${id}/task/${task.slice(0, 8)}`)).toEqual([
      {
        task,
        prompt: episodes[7]?.task.prompt,
        rows: episodes.flatMap((episode, row) => (episode.task.id === task ? [row] : [])),
      },
    ])
  })

  it('compares runs as the command does, and names the rows of each task', async () => {
    const [a, b, c] = await Promise.all(['careless', 'solver', 'random'].map((name) => viewing.runNamed(name)))
    const two = await viewing.json<ComparedRuns>(`/api/compare?runs=${a?.id},${b?.id}`)
    const command = await workshop.main(['compare', 'runs/careless', 'runs/solver', '--json'])
    expect(two.comparisons).toEqual([JSON.parse(command.out)])
    expect(two).toMatchObject({ baseline: a?.id, runs: [a?.id, b?.id], contrasts: null })
    const three = await viewing.json<ComparedRuns>(`/api/compare?runs=${a?.id},${b?.id},${c?.id}&base=${b?.id}`)
    const folders = ['runs/solver', 'runs/careless', 'runs/models/number-guessing/random']
    expect(three.contrasts).toEqual(JSON.parse((await workshop.main(['compare', ...folders, '--json'])).out))
    const [task] = two.tasks
    const episodes = readEpisodes(at('runs/careless'))
    expect(task?.runs[0]?.rows.map((row) => episodes[row]?.task.id)).toEqual([task?.task, task?.task])
    expect(task?.prompt).toBe(episodes.find((one) => one.task.id === task?.task)?.task.prompt)
  })

  it('keeps verdicts of people beside a run, and changes nothing else', async () => {
    const { id } = await viewing.runNamed('solver')
    const [line] = readEpisodes(at('runs/solver'))
    const digests = () =>
      ['episodes.jsonl', 'summary.json'].map((name) => hash('sha256', readFileSync(at('runs/solver', name))))
    const before = digests()
    const grade: GradeRecord = {
      format: 1,
      run: id,
      task: line?.task.id as string,
      attempt: line?.attempt as number,
      try: 0,
      seal: line?.seal as string,
      grader: { name: 'polite', version: '1', sha256: 'none', kind: 'person', who: 'Ada' },
      vote: 0,
      revision: 0,
      drawn: true,
      value: true,
      why: 'It asks once.',
      evidence: [],
      at: '2026-01-01T00:00:00.000Z',
    }
    const post = (body: unknown) =>
      viewing.get(`/api/r/${id}/grades`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const refused = [
      { ...grade, seal: 'other' },
      { ...grade, grader: { ...grade.grader, kind: 'model' } },
      { ...grade, value: {} },
      [],
    ]
    for (const wrong of refused) expect((await post(wrong)).status).toBe(400)
    expect((await post(grade)).status).toBe(201)
    appendFileSync(at('runs/solver/grades.jsonl'), '{"torn')
    expect((await post({ ...grade, revision: 1, value: false })).status).toBe(201)
    expect(await viewing.json(`/api/r/${id}/grades`)).toEqual([grade, { ...grade, revision: 1, value: false }])
    expect(digests()).toEqual(before)
  })

  it('says what is wrong with a request', async () => {
    const { id } = await viewing.runNamed('solver')
    const refusals: [path: string, status: number, code: string][] = [
      ['/api/r/0123456789', 404, 'run-not-found'],
      [`/api/r/${id}/line/60`, 404, 'row-not-found'],
      [`/api/r/${id}/line/-1`, 400, 'invalid'],
      [`/api/r/${id}/rows?rows=${Array.from({ length: 201 }, (_, row) => row)}`, 400, 'invalid'],
      [`/api/r/${id}/columns?names=stepz`, 400, 'invalid'],
      [`/api/compare?runs=${id}`, 400, 'invalid'],
      ['/api/r/..%2F..%2Fetc', 404, 'run-not-found'],
      ['/api/nothing', 404, 'not-found'],
      ['/etc/passwd', 404, 'not-found'],
    ]
    for (const [path, status, code] of refusals) {
      const response = await viewing.get(path)
      expect([path, response.status, await codeOf(response)]).toEqual([path, status, code])
    }
    expect((await viewing.get('/api/runs', { method: 'DELETE' })).status).toBe(405)
  })
})

describe('the access to episodic view', () => {
  it('is for a browser with the printed token, once, and for no page of another server', async () => {
    const started = workshop.start(['view', '--port', '0', '--no-open', '--json'])
    const [line] = await started.until(/^\{"url".*\}$/m)
    const { url } = JSON.parse(line) as { url: string }
    const { origin } = new URL(url)
    const page = await fetch(`${origin}/`)
    expect(await page.text()).toContain('/api/login')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await fetch(`${origin}/api/runs`)).status).toBe(401)
    const cookie = await logIn(url)
    await expect(logIn(url)).rejects.toThrow('This address was used before')
    const get = (headers: Record<string, string>) => fetch(`${origin}/api/runs`, { headers: { cookie, ...headers } })
    expect((await get({})).status).toBe(200)
    expect((await get({ cookie: `${cookie}x` })).status).toBe(401)
    expect((await get({ origin: 'http://evil.example' })).status).toBe(403)
    expect((await get({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(await (await fetch(`${origin}/`, { headers: { cookie } })).text()).toContain('id="app"')
    started.interrupt()
    expect((await started.ended).status).toBe(0)
  })

  it.skipIf(lacksBrowser)('is opened by the printed address, which keeps no token', async () => {
    const started = workshop.start(['view', '--port', '0', '--no-open', '--json'])
    const [line] = await started.until(/^\{"url".*\}$/m)
    const { url } = JSON.parse(line) as { url: string }
    const page = await browser().newPage()
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(url)
    await page.getByText('careless').first().waitFor()
    expect(page.url()).toBe(`${new URL(url).origin}/#/`)
    await page.reload()
    await page.getByText('careless').first().waitFor()
    expect(faults).toEqual([])
    const other = await browser().newContext()
    const stranger = await other.newPage()
    await stranger.goto(url)
    await stranger.getByText('This address was used before').waitFor()
    await Promise.all([other.close(), page.close()])
    started.kill('SIGKILL')
  })

  it('is with a given token for as long as it runs, and writes nothing where it is read-only', async () => {
    const token = 'a-token-of-some-length'
    writeFileSync(at('token.txt'), `${token}\n`)
    const options = ['--token', '@token.txt', '--read-only']
    const started = workshop.start(['view', '--port', '0', '--no-open', '--json', ...options])
    const [line] = await started.until(/^\{"url".*\}$/m)
    const { url } = JSON.parse(line) as { url: string }
    const { origin } = new URL(url)
    for (let i = 0; i < 2; i++) expect(await logIn(url)).toMatch(/^episodic-view-\d+=/)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const runs = (await (await fetch(`${origin}/api/runs`, { headers })).json()) as { id: string }[]
    const graded = await fetch(`${origin}/api/r/${runs[0]?.id}/grades`, { method: 'POST', headers, body: '{}' })
    expect([graded.status, await codeOf(graded)]).toEqual([403, 'read-only'])
    started.kill('SIGKILL')
  })

  it('answers before it has read a body of who has not logged in, and lets go of the connection', async () => {
    const { origin, kill } = await startViewing(workshop)
    const port = Number(new URL(origin).port)
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
    const answerTo = async (bytes: string) => {
      const socket = connect(port, '127.0.0.1')
      // The rest of the body never comes.
      socket.write(bytes)
      const answer = await text(socket)
      return answer.split('\r\n')[0]
    }
    const whole = 'Content-Length: 1000000\r\n\r\n'
    expect(await answerTo(`${head('/api/runs')}${whole}{`)).toContain('401')
    expect(await answerTo(`${head('/')}${whole}{`)).toContain('401')
    expect(await answerTo(`${head('/api/login')}${whole}${' '.repeat(5_000)}`)).toContain('413')
    const chunk = `1388\r\n${' '.repeat(5_000)}\r\n`
    expect(await answerTo(`${head('/api/login')}Transfer-Encoding: chunked\r\n\r\n${chunk}`)).toContain('413')
    kill('SIGKILL')
  })

  it('is behind a proxy that speaks TLS, under the names that it is started with', async () => {
    const started = workshop.start([
      'view',
      '--port',
      '0',
      '--no-open',
      '--json',
      '--allow-host',
      'runs.example.org',
      '--allow-host',
      'b.example:8443',
    ])
    const [line] = await started.until(/^\{"url".*\}$/m)
    const { hash, port } = new URL(JSON.parse(line).url)
    /** Sends what the proxy sends: `fetch` would choose the Host itself. */
    const ask = async (path: string, headers: Record<string, string>, body = '') => {
      const asked = request({ port, path, method: body ? 'POST' : 'GET', headers })
      asked.end(body)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      return { status: answer.statusCode, cookie: answer.headers['set-cookie']?.[0] ?? '' }
    }
    for (const host of ['runs.example.org', 'RUNS.example.org', 'b.example:8443', '127.0.0.1'])
      expect(await ask('/', { host })).toMatchObject({ status: 200 })
    for (const host of ['evil.example', 'b.example', 'b.example:1', 'runs.example.org.evil.example'])
      expect(await ask('/', { host })).toMatchObject({ status: 403 })
    for (const origin of ['https://evil.example', 'https://b.example', 'null'])
      expect(await ask('/', { host: 'runs.example.org', origin })).toMatchObject({ status: 403 })

    const login = JSON.stringify({ token: new URLSearchParams(hash.split('?')[1]).get('token') })
    const headers = {
      host: `127.0.0.1:${port}`,
      origin: 'https://runs.example.org',
      'content-type': 'application/json',
    }
    const { status, cookie } = await ask('/api/login', headers, login)
    expect([status, cookie]).toEqual([200, expect.stringMatching(/; Secure$/)])
    const runs = await ask('/api/runs', { host: 'runs.example.org', cookie: cookie.split(';')[0] as string })
    expect(runs.status).toBe(200)
    started.kill('SIGKILL')
  })

  it('refuses what it cannot serve, in one clear error', async () => {
    const refused = async (args: readonly string[], message: RegExp) => {
      const { status, err } = await workshop.main(['view', ...args, '--no-open'])
      expect(err).toMatch(message)
      expect(status).not.toBe(0)
    }
    mkdirSync(at('nothing'))
    await refused(['nothing'], /There is no run in nothing\. Play one with/)
    await refused(['not-there'], /There is no folder not-there\. Play one with/)
    await refused(['--address', '0.0.0.0'], /opens the server to a network: give a --token too/)
    await refused(['--token', 'short'], /needs 16 characters or more/)
    await refused(['--address', '203.0.113.7', '--token', 'a-token-of-some-length'], /Cannot listen on 203\.0\.113\.7/)
  })

  it('does not follow links out of the folder', async () => {
    mkdirSync(at('elsewhere'))
    symlinkSync(at('runs/solver'), at('elsewhere/linked'))
    for (const name of ['own', 'other'])
      cpSync(at('runs/models/number-guessing/random'), at('elsewhere', name), { recursive: true })
    rmSync(at('elsewhere/other/episodes.jsonl'))
    symlinkSync(at('runs/solver/episodes.jsonl'), at('elsewhere/other/episodes.jsonl'))
    const viewing = await startViewing(workshop, ['elsewhere'])
    const { id } = await viewing.runNamed('random')
    expect(await viewing.json<RunDetail['entry'][]>('/api/runs')).toHaveLength(1)
    const [first] = readFileSync(at('elsewhere/own/episodes.jsonl'), 'utf8').split('\n')
    expect(await (await viewing.get(`/api/r/${id}/line/0`)).text()).toBe(first)
    await viewing.until(/elsewhere\/other\/episodes\.jsonl is a link out of the folder, so the run is not shown\./)
    viewing.kill('SIGKILL')
  })
})
