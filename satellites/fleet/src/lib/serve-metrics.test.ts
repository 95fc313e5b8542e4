import { afterEach, describe, expect, it } from 'vitest'
import type { QueueStatus } from './run-queue.ts'
import { type MetricsServer, serveMetrics } from './serve-metrics.ts'

const account = { added: 9, sealed: 4, fenced: 1, lost: 2, withdrawn: 0, open: 5, unread: 3 }
const worker = { host: 'a', pid: 1, version: '1.0.0', worlds: [], plays: [], declines: {} }
const status: QueueStatus = {
  paused: false,
  runs: [{ id: 'abc', announcement: 'secret name', coordinator: null, account, playing: 4 }],
  workers: [
    { ...worker, id: 'w1', slots: 64 },
    { ...worker, id: 'w2', slots: 16 },
  ],
}

let server: MetricsServer | null = null
afterEach(() => server?.[Symbol.asyncDispose]())
const writable = () => Promise.resolve()
const open = async (answer: () => Promise<QueueStatus>, checkWritable = writable) => {
  server = await serveMetrics({ status: answer, checkWritable }, { port: 0, address: '127.0.0.1' })
  return async (path: string, options?: RequestInit) => {
    const response = await fetch(`${server?.url}${path}`, options)
    return [response.status, await response.text()] as const
  }
}

describe('serveMetrics', () => {
  it('shows the queue as metrics, with runs by their ids alone', async () => {
    const get = await open(async () => status)
    const [code, text] = await get('/metrics')
    expect(code).toBe(200)
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      'episodic_queue_paused 0',
      'episodic_queue_workers 2',
      'episodic_queue_slots 80',
      'episodic_queue_coordinators{run="abc"} 0',
      'episodic_queue_open_jobs{run="abc"} 5',
      'episodic_queue_playing_jobs{run="abc"} 4',
      'episodic_queue_unread_results{run="abc"} 3',
      'episodic_queue_jobs_total{run="abc"} 9',
      'episodic_queue_results_total{run="abc"} 4',
      'episodic_queue_withdrawn_jobs_total{run="abc"} 0',
      'episodic_queue_fenced_results_total{run="abc"} 1',
      'episodic_queue_lost_plays_total{run="abc"} 2',
      expect.stringMatching(/^process_cpu_seconds_total [\d.]+$/),
    ])
    expect(text).toContain('# TYPE episodic_queue_open_jobs gauge\n')
    expect(text).not.toContain('secret name')
    expect(await get('/readyz')).toEqual([200, 'ok\n'])
  })

  it('says that it is not ready while the queue can only be read, because it is full or a replica', async () => {
    let isFull = true
    const get = await open(
      async () => status,
      () => (isFull ? Promise.reject(new Error("OOM command not allowed when used memory > 'maxmemory'")) : writable()),
    )
    expect((await get('/metrics'))[0]).toBe(200)
    expect(await get('/readyz')).toEqual([503, 'queue-unavailable\n'])
    isFull = false
    expect(await get('/readyz')).toEqual([200, 'ok\n'])
  })

  it('says that it lives, and that it is not ready, while the queue cannot be reached', async () => {
    const gone = () => Promise.reject(new Error('gone'))
    const get = await open(gone, gone)
    expect(await get('/healthz')).toEqual([200, 'ok\n'])
    expect(await get('/readyz')).toEqual([503, 'queue-unavailable\n'])
    expect(await get('/metrics')).toEqual([503, 'queue-unavailable\n'])
  })

  it('answers nothing else', async () => {
    const get = await open(async () => status)
    expect((await get('/'))[0]).toBe(404)
    expect((await get('/metrics', { method: 'POST' }))[0]).toBe(405)
  })

  it('rejects a port that is taken', async () => {
    await open(async () => status)
    const port = Number(new URL(server?.url ?? '').port)
    await expect(
      serveMetrics({ status: async () => status, checkWritable: writable }, { port, address: '127.0.0.1' }),
    ).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining(`--metrics-port ${port} cannot be opened`),
    })
  })
})
