import type { Environment, Playable, ResetResult, StepResult } from '@episodic/env'
import type { Action } from '@episodic/protocol'

/** The result for one place of a batch. A failure is a value, so that it does not end the other episodes. */
type Settled<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly cause: unknown }

/**
 * Several environments with one batch interface: result i belongs to item i. A `null` item skips its place, and its
 * result is `null`. A batch of another size rejects with a `RangeError`.
 */
export interface VectorEnvironment extends AsyncDisposable {
  readonly size: number
  /** Starts an episode in each place with a task; the others continue. */
  reset(
    tasks: readonly (Playable | null)[],
    options?: Parameters<Environment['step']>[1],
  ): Promise<(Settled<ResetResult> | null)[]>
  /** Plays one action in each place with an action, all concurrently. */
  step(
    actions: readonly (Action | null)[],
    options?: Parameters<Environment['step']>[1],
  ): Promise<(Settled<StepResult> | null)[]>
  /** Closes all of them. */
  close(): Promise<void>
}

/** Creates a batch of `size` environments. Throws a `RangeError` if `size` is not a positive integer. */
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
