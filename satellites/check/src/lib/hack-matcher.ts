import type { Policy } from '@episodic/env'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { CheckedWorld } from './check-context.ts'
import { openKeptTarget, replayKept } from './kept/kept-hacks.ts'

export interface HackMatchers<Result> {
  /**
   * Plays the scripts of a folder again that `episodic check --search` has kept, and passes if none of them is paid.
   * They are compared with the `solver` of the world. Rejects with `option-invalid` without a script of this world.
   *
   * @param partners - who plays the other seats of a game, for scripts of one. Default: the scripts play all seats.
   */
  toPayNoHack(folder: string, partners?: Readonly<Record<string, Policy>>): Promise<Result>
}

export const hackMatchers = {
  async toPayNoHack(received: unknown, folder: string, partners: Readonly<Record<string, Policy>> = {}) {
    const world = (received ?? {}) as Partial<CheckedWorld>
    if (!world.environment)
      throw invalidOption('expect(…).toPayNoHack takes a world: an object with an `environment` and its `solver`.')
    const { name } = world.environment
    await using target = await openKeptTarget(world as CheckedWorld, partners)
    const played = await replayKept(target, folder)
    const open = played.filter(({ pays }) => pays !== false)
    const list = open.map(({ file, what }) => `\n${file}: ${what}`).join('')
    const message = () => `${open.length} of ${played.length} hacks of ${name} are not closed${list ? `:${list}` : '.'}`
    return { pass: open.length === 0, message }
  },
}
