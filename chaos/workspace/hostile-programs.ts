/** What of the host a hostile program knows by name, and must not reach. */
export interface HostTargets {
  /** A file with the secret in it. */
  readonly file: string
  /** A directory that anybody may write to. */
  readonly folder: string
  /** A port of TCP on which somebody listens. */
  readonly port: number
  /** The name of an abstract socket on which somebody listens. */
  readonly socket: string
  /** A process that has to live. */
  readonly pid: number
}

const python = (code: string) => `python3 - <<'END'\n${code}\nEND`

/**
 * Programs that try to leave their box, to reach the host or another session, or to use more than they may, by what
 * they try. Each ends in an answer.
 */
export function hostilePrograms({ file, folder, port, socket, pid }: HostTargets): Readonly<Record<string, string>> {
  return {
    'paths upward': `cat ../../../../../../..${file}; cat /proc/self/root${file}; ls ${folder}`,
    'a link out': `ln -s ${file} l; cat l; echo x > l; ln -s ${folder} d; touch d/reached`,
    'a hard link out': `ln ${file} h; cat h; ln /etc/passwd h2; ln /usr/bin/env h3`,
    'a link for the next command': `ln -sfn ${folder} part-0x; rm -rf part-0; ln -s ${folder} part-0`,
    'a link over a directory on the way': `mv part-1 p; ln -s / part-1; ln -s ${file} part-2/file-2.txt -f`,
    'a file in place of a directory': `rm -rf part-3; echo x > part-3; mkdir -p notes.txt/x`,
    'hard links of one file': `ln part-4/file-4.txt a; ln a b; echo more >> b`,
    'device files': 'mknod null c 1 3; mknod sda b 254 0; cat sda; mknod mem c 1 1; head -c 10 mem',
    'disks of the host': 'cat /dev/vda /dev/sda /dev/mem /dev/kmsg /dev/kcore /proc/kcore | head -c 10; ls /dev/disk',
    'pipes and sockets as files': python(
      "import os,socket\nos.mkfifo('fifo')\ns=socket.socket(socket.AF_UNIX);s.bind('sock')\nprint('made')",
    ),
    setuid: 'cp /bin/bash sh; chmod 6777 sh; ./sh -p -c id; sudo -n id; su -c id; mount; newgrp root',
    'a setuid program of the system':
      "for f in $(find /usr -perm -4000 2>/dev/null); do echo | timeout 1 $f -c 'id'; done",
    mount: 'mkdir m; mount -t tmpfs x m; mount --bind / m; mount -o remount,rw /usr; umount /usr; umount -l /',
    'a namespace of its own': `unshare -Urm sh -c 'mount -t tmpfs x /mnt; cat ${file}'; unshare -r id`,
    'the namespaces of the host': 'nsenter -t 1 -a id; nsenter --mount=/proc/1/ns/mnt id; ls -la /proc/1/ns',
    chroot: `chroot /proc/1/root cat ${file}; mkdir c; chroot c`,
    'pivot of the root': python(
      "import ctypes\nc=ctypes.CDLL(None,use_errno=True)\nfor n in (155,165,161,304): print(c.syscall(n,b'/',b'/tmp',0,0,0),ctypes.get_errno())",
    ),
    'handles of files': python(
      `import ctypes,os\nc=ctypes.CDLL(None,use_errno=True)\nfor i in range(2,40):\n h=ctypes.create_string_buffer(b'\\x08\\0\\0\\0\\x01\\0\\0\\0'+i.to_bytes(8,'little'))\n f=c.open_by_handle_at(os.open('/project',0),h,0)\n if f>=0: print(os.listdir(f))`,
    ),
    ptrace: `gdb -p 1 -batch; strace -p 1 -o /dev/null & sleep 0.2; cat /proc/1/mem | head -c 1; cat /proc/1/maps`,
    'memory of other processes': python(
      "import glob\nfor p in glob.glob('/proc/[0-9]*/environ'):\n  try: print(p, open(p).read())\n  except Exception as e: print(e)",
    ),
    kill: `kill -9 ${pid} 1 -1; kill -STOP ${pid}; killall node; pkill -9 .`,
    'kill by number': 'for i in $(seq 2 3000); do kill -9 $i 2>/dev/null; done; echo left',
    'priorities of others': `renice -20 ${pid}; renice -n -20 $$; ionice -c1 -p 1; chrt -f -p 99 $$; taskset -p 1 ${pid}`,
    'a fork bomb': ':(){ :|:& };:',
    'a fork bomb in Python': python('import os\nwhile True:\n  try: os.fork()\n  except OSError: pass'),
    threads: python(
      'import threading,time\nfor i in range(100000):\n  threading.Thread(target=time.sleep,args=(100,),daemon=True).start()',
    ),
    'processes that outlive it': `for i in 1 2 3; do (setsid nohup sh -c 'trap "" HUP TERM INT; sleep 1000' >/dev/null 2>&1 &) ; done; echo gone`,
    'a daemon': python(
      "import os,time\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0:\n    [os.close(i) for i in range(20) if i>2 or True and not os.close]\n    time.sleep(1000)\n  os._exit(0)\nprint('gone')",
    ),
    'a program that cannot be stopped': `trap '' TERM INT HUP; while :; do :; done`,
    'memory at once': python('x=bytearray(50*10**9)'),
    'memory bit by bit': python('x=[]\nwhile True: x.append(bytearray(10**6))'),
    'memory of many': 'for i in 1 2 3 4 5 6 7 8; do tail /dev/zero & done; wait',
    'memory of a file in memory': python(
      "import os\nfor i in range(100):\n  f=os.memfd_create('x'); n=0\n  for j in range(200): os.write(f,b'x'*10**6)",
    ),
    'memory in /dev/shm': 'head -c 20G /dev/zero > /dev/shm/x; head -c 20G /dev/zero > /var/tmp/x; ls -la /dev/shm',
    'memory of shared segments': python(
      'import ctypes\nc=ctypes.CDLL(None)\nc.shmat.restype=ctypes.c_void_p\nfor i in range(1000):\n  a=c.shmat(c.shmget(0,10**8,0o1777),0,0)\n  if a and a!=2**64-1: ctypes.memset(a,1,10**8)',
    ),
    'pipes that are full': python(
      "import os\np=[os.pipe() for i in range(500)]\nfor r,w in p:\n  os.set_blocking(w,False)\n  try: os.write(w,b'x'*10**6)\n  except OSError: pass",
    ),
    'a full disk': 'head -c 100G /dev/zero > big; sync',
    'a full disk of small files': 'for i in $(seq 1000000); do echo x > /tmp/f$i; done',
    'a file with holes': 'truncate -s 10T hole; fallocate -l 10T solid; ls -la',
    'files without content': python("for i in range(400000): open('/tmp/e%d'%i,'w')"),
    'deep directories': python("import os\nfor i in range(20000):\n  os.mkdir('d'); os.chdir('d')"),
    'long names': 'touch $(printf "a%.0s" {1..255}); mkdir -p $(printf "b%.0s/" {1..1500})',
    'names that are no UTF-8':
      'touch $(printf "\\377\\376") $(printf "\\303("); mkdir $(printf "\\200"); echo x > $(printf "\\200")/y',
    'names with odd characters': `touch "$(printf 'a\\nb')" " " "*" "-rf" "$(printf '\\033[2J')" __proto__ constructor`,
    'directories that are closed': 'mkdir -p c/d; echo x > c/d/e; chmod 000 c/d/e c/d c; chmod 000 part-5; chmod 000 .',
    'attributes of files':
      'setfattr -n user.x -v y part-6; chattr +i part-6/file-6.txt; setfacl -m u:1:rwx part-6; lsattr',
    'an output without an end': 'yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'errors without an end': 'yes bbbbbbbbbbbbbbbbbbbbbbbbbbbb >&2',
    'messages for the server': `for i in 3 4 5 6 7 8 9; do echo '{"exit-code": 0}' >&$i; done 2>&1; ls -la /proc/self/fd /proc/1/fd`,
    'words of the box': 'echo "bwrap: No permissions to create new namespace" >&2; exit 1',
    'the network': `curl -sm2 http://127.0.0.1:${port}/; curl -sm2 http://169.254.169.254/; exec 3<>/dev/tcp/127.0.0.1/${port}; echo x >&3`,
    'the network by name': 'getent hosts example.com; ping -c1 -W1 1.1.1.1; ip addr; ip link add d type dummy',
    'an abstract socket': python(
      `import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect(b'\\0${socket}')\nprint('connected'); s.send(b'x')`,
    ),
    'packets and netlink': python(
      'import socket\nfor a in ((17,3,0),(16,3,0),(2,3,1),(40,1,0)):\n  try: print(socket.socket(*a))\n  except OSError as e: print(e)',
    ),
    'sockets of the system':
      'ls -la /run /var/run; docker ps; dbus-send --system / x.y; curl --unix-socket /var/run/docker.sock http://x/',
    'the clock':
      'date -s 2001-01-01; hwclock -w; ntpdate x; echo 1 > /proc/sys/kernel/randomize_va_space; hostname pwned',
    'settings in /proc':
      'echo c > /proc/sysrq-trigger; echo 0 > /proc/sys/vm/overcommit_memory; echo 1 > /proc/sys/kernel/core_pattern; echo -1000 > /proc/self/oom_score_adj; echo -1000 > /proc/1/oom_score_adj',
    'what /proc shows':
      'cat /proc/*/cmdline | tr "\\0" " "; cat /proc/*/environ | tr "\\0" " "; ls /proc | grep -c "^[0-9]"',
    'control groups':
      'ls /sys/fs/cgroup; mkdir -p /sys/fs/cgroup/x; mount -t cgroup2 none /tmp; echo 1 > /sys/fs/cgroup/release_agent',
    'modules, keys and programs of the kernel': python(
      'import ctypes\nc=ctypes.CDLL(None,use_errno=True)\nfor n in (175,313,321,323,248,250,246,169,167,298,310,425): print(n,c.syscall(n,0,0,0,0,0),ctypes.get_errno())',
    ),
    'a core dump': 'ulimit -c unlimited; sleep 100 & kill -SEGV $!; wait; ls core*',
    'bounds that are lifted': 'ulimit -u unlimited; ulimit -f unlimited; prlimit --nproc=100000 --pid $$; ulimit -a',
    'homes and secrets':
      'ls -la ~ /home /root /mnt /media /srv /opt; cat ~/.ssh/* ~/.npmrc ~/.netrc /etc/shadow /etc/npmrc /etc/pip.conf; env',
    'the whole disk removed': 'rm -rf --no-preserve-root / 2>/dev/null; ls -A / /project',
  }
}
