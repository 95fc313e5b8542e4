import { differencesOf, type RunConfiguration } from '../plan/configuration.ts'

/** What two runs of the same tasks may differ in: who plays, how often, and for how long. */
const MAY_DIFFER = /^(policy|sampling|rollouts|until|branch|episodeTimeout|tasks\.file)\b/

/** Returns the seats that the player in focus plays in both runs. */
export const ownSeats = (...runs: readonly [RunConfiguration, RunConfiguration]) =>
  Object.keys(runs[0].seats ?? {}).filter((seat) =>
    runs.every(({ policy, seats }) => differencesOf(seats?.[seat], policy).length === 0),
  )

/** Returns in what two runs differ besides the player in focus, in all seats that it plays in both. */
export function whatDiffers(one: RunConfiguration, other: RunConfiguration) {
  const isOwn = (key: string) => ownSeats(one, other).some((seat) => key.startsWith(`seats.${seat}.`))
  return differencesOf(one, other).filter(([key]) => !MAY_DIFFER.test(key) && !isOwn(key))
}
