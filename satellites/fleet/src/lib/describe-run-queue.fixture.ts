import { afterEach, describe, expect, it } from 'vitest'
import type { Coordination, QueuedResult, RunEntry, RunQueue, TakenJob, WorkerInfo } from './run-queue.ts'

/** How the contract suite uses a kind of queue. */
export interface QueueUnderTest {
  /**
   * Opens one more queue of the same content, as another process would.
   *
   * @param lease - `short`: silence is soon too long. `long`: no test lasts as long.
   */
  open(lease: 'short' | 'long'): Promise<RunQueue>
  /** Lets time pass until a condition holds. Rejects if it does not within several short leases. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>
  /** Cuts a queue off from its content, and returns a function that connects it again: its calls wait until then. */
  cut(queue: RunQueue): () => void
  /** Removes everything. Called after each test, with all queues disposed. */
  clear(): Promise<void>
}

const RUN: RunEntry = { id: 'run1', announcement: 'what is played: ü\n ', digest: 'd1', elapsed: 5_000 }
const infoOf = (id: string, plays: readonly string[] = [], declines = {}): WorkerInfo => {
  return { id, host: 'here', pid: 1, version: '1', slots: 2, worlds: ['coin 1'], plays, declines }
}
const toLife = (until: number) => `lives until ${until}`
const job = (id: string) => ({ id, payload: `payload of ${id}: ü` })

/** Tests what the docstrings of `RunQueue` promise. */
export function describeRunQueue(name: string, start: () => Promise<QueueUnderTest>): void {
  describe(`RunQueue: ${name}`, () => {
    let started: Promise<QueueUnderTest> | null = null
    const opened = new Set<RunQueue>()
    const reading: AbortController[] = []
    const releases: (() => void)[] = []
    const underTest = () => {
      started ??= start()
      return started
    }
    const until = async (condition: () => boolean | Promise<boolean>) => (await underTest()).until(condition)
    /** Of the queues that a test opens. */
    let lease: 'short' | 'long' = 'long'
    const open = async () => {
      const queue = await (await underTest()).open(lease)
      opened.add(queue)
      return queue
    }
    const coordinate = async (entry = RUN, pid = 1) => {
      const queue = await open()
      const signal = new AbortController().signal
      const coordination = await queue.coordinate(entry, { host: 'elsewhere', pid }, signal)
      return { queue, coordination }
    }
    /** Collects the results that a coordinator gets. */
    const read = (coordination: Coordination) => {
      const results: QueuedResult[] = []
      const stop = new AbortController()
      reading.push(stop)
      const isOver = (async () => {
        for await (const batch of coordination.results(stop.signal)) results.push(...batch)
      })()
      const end = async () => {
        stop.abort()
        await isOver
      }
      return { results, texts: () => results.map(({ text }) => text), stop: end }
    }
    /** Joins, and takes jobs of the run. What it takes stays with it until it is finished. */
    const join = async (id: string, slots = 2) => {
      const queue = await open()
      const member = await queue.join(infoOf(id))
      await member.renew(infoOf(id))
      const taken: TakenJob[] = []
      const finished = new Map<string, PromiseWithResolvers<void>>()
      const consumer = member.consume(RUN.id, slots, (job) => {
        taken.push(job)
        const finish = Promise.withResolvers<void>()
        finished.set(job.id, finish)
        releases.push(finish.resolve)
        return finish.promise
      })
      const finish = (id: string) => finished.get(id)?.resolve()
      return { queue, member, consumer, taken, ids: () => taken.map(({ id }) => id), finish }
    }
    const first = (taken: readonly TakenJob[]) => taken[0] as TakenJob
    const seal = async (job: TakenJob | undefined, text = 'done') => {
      await job?.begin()
      return job?.seal(text)
    }

    afterEach(async () => {
      lease = 'long'
      for (const stop of reading.splice(0)) stop.abort()
      for (const release of releases.splice(0)) release()
      for (const queue of opened) await queue[Symbol.asyncDispose]()
      opened.clear()
      await (await underTest()).clear()
    })

    it('gives each job to one worker, with its payload, and to none more than it has slots', async () => {
      const { coordination } = await coordinate()
      const [one, other] = [await join('w1'), await join('w2', 1)]
      await coordination.add(['a', 'b', 'c', 'd'].map(job))
      await until(() => one.taken.length + other.taken.length === 3)
      expect([one.taken.length, other.taken.length]).toEqual([2, 1])
      for (const { id, payload } of [...one.taken, ...other.taken]) expect({ id, payload }).toEqual(job(id))
      await seal(first(other.taken))
      other.finish(first(other.taken).id)
      await until(() => other.taken.length === 2)
      expect([...one.ids(), ...other.ids()].sort()).toEqual(['a', 'b', 'c', 'd'])
    })

    it('gives more at once when a consumer gets more slots, and no more when it is closed', async () => {
      const { coordination } = await coordinate()
      const { taken, consumer, finish, ids } = await join('w1', 1)
      await coordination.add([job('a'), job('b'), job('c')])
      await until(() => taken.length === 1)
      consumer.slots = 2
      expect(consumer.slots).toBe(2)
      // A job that ends makes it look for more.
      await seal(first(taken))
      finish(first(taken).id)
      await until(() => taken.length === 3)
      const closed = consumer.close()
      for (const job of taken) {
        await seal(job)
        finish(job.id)
      }
      await closed
      await coordination.add([job('d')])
      const other = await join('w2')
      await until(() => other.ids().includes('d'))
      expect(ids()).not.toContain('d')
    })

    it('delivers results in order, and again to the next coordinator, until they are acknowledged', async () => {
      const { coordination } = await coordinate()
      const { taken } = await join('w1', 3)
      const { results, texts, stop } = read(coordination)
      await coordination.add([job('a'), job('b'), job('c')])
      await until(() => taken.length === 3)
      for (const job of taken) {
        expect(await job.begin()).toEqual({ lost: 0 })
        expect(await job.seal(`result of ${job.id}`)).toBe(true)
      }
      const sealed = taken.map(({ id }) => `result of ${id}`)
      await until(() => results.length === 3)
      expect(texts()).toEqual(sealed)
      await coordination.acknowledge(results.slice(0, 1))
      await stop()
      const counts = { added: 3, sealed: 3, fenced: 0, lost: 0, withdrawn: 0, open: 0, unread: 2 }
      expect(await coordination.end(false)).toEqual(counts)
      const next = await coordinate()
      const again = read(next.coordination)
      await until(() => again.results.length === 2)
      expect(again.texts()).toEqual(sealed.slice(1))
      await next.coordination.acknowledge(again.results)
      expect(await next.coordination.account()).toEqual({ ...counts, unread: 0 })
    })

    it('leaves a job that it has as it is, and takes one again whose result was acknowledged', async () => {
      const { coordination } = await coordinate()
      const { taken, finish } = await join('w1', 1)
      const { results } = read(coordination)
      await coordination.add([job('a')])
      await coordination.add([job('a')])
      await until(() => taken.length === 1)
      await seal(first(taken))
      finish('a')
      await coordination.add([job('a'), job('b')])
      await until(() => taken.length === 2)
      expect(taken.map(({ id }) => id)).toEqual(['a', 'b'])
      await until(() => results.length === 1)
      await coordination.acknowledge(results)
      await seal(taken[1])
      finish('b')
      await coordination.add([job('a')])
      await until(() => taken.filter(({ id }) => id === 'a').length === 2)
      expect(await coordination.account()).toMatchObject({ added: 3, sealed: 2 })
    })

    it('gives a job that was given back, or was not sealed, to another worker, and counts no loss', async () => {
      const { coordination } = await coordinate()
      const one = await join('w1', 2)
      await coordination.add([job('a'), job('b')])
      await until(() => one.taken.length === 2)
      const [given, forgotten] = one.taken as [TakenJob, TakenJob]
      await given.begin()
      await given.giveBack()
      await forgotten.begin()
      const closed = one.consumer.close()
      one.finish('a')
      one.finish('b')
      await closed
      const other = await join('w2', 2)
      await until(() => other.taken.length === 2)
      for (const job of other.taken) expect(await job.begin()).toEqual({ lost: 0 })
      expect(await given.seal('late')).toBe(false)
      expect(await coordination.account()).toMatchObject({ lost: 0, fenced: 1, open: 2 })
    })

    it('gives the jobs of a silent worker to another, and refuses what the first reports later', async () => {
      lease = 'short'
      const { coordination } = await coordinate()
      const silent = await join('w1', 1)
      await coordination.add([job('a')])
      await until(() => silent.taken.length === 1)
      expect(await first(silent.taken).begin()).toEqual({ lost: 0 })
      const connect = (await underTest()).cut(silent.queue)
      const other = await join('w2', 1)
      await until(() => other.taken.length === 1)
      expect(await first(other.taken).begin()).toEqual({ lost: 1 })
      connect()
      expect(await first(silent.taken).seal('late')).toBe(false)
      await first(silent.taken).report('late')
      expect(await first(other.taken).seal('in time')).toBe(true)
      const { results, texts } = read(coordination)
      await until(() => results.length > 0)
      expect(texts()).toEqual(['in time'])
      expect(await coordination.account()).toMatchObject({ sealed: 1, fenced: 1, lost: 1, open: 0 })
    })

    it('has nothing to begin where a job was sealed or withdrawn, and seals it once', async () => {
      const { coordination } = await coordinate()
      const { taken } = await join('w1', 2)
      await coordination.add([job('a'), job('b')])
      await until(() => taken.length === 2)
      const [one, other] = taken as [TakenJob, TakenJob]
      await one.begin()
      expect(await one.seal('done')).toBe(true)
      expect(await one.begin()).toBeNull()
      expect(await coordination.withdraw()).toBe(1)
      expect(await other.begin()).toBeNull()
      expect(await other.seal('late')).toBe(false)
      const { results, texts } = read(coordination)
      await until(() => results.length > 0)
      expect(texts()).toEqual(['done'])
    })

    it('delivers messages of a job before its result, and they leave it open', async () => {
      const { coordination } = await coordinate()
      const { taken } = await join('w1', 1)
      await coordination.add([job('a')])
      await until(() => taken.length === 1)
      const { results, texts } = read(coordination)
      await first(taken).begin()
      await first(taken).report('half')
      await until(() => results.length === 1)
      await coordination.acknowledge(results)
      expect(await coordination.account()).toMatchObject({ open: 1, unread: 0, sealed: 0 })
      expect(await first(taken).seal('whole')).toBe(true)
      await until(() => results.length === 2)
      expect(texts()).toEqual(['half', 'whole'])
    })

    it('has one coordinator for a run: refuses another while it renews its lease', async () => {
      lease = 'short'
      const { coordination } = await coordinate()
      const second = coordinate(RUN, 2).then(
        () => null,
        (error: unknown) => error,
      )
      let refused: unknown
      void second.then((error) => {
        refused = error
      })
      await until(async () => {
        await coordination.renew(toLife)
        return refused !== undefined
      })
      expect(refused).toMatchObject({ code: 'run-locked', message: expect.stringContaining('Process 1 on elsewhere') })
      await coordination.add([job('a')])
    })

    it('gives a run to another coordinator when the first is silent, and fences the first', async () => {
      lease = 'short'
      const { coordination, queue } = await coordinate()
      await coordination.add([job('a')])
      const connect = (await underTest()).cut(queue)
      const entered = coordinate(RUN, 2)
      let next: Awaited<typeof entered> | undefined
      void entered.then((taken) => {
        next = taken
      })
      await until(() => next !== undefined)
      connect()
      const locked = { code: 'run-locked' }
      await expect(coordination.add([job('b')])).rejects.toMatchObject(locked)
      await expect(coordination.acknowledge([{ job: 'a', key: '1-1' }])).rejects.toMatchObject(locked)
      await expect(coordination.withdraw()).rejects.toMatchObject(locked)
      await expect(coordination.renew(toLife)).rejects.toMatchObject(locked)
      await expect(coordination.end(false)).rejects.toMatchObject(locked)
      expect(await next?.coordination.account()).toMatchObject({ added: 1, open: 1 })
      await next?.coordination.renew(toLife)
    })

    it('refuses a run of the same id with another digest, and one whose signal aborts', async () => {
      const { coordination } = await coordinate()
      await coordination.add([job('a')])
      await coordination.end(false)
      await expect(coordinate({ ...RUN, digest: 'd2' })).rejects.toMatchObject({ code: 'run-mismatch' })
      await coordinate()
      const queue = await open()
      const reason = new Error('stopped')
      await expect(queue.coordinate(RUN, { host: 'elsewhere', pid: 3 }, AbortSignal.abort(reason))).rejects.toBe(reason)
    })

    it('announces runs while they have a coordinator, on the clock of the queue', async () => {
      const queue = await open()
      const member = await queue.join(infoOf('w1'))
      expect((await member.renew(infoOf('w1'))).runs).toEqual([])
      const { coordination } = await coordinate()
      expect((await member.renew(infoOf('w1'))).runs).toEqual([])
      expect(await coordination.renew(toLife)).toEqual([infoOf('w1')])
      const { runs, time } = await member.renew(infoOf('w1', [], { run1: 'it has no such world' }))
      expect(runs).toEqual([
        { id: 'run1', announcement: RUN.announcement, life: expect.any(String), origin: expect.any(Number) },
      ])
      const [, until] = /^lives until (\d+)$/.exec(runs[0]?.life ?? '') ?? []
      expect(Number(until)).toBeGreaterThan(time)
      // The clock of the run goes on from what it had before.
      const elapsed = time - (runs[0]?.origin ?? 0)
      expect(elapsed).toBeGreaterThanOrEqual(RUN.elapsed)
      expect(elapsed).toBeLessThan(RUN.elapsed + 60_000)
      expect(await coordination.renew(toLife)).toEqual([infoOf('w1', [], { run1: 'it has no such world' })])
      await member.renew(infoOf('w1', ['run1']))
      expect(await coordination.renew(toLife)).toEqual([infoOf('w1', ['run1'])])
      await member[Symbol.asyncDispose]()
      expect(await coordination.renew(toLife)).toEqual([])
      await coordination.end(false)
      const late = await queue.join(infoOf('w2'))
      expect((await late.renew(infoOf('w2'))).runs).toEqual([])
    })

    it('announces a run of a new coordinator not by what the one before it gave', async () => {
      const { coordination, queue } = await coordinate()
      await coordination.add([job('a')])
      await coordination.renew(toLife)
      await coordination.end(false)
      const next = await coordinate(RUN, 2)
      const member = await queue.join(infoOf('w1'))
      expect((await member.renew(infoOf('w1'))).runs).toEqual([])
      await next.coordination.renew(toLife)
      expect((await member.renew(infoOf('w1'))).runs).toMatchObject([{ id: 'run1' }])
    })

    it('forgets a worker that is silent', async () => {
      lease = 'short'
      const { coordination } = await coordinate()
      await join('w1')
      expect(await coordination.renew(toLife)).toEqual([infoOf('w1')])
      await until(async () => (await coordination.renew(toLife)).length === 0)
    })

    it('removes a run that ends without jobs and results, and keeps any other', async () => {
      const { coordination, queue } = await coordinate()
      await coordination.add([job('a')])
      expect(await coordination.end(false)).toMatchObject({ open: 1 })
      expect((await queue.status()).runs).toMatchObject([{ id: 'run1', coordinator: null, account: { open: 1 } }])
      const next = await coordinate()
      expect((await queue.status()).runs).toMatchObject([{ coordinator: { host: 'elsewhere', pid: 1 } }])
      expect(await next.coordination.withdraw()).toBe(1)
      expect(await next.coordination.end(false)).toMatchObject({ added: 1, withdrawn: 1, open: 0, unread: 0 })
      expect((await queue.status()).runs).toEqual([])
    })

    it('removes a run that is complete, whatever it still holds', async () => {
      const { coordination, queue } = await coordinate()
      const { taken } = await join('w1')
      await coordination.add([job('a'), job('b')])
      await until(() => taken.length === 2)
      await seal(first(taken))
      await taken[1]?.begin()
      expect(await coordination.end(true)).toMatchObject({ sealed: 1, open: 1, unread: 1 })
      expect((await queue.status()).runs).toEqual([])
      expect(await taken[1]?.seal('late')).toBe(false)
    })

    it('shows runs, workers and what is played', async () => {
      const { coordination, queue } = await coordinate()
      const { taken } = await join('w1', 1)
      await coordination.add([job('a'), job('b')])
      await until(() => taken.length === 1)
      await first(taken).begin()
      expect(await queue.status()).toEqual({
        paused: false,
        workers: [infoOf('w1')],
        runs: [
          {
            id: 'run1',
            announcement: RUN.announcement,
            coordinator: { host: 'elsewhere', pid: 1 },
            account: { added: 2, sealed: 0, fenced: 0, lost: 0, withdrawn: 0, open: 2, unread: 0 },
            playing: 1,
          },
        ],
      })
    })

    it('gives out nothing while it is paused, of later runs either', async () => {
      const queue = await open()
      await queue.setPaused(true)
      const { coordination } = await coordinate()
      expect(await queue.status()).toMatchObject({ paused: true })
      const { taken } = await join('w1')
      await coordination.add([job('a')])
      expect(await coordination.account()).toMatchObject({ open: 1 })
      const other = await coordinate({ ...RUN, id: 'run2' })
      await other.coordination.end(false)
      expect(taken).toEqual([])
      await queue.setPaused(false)
      await until(() => taken.length === 1)
      expect(await queue.status()).toMatchObject({ paused: false })
    })

    it('removes a run by request, unless somebody coordinates it', async () => {
      const { coordination, queue } = await coordinate()
      await coordination.add([job('a')])
      expect(await queue.remove('run1')).toBe(false)
      expect(await queue.remove('run2')).toBe(false)
      await coordination.end(false)
      expect(await queue.remove('run1')).toBe(true)
      expect(await queue.status()).toMatchObject({ runs: [] })
    })
  })
}
