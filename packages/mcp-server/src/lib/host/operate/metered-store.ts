import type { Clock, SessionStore } from '@episodic/state'
import type { Metrics } from './metrics.ts'

export function withMetrics(store: SessionStore, metrics: Metrics, clock: Clock): SessionStore {
  const timed = async <T>(operation: string, work: Promise<T> | T): Promise<T> => {
    const began = clock.monotonic()
    let failed = true
    try {
      const result = await work
      failed = false
      return result
    } finally {
      metrics.stored(operation, failed, clock.monotonic() - began)
    }
  }
  return {
    secret: () => timed('secret', store.secret()),
    checkWritable: () => timed('checkWritable', store.checkWritable()),
    create: (...given) => timed('create', store.create(...given)),
    read: (id) => timed('read', store.read(id)),
    commit: (next, expected, entry, pages) => timed('commit', store.commit(next, expected, entry, pages)),
    remove: (id) => timed('remove', store.remove(id)),
    readLog: (id, range) => timed('readLog', store.readLog(id, range)),
    list: (page) => timed('list', store.list(page)),
    idle: (query) => timed('idle', store.idle(query)),
    count: () => timed('count', store.count()),
    readPages: (id, names) => timed('readPages', store.readPages(id, names)),
    hold: (pools) => timed('hold', store.hold(pools)),
    countPages: () => timed('countPages', store.countPages()),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}
