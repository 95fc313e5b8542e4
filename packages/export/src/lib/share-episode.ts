import type { EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { findSecrets, hasSecrets } from '@episodic/run/folder/find-secrets'
import type { SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { secretVariables } from '@episodic/run/folder/record/recording'
import { createPathScrub, type Scrub, scrubbed, textsIn } from '@episodic/run/folder/scrub'

/**
 * Returns what makes an episode one that others may see: without the folders of this machine. It throws `secret-found`
 * for one in which a text looks like a key, or is the value of a secret variable.
 *
 * @param allowsSecrets - whether such texts are exported.
 */
export function shareEpisodes(
  { folder, manifest }: SealedEpisodes,
  allowsSecrets: boolean,
): (record: EpisodeRecord) => EpisodeRecord {
  const variables = secretVariables()
  const configured = [folder, ...textsIn(manifest?.configuration)]
  const scrubs = new Map<string, Scrub>()
  const scrubFor = (player: string) => {
    const scrub = scrubs.get(player) ?? createPathScrub([...configured, player])
    scrubs.set(player, scrub)
    return scrub
  }
  return (record) => {
    const { task, attempt, policy } = record
    if (!allowsSecrets && hasSecrets(JSON.stringify(record), variables)) {
      const [found] = findSecrets(record, variables)
      const what = found ? `${found.field} has ${found.kind}` : 'a text has a secret of this environment'
      throw new HarnessError(
        'secret-found',
        `The export stopped, because a text of task ${task.id.slice(0, 12)}, attempt ${attempt} looks like a secret: ${what}. Make such a key invalid, since it is in the files of the run too. Leave these episodes out with --query, or export them with --allow-secrets.`,
      )
    }
    return scrubbed(record, scrubFor(policy.name))
  }
}
