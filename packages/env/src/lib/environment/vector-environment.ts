import type { Action } from '@episodic/protocol'
import type { CallOptions, Environment, Playable, ResetResult, StepResult } from './environment.ts'

/** What one place of a batch came to. A failure is a value here: it must not take the other episodes with it. */
export type Settled<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'failed'; readonly cause: unknown }

/**
 * Several environments behind one batch interface: place i of what goes in belongs to place i of what comes out.
 * `null` in a batch leaves that place alone, and comes back as `null`. A batch of another size rejects with a `RangeError`.
 */
export interface VectorEnvironment extends AsyncDisposable {
  readonly size: number
  /** Begins an episode in each place that is given a task; the others play on. */
  reset(tasks: readonly (Playable | null)[], options?: CallOptions): Promise<(Settled<ResetResult> | null)[]>
  /** Plays one action in each place that is given one. All are in flight at once. */
  step(actions: readonly (Action | null)[], options?: CallOptions): Promise<(Settled<StepResult> | null)[]>
  /** Closes all of them. */
  close(): Promise<void>
}

/** Puts `size` environments behind a batch interface. Throws a `RangeError` for a size that is not a whole number above 0. */
export function createVectorEnvironment(
  createEnvironment: (place: number) => Environment,
  size: number,
): VectorEnvironment {
  if (!Number.isSafeInteger(size) || size < 1)
    throw new RangeError(`A vector environment needs a whole number of places above 0; it got ${size}.`)
  const places = Array.from({ length: size }, (_, place) => createEnvironment(place))
  const batch = async <In, Out>(items: readonly (In | null)[], run: (place: Environment, item: In) => Promise<Out>) => {
    if (items.length !== size)
      throw new RangeError(`The batch has ${items.length} places, and the environment has ${size}.`)
    return Promise.all(
      items.map((item, i) => (item === null ? null : settle(() => run(places[i] as Environment, item)))),
    )
  }
  const close = async () => {
    const ends = await Promise.all(places.map((place) => settle(() => place.close())))
    const failed = ends.filter((end) => end.kind === 'failed')
    if (failed.length > 0)
      throw new AggregateError(
        failed.map(({ cause }) => cause),
        `${failed.length} of ${size} places did not close.`,
      )
  }
  return {
    size,
    reset: (tasks, options) => batch(tasks, (place, task) => place.reset(task, options)),
    step: (actions, options) => batch(actions, (place, action) => place.step(action, options)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function settle<T>(work: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { kind: 'ok', value: await work() }
  } catch (cause) {
    return { kind: 'failed', cause }
  }
}
