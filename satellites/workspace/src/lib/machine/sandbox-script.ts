import { quoted } from '../quoted.ts'
import { variablesOf } from './box-view.ts'
import type { MachineCommand } from './machine.ts'

/** The directory of a sandbox that has what goes in and out. A command does not see it. */
export const SANDBOX_FOLDER = '/run/episodic'

/** The exit code of a script whose sandbox lacks a program, or the right to use it. */
export const UNABLE = 78

/** Where control groups are, of the second version and the first. Without, the template bounds memory and processes. */
const GROUPS = '/sys/fs/cgroup /sys/fs/cgroup/memory /sys/fs/cgroup/pids'

/** Paths of one `rm`, fewer than a system takes. */
const AT_ONCE = 200

function words(texts: readonly string[]): string {
  return texts.map(quoted).join(' ')
}

/**
 * Returns the script that runs a command in a sandbox: it removes files, unpacks those that have changed, runs the
 * command, and prints an archive with what it printed, and lists of all files before and after.
 *
 * The command is in namespaces of its own: all that it has started ends with it, it can write to nothing but the
 * folders and empty directories that go with it, and root without capabilities cannot change that.
 */
export function runScript(command: MachineCommand, removed: readonly string[], isBroughtUp: boolean): string {
  const { folders, bounds } = command
  const rm: string[] = []
  for (let i = 0; i < removed.length; i += AT_ONCE) rm.push(`rm -rf -- ${words(removed.slice(i, i + AT_ONCE))}`)
  const { memory, processes } = bounds
  const limits = `memory.max=${memory} memory.swap.max=0 memory.limit_in_bytes=${memory} pids.max=${processes}`
  const list = `find ${words(folders)} -printf '%y%m %C@ %i %s %n\\0%p\\0'`
  return `
cd ${SANDBOX_FOLDER} || exit ${UNABLE}
rm -rf said && mkdir said || exit ${UNABLE}
${rm.join('\n')}
mkdir -p ${words(folders)}
tar -xpf input -C / || exit ${UNABLE}
${isBroughtUp ? `sleep 0.02; ${list} > said/before || exit ${UNABLE}` : ''}
for each in ${GROUPS}; do
  [ -f $each/cgroup.procs ] && mkdir -p $each/episodic || continue
  for bound in ${limits}; do
    [ -f $each/episodic/\${bound%%=*} ] && echo \${bound#*=} > $each/episodic/\${bound%%=*}
  done
done 2>/dev/null
{
  {
    unshare --mount --pid --ipc --fork --kill-child --mount-proc sh inner < stdin 2>&4 3> said/began
    echo $? > said/exit
    cat /proc/uptime > said/ended
  } | head -c ${bounds.output + 1} > said/out
} 4>&1 | head -c ${bounds.output + 1} > said/err
for each in ${GROUPS}; do
  cat $each/episodic/memory.events $each/episodic/memory.oom_control >> said/memory
  rmdir $each/episodic
done 2>/dev/null
${list} > said/after
tar -czf - -C said .
`
}

/** Returns the script that is the first process of a command's namespaces. */
export function innerScript({ argv, cwd, variables, folders, readOnly, bounds }: MachineCommand, room: number): string {
  const set = variablesOf(variables).map(([name, value]) => `${name}=${value}`)
  return `
{
for each in ${GROUPS}; do echo 0 > $each/episodic/cgroup.procs; done 2>/dev/null
for each in ${words(folders)}; do mount --bind "$each" "$each" || exit ${UNABLE}; done
for each in ${words(readOnly)}; do
  [ -e "$each" ] || continue
  mount --bind "$each" "$each" && mount -o remount,bind,ro "$each" || exit ${UNABLE}
done
while read -r _ each _; do
  case "$each" in ${folders.map((folder) => `${quoted(folder)} | ${quoted(folder)}/*`).join(' | ')} | /proc | /proc/*) continue ;; esac
  mount -o remount,bind,ro "$each" 2>/dev/null
done < /proc/self/mounts
for each in /proc/sys /proc/sysrq-trigger; do mount --bind "$each" "$each" && mount -o remount,bind,ro "$each"; done 2>/dev/null
for each in /tmp /var/tmp /var/cache /dev/shm /root ${SANDBOX_FOLDER}; do
  case "$each" in ${folders.map(quoted).join(' | ')}) continue ;; esac
  [ -d "$each" ] && mount -t tmpfs -o mode=1777 tmpfs "$each"
done
cd ${quoted(cwd)} || exit ${UNABLE}
ulimit -t ${bounds.cpuSeconds}
ulimit -f ${Math.ceil(room / 512)}
ulimit -c 0
cat /proc/uptime >&3
exec 3>&- 4>&-
} > /dev/null
exec timeout --foreground -s KILL ${bounds.seconds} setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \\
  env -i ${words(set)} ${words(argv)}
`
}

/** Arguments of `sh` that print an archive of the files whose paths come after them, each with a dot before it. */
export const FETCH_ARGUMENTS = ['-c', 'tar -czf - --no-unquote --no-recursion --hard-dereference -C / -- "$@"', 'sh']
