import { differencesOf, type RunConfiguration } from '../plan/configuration.ts'

/** What two runs of the same tasks may differ in: who plays, how often, and for how long. */
const MAY_DIFFER = /^(policy|sampling|rollouts|until|branch|episodeTimeout|tasks\.file)\b/

/** Returns in what two runs differ besides the player in focus, in all seats that it plays in both. */
export function whatDiffers(one: RunConfiguration, other: RunConfiguration) {
  const own = Object.keys(one.seats ?? {}).filter((seat) =>
    [one, other].every(({ policy, seats }) => differencesOf(seats?.[seat], policy).length === 0),
  )
  const isOwn = (key: string) => own.some((seat) => key.startsWith(`seats.${seat}.`))
  return differencesOf(one, other).filter(([key]) => !MAY_DIFFER.test(key) && !isOwn(key))
}
