import { suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { once } from 'node:events';
import { createServer, type ListenOptions, type Server } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../../../../src/agent/sandbox/view/entries.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

const world = await SandboxWorld.create('overlay', { file: 'in' });
const status = await world.sandboxes.status();

/** A file outside the workspace, and one of the home folder that is removed at the end. */
const outside = world.temp.at('outside');
const canary = path.join(os.homedir(), `.redline-test-${process.pid}`);
fs.writeFileSync(outside, 'SECRET');
fs.writeFileSync(canary, 'SECRET');
fs.linkSync(outside, world.at('hard'));
fs.symlinkSync(outside, world.at('soft'));

async function listen(options: ListenOptions): Promise<Server> {
  const server = createServer(socket => socket.end('REACHED\n'));
  await new Promise<void>(resolve => server.listen(options, resolve));
  server.unref();
  return server;
}

const socket = world.temp.at('socket');
const servers = [
  await listen({ path: socket }),
  await listen({ path: world.at('socket') }),
  await listen({ path: '\0redline-test-abstract' }),
  await listen({ host: '127.0.0.1', port: 0 }),
];
const address = servers[3]?.address();
const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
const other = spawn('sleep', ['900'], { cwd: world.temp.root, stdio: 'ignore' });
other.unref();

/** A program in the sandbox that connects: Perl is on every Debian, and reaches abstract sockets too. */
const connect = (kind: 'unix' | 'inet', to: string): string =>
  kind === 'inet'
    ? `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr=>"127.0.0.1:${to}",Timeout=>2) ? "REACHED" : "no"'`
    : `perl -MSocket -e 'socket($s,PF_UNIX,SOCK_STREAM,0); print connect($s,pack_sockaddr_un("${to}")) ? "REACHED" : "no"'`;

/** Of what is written, the files outside tell. */
const NOTHING = /^$a/;

/** Ways out: a command each, and what its output would hold if it were open. */
const attacks: Readonly<Record<string, readonly [command: string, open: RegExp]>> = {
  'reading a file outside': [`cat '${outside}'`, /SECRET/],
  'reading through a symbolic link that leads outside': ['cat soft', /SECRET/],
  'reading the home folder': [`cat '${canary}'; ls -A ~ | grep -c redline-test`, /SECRET|^[1-9]/m],
  'reading the storage of the sandbox': [`ls -A '${world.temp.at('storage')}'`, /sandbox/],
  'writing a file outside': [`echo EVIL > '${outside}'`, NOTHING],
  'writing through a symbolic link': ['echo EVIL > soft', NOTHING],
  'writing through a hard link': ['echo EVIL > hard', NOTHING],
  'writing to the home folder': [`echo EVIL > '${canary}'`, NOTHING],
  'writing to the system': [
    'touch /usr/evil /etc/evil /opt/evil 2>/dev/null; ls /usr/evil /etc/evil /opt/evil',
    /^\//m,
  ],
  'removing everything': ['rm -rf / ~ /etc/* /tmp/* "$PWD"/* "$PWD"/.git 2>/dev/null; echo done', NOTHING],
  'unmounting the view': ['umount -l "$PWD"; echo EVIL > "$PWD/file"', NOTHING],
  'mounting anew in other namespaces': [
    `unshare -Urm sh -c 'mount -o remount,rw,bind /; mount -o remount,rw,bind /usr && touch /usr/evil && echo OPEN; umount "$PWD" && echo OPEN'`,
    /OPEN/,
  ],
  'processes outside': [`kill -9 ${other.pid} && echo OPEN; ls /proc | grep -x ${other.pid}`, /OPEN|^\d+$/m],
  'control groups, by which processes outside can be ended': [
    'mkdir /tmp/c; unshare -UrmC sh -c "mount -t cgroup2 none /tmp/c && echo OPEN"; mount -t cgroup2 none /tmp/c && echo OPEN',
    /OPEN/,
  ],
  'more powers in user namespaces': ['unshare -Ur echo OPEN', /OPEN/],
  'sockets of the machine (vsock)': [`perl -e 'print "OPEN" if socket(S,40,1,0)'`, /OPEN/],
  'keyrings of the kernel': [
    `perl -e '$k = \`uname -m\` =~ /x86/ ? 250 : 219; print "OPEN" if syscall($k,0,-3,0) != -1'`,
    /OPEN/,
  ],
  'io_uring, past any filter': [
    `perl -e '$p = "\\0" x 120; print "OPEN" if syscall(425,1,$p) != -1'`,
    /OPEN/,
  ],
  'filling the memory': ['for at in / /dev; do echo x > $at/x && echo OPEN; done', /OPEN/],
  // Only opened: where it is open, a write would change the machine.
  'the settings of the kernel': [
    'for at in sys/kernel/core_pattern sysrq-trigger sys/user/max_user_namespaces mtrr; do (: >> /proc/$at) && echo OPEN; done',
    /OPEN/,
  ],
  'the root of the first process': [
    'cat "/proc/1/root$0" 2>/dev/null; ls /proc/1/root/root /proc/1/root/home 2>/dev/null | grep redline-test',
    /redline-test/,
  ],
  'a unix socket outside': [connect('unix', socket), /REACHED/],
  'a unix socket in the workspace': [connect('unix', world.at('socket')), /REACHED/],
  'an abstract socket': [connect('unix', '\\0redline-test-abstract'), /REACHED/],
  'the loopback of the host': [connect('inet', String(port)), /REACHED/],
  'other interfaces of the network': ['sed 1,2d /proc/net/dev | grep -v "^ *lo:"', /\S/],
  '/run, with D-Bus, Docker and agents': ['ls -A /run /var/run 2>/dev/null', /\S/],
  'variables that lead to agents': ['env | grep -E "SSH_AUTH_SOCK|DBUS|DOCKER_HOST|GPG"', /\S/],
  'memory and disks of the machine': [
    'ls /dev | grep -E "^(mem|kmem|sd|vd|nvme|kvm|loop)"; dd if=/dev/mem bs=1 count=1',
    /^(mem|kmem|sd|vd|nvme|kvm|loop)/m,
  ],
  'passwords of the system': ['cat /etc/shadow /etc/gshadow 2>/dev/null', /\S/],
  'shared memory of the host': ['ipcs -m 2>/dev/null | grep -E "^0x"', /0x/],
};

suite('ways out of the isolated sandbox', async () => {
  process.env['SSH_AUTH_SOCK'] = socket;
  process.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${socket}`;
  for (const [name, [command, open]] of Object.entries(attacks))
    test(`closed: ${name}`, async () => {
      // Where there is none, nothing runs in it: a truth of this machine that the test of the engines names.
      if (!status.isolated) return void assert.equal(status.engine, undefined);
      const { output } = await world.run(command);
      assert.doesNotMatch(output, open);
      assert.equal(fs.readFileSync(outside, 'utf8'), 'SECRET');
      assert.equal(fs.readFileSync(canary, 'utf8'), 'SECRET');
      assert.equal(world.read('file'), 'in');
      assert.equal(other.exitCode, null);
    });

  test('its own loopback and temporary files work', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    const own = `perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1"); print IO::Socket::INET->new(PeerAddr=>"127.0.0.1",PeerPort=>$l->sockport) ? "fine" : "no"'`;
    const { output } = await world.run(`${own}; echo x > /tmp/x && cat /tmp/x; echo y > ~/y && cat ~/y`);
    assert.equal(output, 'finex\ny\n');
  });

  test('variables of a command reach nothing that makes the view, and show no more of the machine', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    // The loader notes each program that it starts with them; there is no such folder in the view.
    const notes = world.temp.at('notes');
    fs.mkdirSync(notes);
    const long = 'x'.repeat(100_000);
    const environment = {
      LD_DEBUG: 'files',
      LD_DEBUG_OUTPUT: path.join(notes, 'of'),
      MINE: 'fine',
      LONG: long,
      PATH: `/usr/bin:/bin:/sys:/var:${path.dirname(outside)}`,
      LC_ALL: 'C.UTF-8',
    };
    const show = `ls -d /sys /var/lib '${outside}' 2>/dev/null; echo "$MINE"; echo "$LD_DEBUG $LC_ALL \${#LONG}"`;
    const { output } = await world.run(show, { plan: { environment } });
    assert.equal(output.replace(/^\s+\d+:.*\n/gm, ''), 'fine\nfiles C.UTF-8 100000\n');
    assert.deepEqual(fs.readdirSync(notes), []);
  });

  test('tools are looked for in the home folder alone, whatever is on the PATH', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    const before = process.env['PATH'];
    process.env['PATH'] = `${before}:/sys:/var:${path.dirname(outside)}:${os.homedir()}`;
    try {
      const { output } = await world.run(`ls -d /sys /var/lib '${outside}' '${canary}' 2>/dev/null; env`);
      assert.doesNotMatch(output, /^\//m);
      assert.match(output, /^PATH=.*:\/sys:/m);
      assert.doesNotMatch(output, /^(LC_ALL|OLDPWD)=/m);
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('root reads of the machine what everyone may, and no more, also what is made later; it starts its programs', async t => {
    if (!status.isolated || process.getuid?.() !== 0) return void assert.notEqual(process.getuid?.(), 0);
    const name = `redline-test-${process.pid}`;
    const tools = path.join(os.homedir(), '.local/share/mise');
    const hadTools = fs.existsSync(tools);
    const before = process.env['PATH'];
    const places = ['/etc', '/opt', '/usr/local', tools].map(at => path.join(at, name));
    t.after(() => {
      process.env['PATH'] = before;
      for (const at of hadTools ? places : [...places, tools])
        fs.rmSync(at, { recursive: true, force: true });
    });
    process.env['PATH'] = `${before}:${path.join(tools, 'bin')}`;
    for (const at of places) {
      const deep = path.join(at, 'a/b/c/d');
      fs.mkdirSync(deep, { recursive: true });
      fs.writeFileSync(path.join(deep, 'key'), 'SECRET', { mode: 0o600 });
      fs.writeFileSync(path.join(at, 'group'), 'SECRET', { mode: 0o640 });
      fs.writeFileSync(path.join(at, 'everyone'), '#!/bin/sh\necho ran', { mode: 0o755 });
      fs.mkdirSync(path.join(at, 'closed'), { mode: 0o700 });
      fs.writeFileSync(path.join(at, 'closed/file'), 'SECRET');
      const { output } = await world.run(
        `cd '${at}' && ./everyone; cat a/b/c/d/key group; ls closed; cat closed/file; chmod 644 group; cp group /tmp/x; cat /tmp/x`,
      );
      assert.match(output, /^ran$/m, at);
      assert.doesNotMatch(output, /SECRET|^file$/m, at);
      assert.equal(output.match(/Permission denied/g)?.length, 5, output);
      fs.writeFileSync(path.join(at, 'later'), 'SECRET', { mode: 0o600 });
    }
    const { output } = await world.run(places.map(at => `cat '${at}/later'`).join('; '));
    assert.doesNotMatch(output, /SECRET/);
  });

  test('root changes files that others may not read, of its own and of others, and git trusts the repository', async () => {
    if (!status.isolated || process.getuid?.() !== 0) return void assert.notEqual(process.getuid?.(), 0);
    fs.writeFileSync(world.at('own'), 'x', { mode: 0o600 });
    fs.writeFileSync(world.at('theirs'), 'x', { mode: 0o600 });
    fs.chownSync(world.at('theirs'), 12_345, 23_456);
    const { changes, output } = await world.run(
      'for at in own theirs; do echo more >>$at; done; stat -c %u own theirs; git status --short own; mktemp >/dev/null && touch ~/x && echo fine',
    );
    assert.equal(output, '0\n12345\n?? own\nfine\n');
    assert.deepEqual(changes, ['own: x => xmore', 'theirs: x => xmore']);
    for (const name of ['own', 'theirs']) fs.rmSync(world.at(name));
  });

  test('no one else reaches what is kept, and no program in it gives rights', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    await world.run(
      'mkdir -p node_modules/a out; for at in node_modules/a/s out/s; do cp /bin/sh $at; chmod 6755 $at; done',
    );
    const { output } = await world.run('ls -l node_modules/a/s out/s | cut -c1-10');
    assert.equal(output, '-rwxr-xr-x\n-rwxr-xr-x\n');
    assert.equal(fs.statSync(world.temp.at('storage', 'sandbox')).mode & 0o777, 0o700);
  });

  test('files of other owners and groups can be changed by those who may change them on disk', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    fs.writeFileSync(world.at('theirs'), 'x');
    fs.chmodSync(world.at('theirs'), 0o644);
    if (process.getuid?.() === 0) fs.chownSync(world.at('theirs'), 12_345, 23_456);
    const { changes } = await world.run('echo more >> theirs; stat -c %u:%g theirs');
    assert.deepEqual(changes, ['theirs: x => xmore']);
    fs.rmSync(world.at('theirs'));
  });

  test('what a command leaves in the background ends with it', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    const { exitCode } = await world.run('setsid sleep 979 & (setsid setsid sleep 978 &) & true');
    assert.equal(exitCode, 0);
    assert.doesNotMatch(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout, /^sleep 97[89]$/m);
  });

  test('a fork bomb ends with Stop', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    const controller = new AbortController();
    const { exitCode } = await world.run(
      'echo started; f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 983; }; f 6',
      { signal: controller.signal, onOutput: () => controller.abort() },
    );
    assert.equal(exitCode, undefined);
    assert.doesNotMatch(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout, /^sleep 983$/m);
  });

  test('when the host is killed, nothing of a command goes on, and no mount stays', async () => {
    if (!status.isolated) return void assert.equal(status.engine, undefined);
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        fileURLToPath(new URL('./sandboxChild.ts', import.meta.url)),
        world.root,
        world.temp.at('child'),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    assert.match(chunk.toString(), /started/);
    const marked = (): string[] =>
      fs.readdirSync('/proc').filter(pid => {
        try {
          return (
            /^\d+$/.test(pid) &&
            fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('redline-kill-test')
          );
        } catch {
          return false;
        }
      });
    assert.ok(marked().length > 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const until = Date.now() + 10_000;
    while (marked().length > 0) {
      assert.ok(Date.now() < until, 'still running');
      await new Promise(resolve => setImmediate(resolve));
    }
  });

  test('nothing is left', async () => {
    other.kill();
    for (const server of servers) server.close();
    fs.rmSync(canary);
    // The kernel's work folder forbids to be looked at.
    await removeTree(world.temp.at('child'));
    await world.remove();
  });
});
