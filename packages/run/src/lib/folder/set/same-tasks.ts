import { differencesOf, type RunConfiguration } from '../plan/configuration.ts'

/** What two runs of the same tasks may differ in: who plays, how often, and for how long. */
const MAY_DIFFER = /^(policy|sampling|rollouts|until|branch|episodeTimeout|tasks\.file)\b/

/** Returns in what two runs differ besides the player in focus, so that they do not play the same tasks alike. */
export function whatDiffers(one: RunConfiguration, other: RunConfiguration) {
  const own = `seats.${one.focus}.`
  return differencesOf(one, other).filter(([key]) => !MAY_DIFFER.test(key) && !key.startsWith(own))
}
